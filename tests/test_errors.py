"""Errors that say what to do, memory that is refused before it is taken, bars of progress."""

from __future__ import annotations

import gzip
import inspect
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import rankeval_pd
from rankeval_pd import errors, plotting
from tests.questions import FRAME

HUGE = 10**160
MANY = pd.Series([10**400, 0] * 20, dtype=object)  # a list, older pandas cannot take

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
            lambda df: rankeval_pd.from_scores(np.linspace(0.1, 0.9, 20), [0, 1] * 10),
            "look like scores: pass y_true first",
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
    ("method", "keywords", "message"),
    [
        ("nbest_precision", {"ci": "wald"}, r"ci='wald' is not one of 'clopper-pearson', 'wi"),
        ("acceptance_precision", {"ci": None}, r"ci=None is not one of 'clopper-pearson'"),
        ("compare", {"ci": "wald"}, r"ci='wald' is not one of 'score', 'newcombe'"),
        (
            "compare",
            {"test": "chi2"},
            r"test='chi2' is not one of None, 'fisher', 'midp', 'mcnemar'",
        ),
        (
            "compare",
            {"test": "boschloo", "n": None},
            r"test='boschloo' and n=None: .* Pass the list sizes",
        ),
        (
            "compare",
            {"test": "barnard", "n": None},
            r"test='barnard' and n=None: .* Pass the list sizes",
        ),
        ("compare", {"adjust": "max"}, r"adjust='max' is not one of None, 'holm'.*'max-t'"),
        (
            "compare",
            {"adjust_over": "pair"},
            r"adjust_over='pair' is not one of 'all', 'n', 'group'",
        ),
        ("compare", {"ci": "delta"}, r"ci='delta' is not one of 'score', 'newcombe'"),
        (
            "compare",
            {"phi": 2, "test": "fisher"},
            r"phi=2 with test='fisher': exact tests .*score",
        ),
        ("compare", {"phi": 2, "adjust": "max-t"}, r"phi=2 with adjust='max-t': label swaps"),
        ("compare", {"target": "list"}, r"target='list' is not one of 'region', 'nbest'"),
        ("nbest_precision", {"phi": 0.5}, r"phi=0.5: pass a number from 1 to"),
        ("compare", {"phi": float("nan")}, r"phi=nan: pass a number from 1 to"),
        ("compare", {"n_resamples": 0}, r"n_resamples=0: pass a whole number of at least 1"),
        ("compare", {"alternative": "more"}, r"'more' is not one of 'two-sided', 'greater', 'le"),
        ("significant_ranges", {"test": "sign"}, r"test='sign' is not one of None, 'fisher'"),
        ("random_bound", {"population": "big"}, r"population='big' is not one of 'finite', 'inf"),
        ("random_test", {"population": 3}, r"population=3 is not one of 'finite'"),
        *[(m, {"ties": "random"}, r"ties='random' is not one of 'shared', 'tr") for m in RANKING],
        *[
            (
                m,
                {"ties": "best"},
                r"ties='best' is supported only by nbest_precision, random_test and the curves",
            )
            for m in RANKING
            if m not in ANY_TIES
        ],
        *[(m, {"missing": "zero"}, r"missing='zero' is not one of 'raise', 'l") for m in RANKING],
        *[(m, {"rng": -1}, r"rng=-1: a seed must be 0 or more") for m in RANKING],
    ],
)
def test_values_of_options(df, method, keywords, message):
    with pytest.raises(ValueError, match=message):
        ask(df, method, **keywords)


@pytest.mark.parametrize("rng", [1.5, "0", True])
def test_seeds_of_the_wrong_type(df, rng):
    with pytest.raises(TypeError, match=rf"rng={rng!r} is of type .*numpy.random.Generator"):
        df.rankeval.nbest_precision(rng=rng)


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
    with pytest.raises(ValueError, match="cells contains 'O11'"):
        tables.rankeval.with_association_measures("G2", cells={"O11": "O11"})
    assert "2 columns named" in repr(pd.concat([frame, frame["a"]], axis=1).rankeval)


def owners() -> dict[str, Any]:
    """Return what has public functions and methods."""
    found = {"rankeval_pd": rankeval_pd, "plotting": plotting, "datasets": rankeval_pd.datasets}
    for name, data in {"rankings": FRAME, "Dataset": FRAME.to_xarray(), "items": ITEMS}.items():
        found[name], found[f"{name}, plot"] = data.rankeval, data.rankeval.plot
    return found


def needed_arguments(owner: Any) -> dict[str, list[str]]:
    """Return the arguments without a default of each public function or method."""
    asked = {}
    for name in getattr(owner, "__all__", dir(owner)):
        if callable(getattr(owner, name)) and name != "RankevalWarning":
            parameters = inspect.signature(getattr(owner, name)).parameters.values()
            named = [x for x in parameters if x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD)]
            asked[name] = [x.name for x in named if x.default is x.empty]
    return asked


@pytest.mark.parametrize("owner", owners())
def test_arguments_that_are_missing_are_named(owner):
    owner = owners()[owner]
    asked = {name: needed for name, needed in needed_arguments(owner).items() if needed}
    for name, needed in asked.items():
        for gone in needed:
            with pytest.raises(TypeError, match=rf"'{gone}' must be given: call {name}\("):
                getattr(owner, name)(**{x: FRAME for x in needed if x != gone})
        with pytest.raises(TypeError, match=f"'{needed[0]}'.* must be given: call {name}"):
            getattr(owner, name)()
    assert asked


@pytest.mark.parametrize("owner", owners())
def test_arguments_without_a_name_are_refused(owner):
    owner = owners()[owner]
    for name in needed_arguments(owner):
        parameters = inspect.signature(getattr(owner, name)).parameters.values()
        if not any(x.kind is x.VAR_POSITIONAL for x in parameters):
            unnamed = sum(x.kind is x.POSITIONAL_OR_KEYWORD for x in parameters)
            with pytest.raises(TypeError, match=rf"^17 must be passed by keyword: call {name}\("):
                getattr(owner, name)(*[FRAME] * unnamed, 17)


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
    asked = {name: needed for name, needed in needed_arguments(owner).items() if needed}
    assert {"head", "difference_region", "mean_difference", "isolines"} <= set(asked)
    for name, needed in asked.items():
        for gone in needed:
            with pytest.raises(TypeError, match=rf"'{gone}' must be given: call {name}\("):
                getattr(owner, name)(**{x: 5 for x in needed if x != gone})
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


# ---------------------------------------------------------------------------- odd numbers and roles


@pytest.mark.parametrize(("method", "argument"), SHARES)
def test_one_is_a_level_of_random_bounds_only(df, method, argument):
    if method == "random_bound":
        assert set(ask(df, method, p=1)["p"]) == {1.0}
    else:
        with pytest.raises(ValueError, match=rf"{argument}=1 is outside \(0, 1\)"):
            ask(df, method, **{argument: 1})


def test_several_p(df):
    assert list(dict.fromkeys(df.rankeval.random_bound([0.5, 0.1, 0.5])["p"])) == [0.5, 0.1]
    with pytest.raises(ValueError, match=r"p=2 is outside \(0, 1\]"):
        df.rankeval.random_bound([0.5, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda df: df.rankeval(measures=[["x"]]).nbest_precision(1), "is not a column name"),
        (lambda df: df.rankeval(ties=pd.NA).nbest_precision(1), "ties="),
        (
            lambda df: df.rankeval.with_association_measures(cells=None),
            "pass the columns that contain O11",
        ),
        (
            lambda df: df.rankeval.with_association_measures(cells=4),
            "pass the columns that contain O11",
        ),
        (lambda df: df.rankeval.nbest_precision(1, level=10**400), "outside"),
        (
            lambda df: df.assign(k=[[1]] * 40).rankeval(key="k").nbest_precision(1),
            "cannot be distinguished",
        ),
        (lambda df: df.assign(gold=MANY).rankeval.nbest_precision(1), "gold='gold'"),
    ],
)
def test_odd_options_of_rankings_are_named(df, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(df)


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
        (lambda: rankeval_pd.datasets.simulate_candidates(5, rng=1.5), "rng=1.5"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, correlation="x"), "correlation='x'"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, quality=3), "quality=3"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, quality={"A": "x"}), "quality"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, decimals=1.5), "decimals=1.5"),
        (lambda: rankeval_pd.datasets.simulate_candidates(5, decimals=400), "at most 300"),
    ],
)
def test_odd_numbers_are_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_other_odd_values_are_named(df, items):
    with pytest.raises(MemoryError, match="resamples of"):
        rankeval_pd.resample_counts(10**12, 10**12)
    with pytest.raises(ValueError, match="families=nan"):
        items.rankeval.paired_permutation(families=np.nan)
    with pytest.raises(ValueError, match="do not broadcast"):
        rankeval_pd.precision_interval([1, 2, 3], [4, 5])
    with pytest.raises(ValueError, match="do not broadcast"):
        rankeval_pd.coverage_for([1, 2], [], 0.5)
    with pytest.raises(ValueError, match="n="):
        df.rankeval.nbest_precision(range(-(2**70), -(2**70) + 2))
    assert np.isnan(batches(q=0, candidate=5).rankeval.isolines([2])["tpr"].to_numpy()).all()
    with pytest.raises(KeyError, match="cells"):
        df.rankeval.with_association_measures(cells=[["O11"], "O12", "O21", "O22"])


def test_what_numbers_cannot_be(df, items):
    for phi in (1e300, 10**400):
        with pytest.raises(ValueError, match="phi="):
            rankeval_pd.precision_interval(1, 10, phi=phi)
    for n in (2**53, 2**63):
        with pytest.raises(ValueError, match="n must be below"):
            rankeval_pd.precision_interval(1, n)
    with pytest.raises(TypeError, match="n_items_other=None"):
        rankeval_pd.expected_agreement(0.05, 100, None)
    with pytest.raises(TypeError, match="prior=<NA>"):
        rankeval_pd.random_bound_for(0.05, 5, population="infinite", prior=pd.NA)
    with pytest.raises(ValueError, match="threshold: a whole number"):
        df.rankeval.acceptance_precision({"x": 10**400})
    with pytest.raises(ValueError, match="combine=True with ci=<NA>"):
        df.assign(q=1).rankeval.compare(n=3, by="q", combine=True, ci=pd.NA)
    with pytest.raises(ValueError, match="by='nothing'"):
        xr.Dataset({"v": (("item", "system"), items.to_numpy())}).rankeval.gain_by_size(
            [20], by="nothing"
        )
    low = rankeval_pd.dispersion_for(0, 0.3, 10**12, level=1.0 - 1e-16)
    assert (low.phi, low.phi_low, low.phi_high) == (0.0, 0.0, np.inf)


def test_odd_roles_and_flags(df, items):
    pairs = items.rankeval.paired_bootstrap(n_resamples=999)
    for bins in ([np.nan, 0.5], [0.1, np.nan]):
        with pytest.raises(ValueError, match="bins="):
            pairs.rankeval.calibration(items, bins=bins)
    for role in ("dim", "key", "label", "by", "gold", "groups"):
        with pytest.raises(TypeError, match=f"{role}=<NA>"):
            df.rankeval.area(**{role: pd.NA})
    odd = np.array([[1, 2]])
    for ask in (df.rankeval.compare, df.rankeval.random_test):
        with pytest.raises(TypeError, match="combine="):
            ask(n=3, combine=odd)
    with pytest.raises(TypeError, match="progress=<NA>"):
        items.rankeval.paired_permutation(progress=pd.NA)
    for none in ([], {}, np.array([], dtype=int)):
        with pytest.raises(ValueError, match="requests no list"):
            batches(q=2, candidate=5).rankeval.random_bound(n=none)
    with pytest.raises(ValueError, match="judged_with has values of shape"):
        df.rankeval.judged_precision(3, judged_with=odd)
    named = df.set_axis(pd.Index([pd.NA, "y", "gold"], dtype=object), axis=1).assign(x=df["x"])
    table = named.rankeval.compare("x", "y", threshold={"x": 0.5, "y": 0.5, pd.NA: 0.5})
    assert len(table) == 1
    half = df.assign(word=np.arange(40, dtype="f2"))
    pd.testing.assert_frame_equal(
        half.rankeval(measures=["x"]).area(label="word"),
        half.assign(word=np.arange(40.0)).rankeval(measures=["x"]).area(label="word"),
    )
    lacking = batches(q=3, candidate=5).assign(x=lambda data: data["x"].where(data["x"] < 0.0))
    with (
        pytest.warns(rankeval_pd.RankevalWarning, match="evaluates 'x' without"),
        pytest.warns(rankeval_pd.RankevalWarning, match=r"n=3 exceeds.*in every batch.*NaN"),
    ):
        found = lacking.rankeval.nbest_precision([3], measures=["x"], missing="drop")
    assert np.isnan(found["precision"]).all()
    short = batches(q=3, candidate=5)
    short = short.assign(gold=short["gold"].where(short["candidate"] < 2).astype(float))
    with pytest.warns(rankeval_pd.RankevalWarning, match="n=3 exceeds"):
        compared = short.where(~np.isnan(short["gold"])).rankeval.compare("x", "y", n=[1, 3])
    assert not np.isnan(compared["difference"].sel(n=1)).any()
    assert np.isnan(compared["difference"].sel(n=3)).all()


def test_what_is_no_name_or_names_nothing(df, items):
    with pytest.raises(KeyError, match=r"a: no column \{\}"):
        items.rankeval.paired_bootstrap({})
    with pytest.raises(KeyError, match=r"b: no column \{\}"):
        df.rankeval.difference_band("x", {}, 5)
    for data in (df, batches(q=0, candidate=5)):
        with pytest.raises(ValueError, match="contains no names"):
            data.rankeval.random_bound(measures=[])
    with pytest.raises(ValueError, match="is empty"):
        df.rankeval.with_association_measures({})
    with pytest.raises(TypeError, match="n_items=True"):
        items.rankeval.paired_bootstrap(n_resamples=999).rankeval.gain_threshold(n_items=True)


@pytest.mark.parametrize("share", [np.array([[1, 2]]), np.array([0.1, 0.2])])
def test_a_share_that_is_an_array_is_refused(share):
    df = rankeval_pd.datasets.simulate_candidates(60)
    with pytest.raises((TypeError, ValueError), match="share="):
        df.rankeval.compare_area("good", "fair", kind="enrichment", share=share)
    with pytest.raises((TypeError, ValueError), match="share="):
        df.rankeval.compare_area("good", "fair", share=share)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: d.difference_band(n_resamples=HUGE), MemoryError, "draws in memory at once"),
        (lambda d: d.random_band(simultaneous=pd.NA), TypeError, "simultaneous"),
        (lambda d: d.judged_precision(5, judged_with=[["x"]]), KeyError, "judged_with"),
        (lambda d: d.compare(groups=np.array([[1, 2]])), (KeyError, ValueError), "groups"),
    ],
    ids=["draws", "flag", "judged_with", "groups"],
)
def test_odd_options_of_rankings(df, call, error, message):
    with pytest.raises(error, match=message):
        call(df.rankeval)


@pytest.mark.parametrize(
    ("given", "message"),
    [({"n": [10, 20, 30], "n_positive": [5, 6]}, "n of shape .3,., n_positive of shape .2,.")],
)
def test_published_lists_of_several_lengths(given, message):
    with pytest.raises(ValueError, match=message):
        rankeval_pd.random_pvalue(2, **{"n_candidates": 100, **given})


def test_an_overview_of_a_table_with_a_name_twice(df):
    twice = pd.concat([df.drop(columns="gold"), df[["x"]]], axis=1)
    assert "several columns named 'x'" in repr(twice.rankeval)


# ------------------------------------------------------------------------------------------- memory


def test_what_no_memory_holds_is_said_before_it_is_tried(items, monkeypatch):
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
    assert len(many.rankeval.nbest_precision(10)) == 12
    monkeypatch.setattr(errors, "free_memory", lambda: None)
    assert len(items.rankeval.paired_permutation(n_resamples=50_000)) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_free_memory_knows_the_limit_of_the_process():
    code = (
        "import resource; from rankeval_pd.errors import free_memory\n"
        "assert free_memory() > 0\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "assert 0 < free_memory() < 2**31"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("draws", [2**63, 10**11, 10**30])
def test_draws_that_no_memory_holds(df, items, draws):
    pairs = items.rankeval.paired_bootstrap(n_resamples=999)
    for ask in (
        lambda: df.rankeval.precision_band(5, n_resamples=draws),
        lambda: df.rankeval.difference_band("x", "y", 5, n_resamples=draws),
        lambda: df.rankeval.recall_band(5, n_resamples=draws),
        lambda: df.rankeval.mean_difference("x", "y", 5, n_resamples=draws),
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


def test_a_level_that_needs_more_draws_than_memory_holds(items):
    with pytest.raises(MemoryError, match="or larger alpha"):
        items.rankeval.system_ranks(adjust="bonferroni", alpha=1e-9)


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


def test_more_than_there_can_be(df, items):
    with pytest.raises(
        ValueError, match=r"pool=10{80} is too large .* Pass a number below 2\*\*53"
    ):
        df.rankeval.random_test(2, n_candidates=10**80)
    with pytest.raises(MemoryError, match=r"n_items=9223372036854775808 requires.*Pass a smaller"):
        items.rankeval.population_calibration(2**63, n_test_sets=2, n_resamples=20)
    with pytest.raises(MemoryError, match=r"n_test_sets=10{400} requires.*Pass a smaller"):
        items.rankeval.population_calibration(2, n_test_sets=10**400, n_resamples=20)
    with pytest.raises(TypeError, match=r"n_items=1.5: pass one whole number"):
        items.rankeval.gain_by_size([20]).rankeval.gain_threshold(n_items=1.5)
    with pytest.raises(ValueError, match=r"n=\[-1, -1, .*\(100 in all\)\]: pass counts"):
        rankeval_pd.random_pvalue(1, np.full(100, -1), n_candidates=10, n_positive=5)


def test_a_mean_of_more_queries_than_memory_holds():
    with pytest.raises(MemoryError, match="queries"):
        rankeval_pd.random_pvalue_mean(
            1.0, 5, n_candidates=10, n_positive=5, n_queries=10**30, decimals=1
        )


# --------------------------------------------------------------------------------- bars of progress


@pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
def test_bars_move_as_far_as_they_say(df, items, capfd):
    many = df.assign(**{f"m{k}": df["x"] + k * df["y"] for k in range(4)})
    many.rankeval.compare(n=[3, 5], progress=True)
    many.rankeval.compare_area(progress=True)
    df.rankeval.random_envelope(progress=True)
    df.rankeval.random_cdf(5, progress=True)
    items.rankeval.population_calibration(30, n_test_sets=2, progress=True)
    df.rankeval.judged_recall([3, 5], progress=True)
    shown = capfd.readouterr().err
    for said in (
        "comparing lists", "comparing areas", "trying levels", "distribution functions",
        "drawing test sets", "lists judged in part",
    ):  # fmt: skip
        assert said in shown


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
