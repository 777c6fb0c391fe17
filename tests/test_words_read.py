"""Every verdict of varied tables in sentences that say what they show.

A program reads the sentences of `in_words` and compares them with the rows of the table: who is
best, better, significant, tied, above chance. It knows nothing of how the sentences are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankeval_pd import in_words

pytestmark = pytest.mark.filterwarnings("ignore::rankeval_pd.RankevalWarning")
ADJUST = [None, "max-t", "max-t-stepdown", "holm", "bonferroni", "bh", "by"]
SIDES = ["two-sided", "greater", "less"]

# ------------------------------------------------------------------------------------- The tables


def pick(rng: np.random.Generator, *listed: Any) -> Any:
    return listed[rng.integers(len(listed))]


def candidates(rng: np.random.Generator) -> pd.DataFrame:
    """Return measures over few or many candidates, with one positive, ties, holes, equal scores."""
    size = int(rng.integers(6, 70))
    gold = rng.random(size) < rng.uniform(0.1, 0.9)
    few = pick(rng, None, None, None, 0, 1, 2)
    if few is not None:
        gold[:] = False
        gold[rng.choice(size, few, replace=False)] = True
    common, scores = rng.normal(size=size), {}
    for name in [f"Q{k}" for k in range(pick(rng, 2, 3, 3, 4, 6))]:
        score = rng.uniform(-0.5, 3) * gold + rng.uniform(0, 1) * common + rng.normal(size=size)
        scores[name] = score.round(int(rng.integers(0, 4)))
    if rng.random() < 0.2:
        scores["Q1"] = pick(rng, scores["Q0"], 2.0 * gold, -1.0 * gold, gold - 0.1 * common)
    df = pd.DataFrame(scores)
    if rng.random() < 0.15:
        df.loc[rng.random(size) < 0.2, "Q0"] = np.nan
    return df.assign(gold=gold, part=np.sort(rng.integers(0, pick(rng, 1, 2, 3), size)))


def of_candidates(rng: np.random.Generator) -> pd.DataFrame:
    df, level = candidates(rng), float(pick(rng, 0.8, 0.95, 0.95, 0.99))
    names = [x for x in df if str(x).startswith("Q")]
    alone = df.rankeval(measures=names, missing="drop", details=pick(rng, True, False))
    least = df.groupby("part").size().min() if rng.random() < 0.3 else None
    call = alone if least is None else alone(by="part")
    n = sorted({int(x) for x in rng.integers(1, (least or len(df)) + 1, 2)})
    adjust, side = pick(rng, *ADJUST), pick(rng, *SIDES)
    plain = pick(rng, None, "holm", "bonferroni", "bh", "by")
    tested: dict[str, Any] = {"alternative": side, "level": level, "alpha": round(1 - level, 12)}
    ranked: dict[str, Any] = {"adjust": adjust, "level": level}
    kind = pick(
        rng, "summary", "summary", "baseline", "ranks", "compare", "compare", "sides", "areas",
        "unpaired", "chance", "ranges", "sets", "crossovers",
    )  # fmt: skip
    if kind in ("summary", "baseline"):
        base = {"baseline": pick(rng, *names)} if kind == "baseline" else {}
        return call.summary(pick(rng, n, None), **base, **ranked)
    if kind == "ranks":
        return call.measure_ranks(**pick(rng, {"n": n}, {"kind": "roc"}, {"kind": "ap"}), **ranked)
    if kind == "compare":
        more = pick(rng, {}, {"target": "nbest"}, {"test": "midp"}, {"of": "recall"})
        more |= {"groups": "part"} if call is alone and "test" not in more else {}
        return call.compare(n=n, adjust=adjust, **more, **tested)
    if kind == "sides":
        more = pick(rng, {"combine": True}, {"average": "macro"}, {"average": "micro"})
        return alone(by="part").compare(n=n[:1], adjust=plain, **more, **tested)
    if kind == "areas":
        more = pick(rng, {}, {"kind": "ap"}, {"test": "delong"})
        return call.compare_area(adjust=plain, alternative=side, level=level, **more)
    if kind == "unpaired":
        return alone(by="part").unpaired_area(adjust=plain, alternative=side, level=level)
    if kind == "chance":
        return call.random_test(n, **pick(rng, {}, {"adjust": "envelope"}))
    if kind == "ranges":
        return call.significant_ranges(*names[:2], n, adjust=plain, alternative=side, alpha=0.2)
    if kind == "sets":
        return call.compare_thresholds(*names[:2], [0.0, 1.0], adjust=plain, **tested)
    return call.crossovers(0.2)


def of_systems(rng: np.random.Generator) -> pd.DataFrame:
    """Return a table of systems over few items: 0/1, counts or scores, some equal or constant."""
    size, names = int(rng.integers(2, 40)), [f"Q{k}" for k in range(pick(rng, 2, 3, 4, 5))]
    metric = str(pick(rng, "accuracy", "mean", "mean", "precision", "f1"))
    quality = rng.uniform(0.1, 1.0, len(names))
    if metric in ("precision", "f1"):
        frames = {}
        for name, q in zip(names, quality, strict=True):
            guess, gold = rng.integers(0, 4, (2, size))
            correct = rng.binomial(np.minimum(guess, gold), q)
            frames[name] = pd.DataFrame({"correct": correct, "guess": guess, "gold": gold})
        df = pd.concat(frames, axis=1)
        if metric == "precision":
            df = df.drop(columns="gold", level=1)
    else:
        shared = rng.random((size, 1))
        df = pd.DataFrame(0.4 * shared + 0.6 * rng.random((size, len(names))) < quality)
        if metric == "mean" and rng.random() < 0.6:
            df = df * rng.exponential(size=(size, 1)) + 0.3 * rng.normal(size=(size, len(names)))
        df.columns = pd.Index(names)
        if rng.random() < 0.15:
            df["Q1"] = df["Q0"]
        df = df.astype(float)
    level = float(pick(rng, 0.8, 0.95, 0.99))
    asked: dict[str, Any] = {"adjust": pick(rng, *ADJUST), "level": level, "n_resamples": 1_999}
    lower = {"higher_is_better": False} if metric == "mean" and rng.random() < 0.3 else {}
    call = df.rankeval(metric=metric, details=pick(rng, True, False), **lower)
    kind = pick(rng, "ranks", "summary", "baseline", "pairs", "pairs", "swaps")
    if kind == "summary":
        return call.summary(**asked)
    if kind == "baseline":
        return call.summary(baseline="Q1", **asked)
    asked["alpha"] = round(1 - level, 12)
    if kind == "ranks":
        return call.system_ranks(**{**asked, "adjust": asked["adjust"] or "holm"})
    asked["alternative"] = pick(rng, *SIDES)
    base = {"baseline": "Q1"} if rng.random() < 0.3 else {}
    return (call.paired_bootstrap if kind == "pairs" else call.paired_permutation)(**asked, **base)


def of_queries(rng: np.random.Generator) -> pd.DataFrame:
    queries, names = int(rng.integers(2, 12)), [f"Q{k}" for k in range(pick(rng, 2, 3, 4))]
    rows = 5 * queries
    df = pd.DataFrame({"query": np.repeat(range(queries), 5), "document": [*range(5)] * queries})
    df["grade"] = rng.integers(0, 3, rows) * (rng.random(rows) < pick(rng, 0.2, 0.9))
    for name in names:
        df[name] = rng.exponential() * df["grade"] + rng.normal(size=rows).round(pick(rng, 0, 3))
    base = {"baseline": "Q0"} if rng.random() < 0.5 else {}
    call = df.rankeval(by="query", gold="grade", measures=names, details=pick(rng, True, False))
    return call.summary(
        ["nDCG@3", "AP"][: pick(rng, 1, 2)], adjust=pick(rng, *ADJUST), level=0.8, alpha=0.2,
        n_resamples=1_999, **base,
    )  # fmt: skip


def table_of(seed: int) -> pd.DataFrame | None:
    """Return the table of a seed, None where the call refuses the data."""
    rng = np.random.default_rng([seed, 30])
    make = pick(rng, *[of_candidates] * 6, of_systems, of_systems, of_queries)
    try:
        return make(rng)
    except ValueError:
        return None


# ---------------------------------------------------------------------------------- The sentences

CLAIMS = re.compile(r"\b(significant(ly)?|better|best|tied|tie(?!-)|chance)\b")
NAMES = re.compile(r"\bQ\d\b")


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.)\s+", text)


def named(text: str) -> set[str]:
    return set(NAMES.findall(text))


def alpha_of(table: pd.DataFrame) -> float:
    return float(table.attrs.get("alpha", 1.0 - table.attrs.get("level", 0.95))) * (1.0 + 1e-12)


_FACTS = ("query).", "queries).", "inside a tie.", "are judged.")


def check_sentences(table: pd.DataFrame) -> None:
    text = in_words(table)
    assert not re.search(r"\bnan\b|\(\)|\d[eE][-+]?\d|no test\b.*significant", text), text
    paragraphs = text.split("\n\n")
    # what means over queries rest on
    facts = (("n_lacking", "If a run"), ("n_undefined", "A metric that is"),
             ("n_tied", "Up to"), ("judged_low", ""))  # fmt: skip
    for fact, begins in reversed(facts):
        told = paragraphs[-1]
        if fact in table.attrs and told.startswith(begins) and told.endswith(_FACTS):
            assert table.attrs[fact]
            paragraphs.pop()
    if paragraphs[-1].startswith("Rows with the same "):
        paragraphs.pop()
    if "n_ending_in_tie" in table.attrs:
        assert "inside a tie" in paragraphs.pop()
    if {"rank_low", "value"} <= {*table} or {"value", "difference"} <= {*table}:
        for part, told in zip(parts(table), paragraphs, strict=True):
            check_verdict(part, sentences(told), table)
    elif {"better", "n_first", "n_tests"} <= {*table}:
        check_ranges(table, paragraphs)
    elif any(f"{x}_a" in table for x in ("measure", "system", "sample")) and (
        {"difference", "gain"} & {*table} and "p_min" not in table
    ):
        check_comparisons(table, paragraphs)
    else:
        check_rows(table, paragraphs)


def parts(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of each group, metric and n, in order."""
    name = "measure" if "measure" in table else "system"
    keys = [*table.columns[: table.columns.get_loc(name)]]
    keys += [x for x in ("metric", "n") if x in table and x not in keys]
    if not keys:
        return [table]
    return [part for _, part in table.groupby(keys, sort=False, observed=True)]


def check_verdict(part: pd.DataFrame, told: list[str], table: pd.DataFrame) -> None:
    name = "measure" if "measure" in part else "system"
    rows = part.set_index(name)
    alpha, base = alpha_of(table), table.attrs.get("baseline")
    value = rows["value"].dropna()
    if len(value) < len(rows):
        m = re.match(r"(?:In \w+ \S+, )*(.+?) (?:has|have) no ", told[0])
        assert m, told
        assert named(m[1]) == {*rows.index} - {*value.index} or "others" in m[1], told
        told, rows = told[1:], rows.loc[value.index]
    if not len(rows):
        assert not told
        return
    lower = table.attrs.get("higher_is_better") == 0
    top = value.min() if lower else value.max()
    best = set(value.index[value == top])
    first, *rest = told
    who = re.match(r"(?:In \w+ \S+, )*(.+?) (?:has|have) the (highest|lowest) ", first)
    assert who, told
    assert (who[2] == "lowest") == lower, told
    assert named(who[1]) == best or "others" in who[1], told
    p = next((rows[x] for x in ("p_adjusted", "p_value") if x in rows and base is None), None)
    if p is None or rows["difference"].isna().all():  # of queries without a baseline
        p = pd.Series(0.0, index=rows.index)
        if name == "measure" and "metric" not in rows:
            p = p.where(rows["ci_low"].notna()) if "ci_low" in rows else p
    tested = p.notna()
    decisive = next((rows[x] for x in ("p_adjusted", "p_value") if x in rows), None)
    mentioned: set[str] = set()
    for one in rest:
        if not CLAIMS.search(one) and not re.search("not tested|than for|have the same", one):
            continue
        if m := re.match(r"(?:It|They) (?:does|do) not differ significantly from (.+?)[.(]", one):
            for x in named(m[1]):
                assert not any(apart(rows, [y], x) for y in best), (told, part.T)
                assert tested[x], (told, part.T)
            mentioned |= named(m[1])
        elif m := re.match(r"(?:It is|They are) significantly better than (.+?)[.(]", one):
            for x in named(m[1]):
                assert all(apart(rows, [y], x) for y in best), (told, part.T)
                assert value[x] != top, told
            mentioned |= named(m[1])
        elif m := re.match(r"(.+) (?:is|are) not shown to be better than chance\.", one):
            lacking = {*rows.index[~rows["better_than_chance"].astype(bool)]}
            assert named(m[1]) == lacking or "others" in m[1], told
        elif re.match(r"(It is|Both are|All are) better than chance\.", one):
            assert rows["better_than_chance"].all(), told
        elif m := re.match(r"The lists? of (.+?) ends? inside a tie", one):
            assert named(m[1]) == {*rows.index[rows["tied"] > 0]} or "others" in m[1], told
        elif m := re.match(r"The .+? (higher|lower) for (Q\d) than for (Q\d)\b", one):
            other = m[3] if m[2] == base else m[2]
            assert base in (m[2], m[3]), told
            assert (rows.loc[other, "difference"] > 0) == (other == m[2]), told
            assert lower == (m[1] == "lower"), told
            compared = other
        elif m := re.match(r"(Q\d) and (Q\d) have the same ", one):
            compared = m[2] if m[1] == base else m[1]
        elif re.match(r"The difference is (not )?significant at the", one):
            assert ("not significant" in one) == (decisive[compared] > alpha * (1 + 1e-9)), told
        elif m := re.match(r"(?:It was|They were) not tested against (.+?)\.", one):
            for x in named(m[1]):
                assert not tested[x], (told, part.T)
                assert not apart(rows, best, x), (told, part.T)
            mentioned |= named(m[1])
        elif m := re.match(r"Only some of the best .+ significantly better than (.+?)[.(]", one):
            for x in named(m[1]):
                assert {apart(rows, [y], x) for y in best} == {True, False}, (told, part.T)
            mentioned |= named(m[1])
        else:
            raise AssertionError(("a claim that is not read", one, told))
    if "letters" in rows and "others" not in " ".join(told):
        assert mentioned == {*rows.index} - best, (told, part.T)


def apart(rows: pd.DataFrame, best: Iterable[str], name: str) -> bool:
    """Return whether the best is significantly better, by letters, or by all that is better."""
    one = next(iter(x for x in rows.index if x in best))
    if "letters" in rows:
        return not {*rows.loc[one, "letters"]} & {*rows.loc[name, "letters"]}
    gap = rows["value"] - rows.loc[name, "value"]
    ahead = gap < 0 if rows["value"].max() > rows.loc[one, "value"] else gap > 0
    return rows.loc[name, "rank_low"] == 1 + ahead.sum() > 1


def check_comparisons(table: pd.DataFrame, paragraphs: list[str]) -> None:
    kind = next(x for x in ("measure", "system", "sample") if f"{x}_a" in table)
    gap = next(x for x in ("difference", "gain") if x in table)
    p = next((x for x in ("p_adjusted", "p_value") if x in table), None)
    alpha = alpha_of(table)
    if len(table) > 8 and p is not None:
        known = table[p].notna().sum()
        if not known:
            assert paragraphs == [f"None of the {len(table)} comparisons could be tested."]
            return
        m = re.match(r"Of (\d+) comparisons, (\d+|none) (?:is|are) significant at", paragraphs[0])
        assert m, paragraphs
        sure = int(m[2].replace("none", "0"))
        assert (int(m[1]), sure) == (known, (table[p] <= alpha).sum())
        return
    assert len(paragraphs) == min(len(table), 8), (paragraphs, table)
    for row, told in zip(table.to_dict("records"), paragraphs, strict=False):
        check_compared(row, told, kind, gap, p, alpha, table.attrs)


def check_compared(
    row: dict[Any, Any], told: str, kind: str, gap: str, p: str | None, alpha: float, attrs: Any
) -> None:
    if pd.isna(row[gap]):
        assert not re.search(r"signific|better", told), told
        assert "cannot be compared" in told or "no value" in told, told
        return
    where = (told, row)
    found = re.search(r"The difference is (not )?significant at the ([\d.]+)% level", told)
    assert (found is not None) == (p is not None and pd.notna(row[p])), where
    if found and p:
        assert (found[1] is None) == (row[p] <= alpha), where
        assert float(found[2]) == pytest.approx(100 * alpha), where
    read = re.search(r"p (=|<|≤|>) ([\d.]+)", told)
    assert (read is not None) == (p is not None and pd.notna(row[p])), where
    if read and p:
        written = float(read[2])
        if read[1] == "=":
            assert abs(row[p] - written) <= 0.501 * 10.0 ** -len(read[2].partition(".")[2]), where
        else:
            assert row[p] > written if read[1] == ">" else row[p] <= written * (1 + 1e-9), where
    sides = re.search(r"(higher|lower) for (\S+(?: in \S+)?) than for (\S+(?: in \S+)?)", told)
    if row[gap] == 0.0:
        assert "have the same" in told, where
        return
    assert sides, where
    a, b = (f"{row['measure']} in {row[f'sample_{x}']}" if kind == "sample" else row[f"{kind}_{x}"]
            for x in "ab")  # fmt: skip
    higher = (sides[1] == "higher") != (attrs.get("higher_is_better") == 0)
    assert (sides[2], sides[3].rstrip(".")) in ((a, b), (b, a)), where
    assert ((row[gap] > 0) == higher) == (sides[2] == a), where
    if m := re.search(r"interval (−?[\d.]+) to (−?[\d.]+)", told):
        low, high = (float(x.replace("−", "-")) for x in m.groups())
        ends = [row.get(f"{x}_{y}", np.nan) for x in ("band", "ci") for y in ("low", "high")]
        ends = [x for x in ends if not np.isnan(x)][:2]
        ends = ends if sides[2] == a else [-ends[1], -ends[0]]
        times = 100.0 if " points" in told else 1.0
        for shown, true, text in zip((low, high), ends, m.groups(), strict=True):
            room = 0.51 * 10.0 ** -len(text.partition(".")[2])
            assert abs(shown - times * true) <= room, where
    for one in sentences(told):
        assert not CLAIMS.search(one) or re.search(
            r"The difference is (not )?significant|ends inside a tie", one
        ), where


def check_ranges(table: pd.DataFrame, paragraphs: list[str]) -> None:
    if not len(table):
        assert paragraphs[0].startswith("No difference is significant"), paragraphs
        return
    for row, told in zip(table.to_dict("records"), paragraphs, strict=False):
        m = re.match(r"(Q\d) is significantly better than (Q\d) at", told)
        assert m, told
        assert m[1] == row["better"], told
        assert {m[1], m[2]} == {row["measure_a"], row["measure_b"]}, told
        assert row["p_max"] <= alpha_of(table), told


def check_rows(table: pd.DataFrame, paragraphs: list[str]) -> None:
    """Check tables that are told row by row: claims of chance, and p-values."""
    for told in paragraphs:
        assert not re.search(r"\b(significant|(?<!-)best|tied)\b", told), told
    if len(table) > 8 or not len(table):
        return
    if "log10_p" in table or {"expected", "p_value"} <= {*table}:
        for row, told in zip(table.to_dict("records"), paragraphs, strict=False):
            read = re.search(r"p (=|<|>) ([\d.]+)", told)
            assert read is not None, told
            if read[1] == "<":
                assert row["p_value"] < float(read[2]), told
            elif read[1] == "=":
                room = 0.501 * 10.0 ** -len(read[2].partition(".")[2])
                assert abs(row["p_value"] - float(read[2])) <= room, told
    if "n_first" in table and "p" in table:
        for row, told in zip(table.to_dict("records"), paragraphs, strict=True):
            chance = (
                r"unadjusted tests at each n, (Q\d) is better than chance \(p ≤ 0\.2\) from"
                r" n = (\d+) to n = (\d+)"
            )
            m = re.search(chance, told)
            assert m, told
            assert (m[1], int(m[2]), int(m[3])) == (row["measure"], row["n_first"], row["n_last"])


@pytest.mark.parametrize(
    "seeds", [pytest.param(range(20, 500), marks=pytest.mark.full, id="many"), range(20)]
)
def test_every_verdict_says_what_its_table_shows(seeds):
    refused = 0
    for seed in seeds:
        table = table_of(seed)
        if table is None:
            refused += 1
            continue
        try:
            check_sentences(table)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {table.attrs.get('method')}") from error
    assert refused <= len(seeds) / 5


# ------------------------------------------------------------------------------------- By hand


def test_perfect_rankings_that_differ_leave_every_difference_open():
    """Both areas are 1, and nothing varies; equal rankings have no difference at all."""
    gold = [1, 1, 1, 0, 0, 0]
    df = pd.DataFrame({"Q0": [6, 5, 4, 3, 2, 1], "Q1": [4, 5, 6, 3, 2, 1], "gold": gold})
    df["Q2"] = df["Q0"] ** 3
    table = df.rankeval(details=True).summary().set_index("measure")
    limits = ["difference_low", "difference_high"]
    assert table.loc["Q1", limits].tolist() == [-1.0, 1.0]
    assert table.loc["Q2", limits].tolist() == [0.0, 0.0]
    by_delong = df.rankeval.compare_area("Q0", ["Q1", "Q2"], test="delong")
    assert by_delong["ci_low"].tolist() == [-1.0, 0.0]
    assert df.rankeval.area(ci="delong")[["ci_low", "ci_high"]].isna().all(axis=None)


def test_equal_queries_leave_the_other_queries_open():
    """Three of three queries at .8: at least (.025)^(1/3) of all, Clopper and Pearson's limit."""
    gold = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    df = pd.DataFrame({"q": np.repeat(range(3), 9), "Q0": [*range(9, 0, -1)] * 3, "gold": gold * 3})
    df["Q1"] = [*range(9)] * 3
    for average in ("macro", "micro"):
        row = df.rankeval(by="q").nbest_precision(5, measures="Q0", average=average).iloc[0]
        share = 0.025 ** (1 / 3)
        assert row["precision"] == pytest.approx(0.8)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((share * 0.8, 1 - share * 0.2))
        gap = df.rankeval(by="q").compare("Q0", "Q1", 4, average=average, level=0.8).iloc[0]
        share = 0.1 ** (1 / 3)
        assert gap["difference"] == 1.0
        assert (gap["ci_low"], gap["ci_high"]) == pytest.approx((2 * share - 1, 1.0))
