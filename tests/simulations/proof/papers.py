"""Which numbers of the three papers reproduce?

Evert's data are read from RANKEVAL_PD_DATA or fetched. The cells of Macskassy's tables are those of
``tests/chance/test_macskassy_2005.py``.
"""

import functools
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

import rankeval_pd
from rankeval_pd import random_bound_for, random_pvalue
from rankeval_pd.errors import hushed
from tests.chance import test_macskassy_2005 as macskassy_tables
from tests.simulations.proof.pages import as_table, written
from tests.systems.test_studies import table as pairs_near

YES, NO, CLOSED = "reproduced", "not reproduced", "not computable"
TITLES = {
    "evert": "Evert (2004), significance tests for the evaluation of ranking methods",
    "macskassy": "Macskassy (2005), significance testing against the random model",
    "berg_kirkpatrick": "Berg-Kirkpatrick, Burkett and Klein (2012), significance in NLP",
}


class Number(NamedTuple):
    """A number of a paper: printed, computed anew, and what becomes of it."""

    where: str
    printed: str
    ours: str
    verdict: str
    because: str


def printed(paper, file="papers"):
    """Return what a paper prints, and why some of it does not reproduce, or cannot be computed."""
    table = pd.read_csv(Path(__file__).with_name(f"{file}.csv"), dtype=str, keep_default_na=False)
    return table[table["paper"] == paper].itertuples()


def checked(paper, found):
    """Return the numbers of a paper from what was found for each place.

    That is the number; or a text, whether the claim of the paper holds, and if need be why not.
    """
    for said in printed(paper):
        ours, *claim = np.atleast_1d(np.array(found.pop(said.where), dtype=object))
        holds, because = [*(claim or [ours == said.printed]), said.because][:2]
        yield verdict(said.where, said.printed, ours, holds, because)
    assert not found, "not printed in papers.csv"


def verdict(where, number, ours, holds, because):
    """Return a number that was checked; one that fails says why."""
    if not holds and not because:
        raise ValueError(f"{where}: {number} became {ours}, and nothing says why")
    return Number(where, number, ours, YES if holds else NO, "" if holds else because)


def closed(paper, because):
    return [Number(x.where, x.printed, "–", CLOSED, because) for x in printed(paper, "closed")]


def _percent(share, digits=1):
    return f"{100 * share:.{digits}f}%"


def evert():
    names = {"log.like": "G2", "t.score": "t", "chisq": "X2", "freq": "f"}
    frame = rankeval_pd.datasets.load_krenn_ppv().set_index(["PP", "verb"]).rename(columns=names)
    data = frame.rankeval(gold="is.colloc", measures=["G2", "t", "X2", "f"])
    n = range(100, 2001)
    table = data.nbest_precision(n, target="region")
    tp, low, high = (
        table.pivot(index="n", columns="measure", values=v)  # noqa: PD010
        for v in ("tp", "ci_low", "ci_high")
    )
    at = data.compare("t", "G2", 800, target="region").iloc[0]
    more = int(at["tp_only_a"] - at["tp_only_b"])
    behind = tp.index[tp["G2"] <= tp["t"]]
    since = int(behind.max()) + 1 if len(behind) else n[0]
    best = tp[["G2", "t"]].min(axis=1)
    both, superior = best > tp["X2"], best > tp["f"]
    above = (low[["G2", "X2"]] > frame["is.colloc"].mean()).all(axis=1)
    apart = low.index[low["G2"] > high["X2"]]
    first = data.significant_ranges("G2", "X2", n).iloc[0]
    together = data.significant_ranges("G2", "X2", n, adjust="max-t")
    jointly = (f"{a} to {b}" for a, b in together[["n_first", "n_last"]].to_numpy() if b > a)
    interval = rankeval_pd.precision_interval(200, 500)
    ratios = [0.057 / 0.044, 0.066 / 0.047]
    twelve, nine = (rankeval_pd.coverage_for(k, 80, 0.05) for k in (12, 9))
    found = {
        "section 1, candidates": str(len(frame)),
        "section 1, figure 1, baseline": _percent(frame["is.colloc"].mean(), 2),
        "section 1, G² and t are the best": (
            f"both above X² at {_sizes(both)} sizes, above f at every n",
            both.all(), f"t first falls short at n = {int(both.index[~both].min()):,}",
        ),
        "section 1, t marginally better": (
            f"{more} true positives ahead at 800, p = {at['p_value']:.3f}",
            at["precision_a"] > at["precision_b"],
        ),
        "section 1, G² better": (f"ahead at every n ≥ {since}", since <= 1500),
        'section 1, G² and t "by far superior" to f': (
            f"at {_sizes(superior)} sizes", superior.all(),
        ),
        "section 2, footnote 8, 5% point of the normal distribution": (
            f"{stats.norm.isf(0.05):.2f}", False, f"the value is {stats.norm.isf(0.05):.4f}",
        ),
        "section 3.2, lower limit for 200 of 500": _percent(interval.ci_low),
        "section 3.2, upper limit for 200 of 500": _percent(interval.ci_high),
        "figure 2, both above the baseline": (f"at {_sizes(above)} sizes", above.all()),
        "figure 2, the intervals of G² and X² overlap": (
            f"no overlap at {len(apart)} sizes from {apart.min()} to {apart.max()}", apart.empty,
        ),
        "figure 3, G² significantly better than X²": (
            f"in separate tests: at every n from {first['n_first']} to {first['n_last']}",
            first["n_first"] == 100 and first["n_last"] >= 1250,
        ),
        "figure 3, as a single claim for all n": (
            f"all n jointly (max-t): {', '.join(jointly)}", False,
        ),
        "section 4, s is larger than σ": (
            " and ".join(f"{100 * (x - 1):.0f}%" for x in ratios),
            all(1.2 <= round(x, 1) <= 1.4 for x in ratios),
        ),
        "section 4, expected failures in 80 intervals": f"{0.05 * 80:.0f}",
        "section 4, 12 failures in 80": (f"p = {twelve:.6f}", twelve < 0.001),
        "section 4, 9 failures in 80": (f"p = {nine:.4f}", False),
    }  # fmt: skip
    return [*checked("evert", found), *closed("evert", "the 80 samples were never published")]


def _sizes(holds):
    return f"{int(holds.sum()):,} of {len(holds):,}"


PAPERS_READ = {"n_candidates": 117, "n_positive": 47}
TEXT = [  # sizes that a cell was made with, and those that the paper's text gives
    ({"prior": 0.1862}, macskassy_tables.STOCKS),
    (macskassy_tables.HYPERTEXT, PAPERS_READ),
    (macskassy_tables.BENCHMARKS, {"n_candidates": 8269, "n_positive": 3308}),
    ({"prior": 0.0701}, macskassy_tables.AAAI),
]


def macskassy():
    """Return the cells of tables 2 to 4, from the sizes of the text, and the claims of the text."""
    because = "the rankings of the stories were never published"
    return [*_cells(), *checked("macskassy", _claims()), *closed("macskassy", because)]


def _cells():
    for cell in macskassy_tables.cells():
        given = next((text for made, text in TEXT if made == cell.size), cell.size)
        if cell.table == 3 and cell.tp == 5.7:
            given = PAPERS_READ
        what = f"p = {cell.p:g}" if cell.p is not None else f"p for {cell.tp:g}"
        where = f"table {cell.table}, k = {cell.n}, {what}, {'/'.join(cell.kinds)}"
        ours = cell._replace(size=given).ours()
        reason = f"reproduced with {_said(cell.size)}, not with {_said(given)}"
        assert cell.ours() == cell.printed
        yield verdict(where, cell.printed, ours, cell.printed == ours, reason)


def _said(size):
    if "prior" in size:
        return f"a proportion of {size['prior']:g}"
    return f"{size['n_positive']:,} of {size['n_candidates']:,}"


def _claims():
    """Return what is found for the claims of the text."""
    stocks = macskassy_tables.STOCKS
    found = {
        f"table 2, prior, k = {k}": f"{random_bound_for(0.5, k, **stocks).loc[0, 'expected']:.2f}"
        for k in (5, 10, 20, 100)
    }
    found |= {f"table 4, prior, k = {k}": f"{k * 18 / 256:.2f}" for k in (10, 30)}
    found["table 3, prior, 117 papers"] = f"{10 * 47 / 117:.1f}"
    found["section 3.1, P(+)"] = f"{3123 / 16769:.3f}"
    figure = random_bound_for(0.5, 20, n_candidates=200, n_positive=40).loc[0]
    for kind, digits in (("discrete", 0), ("interpolated", 2), ("parametric", 2)):
        found[f"figure 1, {kind} bound"] = f"{figure[kind]:.{digits}f}"
    rare = random_pvalue(1, 10, n_candidates=10**6, n_positive=100)
    where = "section 3.1, one positive among 10, if 100 of 10⁶ are positive"
    found[where] = f"{rare:.5f}", rare <= 0.001
    tried = (0.1, 0.18, 0.19, 0.5, 0.8)
    most = max(p for p in tried if random_bound_for(p, 1, **stocks).loc[0, "discrete"] == 1)
    listed = f"up to {most:g} (tried: {', '.join(map(str, tried))})"
    found["section 2.1, n(1, p) = 1 for p < N⁻/N"] = listed, most == 0.8
    for what, tp, k in (("Rocchio", 5, 10), ("Maximum Entropy", 9, 20)):
        p = random_pvalue(tp + 1, k, **stocks, method="discrete")
        found[f"section 3.2, {what}, k = {k}"] = f"{p:.3f}"
    for tp in (5.7, 5.9):
        p = random_pvalue(tp + 1, 10, **PAPERS_READ, method="interpolated")
        found[f"section 3.2, interpolated p for {tp}"] = f"{p:.3f}"
    found["section 3.1, documents in ten benchmarks"] = "8269 in table 3", False
    for population in ("infinite", "finite"):
        bound = random_bound_for(1e-17, 486, **stocks, population=population).loc[0, "discrete"]
        where = f"section 3.3, Rocchio's crossover at 1e-17, k = 486, {population} population"
        found[where] = f"{bound:.0f}"
    many = random_pvalue(5.65, 10, **PAPERS_READ, n_queries=15)
    found["table 3, a mean of 15 reviewers tested as one list"] = f"{many:.1e}", False
    return found


def berg_kirkpatrick():
    noise = np.sqrt(0.05 * 0.95 / 1e6)
    slope = np.log(3.00 / 0.22) / np.log(24_000 / 100)
    near = pairs_near([0.05] * 47, np.arange(1.0, 48.0))
    with hushed("the window contains"):
        threshold = rankeval_pd.gain_threshold(near, ci="order").iloc[0]
    ends = bool(np.isfinite(threshold["threshold_high"]))
    found = {
        "figure 1, 10⁶ resamples are enough": (f"error {noise:.4f} at p = 0.05", noise < 1e-3),
        "section 4.2, tests with the right sign": _percent(869 / 942, 0),
        "section 3.1.1, a threshold from 47 comparisons": (
            f"the 95% interval starts at gain {threshold['threshold_low']:.0f} and has"
            f" {'an' if ends else 'no'} upper limit",
            ends,
        ),
        "section 4.1, thresholds fall with the square root of the size": (
            f"{slope:.3f}, from 3.00 at 100 and 0.22 at 24,000 sentences", abs(slope - 0.5) < 0.05,
        ),
    }  # fmt: skip
    for share, where in (("83%", "section 22"), ("71%", "section 24"), ("48%", "Brown")):
        fitting = [f"{k} of 58" for k in range(59) if _percent(k / 58, 0) == share]
        where = f"section 4.2, proportion of 58 pairs, {where}"
        found[where] = " or ".join(fitting) or "no count of 58", bool(fitting)
    because = "the systems' outputs were not published"
    return [*checked("berg_kirkpatrick", found), *closed("berg_kirkpatrick", because)]


PAPERS = {"evert": evert, "macskassy": macskassy, "berg_kirkpatrick": berg_kirkpatrick}


@functools.cache
def _numbers():
    with rankeval_pd.set_options(details=True):
        return {name: paper() for name, paper in PAPERS.items()}


def _section(name, found):
    """Return the section of a paper: all its numbers, those that do not reproduce first."""
    table = pd.DataFrame(found)
    order = [(NO, CLOSED, YES).index(verdict) for verdict in table["verdict"]]
    table = table.iloc[np.argsort(order, kind="stable")]
    shown = table.rename(columns={"verdict": "result", "because": "reason"})
    return f"({name.replace('_', '-')})=\n## {TITLES[name]}\n\n{as_table(shown)}"


def page():
    counts = [
        {"paper": f"[{TITLES[name]}](#{name.replace('_', '-')})"}
        | {verdict: Counter(x.verdict for x in found)[verdict] for verdict in (YES, NO, CLOSED)}
        for name, found in _numbers().items()
    ]
    sections = "\n\n".join(_section(name, found) for name, found in _numbers().items())
    return written("papers", counts=as_table(pd.DataFrame(counts)), sections=sections)
