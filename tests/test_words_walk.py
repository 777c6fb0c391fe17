"""Sentences, captions and methods sections of every method and option, held against the call.

What must be said is derived from the arguments of the call and from the functions of ``stats`` that
ran, never from the table or its record.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from rankeval_pd import compare_accuracies, in_words, needed_candidates, paper_table
from rankeval_pd.options import can
from rankeval_pd.words.vocabulary import TESTS
from tests.walks import (
    MEASURES,
    METHODS,
    QUESTIONS,
    RANKING,
    answered,
    data_of,
    forms,
    parameters,
    queries,
)  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")

NAMES = [name for name in METHODS if not can(QUESTIONS[name]).own_rows]
#: an option of the call, and what a methods section then says
SAID: dict[str, dict[Any, str]] = {
    "test": {
        "fisher": "Fisher's exact test", "midp": "the mid-p version of Fisher's test",
        "mcnemar": "McNemar's exact test", "t": " t test", "wilcoxon": "Wilcoxon's signed-rank",
        "delong": "DeLong's test",
    },
    "event": {
        "recentred": "the paired bootstrap of Berg-Kirkpatrick et al. (2012).",
        "strict": "as written in Berg-Kirkpatrick et al. (2012, figure 1)",
        "zero": "share of gains below 0",
    },
    "ci": {
        "wilson": "Wilson intervals", "jeffreys": "Jeffreys intervals",
        "delong": "DeLong intervals", "percentile": "ercentile bootstrap intervals",
        "basic": "asic bootstrap intervals",
    },
    "adjust": {
        "holm": "by Holm's method", "bonferroni": "by Bonferroni's method",
        "bh": "Benjamini and Hochberg", "by": "Benjamini and Yekutieli", "max-t": "max-t",
    },
    "alternative": {"greater": "one-sided (greater)", "less": "one-sided (less)"},
    "level": {0.9: "confidence level of 90%"},
    "alpha": {0.01: "significance level of 1%"},
    "groups": {"query": "Rows with the same query were treated as a cluster."},
    "average": {"macro": "macro average over query."},
    "missing": {"last": "Candidates without a score were ranked last."},
    "ties": {"expected": "averages over all orders of equal scores"},
    "unjudged": {"bounds": "allow for any labels of the unjudged candidates"},
}  # fmt: skip
#: a function of ``stats``, and the test that a methods section may name only if it ran
RAN = {
    "fisher_test": "fisher", "swap_tests": "swaps", "signed_rank_tests": "wilcoxon",
}  # fmt: skip


def calls() -> list[tuple[str, dict[str, Any]]]:
    """Return the methods with each option that changes what must be said."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name in NAMES:
        found.append((name, {}))
        for option, values in SAID.items():
            for value in values:
                if (name, option) == ("summary", "alpha"):  # it is for metrics of queries
                    continue
                if option in parameters(name) or option in ("groups", "missing", "ties"):
                    found.append((name, {option: value}))
    return found


def asked(name: str, options: dict[str, Any]) -> pd.DataFrame:
    """Return the table of a call; skip what the method does not offer."""
    extra = {"by": "query"} if "average" in options else {}
    try:
        table = answered(name, **extra, **options)
    except (ValueError, TypeError, NotImplementedError) as refusal:
        pytest.skip(str(refusal)[:80])
    if not isinstance(table, pd.DataFrame) or not len(table):
        pytest.skip("no rows")
    return table


@pytest.mark.full
@pytest.mark.parametrize(("name", "options"), calls(), ids=str)
def test_a_methods_section_says_what_the_call_asked(name, options):
    text = in_words(asked(name, options), methods=True)
    for option, value in options.items():
        says = SAID[option][value]
        where = {"level": "interval", "alpha": "tests were", "alternative": "tests were"}
        if option == "adjust" and "family" not in asked(name, options).attrs:
            continue
        if option not in where or where[option] in text:
            assert says in text, text
    if options.get("test") in TESTS:
        others = {x for x in SAID["test"].values() if x not in SAID["test"][options["test"]]}
        assert not any(x in text for x in others)


@pytest.mark.parametrize("name", NAMES)
def test_the_named_test_is_the_one_that_ran(name):
    ran: set[str] = set()

    def spy(frame: Any, event: str, _arg: Any) -> None:
        if event == "call":
            ran.add(frame.f_code.co_name)

    sys.setprofile(spy)
    try:
        table = answered(name, details=True)
    finally:
        sys.setprofile(None)
    test = table.attrs.get("test")
    for function, law in RAN.items():
        if test == law:
            assert function in ran, (name, law)
    if "p_value" in table or "p_adjusted" in table:
        assert test in TESTS, (name, test)


@pytest.mark.parametrize("name", NAMES)
def test_what_pandas_keeps_is_enough_and_what_it_drops_is_refused(name, tmp_path):
    table = answered(name)
    if isinstance(table, xr.Dataset) or not len(table):
        pytest.skip("no rows of a frame")
    texts = [in_words(table), in_words(table, methods=True)]
    table.to_parquet(tmp_path / "table.parquet")
    for kept in (pd.read_parquet(tmp_path / "table.parquet"), table.copy(), table.assign()):
        assert [in_words(kept), in_words(kept, methods=True)] == texts
        assert paper_table(kept).attrs.get("caption") == paper_table(table).attrs.get("caption")
    in_words(table.sort_values(table.columns[-1], kind="stable").iloc[: len(table) // 2 + 1])
    table.to_csv(tmp_path / "table.csv", index=False)
    other = table.copy()
    other.attrs = {**table.attrs, "n_items": -1}
    for lost in (
        pd.read_csv(tmp_path / "table.csv"), pd.concat([table, other]),
        table.merge(pd.DataFrame({table.columns[0]: table.iloc[:, 0].unique(), "kind": "x"})),
        pd.DataFrame(table.to_dict("list")),
    ):  # fmt: skip
        for write in (in_words, paper_table):
            with pytest.raises(ValueError, match="lost its attrs"):
                write(lost)


def told(table: Any) -> list[Any]:
    """Return the sentences, the methods section, the caption and the rows of a table."""
    cells = paper_table(table)
    methods = in_words(table, methods=True).rstrip(".").split(". ")
    rows = sorted(map(list, cells.reset_index().to_numpy().tolist()))
    return [in_words(table), methods, cells.attrs.get("caption"), rows]


@pytest.mark.parametrize("name", NAMES)
def test_every_form_is_told_as_the_frame_that_it_equals(name):
    """A lazy Dataset knows less: it says nothing of what depends on its values, and nothing else.

    Its record named the test of systems whose scores are all 0.
    """
    for number, (data, options) in enumerate(forms(name)):
        frame, asked = data_of(name), {**options}
        if isinstance(data, xr.Dataset):
            frame, asked = queries(name, short=False), {**options, "by": "query", "details": True}
        found, wanted = answered(name, data, **options), answered(name, frame, **asked)
        if not isinstance(found, pd.DataFrame | xr.Dataset) or isinstance(wanted, Exception):
            continue
        texts, truth = told(found), told(wanted)
        if isinstance(data, xr.Dataset):  # its record does not count the candidates
            truth[2] = re.sub(r"; [\d,]+ candidates\b[^;.]*", "", str(truth[2]))
        if number == 1:
            assert {*texts[1]} <= {*truth[1]}
            texts[1:3] = truth[1:3]
        assert texts == truth


def test_tables_are_told_together_and_side_by_side():
    first, second = answered("area"), answered("nbest_precision", n=10)
    assert in_words([first, second]) == f"{in_words(first)}\n\n{in_words(second)}"
    told = in_words({"AUC": first, "P@10": second}).split("\n\n")
    assert {text.split(":")[0] for text in told} == {"AUC", "P@10"}
    cells = paper_table({"AUC": first, "P@10": second})
    assert list(cells.columns) == ["AUC", "P@10"]
    assert cells["AUC"].tolist() == paper_table(first).iloc[:, 0].tolist()
    assert cells.attrs["caption"].count("AUC: ") == 1
    assert list(paper_table([first, second]).columns) == [
        "area under the ROC curve", "precision",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="table"):
        in_words("area")
    with pytest.raises(ValueError, match="same kind of rows"):
        paper_table([first, answered("compare_area")])


def test_the_number_of_items_is_that_of_items_with_scores():
    """Captions said "on 1,002 items" although 475 had no score at all."""
    scores = pd.DataFrame(np.random.default_rng(0).normal(3, 1, (100, 3)), columns=list("abc"))
    scores.iloc[:40] = np.nan
    scores.iloc[40:60, 1] = np.nan
    for method in ("paired_bootstrap", "system_ranks"):
        table = getattr(scores.rankeval(missing="ratio"), method)()
        assert (table.attrs["n_items"], table.attrs["n_items_low"]) == (60, 40)
        caption = paper_table(table).attrs["caption"]
        assert "on 60 items (at least 40 for each system)" in caption
    means = scores.mean()
    shown = table.set_index("system")["value"]
    assert shown.to_dict() == pytest.approx(means.to_dict())


def test_a_run_is_a_run_and_a_model_what_the_user_says():
    frame = RANKING.assign(ident=range(len(RANKING)))
    table = frame.rankeval(by="query", gold="gold", measures=MEASURES).summary(["P@3"])
    assert table.attrs["noun"] == "run"
    table = answered("measure_ranks")
    assert table.attrs["noun"] == "measure"
    many = pd.concat([table.assign(measure=table["measure"] + str(k)) for k in range(9)])
    many.attrs = {**table.attrs, "noun": "model"}
    assert "models" in in_words(many)
    assert "measures" not in in_words(many)


def test_an_interval_stands_beside_its_own_quantity():
    """The interval of the true positive rate stood beside the lift, in bold."""
    table = answered("gain", n=[5, 20], interval="pointwise")
    rate, low, high = table.loc[0, ["tpr", "ci_low", "ci_high"]]
    assert low <= rate <= high
    text = in_words(table.iloc[:1])
    assert re.search(r"true positive rate of a is [\d.]+% \(95% interval", text)
    assert "lift" not in text
    cell = paper_table(table).loc["a", "n = 5"]
    assert cell.startswith(f"{100 * rate:.1f} [{100 * low:.1f}, {100 * high:.1f}")
    assert paper_table(table).attrs["caption"].startswith("True positive rate (%)")
    area = answered("area", average="macro", by="query")
    assert "macro average of the area under the ROC curve of a over 3 rankings" in in_words(area)


def test_groups_can_be_rows():
    table = answered("nbest_precision", n=4, by="query")
    cells = paper_table(table, rows="groups")
    assert list(cells.index) == [str(x) for x in table["query"].unique()]
    assert np.isin(cells.to_numpy(), paper_table(table).to_numpy()).all()
    with pytest.raises(ValueError, match="rows='groups' needs a table with groups"):
        paper_table(answered("area"), rows="groups")


VOTES = RANKING.rankeval(gold=["gold", "other"], measures=MEASURES)
#: a call, what its methods section says of it, and what it must not say
DONE = [
    (lambda: VOTES.nbest_precision(5), "majority vote of the annotators; omitted (21)", ""),
    (lambda: answered("per_query"), "A metric counts as 0 for a query in which", ""),
    (lambda: answered("per_query", min_grade=2), "Grades of at least 2 count as relevant", ""),
    (lambda: needed_candidates(0.4, 0.3, 0.5),
     "Fisher's exact test; level of 5%; requested power is 0.8; precisions of 0.4 and 0.3", ""),
    (lambda: answered("plan_annotation", budget=5), "level of 60%; limited to 5", "requested"),
    (lambda: answered("plan_annotation", precisions=(0.5, 0.2)), "precisions of 0.5 and 0.2", ""),
    (lambda: compare_accuracies(0.9, 0.8, 50, alternative="greater"),
     "unconditional exact test; one-sided (greater); One-sided Tango; level of 5%", ""),
    (lambda: answered("crossovers", bound="discrete"), "discrete bound; p = 0.6", "smallest"),
    (lambda: answered("crossovers"), "in a separate test at each n, without adjustment", ""),
    (lambda: RANKING.rankeval(gold="gold", measures=MEASURES).nbest_precision(5),
     "Pearson intervals for n-best lists (with the variance of the threshold) have", ""),
    (lambda: RANKING.rankeval(gold="gold", measures=MEASURES).nbest_precision(5, target="region"),
     "Pearson intervals for fixed thresholds have", "variance"),
    (lambda: RANKING.rankeval(gold="gold", measures=MEASURES).compare(n=[5, 8], adjust="max-t"),
     "Simultaneous intervals have", "the wider of"),
    (lambda: RANKING.rankeval(gold="gold", measures=MEASURES).judged_precision(5),
     "hypergeometric intervals for the unjudged candidates of these lists have", ""),
    (lambda: answered("random_bound", simultaneous=True), "jointly; hypergeometric", "single n"),
    (lambda: answered("random_test", groups="query"), "t test over the groups; one-sided", "hyper"),
    (lambda: answered("random_test", population="infinite"), "binomial tests", "level of"),
    (lambda: answered("area", groups="query"), "The data contain 3 clusters", ""),
    (lambda: answered("area", average="macro", by="query"), "Korn-Graubard", "Newcombe"),
    (lambda: answered("gain", n=5, interval="pointwise"), "Pointwise Clopper–Pearson", ""),
    (lambda: answered("nbest_precision", phi=2.5), "(overdispersion 2.5)", ""),
    (lambda: answered("repetition", details=False), "chi-squared; one-sided (greater)", "Clopper"),
    (lambda: answered("choose_threshold"), "One-sided Clopper; guaranteed recall of 0.5", ""),
    (lambda: answered("calibration"), "p-values are from; one-sided (greater)", "Differences"),
]  # fmt: skip


@pytest.mark.parametrize(("ask_it", "said", "unsaid"), DONE)
def test_a_methods_section_leaves_out_nothing_that_was_done(ask_it, said, unsaid):
    text = in_words(ask_it(), methods=True)
    for part in said.split("; "):
        assert part in text
    assert not unsaid or unsaid not in text


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_is_a_sentence_about_the_table(name):
    table = answered(name)
    caption = paper_table(table).attrs["caption"]
    assert caption.endswith(".")
    assert caption.lower() not in (f"{name.replace('_', ' ')}.", "mean metrics.")
    drawn = f"{table.attrs.get('n_resamples', 0):,} resamples (random seed"
    assert (drawn in caption) == ("n_resamples" in table.attrs)


def test_captions_side_by_side_say_once_what_holds_for_all():
    tables = {name: answered("compare_area", kind=name, adjust="holm") for name in ("roc", "ap")}
    caption = paper_table(tables).attrs["caption"]
    assert caption.startswith("roc: Difference in area under the ROC curve. ap: Difference in")
    assert caption.count("by Holm's method") == caption.count("intervals") == 1
    same = paper_table({"x": tables["ap"], "y": tables["ap"]}).attrs["caption"]
    assert same == paper_table(tables["ap"]).attrs["caption"]
    with pytest.raises(ValueError, match="tables have the same quantity"):
        paper_table([tables["ap"], tables["ap"]])


def test_averages_name_their_groups_and_spreads_have_the_unit_of_their_precision():
    """A mean over six samples did not say six, and 50.3 (%) stood beside a deviation of 0.0245."""
    told = in_words(answered("compare", average="macro", by="query"))
    assert re.search(r"; macro average over \d groups of query; p ", told)
    table = answered("repetition", details=False)
    cells = paper_table(table)
    for name in ("observed", "expected"):
        shown = cells[f"sd {name} (points)"].astype(float).to_numpy()
        np.testing.assert_allclose(shown, 100.0 * table[f"sd_{name}"], rtol=0.01)


def test_only_clusters_of_queries_are_sent_to_the_metrics_of_queries():
    for roles, is_sent in (({"groups": "query"}, False), ({"groups": "page", "by": "query"}, True)):
        data = RANKING.assign(page=np.arange(len(RANKING)) % 5)
        with pytest.raises(ValueError, match="assumes independent candidates") as error:
            data.rankeval(gold="gold", measures=MEASURES, **roles).crossovers()
        assert ("per_query" in str(error.value)) == is_sent


def test_words_of_results_that_were_false():
    """A curve was an area, a bound above its level beat chance, and 4 of 3 were significant."""
    assert "area" not in in_words(answered("roc", interval="pointwise"))
    assert "better than chance" not in in_words(answered("crossovers", bound="discrete"))
    assert "better than chance" in in_words(answered("crossovers"))
    bound = in_words(answered("random_bound", n=2, p=0.001))
    assert bound == "At n = 2, no number of true positives is significant at p = 0.001."
    table = answered("choose_threshold")
    cells = paper_table(table)["threshold"].str.replace("−", "-").astype(float)
    assert cells.to_numpy() == pytest.approx(table["threshold"].to_numpy(), rel=1e-3)
