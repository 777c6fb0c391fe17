"""The numbers of other packages: the calls of both sides, and whether their results agree.

``elsewhere.toml`` lists the pairs of calls. Both sides are executed, and what they return is
compared: the same to 1e-10, near each other as far as random draws allow, or other numbers, on
purpose.
"""

import contextlib
import functools
import tomllib
import warnings
from pathlib import Path

import numpy as np

import rankeval_pd
from tests.simulations.proof.pages import ROOT, written

LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PAIRS, DATA = LISTED["pair"], LISTED["data"].strip()
HEADS = {
    "same": "Equal numbers",
    "near": "Equal numbers but for Monte Carlo errors",
    "other": "Different numbers, on purpose",
}
SIDES = ("here", "there")
EQUAL = 1e-10
ERRORS = 4  # Monte Carlo errors that two p-values may differ by


@functools.cache
def _data():
    names = {}
    with contextlib.chdir(ROOT):
        exec(DATA, names)
    return names


@functools.cache
def results(number):
    """Return the numbers of a pair here and elsewhere."""
    codes = [PAIRS[number][side].strip() for side in SIDES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankeval_pd.RankevalWarning)
        return [np.ravel(np.asarray(eval(code, _data()), dtype=float)) for code in codes]


def verdict(number):
    """Return whether the numbers of a pair are the same, near each other, or others."""
    here, there = results(number)
    if here.shape != there.shape:
        return "other"
    if (np.abs(here - there) <= EQUAL * np.abs(there)).all():
        return "same"
    p, draws = (here + there) / 2, PAIRS[number].get("draws")
    if draws and (np.abs(here - there) <= ERRORS * np.sqrt(p * (1 - p) * 2 / draws)).all():
        return "near"
    return "other"


def shown(number):
    """Return a pair: why its numbers differ, if they do, and both calls with their numbers."""
    pair, code = PAIRS[number], []
    for side, found in zip(SIDES, results(number), strict=True):
        few = ", ".join(f"{x:.5g}" for x in found) if found.size <= 3 else f"{found.size} numbers"
        code.append(f"{pair[side].strip()}\n# {few}")
    title = f"**{pair['what']}**" + (f": {pair['why']}" if "why" in pair else "")
    return "\n".join([title, "", "```python", "\n\n".join(code), "```"])


def page():
    found = [verdict(number) for number in range(len(PAIRS))]
    counts = (
        f"{found.count('same')} comparisons agree to a relative difference of {EQUAL:g},"
        f" {found.count('near')} agree within {ERRORS} Monte Carlo errors, and"
        f" {found.count('other')} differ on purpose."
    )
    parts = []
    for how, head in HEADS.items():
        parts.append(f"## {head}")
        parts += [shown(number) for number, group in enumerate(found) if group == how]
    return written("elsewhere", counts=counts, sections="\n\n".join(parts), data=DATA)
