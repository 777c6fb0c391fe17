"""A fifth of Evert's data judged at random: estimates and intervals.

Needs the environment variable RANKEVAL_PD_DATA. The truth is what the whole of the data has. Four
ways to choose who is judged, a fifth of all in each: all at one rate; twice the rate in the first
500 of either list, known or found from the window; and a rate that falls with the rank by G2. Four
minutes.
"""

import numpy as np

import rankeval_pd
from tests.simulations import study

SIZES = [100, 500, 1_000]
AT_ONCE = 100
RATE = 0.2


def designs(whole):
    """Return name, probability of every candidate, and what the functions are told."""
    best = whole[["G2", "chi2"]].rank(ascending=False, method="first").min(axis=1).to_numpy()
    one, twice = np.full(len(whole), RATE), np.where(best <= 500, 2.0, 1.0)
    twice *= RATE / twice.mean()
    falling = np.exp(-3.0 * whole["G2"].rank(ascending=False, method="first") / len(whole))
    falling = np.clip((falling * RATE / falling.mean()).to_numpy(), 0.02, 1.0)
    known, inverse = {"judged_with": "rate"}, {"estimator": "horvitz-thompson"}
    yield "one rate", one, {}
    yield "one rate, known", one, {**inverse, "judged_with": RATE}
    yield "twice in the top 500, known", twice, known
    yield "twice in the top 500, Horvitz-Thompson", twice, known | inverse
    yield "twice in the top 500, windows", twice, {"windows": [500]}
    yield "falling with the rank", falling, known
    yield "falling with the rank, Horvitz-Thompson", falling, known | inverse


def rows(samples=2_000):
    candidates = rankeval_pd.datasets.load_krenn_ppv()[["log.like", "chisq", "is.colloc"]]
    whole = candidates.set_axis(["G2", "chi2", "gold"], axis=1).reset_index(drop=True)
    data = whole.rename_axis("candidate").to_xarray()
    truth = _asked(data, {})
    for name, rate, told in designs(whole):
        rng = np.random.default_rng(1)
        found = {key: [] for key in truth}
        for _ in range(samples // AT_ONCE):
            judged = rng.random((AT_ONCE, rate.size)) < rate
            gold = np.where(judged, whole["gold"].astype(float), np.nan)
            some = data.assign(gold=(("repetition", "candidate"), gold))
            if told.get("judged_with") == "rate":
                some = some.assign(rate=("candidate", rate))
            for key, values in _asked(some, told).items():
                found[key].append(values)
        for key, parts in found.items():
            point, low, high = np.concatenate(parts, axis=1)
            true = truth[key][0, 0]
            yield {
                "judged": name, "what": key, "truth": true, "mean": np.nanmean(point),
                "se_of_mean": np.nanstd(point) / np.sqrt(samples),
                "covers": study.covers(low, high, true).mean(), "width": (high - low).mean(),
            }  # fmt: skip


def _asked(data, told):
    """Return estimate and limits of every figure: (3, repetition)."""
    ask = data.rankeval(gold="gold")
    both = told if "windows" in told else {**told, "measures": ["G2", "chi2"]}
    answers = {
        "precision of G2": (ask.judged_precision(SIZES, **both), "precision"),
        "recall of G2": (ask.judged_recall(SIZES, **both), "recall"),
        "G2 - chi2": (ask.judged_difference("G2", "chi2", SIZES, **told), "difference"),
    }
    found = {}
    for what, (table, column) in answers.items():
        table = table.isel(pair=0) if "pair" in table.dims else table.sel(measure="G2")
        for n in SIZES:
            part = table.sel(n=n)
            values = [np.atleast_1d(part[x].to_numpy()) for x in (column, "ci_low", "ci_high")]
            found[f"{what}, n = {n}"] = np.stack(values)
    return found
