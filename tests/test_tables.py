"""Short tables and records: columns, printed whole at 100 characters; attrs that files can hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd.options import can
from tests.questions import ASKED, FRAME, OTHER

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

ITEMS = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
PAIRS = "system_a system_b score_a score_b gain ci_low ci_high p_value"
BAND = "band_low band_high"
RANKS = "value ci_low ci_high rank_low rank_high letters"
BEHIND = "value difference difference_low difference_high p_adjusted"
DIFFERENCE = "difference ci_low ci_high"

SHORT = {
    "nbest_precision": "measure n tp precision ci_low ci_high lift tied",
    "nbest_recall": "measure n tp recall ci_low ci_high lift tied",
    "recall_band": f"measure n recall {BAND}",
    "precision_band": f"measure n precision {BAND}",
    "difference_band": f"measure_a measure_b n difference {BAND}",
    "acceptance_precision": "measure threshold n_accepted tp precision recall ci_low ci_high",
    "local_precision": "measure n precision ci_low ci_high",
    "compare": f"measure_a measure_b n {DIFFERENCE} p_value better",
    "mean_difference": f"measure_a measure_b n_first n_last {DIFFERENCE} p_value",
    "odds_ratios": "measure_a measure_b n odds_ratio odds_ratio_mle ci_low ci_high",
    "significant_ranges": "measure_a measure_b better n_first n_last n_tests n_gaps p_max",
    "tie_sensitivity": "measure_a measure_b n p_min p_median p_max cuts_tie",
    "compare_area": f"measure_a measure_b {DIFFERENCE} p_value better",
    "unpaired_area": f"measure sample_a sample_b {DIFFERENCE} p_value better",
    "area": "measure area ci_low ci_high chance",
    "partial_area": "measure area ci_low ci_high chance",
    "bedroc": "measure value ci_low ci_high chance",
    "random_test": "measure n tp expected lift p_value",
    "random_bound": "p n expected critical discrete interpolated parametric",
    "measure_ranks": f"measure n {RANKS}",
    "repetition": "measure n_samples n_mean precision sd_observed sd_expected phi p_dispersion",
    "judged_precision": "measure n precision ci_low ci_high n_judged n_unjudged",
    "judged_recall": "measure n recall ci_low ci_high n_judged n_unjudged",
    "judged_average_precision": "measure average_precision ci_low ci_high n_judged n_unjudged",
    "judged_difference": f"measure_a measure_b n {DIFFERENCE} n_judged n_unjudged",
    "enrichment": "measure share n tp lift ci_low ci_high tied",
    "plan_annotation": "measure_a measure_b n n_judged n_more power power_low power_high",
    "choose_threshold": "measure threshold n_accepted tp precision recall ci_low",
}
OF_ITEMS = {
    "one-sided": lambda r: r.paired_bootstrap("a", "b", alternative="greater"),
    "paired_bootstrap": lambda r: r.paired_bootstrap(),
    "paired_permutation": lambda r: r.paired_permutation(),
    "gain_by_size": lambda r: r.gain_by_size([20, 60]),
    "system_ranks": lambda r: r.system_ranks(),
    "summary": lambda r: r(metric="mean").summary(),
    "baseline": lambda r: r(metric="mean").summary(baseline="a"),
    "gain_threshold": lambda r: r.paired_bootstrap().rankeval.gain_threshold(window=(0.01, 0.99)),
    "calibration": lambda r: r.paired_bootstrap().rankeval.calibration(OTHER, bins=[0.01, 0.99]),
    "adjusted": lambda r: r.paired_bootstrap(adjust="max-t"),
}
SHORT_OF_ITEMS = {
    "paired_bootstrap": PAIRS,
    "paired_permutation": PAIRS,
    "gain_by_size": f"size {PAIRS}",
    "system_ranks": f"system {RANKS}",
    "summary": f"system {RANKS}",
    "baseline": f"system {BEHIND}",
    "adjusted": f"{PAIRS} p_adjusted",
}
OWN_ROWS = {"difference_region", "annotation_sheet", "with_judgements"}  # rows of the data
RESULTS = sorted({*ASKED} - OWN_ROWS)


def of_rankings(name: str, **keywords: object) -> pd.DataFrame:
    arguments, more = ASKED[name]
    roles = {} if "by" in more or "gold" in more else {"gold": "gold", "measures": ["a", "b", "c"]}
    table: pd.DataFrame = getattr(FRAME.rankeval(**roles), name)(*arguments, **more, **keywords)
    return table


# -------------------------------------------------------------------------------------- the columns


@pytest.mark.parametrize("name", RESULTS)
def test_a_table_prints_whole(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    short, whole = (of_rankings(name, details=flag) for flag in (False, True))
    assert printed(short)
    assert len(short.columns) <= 9
    if name in SHORT:
        assert list(short.columns) == SHORT[name].split()
    if name == "significant_ranges":  # the short table joins rows
        return
    assert {*short.columns} <= {*whole.columns}
    assert (len(short.columns) < len(whole.columns)) <= bool(can(getattr(rankeval_pd, name)).short)
    pd.testing.assert_frame_equal(short, whole[short.columns])


def printed(table: pd.DataFrame) -> bool:
    """Return whether a terminal of 100 columns shows every column of the table."""
    with pd.option_context("display.width", 100, "display.max_columns", 0):
        text = repr(table.head(5))
    return "..." not in text and max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", SHORT_OF_ITEMS)
def test_tables_of_systems_are_short(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    found = OF_ITEMS[name](ITEMS.rankeval(details=False))
    assert list(found.columns) == SHORT_OF_ITEMS[name].split()
    assert printed(found)


def test_what_a_keyword_adds_has_its_columns():
    ask = FRAME.rankeval(gold="gold", measures=["a", "b", "c"], details=False)
    assert list(ask.summary([5, 10])) == ["measure", "n", *RANKS.split()]
    assert list(ask.summary([5, 10], baseline="a")) == ["measure", "n", *BEHIND.split()]
    adjusted = ask.compare(n=[5, 10], adjust="holm")
    assert list(adjusted)[-3:] == ["p_value", "p_adjusted", "better"]
    sets = ask.compare("a", "b", threshold={"a": 3, "b": 2})
    assert list(sets)[2:4] == ["n_a", "n_b"]
    assert list(ask.nbest_precision([0.1, 0.5]))[-1] == "share"
    grouped = ask(by="query")
    assert list(grouped.nbest_precision(5))[:2] == ["query", "measure"]
    assert "n_queries" in grouped.nbest_precision(5, average="macro").columns
    families = ITEMS.rankeval.paired_bootstrap(families=["x", "x", "y"], details=False)
    assert list(families)[-1] == "relation"


def test_queries_are_short_and_a_wide_table_is_whole():
    rows = pd.DataFrame(
        {"query": ["q", "q", "r", "r"], "document": list("abab"), "run": [2.0, 1.0, 1.0, 2.0],
         "gold": [1, 0, 1, 0]}
    )  # fmt: skip
    ask = rows.rankeval(by="query", gold="gold", key="document", measures="run", details=False)
    assert list(ask.per_query("AP")) == ["query", "measure", "metric", "value"]
    assert list(ask.per_query("AP", wide=True)) == ["run"]


def test_a_dataset_has_all_variables():
    ds = FRAME[["a", "gold"]].rename_axis("candidate").to_xarray()
    assert "threshold" in ds.rankeval.nbest_precision(5, details=False)


def test_questions_of_pairs_take_short_pairs():
    pairs = ITEMS.rankeval.paired_bootstrap(details=False)
    assert len(pairs.rankeval.calibration(OTHER, bins=[0.01, 0.99]))
    assert len(pairs.rankeval.gain_threshold(window=(0.01, 0.99)))


# -------------------------------------------------------------------------------------- the record


@pytest.mark.parametrize("name", ["system_ranks", "paired_permutation", *RESULTS])
def test_attrs_name_the_method_and_are_plain(name):
    table = of_rankings(name) if name in ASKED else OF_ITEMS[name](ITEMS.rankeval)
    attrs = table.attrs
    assert attrs["method"] == name
    assert attrs["version"] == rankeval_pd.__version__
    for value in attrs.values():  # lists are texts: netCDF 3 has none, netCDF 4 not all
        assert isinstance(value, str | int | float)
        assert not isinstance(value, bool)
    assert pd.concat([table, table]).attrs == attrs


# -------------------------------------------------------------------------------- session defaults


def test_options_hold_for_a_block_and_for_a_session():
    ask = FRAME.rankeval(gold="gold", measures="a")
    with rankeval_pd.set_options(details=True, level=0.8):
        inside = ask.nbest_precision(5)
        assert "threshold" in inside
        with rankeval_pd.set_options(details=False):
            assert "threshold" not in ask.nbest_precision(5)
            assert "threshold" in ask(details=True).nbest_precision(5)
        assert inside.attrs["level"] == 0.8
        assert ask.nbest_precision(5, level=0.9).attrs["level"] == 0.9
        narrow = rankeval_pd.precision_interval(3, 10)
    assert narrow == rankeval_pd.precision_interval(3, 10, level=0.8)
    assert ask.nbest_precision(5).attrs["level"] == 0.95
    before = rankeval_pd.set_options(alpha=0.2)
    try:
        assert FRAME.rankeval(gold="gold").compare("a", "b", 5).attrs["alpha"] == 0.2
        assert ask.bedroc().attrs["alpha"] == 20.0  # which is no level of significance
    finally:
        before.__exit__()


@pytest.mark.parametrize("options", [{"level": 1.0}, {"alpha": "x"}, {"details": 1}])
def test_options_are_checked(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        rankeval_pd.set_options(**options)
    with pytest.raises(TypeError, match="details='yes'"):
        FRAME.rankeval(gold="gold").nbest_precision(5, details="yes")
