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
from tests.chance import test_macskassy_2005 as macskassy_tables
from tests.simulations.proof.pages import as_table, beside, led_to, opening, versions
from tests.systems.test_studies import table as pairs_near

YES, NO, CLOSED = "reproduced", "not reproduced", "not computable"
TITLES = {
    "evert": "Evert (2004), significance tests for the evaluation of ranking methods",
    "macskassy": "Macskassy (2005), significance testing against the random model",
    "berg_kirkpatrick": "Berg-Kirkpatrick, Burkett and Klein (2012), significance in NLP",
}
GUIDES = {
    "evert": "evert2004.md",
    "macskassy": "macskassy2005.md",
    "berg_kirkpatrick": "digits_study.md",
}


class Number(NamedTuple):
    """A number of a paper: printed, computed anew, and what becomes of it."""

    where: str
    printed: str
    ours: str
    verdict: str
    because: str


def equal(where, printed, ours, because=""):
    """Return a number that reproduces where the digits are the same."""
    return claim(where, printed, ours, printed == ours, because)


def claim(where, printed, ours, holds, because=""):
    """Return a claim that was checked; one that fails says why."""
    if not holds and not because:
        raise ValueError(f"{where}: {printed} became {ours}, and nothing says why")
    return Number(where, printed, ours, YES if holds else NO, "" if holds else because)


def closed(paper, because):
    table = pd.read_csv(Path(__file__).with_name("closed.csv"), dtype=str)
    mine = table[table["paper"] == paper]
    return [Number(x.where, x.printed, "–", CLOSED, because) for x in mine.itertuples()]


def _percent(share, digits=1):
    return f"{100 * share:.{digits}f}%"


# ------------------------------------------------------------------------------------------- Evert


def evert():
    names = {"log.like": "G2", "t.score": "t", "chisq": "X2", "freq": "f"}
    frame = rankeval_pd.datasets.load_krenn_ppv().set_index(["PP", "verb"]).rename(columns=names)
    data = frame.rankeval(gold="is.colloc", measures=["G2", "t", "X2", "f"])
    n = range(100, 2001)
    table = data.nbest_precision(n)
    tp, low, high = (
        table.pivot(index="n", columns="measure", values=v)  # noqa: PD010
        for v in ("tp", "ci_low", "ci_high")
    )
    baseline = float(frame["is.colloc"].mean())
    at = data.compare("t", "G2", 800).iloc[0]
    ahead = tp.index[(tp["G2"] > tp["t"])]
    both = (tp["G2"] > tp["X2"]) & (tp["t"] > tp["X2"])
    apart = low.index[low["G2"] > high["X2"]]
    first = data.significant_ranges("G2", "X2", n).iloc[0]
    together = data.significant_ranges("G2", "X2", n, adjust="max-t")
    interval = rankeval_pd.precision_interval(200, 500)
    ratios = [0.057 / 0.044, 0.066 / 0.047]
    return [
        equal("section 1, candidates", "5102", str(len(frame))),
        equal("section 1, figure 1, baseline", "11.09%", _percent(baseline, 2)),
        claim(
            "section 1, G² and t are the best", "n = 100 to 2000",
            f"both above X² at {int(both.sum()):,} of {len(both):,} sizes, above f at every n",
            bool(both.all()), f"t first falls short at n = {int(both.index[~both].min()):,}",
        ),
        claim(
            "section 1, t marginally better", "n ≈ 800",
            f"{int(at['tp_only_a'] - at['tp_only_b'])} true positives ahead at 800,"
            f" p = {at['p_value']:.3f}",
            bool(at["precision_a"] > at["precision_b"]),
        ),
        claim(
            "section 1, G² better", "n ≥ 1500", f"ahead at every n ≥ {_since(ahead, n)}",
            _since(ahead, n) <= 1500,
        ),
        claim(
            'section 1, G² and t "by far superior" to f', "n = 100 to 2000",
            f"at {int(((tp['G2'] > tp['f']) & (tp['t'] > tp['f'])).sum()):,} of {len(tp):,} sizes",
            bool(((tp["G2"] > tp["f"]) & (tp["t"] > tp["f"])).all()),
        ),
        equal(
            "section 2, footnote 8, 5% point of the normal distribution", "1.65",
            f"{stats.norm.isf(0.05):.2f}",
            f"the value is {stats.norm.isf(0.05):.4f}",
        ),
        equal("section 3.2, lower limit for 200 of 500", "35.7%", _percent(interval.ci_low)),
        equal("section 3.2, upper limit for 200 of 500", "44.4%", _percent(interval.ci_high)),
        claim(
            "figure 2, both above the baseline", "every n",
            f"at {int((low[['G2', 'X2']] > baseline).all(axis=1).sum()):,} of {len(low):,} sizes",
            bool((low[["G2", "X2"]] > baseline).all(axis=None)),
        ),
        claim(
            "figure 2, the intervals of G² and X² overlap", "every n",
            f"no overlap at {len(apart)} sizes from {apart.min()} to {apart.max()}", apart.empty,
            "the lower limit for G² is above the upper limit for X²",
        ),
        claim(
            "figure 3, G² significantly better than X²", "up to n = 1250",
            f"in separate tests: at every n from {first['n_first']} to {first['n_last']}",
            bool(first["n_first"] == 100 and first["n_last"] >= 1250),
        ),
        claim(
            "figure 3, as a single claim for all n", "up to n = 1250",
            "all n jointly (max-t): " + ", ".join(
                f"{a} to {b}" for a, b in together[["n_first", "n_last"]].to_numpy() if b > a
            ),
            False, "Evert (2004) tests each n separately",
        ),
        claim(
            "section 4, s is larger than σ", "20% to 40%",
            " and ".join(f"{100 * (x - 1):.0f}%" for x in ratios),
            all(1.2 <= round(x, 1) <= 1.4 for x in ratios),
        ),
        equal("section 4, expected failures in 80 intervals", "4", f"{0.05 * 80:.0f}"),
        claim(
            "section 4, 12 failures in 80", "p < .001",
            f"p = {rankeval_pd.coverage_for(12, 80, 0.05):.6f}",
            bool(rankeval_pd.coverage_for(12, 80, 0.05) < 0.001),
        ),
        claim(
            "section 4, 9 failures in 80", "not called significant",
            f"p = {rankeval_pd.coverage_for(9, 80, 0.05):.4f}", False,
            "9 failures are significant at the 5% level",
        ),
        *closed("evert", "the 80 samples were never published"),
    ]  # fmt: skip


def _since(ahead, n):
    """Return the first n from which a measure is ahead at all the rest."""
    behind = sorted(set(n) - set(ahead))
    return behind[-1] + 1 if behind else n[0]


# --------------------------------------------------------------------------------------- Macskassy

TEXT = [  # sizes that a cell was made with, and those that the paper's text gives
    ({"prior": 0.1862}, macskassy_tables.STOCKS),
    (macskassy_tables.HYPERTEXT, {"n_candidates": 117, "n_positive": 47}),
    (macskassy_tables.BENCHMARKS, {"n_candidates": 8269, "n_positive": 3308}),
    ({"prior": 0.0701}, macskassy_tables.AAAI),
]


def macskassy():
    """Return the cells of tables 2 to 4, from the sizes of the text, and the claims of the text."""
    return [*_cells(), *_claims()]


def _cells():
    for cell in macskassy_tables.cells():
        given = next((text for made, text in TEXT if made == cell.size), cell.size)
        if cell.table == 3 and cell.tp == 5.7:
            given = TEXT[1][1]
        what = f"p = {cell.p:g}" if cell.p is not None else f"p for {cell.tp:g}"
        kinds = "/".join(cell.kinds)
        ours = cell._replace(size=given).ours()
        reason = f"reproduced with {_said(cell.size)}, not with {_said(given)}"
        assert cell.ours() == cell.printed
        yield equal(
            f"table {cell.table}, k = {cell.n}, {what}, {kinds}", cell.printed, ours, reason
        )


def _said(size):
    if "prior" in size:
        return f"a proportion of {size['prior']:g}"
    return f"{size['n_positive']:,} of {size['n_candidates']:,}"


def _claims():
    stocks = macskassy_tables.STOCKS
    papers = {"n_candidates": 117, "n_positive": 47}
    for k, printed in ((5, "0.93"), (10, "1.86"), (20, "3.72"), (100, "18.62")):
        expected = random_bound_for(0.5, k, **stocks).loc[0, "expected"]
        yield equal(f"table 2, prior, k = {k}", printed, f"{expected:.2f}")
    for k, printed in ((10, "0.70"), (30, "2.10")):
        yield equal(
            f"table 4, prior, k = {k}", printed, f"{k * 18 / 256:.2f}",
            "reproduced with a proportion of 0.07, not with 18 of 256",
        )  # fmt: skip
    share = 10 * papers["n_positive"] / papers["n_candidates"]
    yield equal("table 3, prior, 117 papers", "4.0", f"{share:.1f}")
    yield equal("section 3.1, P(+)", "0.186", f"{3123 / 16769:.3f}")
    figure = random_bound_for(0.5, 20, n_candidates=200, n_positive=40).loc[0]
    for kind, printed in (("discrete", "4"), ("interpolated", "3.43"), ("parametric", "3.40")):
        found = f"{figure[kind]:.0f}" if kind == "discrete" else f"{figure[kind]:.2f}"
        yield equal(f"figure 1, {kind} bound", printed, found)
    rare = {"n_candidates": 10**6, "n_positive": 100}
    one = random_pvalue(1, 10, **rare)
    yield claim(
        "section 3.1, one positive among 10, if 100 of 10⁶ are positive",
        "p = 0.001",
        f"{one:.5f}",
        one <= 0.001,
    )
    most = max(
        p
        for p in (0.1, 0.18, 0.19, 0.5, 0.8)
        if random_bound_for(p, 1, **stocks).loc[0, "discrete"] == 1
    )
    yield claim(
        "section 2.1, n(1, p) = 1 for p < N⁻/N", f"p < {1 - 3123 / 16769:.2f}",
        f"up to {most:g} (tried: 0.1, 0.18, 0.19, 0.5, 0.8)", most == 0.8,
        "the equation is correct for p ≤ N⁺/N",
    )  # fmt: skip
    for what, tp, k, printed in (("Rocchio", 5, 10, "0.025"), ("Maximum Entropy", 9, 20, "0.006")):
        found = random_pvalue(tp, k, **stocks, method="discrete", strict=True)
        yield equal(
            f"section 3.2, {what}, k = {k}", printed, f"{found:.3f}",
            "the text contradicts table 2, which can be reproduced",
        )  # fmt: skip
    for tp, printed in ((5.7, "0.081"), (5.9, "0.059")):
        found = random_pvalue(tp, 10, **papers, method="interpolated", strict=True)
        yield equal(f"section 3.2, interpolated p for {tp}", printed, f"{found:.3f}")
    yield claim(
        "section 3.1, documents in ten benchmarks", "8629", "8269 in table 3", False,
        "two digits are transposed",
    )  # fmt: skip
    for population in ("infinite", "finite"):
        bound = random_bound_for(1e-17, 486, **stocks, population=population).loc[0, "discrete"]
        yield equal(
            f"section 3.3, Rocchio's crossover at 1e-17, k = 486, {population} population", "170",
            f"{bound:.0f}", "170 is the bound for an infinite population",
        )  # fmt: skip
    many = rankeval_pd.random_pvalue_mean(5.7, 10, **papers, n_queries=15, decimals=1)
    yield claim(
        "table 3, a mean of 15 reviewers tested as one list", "0.079", f"{many:.1e}", False,
        "a mean of 15 lists varies less than a single list",
    )  # fmt: skip
    yield from closed("macskassy", "the rankings of the stories were never published")


# -------------------------------------------------------------------------------- Berg-Kirkpatrick


def berg_kirkpatrick():
    noise = np.sqrt(0.05 * 0.95 / 1e6)
    slope = np.log(3.00 / 0.22) / np.log(24_000 / 100)
    threshold = rankeval_pd.gain_threshold(pairs_near([0.05] * 47, np.arange(1.0, 48.0))).iloc[0]
    ends = bool(np.isfinite(threshold["threshold_high"]))
    found = [
        claim(
            "figure 1, 10⁶ resamples are enough", "p stabilizes",
            f"error {noise:.4f} at p = 0.05", noise < 1e-3,
        ),
        equal("section 4.2, tests with the right sign", "92%", _percent(869 / 942, 0)),
        claim(
            "section 3.1.1, a threshold from 47 comparisons", "95th percentile",
            f"the 95% interval starts at gain {threshold['threshold_low']:.0f} and has"
            f" {'an' if ends else 'no'} upper limit",
            ends, "an upper limit requires 72 gains",
        ),
        claim(
            "section 4.1, thresholds fall with the square root of the size", "slope 1/2",
            f"{slope:.3f}, from 3.00 at 100 and 0.22 at 24,000 sentences", abs(slope - 0.5) < 0.05,
        ),
    ]  # fmt: skip
    for printed, where in (("83%", "section 22"), ("71%", "section 24"), ("48%", "Brown")):
        fitting = [k for k in range(59) if _percent(k / 58, 0) == printed]
        found.append(
            claim(
                f"section 4.2, proportion of 58 pairs, {where}", printed,
                " or ".join(f"{k} of 58" for k in fitting) or "no count of 58", bool(fitting),
                "no whole number of pairs",
            )
        )  # fmt: skip
    return [*found, *closed("berg_kirkpatrick", "the systems' outputs were not published")]


# -------------------------------------------------------------------------------------------- page

PAPERS = {"evert": evert, "macskassy": macskassy, "berg_kirkpatrick": berg_kirkpatrick}


CELLS = 3  # of a table: more are counted here, and shown on the page that is named


def _listed(numbers):
    """Return a line for each table or section: where in it, and what is printed, or how many."""
    lines = {}
    for row in numbers.itertuples():
        parts = str(row.where).split(", ")
        first = max(1, min(2, len(parts) - 1))
        where, rest = ", ".join(parts[:first]), ", ".join(parts[first:])
        note = f" ({row.note})" if row.note else ""
        lines.setdefault(where, []).append(f"{rest}: {row.printed}{note}".removeprefix(": "))
    return "\n".join(
        f"* **{where}**: "
        + (f"{len(x)} numbers" if len(x) > CELLS and where.startswith("table") else "; ".join(x))
        for where, x in lines.items()
    )


def _closed(numbers):
    why = numbers["because"].str.partition("; ")
    (reason,) = why[0].unique()
    return [f"{reason[0].upper()}{reason[1:]}.", _listed(numbers.assign(note=why[2]))]


def _reproduced(numbers):
    """Return numbers with the same digits as a list, and claims as a table."""
    same = numbers["printed"] == numbers["ours"]
    claims = as_table(numbers.loc[~same, ["where", "printed", "ours"]])
    if not same.any():
        return [claims]
    listed = ["These numbers agree to every printed digit:", _listed(numbers[same].assign(note=""))]
    return [*listed, claims] if not same.all() else listed


BESIDE = {"reproduced": "Published numbers that can be reproduced",
          "closed": "Published numbers that cannot be computed"}  # fmt: skip


@functools.cache
def _numbers():
    with rankeval_pd.set_options(details=True):
        return {name: paper() for name, paper in PAPERS.items()}


def _sections(verdict, title):
    """Return a section a paper of its numbers with a verdict."""
    parts = []
    for name, found in _numbers().items():
        table = pd.DataFrame(found)
        mine = table[table["verdict"] == verdict]
        label = f"({name.replace('_', '-')})=\n" * (verdict == NO)
        guide = f" A separate page recomputes [every cell](../{GUIDES[name]}) in the tables."
        more = guide * (verdict == YES and name == "macskassy")
        if verdict == CLOSED and name == "berg_kirkpatrick":
            more = " [Calibration](../../explanation/gains.md#calibration) compares table 1 with"
            more += " the agreement expected without a domain shift."
        count = f"{len(mine)} number{'s' * (len(mine) != 1)} {title}."
        parts += [f"{label}## {TITLES[name]}", count + more]
        if verdict == NO:
            parts.append(
                as_table(mine.drop(columns="verdict").rename(columns={"because": "reason"}))
            )
        else:
            parts += _closed(mine) if verdict == CLOSED else _reproduced(mine)
    return parts


def page():
    counts = pd.DataFrame(
        [
            {"paper": f"[{TITLES[name]}](#{name.replace('_', '-')})"}
            | {verdict: Counter(x.verdict for x in found)[verdict] for verdict in (YES, NO, CLOSED)}
            for name, found in _numbers().items()
        ]
    )
    parts = [
        opening(
            "papers",
            "Published numbers in three papers",
            "We recomputed every number in the papers that can be checked. This page"
            " explains each number that could not be reproduced. Two pages list the other numbers:",
            led_to("papers", BESIDE),
            "For the figures, see the pages on [Evert](evert2004.md), [Macskassy](macskassy2005.md)"
            " and [Berg-Kirkpatrick et al.](digits_study.md).",
        ),
        versions("numpy", "pandas", "scipy"),
        as_table(counts),
        *_sections(NO, "could not be reproduced"),
    ]
    return "\n\n".join(parts) + "\n"


def topics():
    parts = {
        "reproduced": _sections(YES, "could be reproduced"),
        "closed": _sections(CLOSED, "cannot be computed"),
    }
    return {
        name: "\n\n".join([beside("papers", BESIDE[name]), *sections]) + "\n"
        for name, sections in parts.items()
    }
