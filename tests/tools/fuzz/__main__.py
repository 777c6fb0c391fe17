"""Ask random questions of random data: ``python -m tests.tools.fuzz --seconds 60 --seed 1``.

``--case K`` asks one again and shows it. The exit code is 1 where an input was changed, two ways of
asking disagree, a number cannot be, another package's warning came through, or more than one error
in a thousand calls does not come from a check of ours.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import rankeval_pd
from tests.tools.fuzz import data, oracles
from tests.tools.fuzz.calls import odd_call

PACKAGE = str(Path(rankeval_pd.__file__).parent)
SEVERE = ("mutated", "inconsistent", "implausible", "foreign warning")
MOST_UNCLEAR = 1e-3  # of the calls


class Outcome(NamedTuple):
    """What a call did."""

    result: pd.DataFrame | None
    error: Exception | None
    warned: list[str]


class Findings:
    """What was found, each kind once, and where to see it again."""

    def __init__(self) -> None:
        self.calls = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[tuple[str, str], str] = {}

    def add(self, kind: str, what: str, where: str) -> None:
        self.counts[kind] += 1
        self.first.setdefault((kind, what[:160]), where)

    @property
    def failed(self) -> bool:
        unclear = self.counts["unclear error"]
        return any(self.counts[kind] for kind in SEVERE) or unclear > MOST_UNCLEAR * self.calls

    def __str__(self) -> str:
        lines = [f"{self.calls:,} calls: {dict(self.counts)}"]
        return "\n".join(lines + [f"{k}: {what}  [{at}]" for (k, what), at in self.first.items()])


def called(ask: Callable[[], Any], found: Findings) -> Outcome:
    """Call, and keep what came: a table, an error, warnings that are not ours."""
    found.calls += 1
    result = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = oracles.table_of(ask())
        except Exception as raised:  # the errors are what is looked at
            error = raised
    foreign = [x for x in caught if not issubclass(x.category, rankeval_pd.RankevalWarning)]
    return Outcome(result, error, [f"{x.category.__name__}: {x.message}" for x in foreign])


def is_clear(error: Exception) -> bool:
    """Return whether a check of ours raised it, or Python, of arguments that are not there."""
    steps = traceback.extract_tb(error.__traceback__)
    last = steps[-1]
    if last.filename.startswith(PACKAGE) and (last.line or "").startswith("raise"):
        return isinstance(error, ValueError | TypeError | KeyError | MemoryError)
    of_python = "missing" in str(error) or "unexpected keyword" in str(error)
    return isinstance(error, TypeError) and of_python and last.name in ("forwarded", "asked")


def ask_once(seed: int, number: int, found: Findings, *, shown: bool = False) -> None:
    """Make data and options from two numbers, ask, and look at the answer."""
    rng = np.random.default_rng([seed, number])
    case = data.odd_case(rng)
    asked = odd_call(rng, number, case)
    where = f"--seed {seed} --case {number}"
    before = oracles.fingerprint(case.data)
    outcome = called(lambda: getattr(case.data.rankeval, asked.method)(**asked.options), found)
    if shown:
        print(case.data, asked, outcome.result, sep="\n")
        traceback.print_exception(outcome.error) if outcome.error else None
    if oracles.fingerprint(case.data) != before:
        found.add("mutated", asked.method, where)
    for text in outcome.warned:
        found.add("foreign warning", f"{asked.method}: {text}", where)
    if outcome.error is not None:
        if not is_clear(outcome.error):
            error = outcome.error
            found.add("unclear error", f"{asked}: {type(error).__name__}: {error}", where)
        return
    assert outcome.result is not None
    for text in (
        *oracles.implausible(outcome.result, asked),
        *oracles.wrong(outcome.result, case, asked),
    ):
        found.add("implausible", f"{asked}: {text}", where)
    if not asked.drawn_anew and not asked.refused:
        ask_again(case, asked, outcome.result, found, where, rng)


def ask_files(seed: int, number: int, found: Findings) -> None:
    """Read files of TREC, and look whether the frame holds what the lines say."""
    run, judged, scores = data.trec_lines(np.random.default_rng([seed, number]))
    where = f"--seed {seed} --case {number}"
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "a.run"), Path(folder, "b.qrels")
        for path, lines in zip(paths, (run, judged), strict=True):
            path.write_bytes(lines.encode())
        outcome = called(partial(rankeval_pd.read_trec, *paths), found)
    if outcome.result is None:
        found.add("inconsistent", f"read_trec: {outcome.error!r}", where)
        return
    table = outcome.result
    read = dict(
        zip(zip(table["query"], table["document"], strict=True), table["mine"], strict=True)
    )
    if read != scores:
        found.add("inconsistent", f"read_trec: {read} instead of {scores}", where)


def ask_again(
    case: data.Case, asked: data.Call, result: pd.DataFrame, found: Findings, where: str, rng: Any
) -> None:
    """Ask the function, and of a frame in another order: the answer is the same."""
    function = getattr(rankeval_pd, asked.method)
    others = {"function": case.data}
    by_size = asked.method == "gain_by_size"  # the first items are what it takes
    if isinstance(case.data, pd.DataFrame) and case.data.index.is_unique and not by_size:
        others["shuffled"] = case.data.iloc[rng.permutation(len(case.data))]
    for name, other in others.items():
        again = called(partial(function, other, **asked.options), found)
        if again.result is None:
            found.add("inconsistent", f"{asked}: {name} raises {again.error!r}", where)
        elif asked.method != "difference_region" and (text := oracles.differ(result, again.result)):
            found.add("inconsistent", f"{asked}: {name} differs in {text}", where)


def main() -> int:
    """Ask until the time is over; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    chosen = parser.parse_args()
    found = Findings()
    end, shown = time.monotonic() + chosen.seconds, chosen.case is not None
    for number in [chosen.case] if shown else itertools.count():
        if number % 20 == 19:
            ask_files(chosen.seed, number, found)
        else:
            ask_once(chosen.seed, number, found, shown=shown)
        if time.monotonic() > end:
            break
    print(found)
    return int(found.failed)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
