"""Errors that say what to do, and memory that is refused before it is taken."""

from __future__ import annotations

import gzip
import inspect
import itertools
import re
import subprocess
import sys
import warnings
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import pytest

import rankeval_pd
import rankeval_pd.dask
from rankeval_pd import errors, plotting
from tests.questions import FRAME
from tests.walks import RANKED, answered, data_of, some

HUGE = 10**160
ODD = np.array([[1, 2]])
LONG = pd.Series([10**400, 0] * 20, dtype=object)  # a list, older pandas cannot take

# --------------------------------------------------------- names and keywords that are nearly right


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda df: df.rankeval("gold"), "'gold' must be passed by keyword"),
        (lambda df: df.rankeval.plot(), r"plot cannot be called. .*\.plot\.\w+\(\)"),
        (
            lambda df: rankeval_pd.compare_area(df["gold"].to_numpy(), df["x"], df["y"]),
            r"type ndarray.*from_scores\(y_true, scores\)",
        ),
        (
            lambda df: df.rename(columns={"x": "f"}).rankeval.with_association_measures("MI"),
            r"cells: no column 'O11'.*pass margins=\('f', 'f1', 'f2', 'N'\)",
        ),
    ],
)
def test_first_calls_lead_to_the_right_one(df, call, message):
    with pytest.raises((TypeError, ValueError, KeyError), match=message) as error:
        call(df)
    assert len(str(error.value)) <= 250


@pytest.mark.parametrize(
    ("name", "meant"),
    [("color", "colors"), ("k", "n"), ("confidence", "level"), ("y_true", "gold"),
     ("ascending", "lower_is_better"), ("random_state", "rng"), ("zzz", r"help\(\) on the method")],
)  # fmt: skip
def test_keywords_of_other_packages_lead_to_ours(df, name, meant):
    with pytest.raises(TypeError, match=rf"Unknown keyword '{name}'.*{meant}") as error:
        df.rankeval.nbest_precision(**{name: 1})
    assert len(str(error.value)) <= 250


def test_what_is_meant_is_named(frame):
    with pytest.raises(TypeError, match=r"Unknown keyword 'golds'. Did you mean 'gold'\?"):
        frame.rankeval(golds="gold").compare()
    tables = pd.DataFrame({"O11": [30], "O12": [20], "O21": [10], "O22": [940]})
    with pytest.raises(ValueError, match=r"Did you mean 'G2'\?"):
        tables.rankeval.with_association_measures(["g2"])
    with pytest.raises(KeyError, match=r"Did you mean 'a'\?"):
        frame.rankeval(measures="A").compare()
    with pytest.raises(KeyError, match="'candidate'"):
        frame.rankeval(by="nobody").compare()
    assert "2 columns named" in repr(pd.concat([frame, frame["a"]], axis=1).rankeval)


def test_a_call_without_arguments_shows_the_whole_call():
    with pytest.raises(
        TypeError,
        match=r"^'n' must be given: call random_cdf\(data, n\), or as a method without data\.$",
    ):
        FRAME.rankeval.random_cdf()
    with pytest.raises(
        TypeError, match=r"^'quality' must be given: call .*\(share, quality=\.\.\.\)\.$"
    ):
        rankeval_pd.datasets.true_precision(0.1)


def test_arguments_of_dask_that_are_missing_are_named():
    dd = pytest.importorskip("dask.dataframe")
    import rankeval_pd.dask  # noqa: F401

    owner = dd.from_pandas(FRAME[["a", "b", "gold"]], npartitions=2).rankeval
    with pytest.raises(TypeError, match=r"'n_max' must be given: call head\("):
        owner.head()
    with pytest.raises(TypeError, match=r"'n' must be given: call random_cdf\("):
        owner.random_cdf()
    with pytest.raises(TypeError, match=r"Unknown keyword 'confidence'. Did you mean 'level'"):
        owner.area(confidence=0.9)


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: rankeval_pd.compare_for(1, 2, 1, 2, conf=0.9), "level"),
        (lambda: rankeval_pd.set_options(detail=True), "details"),
        (lambda: rankeval_pd.datasets.simulate_candidates(random_state=1), "rng"),
        (lambda: rankeval_pd.precision_interval(1, 2, confidence=0.9), "level"),
    ],
)
def test_unknown_keywords_of_functions_without_data(ask, meant):
    with pytest.raises(TypeError, match=rf"Unknown keyword .* Did you mean '{meant}'\?"):
        ask()


def test_options_that_went_lead_to_what_to_do_instead():
    for row, advice in errors.GONE.items():
        name, option = row.split() if " " in row else ("compare", row)
        owners = FRAME.rankeval, FRAME.rankeval.plot, rankeval_pd
        ask = next(getattr(owner, name) for owner in owners if hasattr(owner, name))
        parameters = inspect.signature(ask).parameters.values()
        given = {x.name: 1 for x in parameters if x.default is x.empty and x.kind != x.VAR_KEYWORD}
        with pytest.raises(TypeError, match=re.escape(f"Unknown keyword {option!r}. {advice}")):
            ask(**given, **{option: 1})


@pytest.mark.parametrize("owner", [plotting, rankeval_pd.datasets, rankeval_pd])
def test_arguments_that_are_missing_are_named(owner):
    """Those of methods are walked in test_refusals.py."""
    for name in {*owner.__all__} - {"RankevalWarning"}:
        function = getattr(owner, name)
        parameters = inspect.signature(function).parameters.values() if callable(function) else []
        named = [x for x in parameters if x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD)]
        needed = [x.name for x in named if x.default is x.empty]
        for gone in needed:
            with pytest.raises(TypeError, match=rf"'{gone}' must be given: call {name}\("):
                function(**{x: FRAME for x in needed if x != gone})


# ----------------------------------------------------- options that do not go together, odd numbers


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("nbest_precision", {"phi": np.nan}, r"phi=nan: pass a number from 1 to"),
        ("compare", {"ties": "best"}, r"ties='best' is supported only by nbest_precision"),
        ("compare", {"rng": -1}, r"rng=-1: pass a whole number of at least 0"),
        ("compare", {"rng": 1.5}, r"rng=1.5 is of type float: pass a whole number"),
        ("compare", {"n": 3, "combine": ODD}, "combine="),
        ("compare", {"groups": ODD}, "groups"),
        ("random_bound", {"p": [0.5, 2]}, r"p=2 is outside \(0, 1\]"),
        ("random_bound", {"p": 95}, r"p=95 is outside.* 95% is 0.95"),
        ("random_band", {"simultaneous": pd.NA}, "simultaneous"),
        ("random_test", {"n": 2, "pool": 10**80}, r"below 2\*\*53"),
        ("judged_precision", {"n": 5, "judged_with": [["x"]]}, "judged_with"),
        ("nbest_precision", {"n": 1, "measures": [["x"]]}, "is not a column name"),
        ("nbest_precision", {"n": 1, "level": 10**400}, "outside"),
        ("nbest_precision", {"n": 1, "min_grade": 10**400}, "min_grade="),
        ("nbest_precision", {"n": 1, "gold": LONG}, "gold"),
        (
            "acceptance_precision",
            {"threshold": {"x": 10**400}},
            "threshold=1000+.* for 'x'",
        ),
        (
            "with_association_measures",
            {"cells": 4},
            "Unknown keyword 'cells'",
        ),
        ("with_association_measures", {"measures": {}}, "is empty"),
        ("difference_band", {"a": "x", "b": {}, "n": 5}, r"b: no column \{\}"),
        ("bedroc", {"alpha": ODD}, "alpha="),
    ],
)
def test_odd_options_of_rankings_are_named(df, method, options, message):
    with pytest.raises((TypeError, ValueError, KeyError), match=message):
        getattr(df.rankeval, method)(**options)


def test_missing_names_of_roles_are_no_names(df):
    for role in ("dim", "key", "label", "by", "gold", "groups"):
        with pytest.raises(TypeError, match=f"{role}=<NA>"):
            df.rankeval.area(**{role: pd.NA})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rankeval_pd.expected_agreement(0.1, [1, 2, 3], [1, 2]), "do not broadcast"),
        (lambda: rankeval_pd.detectable_gain([1.0, 2.0], [1, 2, 3]), "do not broadcast"),
        (lambda: rankeval_pd.needed_items([1.0, 2.0], 1.0, [1, 2, 3]), "do not broadcast"),
        (lambda: rankeval_pd.needed_items(1e-300, 1e300, 5), "requires more than"),
        (lambda: rankeval_pd.dispersion_for(0.1, 0.1, np.inf), "n_samples=inf"),
        (lambda: rankeval_pd.datasets.true_precision("x", quality=1.0), "share='x'"),
        (lambda: rankeval_pd.datasets.true_precision(0.1, quality=np.inf), "quality=inf"),
        (lambda: rankeval_pd.datasets.simulate_candidates("x"), "n_candidates='x'"),
        (lambda: rankeval_pd.resample_counts(10**12, 10**12), "resamples of"),
        (lambda: rankeval_pd.precision_interval([1, 2, 3], [4, 5]), "do not broadcast"),
        (lambda: rankeval_pd.precision_interval(1, 10, phi=1e300), "phi="),
        (lambda: rankeval_pd.precision_interval(1, 2**53), "n=9007199254740992: pass"),
        (lambda: rankeval_pd.expected_agreement(0.05, 100, None), "n_items_other=None"),
        (lambda: rankeval_pd.coverage_for([1, 2], [], 0.5), "do not broadcast"),
        (
            lambda: rankeval_pd.random_bound_for(0.05, 5, population="infinite", prior=pd.NA),
            "prior=<NA> is of type",
        ),
        (
            lambda: rankeval_pd.random_pvalue(1, np.full(100, -1), n_candidates=10, n_positive=5),
            r"n=\[-1, -1, .*\(100 in all\)\]: pass whole numbers of at least 0",
        ),
        (
            lambda: rankeval_pd.random_pvalue(2, [10, 20], n_candidates=100, n_positive=[5, 6, 7]),
            r"the shapes .*\(2,\).*\(3,\), which do not",
        ),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, rng=1.5), "rng=1.5"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, correlation="x"), "correlation='x'"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, quality=3), "quality=3"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, quality={"A": "x"}), "quality"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, decimals=1.5), "decimals=1.5"),
    ],
)
def test_odd_numbers_are_named(call, message):
    with pytest.raises((TypeError, ValueError, MemoryError), match=message):
        call()


def test_numbers_of_any_size_agree():
    many = rankeval_pd.expected_agreement(0.1, 10**30, 10**30)
    assert many == pytest.approx(rankeval_pd.expected_agreement(0.1, 5, 5), rel=1e-12)
    assert rankeval_pd.dispersion_for(1e200, 1e-200, 5).phi == np.inf
    assert rankeval_pd.datasets.true_precision(0.1, quality=1e300) == pytest.approx(1.0)


def test_one_is_a_level_of_random_bounds(df):
    assert df.rankeval.random_bound([0.5, 1, 0.5])["p"].unique().tolist() == [0.5, 1.0]


def test_an_overview_of_a_table_with_a_name_twice(df):
    twice = pd.concat([df.drop(columns="gold"), df[["x"]]], axis=1)
    assert "several columns named 'x'" in repr(twice.rankeval)


PUBLISHED: dict[str, dict[str, Any]] = {
    "compare_accuracies": {"correct_a": 0.8, "correct_b": 0.7, "n_items": 100, "both": 0.65},
    "compare_for": {"tp_a": 42, "n_a": 100, "tp_b": 30, "n_b": 100},
    "coverage_for": {"failures": 9, "n_samples": 80, "failure_rate": 0.04},
    "detectable_gain": {"gain_se": 0.27, "n_items": 2000, "power": 0.8, "alpha": 0.05},
    "dispersion_for": {"sd_observed": 0.057, "sd_expected": 0.044, "n_samples": 80, "level": 0.95},
    "expected_agreement": {"p": 0.05, "n_items": 2000, "n_items_other": 500},
    "needed_candidates": {
        "precision_a": 0.5, "precision_b": 0.4, "overlap": 0.5, "n": 9, "n_judged": 9, "power": 0.8
    },
    "needed_items": {"gain": 0.5, "gain_se": 0.27, "n_items": 2000, "power": 0.8, "alpha": 0.05},
    "precision_interval": {"tp": 42, "n": 100, "level": 0.95, "phi": 1.2},
    "random_bound_for": {"p": 0.05, "n": 10, "n_candidates": 1000, "n_positive": 100},
    "random_pvalue": {"tp": 5, "n": 10, "n_candidates": 1000, "n_positive": 100},
}  # fmt: skip
NO_NUMBERS = [
    "0.1", b"1", True, np.nan, 1j, np.datetime64("2020-01-01"), [0.1, "0.2"], [[1, 2], [3]], -1,
]  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_numbers_and_plans_are_numbers_that_can_be(name):
    function, given = getattr(rankeval_pd, name), PUBLISHED[name]
    function(**given)
    for argument, value in itertools.product(given, NO_NUMBERS):
        # undefined agreement stays undefined, and impossible counts have a probability
        if (name, value) == ("random_pvalue", -1) and argument == "tp":
            assert function(**{**given, argument: value}) == 1.0
        elif name == "expected_agreement" and value is np.nan:
            assert np.isnan(function(**{**given, argument: value}))
        else:
            with pytest.raises((TypeError, ValueError), match=argument) as error:
                function(**{**given, argument: value})
            assert len(str(error.value)) <= 250
    with pytest.raises(ValueError, match=r"300,000,000 candidates in all, but .* 10,000,000"):
        rankeval_pd.random_pvalue(5, 10**8, prior=0.3, n_queries=3)


# ------------------------------------------------------------------------------------------- memory


def test_what_no_memory_holds_is_said_before_it_is_tried(items, monkeypatch, tmp_path):
    monkeypatch.setattr(errors, "free_memory", lambda: 2**20)
    with pytest.raises(
        MemoryError, match=r"3 pairs each require 50,000 .* 2 MB .* 1 MB .*n_resamples"
    ):
        items.rankeval.paired_permutation(n_resamples=50_000, method="monte-carlo")
    many = pd.DataFrame(np.random.default_rng(0).random((2_000, 12))).assign(
        gold=[True, False] * 1_000
    )
    with pytest.raises(
        MemoryError, match=r"66 pairs of measures at 2,000 list sizes .* 132,000 rows"
    ):
        many.rankeval.compare()
    with pytest.raises(
        MemoryError, match=r"12 measures at 2,001 values of n .* 24,012 rows.*n=\.\.\."
    ):
        many.rankeval.roc()
    with pytest.raises(MemoryError, match=r"distribution functions of 2,000 lists"):
        many.rankeval.random_cdf(None)
    lines = b"q1 Q0 d1 1 1.0 run\n" * 50_000
    for name, content in (("run", lines), ("run.gz", gzip.compress(lines))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(MemoryError, match=rf"{name} contains 1 MB of text or more.*Split"):
            rankeval_pd.read_trec(tmp_path / name)
    assert len(many.rankeval.nbest_precision(10)) == 12
    monkeypatch.setattr(errors, "free_memory", lambda: None)
    assert len(items.rankeval.paired_permutation(n_resamples=50_000)) == 3


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_free_memory_knows_the_limit_of_the_process():
    code = (
        "import resource; from rankeval_pd.errors import free_memory\n"
        "assert free_memory() > 0\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "assert 0 < free_memory() < 2**31"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("draws", [10**11, 10**30])
def test_draws_that_no_memory_holds(df, items, draws):
    pairs = items.rankeval.paired_bootstrap(n_resamples=999)
    for ask in (
        lambda: df.rankeval.precision_band(5, n_resamples=draws),
        lambda: df.rankeval.difference_band("x", "y", 5, n_resamples=draws),
        lambda: df.rankeval.tie_sensitivity("x", "y", 5, n_keys=draws),
        lambda: df.rankeval.compare(n=5, adjust="max-t", n_resamples=draws),
        lambda: df.rankeval.measure_ranks(5, n_resamples=draws),
        lambda: items.rankeval.system_ranks(n_resamples=draws),
        lambda: pairs.rankeval.calibration(items, ci="systems", n_resamples=draws),
        lambda: pairs.rankeval.gain_threshold(n_resamples=draws),
    ):
        with pytest.raises(MemoryError, match=r"n_resamples|n_keys="):
            ask()


@pytest.mark.parametrize("alpha", [5e-324, 1e-320])
def test_no_small_alpha_overflows(df, items, alpha):
    with pytest.raises(ValueError, match="a resampling test would need"):
        df.rankeval.compare("x", "y", [3], adjust="max-t", alpha=alpha)
    with pytest.raises(MemoryError, match="n_resamples"):
        items.rankeval.paired_bootstrap(alpha=alpha)


@pytest.mark.parametrize(
    ("call", "edge"),
    [
        (lambda d: d.measure_ranks(5, level=float(np.nextafter(1, 0))), "level=0.99999999"),
        (lambda d: d.compare(n=5, adjust="max-t", alpha=1e-13), "alpha=1e-13"),
        (lambda d: d.significant_ranges(n=[5, 9], adjust="max-t", alpha=1e-13), "alpha=1e-13"),
    ],
    ids=["ranks", "compare", "ranges"],
)
def test_swaps_that_a_level_needs_are_refused_before_they_are_drawn(df, call, edge):
    """They were drawn until no memory was left: 5e16 of them."""
    with pytest.raises(MemoryError, match=rf"{edge}\S* with n_resamples=None requires \d"):
        call(df.rankeval)


# --------------------------------------------------------------- files and tables of other packages


def test_a_file_of_gzip_that_ends_early(tmp_path):
    lines = "\n".join(f"q1 Q0 d{k} {k} {1 / (k + 1)} run" for k in range(1_000))
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(lines.encode())[:500])
    with pytest.raises(
        ValueError, match=rf"{path.name} is not a complete gzip file.*Copy it again"
    ):
        rankeval_pd.read_trec(path)


def test_a_file_of_parquet_that_ends_early(tmp_path):
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("pyarrow")
    import dask.dataframe as dd

    import rankeval_pd.dask

    for number in range(3):
        FRAME[["a", "gold"]].reset_index(drop=True).to_parquet(tmp_path / f"{number}.parquet")
    path = tmp_path / "1.parquet"
    path.write_bytes(path.read_bytes()[:300])
    ddf = dd.read_parquet(tmp_path)
    for ask in (lambda r: r.nbest_precision(5), lambda r: r.area(), lambda r: r.head(5)):
        with pytest.raises(
            ValueError, match=r"A partition of data cannot be read: .*part\.compute\(\)"
        ):
            ask(ddf.rankeval(label=rankeval_pd.dask.ROWS))


@pytest.mark.parametrize(
    ("package", "make", "way"),
    [
        ("pyarrow", lambda p, df: p.table(df), "to_pandas()"),
        ("polars", lambda p, df: p.from_pandas(df), "to_pandas()"),
        ("polars", lambda p, df: p.from_pandas(df).lazy(), "collect().to_pandas()"),
        ("duckdb", lambda p, df: p.sql("select 1 as a, true as gold"), "df()"),
        ("xarray", lambda p, df: df["a"].to_xarray(), "to_dataset(dim='measure')"),
        ("pandas", lambda p, df: df["a"], "to_frame()"),
    ],
    ids=["Arrow", "polars", "polars, lazy", "DuckDB", "DataArray", "Series"],
)
def test_tables_of_other_packages_are_refused_with_the_line_that_converts_them(package, make, way):
    table = make(pytest.importorskip(package), FRAME[["a", "gold"]])
    for ask in (
        rankeval_pd.rankeval,
        rankeval_pd.paired_bootstrap,
        lambda data: rankeval_pd.nbest_precision(data, 5),
        rankeval_pd.plotting.roc,
        lambda data: rankeval_pd.plan_annotation(data, "a", "b", 5),
    ):
        with pytest.raises(TypeError) as refused:
            ask(table)
        assert str(refused.value).endswith(f".{way}.")


def test_what_systems_have_no_use_for_is_refused():
    items = pd.DataFrame({"a": [0, 1, 1, 0], "b": [1, 1, 0, 0]})
    for role in ("positive", "min_grade"):
        with pytest.raises(ValueError, match=f"{role}=1 applies only to rankings"):
            items.rankeval.paired_bootstrap(**{role: 1})


def test_a_value_in_an_error_is_no_longer_than_a_line():
    with pytest.raises(ValueError, match=r"level=10+\.\.\. is outside") as error:
        rankeval_pd.precision_interval(1, 2, level=10**400)
    assert len(str(error.value)) < 250


# ------------------------------------------------------------------------------------- the warnings


def warned(ask: Any, *args: Any, **options: Any) -> list[str]:
    """Return the texts of our warnings, those that repeat too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(*args, **options)
    return [str(x.message) for x in caught if x.category is rankeval_pd.RankevalWarning]


def test_a_call_shows_each_warning_once_and_the_next_call_shows_it_again():
    said = 0
    for name in some(RANKED, 1):
        clustered = data_of(name).assign(few=np.arange(48) // 16)
        for roles in ({"groups": "half"}, {"by": "query"}, {"by": "few", "groups": "half"}):
            first, second = (warned(answered, name, clustered, **roles) for _ in "ab")
            assert first == second, name
            assert len(first) == len({*first}), (name, roles)
            said += len(first)
    assert said > 5


def test_a_call_on_a_dask_frame_shows_each_warning_once():
    frame = data_of("area").assign(gold=np.arange(48) % 3 == 0, query=np.arange(48) // 12)
    lazy = dask.dataframe.from_pandas(frame, npartitions=4).rankeval
    assert len(warned(lazy.area, gold="gold", measures=["a", "b"], by="query")) == 1


def test_no_warning_advises_what_is_set():
    """The advice is another where the option is set, or the warning is left out."""
    rng = np.random.default_rng(0)
    query, document = np.repeat(range(30), 12), np.tile(range(12), 30)
    runs = pd.DataFrame({"query": query, "document": document, "grade": rng.integers(0, 2, 360)})
    runs = runs.assign(x=(rng.normal(size=360) + runs["grade"]).round(), y=rng.normal(size=360))
    for ties in ("trec", "expected"):
        accessor = runs.rankeval(ties=ties, lower_is_better=["x"])
        texts = warned(accessor.summary, ["P@5"], undefined="zero")
        assert any("lower_is_better should list it" in text for text in texts)
        assert any("ties='expected'" in text for text in texts) == (ties == "trec")
    one = runs.assign(gold=runs["grade"] == 1)[["x", "gold"]]
    (text,) = warned(one.rankeval(lower_is_better="x").area)
    assert text.endswith("may be reversed. Check whether lower_is_better should list it.")
