"""A fifth of Evert's data judged at random: estimates and intervals."""

import warnings
from functools import cache, partial
from itertools import islice, product

import numpy as np
import pandas as pd

import rankeval_pd
from rankeval_pd.judging import judged as judged_lists
from rankeval_pd.judging.annotation import _sample_sizes, _smallest_sample, _State
from rankeval_pd.stats import clusters as agreement
from rankeval_pd.stats.judged import Design
from rankeval_pd.stats.two_by_two import fisher_test
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
    yield "one rate", one, {}
    yield "twice in the top 500, known", twice, {"judged_with": "rate"}
    yield "falling with the rank", falling, {"judged_with": "rate"}


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
            covers = study.covers(low, high, true).mean()
            error = np.nanstd(point) / np.sqrt(samples)
            yield name, key, true, np.nanmean(point), error, covers, (high - low).mean()


def _asked(data, told):
    """Return estimate and limits of every figure: (3, repetition)."""
    ask = data.rankeval(gold="gold")
    both = {**told, "measures": ["G2", "chi2"]}
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


POPULATIONS, SAMPLES = 100, 20
HOW = ("10 groups", "20 groups", "a third of each")
DESIGN = Design(1, "estimate", 0.95)


def population(groups, kind, icc, rng):
    """Return labels, two rows of scores, and groups."""
    size = np.full(groups, 20) if kind == "equal" else rng.integers(3, 51, groups)
    cluster = np.repeat(np.arange(groups), size)
    gold, common, a, b = (study.together(rng, cluster, icc) for _ in range(4))
    gold = study.upper_quarter(gold)
    return gold, np.stack([common + a + gold, common + b + 0.6 * gold]), cluster


def answers(gold, score, cluster, judged, n):
    """Return estimates and limits, (3, sample), where these (sample, candidate) are judged."""
    label = gold & judged
    rankings = [study.ranking(np.broadcast_to(x, label.shape), label) for x in score]
    judgments = judged_lists.Judgments(
        judged=judged, probability=np.ones(gold.size), cluster=cluster, design=DESIGN,
        stratum=np.zeros(gold.size, dtype=np.int64), asked=n,
    )  # fmt: skip
    found = {
        name: judged_lists.judged_list_columns(
            rankings[0], None, n=n, judgments=judgments, quantity=name
        )
        for name in ("precision", "recall")
    }
    found["difference"] = judged_lists.region_columns(*rankings, judgments, n)
    return {
        f"judged_{name}": np.array([columns[x][..., 0] for x in (name, "ci_low", "ci_high")])
        for name, columns in found.items()
    }


def judged_clusters_rows(*named):
    """Rankings judged in part whose candidates belong together: coverage with ``groups``."""
    for groups, kind, icc in product((30, 60), ("equal", "3 to 50"), (0.3, 0.8)):
        there = f"{groups} groups, {kind}, icc {icc}"
        if named and there not in named:
            continue
        rng, found = np.random.default_rng(3), {}
        for _ in range(POPULATIONS):
            gold, score, cluster = population(groups, kind, icc, rng)
            n, every = np.array([round(0.2 * gold.size)]), np.ones((1, gold.size), dtype=bool)
            true = answers(gold, score, None, every, n)
            for how in HOW:
                judged = np.array([_drawn(how, cluster, rng) for _ in range(SAMPLES)])
                both = [answers(gold, score, x, judged, n) for x in (cluster, None)]
                for name, truth in true.items():
                    parts = [np.broadcast_to(truth[:1], (1, SAMPLES)), *(x[name] for x in both)]
                    found.setdefault((name, how), []).append(np.concatenate(parts))
        for (name, how), parts in found.items():
            truth, value, low, high, _, *alone = np.concatenate(parts, axis=1)
            just = np.quantile(np.nan_to_num(study.just(value, low, high, truth)), 0.95)
            covers, without = (np.mean(study.covers(*x, truth)) for x in ((low, high), alone))
            setting = f"{there}, judged {how}"
            yield name, setting, covers, without, 1.0 / max(float(just), 1e-12), truth.size


def _drawn(how, cluster, rng):
    """Return who is judged of one sample."""
    if how == "a third of each":
        return np.asarray(rng.random(cluster.size) < 1.0 / 3.0)
    drawn = rng.choice(int(cluster.max()) + 1, int(how.split()[0]), replace=False)
    return np.isin(cluster, drawn)


VOTED, MORE = 2_000, 10_000
CALLS = 50
N = [20, 50, 100]


def drawn(kappa, base, size, rng, samples, annotators=5):
    """Return votes (sample, annotator, candidate) and the standardized probability of each."""
    a, b = base * (1 - kappa) / kappa, (1 - base) * (1 - kappa) / kappa
    probability = rng.beta(a, b, size=(samples, size))
    votes = rng.random((samples, annotators, size)) < probability[:, np.newaxis]
    return votes, (probability - base) / np.sqrt(base * (1 - base) * kappa)


def rankings(kappa, base, qualities, samples, size=500):
    rng = np.random.default_rng(1)
    votes, latent = drawn(kappa, base, size, rng, samples)
    found = study.alike(rng, latent.shape, [quality * latent for quality in qualities])
    scores = {f"m{k}": score for k, score in enumerate(found)}
    gold = ("sample", "annotator", "candidate"), votes
    return study.dataset(scores, votes[:, 0]).assign(gold=gold)


def compared(kappa, base, qualities, samples=VOTED):
    data = rankings(kappa, base, qualities, samples)
    table = data.rankeval.compare("m0", "m1", N).isel(pair=0)
    width = (table["ci_high"] - table["ci_low"]).mean("sample") / table["difference"].std("sample")
    equal = qualities[0] == qualities[1]
    each = (data.isel(sample=k).rankeval for k in range(CALLS))
    warned = study.warned(lambda x=x: x.compare("m0", "m1", N) for x in each)
    for n in N:
        row = table.sel(n=n)
        yield {
            "what": "compare, majority", "setting": f"base rate {base}, qualities {qualities}",
            "kappa": kappa, "n": n, "samples": samples,
            "size": study.rejected(row) if equal else np.nan,
            "coverage": study.held(row, 0.0 if equal else float(row["difference"].mean())),
            "width": float(width.sel(n=n) / 3.92),
            "warned": warned,
        }  # fmt: skip


def coefficients(kappa, base, size, samples=VOTED):
    votes, _ = drawn(kappa, base, size, np.random.default_rng(1), samples)
    answers = {}
    for sample in votes.astype(np.int64):
        counts = np.stack([(sample == k).sum(axis=0) for k in (0, 1)], axis=1)
        for name, found in (
            ("Cohen's kappa", agreement.cohen_kappa(sample[0], sample[1], 0.95)),
            ("Fleiss' kappa", agreement.fleiss_kappa(counts, 0.95)),
            ("Krippendorff's alpha", agreement.krippendorff_alpha(counts, 0.95)),
        ):
            if not np.isnan(found.ci_low):
                answers.setdefault(name, []).append((found.value, found.ci_low, found.ci_high))
    for name, known in answers.items():
        value, low, high = np.array(known).T
        yield {
            "what": name, "setting": f"base rate {base}", "kappa": kappa, "n": size,
            "samples": len(known), "size": np.nan,
            "coverage": float(study.covers(low, high, kappa).mean()),
            "width": 1.0 / np.quantile(study.just(value, low, high, kappa), 0.95), "warned": 0.0,
        }  # fmt: skip


def annotators_rows(samples=VOTED):
    """Five annotators: size and coverage of comparisons, and coverage of coefficients."""
    for kappa in (0.4, 0.6, 0.8):
        for qualities in ((0.7, 0.7), (1.0, 0.5)):
            found = list(compared(kappa, 0.3, qualities, samples))
            if any(row["coverage"] < 0.93 or row["size"] > 0.06 for row in found):
                found = list(compared(kappa, 0.3, qualities, MORE))
            yield from found
    for base in (0.5, 0.2, 0.1):
        for kappa in (0.4, 0.6, 0.8):
            for size in (30, 100, 400):
                yield from coefficients(kappa, base, size, samples)


PLANS, IN_RANGE = 2_000, 400


def planned(call, *asked, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        row = call(*asked, **options).iloc[0]
    return row, bool(found)


def regions(size, seen, budget, kind):
    """Plan by plan_annotation, lists of which nothing is shared."""
    rng = np.random.default_rng(1)
    where = [rng.permutation(size)[:seen] for _ in range(2)]

    @cache
    def plan(tp_a, tp_b):
        if kind == "naive":
            state = _State(size, (seen, seen), (tp_a, tp_b), (tp_a / seen, tp_b / seen))
            reached = partial(state.power, 0.05)
            more = _smallest_sample(reached, 0.8, 2 * (size - seen)) if budget is None else budget
            return more, reached(more), np.nan, np.nan, False
        gold = np.full((2, size), np.nan)
        for side, tp in enumerate((tp_a, tp_b)):
            gold[side, where[side]] = np.arange(seen) < tp
        score = np.arange(2.0 * size)
        data = pd.DataFrame({"a": -score, "b": score, "gold": gold.ravel()})
        row, told = planned(data.rankeval.plan_annotation, "a", "b", size, budget=budget)
        return int(row["n_more"]), *row[["power", "power_low", "power_high"]], told

    rng = np.random.default_rng(2)
    true = rng.binomial(size, rng.beta(0.5, 0.5, (PLANS, 2)))
    pilot = rng.hypergeometric(true, size - true, seen)
    plans = [plan(*map(int, x)) for x in pilot]
    more, power, low, high, told = (np.array(x) for x in zip(*plans, strict=True))
    sizes = np.array([_sample_sizes(int(x), [seen, seen], size) for x in more])
    left = true - pilot
    tp = pilot + rng.hypergeometric(left, size - seen - left, sizes - seen)
    held = np.nan
    if kind != "naive":
        ends = zip(true.tolist(), pilot.tolist(), more.tolist(), low, high, strict=True)
        held = np.mean([
            x - 1e-9 <= _given(size, seen, tuple(t), tuple(s), k) <= y + 1e-9
            for t, s, k, x, y in islice(ends, IN_RANGE)
        ])  # fmt: skip
    asked = "power 0.8" if budget is None else f"budget {budget}"
    return {
        "what": "plan_annotation", "kind": kind, "size": size, "pilot": seen, "asked": asked,
        "power": power.mean(), "simulated": rejected(tp, sizes), "in_range": held,
        "warned": told.mean(), "median_n": np.median(more), "samples": PLANS,
    }  # fmt: skip


@cache
def _given(size, seen, true, pilot, k):
    """Return the power of k more judgments, given how many of the regions are true."""
    state = _State(size, (seen, seen), pilot, tuple(x / size for x in true))
    return state.power(0.05, k)


def lists(seen, n):
    """Plan by needed_candidates, lists of which half is shared; the pilot judged 2 * seen each."""

    @cache
    def plan(tp_a, tp_b):
        share = (tp_a + tp_b) / (2 * seen)
        both = [0.5 * share + 0.5 * x / seen for x in (tp_a, tp_b)]
        row, told = planned(rankeval_pd.needed_candidates, *both, 0.5, n, n_judged=2 * seen)
        return int(row["n_judgements"]) // 2, row["power"], told

    rng = np.random.default_rng(3)
    rate = rng.beta(0.5, 0.5, (4 * PLANS, 2))
    pilot = rng.binomial(seen, rate)
    proper = (pilot.sum(axis=1) > 0) & (pilot.sum(axis=1) < 2 * seen)  # precisions in (0, 1)
    rate, pilot = rate[proper][:PLANS], pilot[proper][:PLANS]
    plans = [plan(*map(int, x)) for x in pilot]
    size, power, told = (np.array(x) for x in zip(*plans, strict=True))
    sizes = np.stack([size, size], axis=1)
    return {
        "what": "needed_candidates", "kind": "assurance", "size": n // 2, "pilot": seen,
        "asked": f"n {n}", "power": power.mean(),
        "simulated": rejected(rng.binomial(sizes, rate), sizes), "warned": told.mean(),
        "median_n": np.median(2 * size), "samples": len(rate),
    }  # fmt: skip


def rejected(tp, sizes):
    test = fisher_test(tp[:, 0], sizes[:, 0], tp[:, 1], sizes[:, 1], "two-sided")
    return float((np.asarray(test.p_value) <= 0.05).mean())


def assurance_rows():
    """The power that plans from a pilot promise, and the power that they have."""
    for size, seen in ((60, 5), (60, 10), (200, 10)):
        yield regions(size, seen, None, "assurance")
        yield regions(size, seen, None, "naive")
        yield regions(size, seen, 40, "assurance")
    for seen in (10, 30):
        for n in (60, 200):
            yield lists(seen, n)


MEASURES = {"G2": "log.like", "chi2": "chisq", "t": "t.score", "MI": "MI"}
PAIRS = [("G2", "chi2"), ("G2", "MI"), ("chi2", "t")]
DRAWS = 20_000


def plans_rows():
    """Plan judgments for Evert's data, and simulate the power of the plans. Seconds."""
    krenn = rankeval_pd.datasets.load_krenn_ppv()
    whole = krenn[[*MEASURES.values(), "is.colloc"]].set_axis([*MEASURES, "gold"], axis=1)
    whole = whole.reset_index(drop=True)
    rng = np.random.default_rng(1)
    for (a, b), n in product(PAIRS, (100, 500, 1_000)):
        region = whole.rankeval.difference_region(a, b, n)
        sides = [region[region["list"] == side] for side in "ab"]
        shares = tuple(side["gold"].mean() for side in sides)
        for start in (0, 20):
            chosen = [rng.permutation(side.index)[: start // 2] for side in sides]
            gold = whole["gold"].astype(float).where(whole.index.isin(np.concatenate(chosen)))
            partly = whole.assign(gold=gold)
            plan = rankeval_pd.plan_annotation(partly, a, b, n, precisions=shares).iloc[0]
            more = int(plan["n_more"])
            yield (
                f"{a}, {b}", n, plan["n_region"], plan["region_share"], start, more, plan["power"],
                _power(rng, sides, chosen, more),
            )  # fmt: skip


def _power(rng, sides, chosen, more):
    """Return how often the judgments of a sheet of this length are significant."""
    left = [len(side) - len(start) for side, start in zip(sides, chosen, strict=True)]
    new = [min(max(more - more // 2, more - left[1]), left[0])]
    new.append(more - new[0])
    counts = []
    for side, start, count in zip(sides, chosen, new, strict=True):
        seen = int(side.loc[start, "gold"].sum())
        true = int(side["gold"].sum()) - seen
        rest = len(side) - len(start) - true
        tp = seen + rng.hypergeometric(true, rest, count, DRAWS)
        counts += [tp, len(start) + count]
    return float((fisher_test(*counts, "two-sided").p_value <= 0.05).mean())
