"""Every loop of the package ends: a search has a bound, and meets degenerate input here."""

from __future__ import annotations

import ast
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankeval_pd
from rankeval_pd import datasets
from rankeval_pd.stats import (
    areas,
    bootstrap,
    differences,
    distributions,
    items,
    judged,
    proportions,
    random_model,
    ranks,
    two_by_two,
)
from rankeval_pd.stats.item_gains import _Law
from rankeval_pd.stats.random_model import Finite, Infinite

ROOT = Path(rankeval_pd.__file__).parent
_SOON = 10.0  # seconds that a call with small or degenerate input may take

#: loops that use up something finite, and what it is
FINITE = {
    "doors.dask.collect_head": "the partitions, of which it takes more each time",
    "doors.dask.folded": "the parts, several of which become one",
    "doors.datasets._coords_of_groups": "the names of a Dataset",
    "stats.items.numbered_formula": "the columns",
    "errors.warn": "the frames of the call",
    "lists.repetition._likely": "the steps of the grids, down to 1",
    "plotting.look.Look.color": "the colors",
    "plotting.look.panel_size": "nested grids",
    "plotting.names.EndLabels._place": "font sizes, down to the smallest",
    "plotting.names.spread_apart": "the pools, two of which become one",
    "queries.trec_files._unpacked": "the pieces of a file",
    "stats.bands.Cells._summed": "the candidates: the cells kept whole are smaller than a block",
    "stats.distributions._convolved": "the bits of a number",
    "stats.distributions.merged_by_size": "the distributions, two of which become one",
    "stats.families._greedy": "the ties, and the rows that fit",
    "stats.swaps.Swaps._at_many_n": "the candidates, four times as many each time",
    "stats.swaps.Swaps.counts": "the candidates, four times as many each time",
    "tables.apart": "the names of the result",
    "words.numbers.p_text": "the decimals, at most 12",
}

WALKS: dict[str, tuple[Callable[[], Iterator[Any]], float, float]] = {}
FLAT, ONES = np.array([0.0, 0.0, 1.0, 1.0, 0.5]), np.ones(5)
TINY, HUGE = 5e-324, 1e300


def _walk(*loops: str, low: float = -np.inf, high: float = np.inf) -> Callable[[Any], Any]:
    """Register a walk through these loops; each result is between low and high, or NaN."""

    def registered(walk: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[Any]]:
        WALKS.update(dict.fromkeys(loops, (walk, low, high)))
        return walk

    return registered


@_walk("datasets.simulation.true_precision", low=0.0, high=1.0)
def _true_precision() -> Iterator[Any]:
    for quality in (-HUGE, 0.0, HUGE):
        yield datasets.true_precision([TINY, 0.5, 1.0], quality=quality, baseline=0.5)


@_walk("decisions.gains.bootstrapped_pairs", low=0.0, high=1.0)
def _bootstrap() -> Iterator[Any]:
    for scores in ([1.0] * 9, [0.0] * 9, [0.0, 1.0] * 4, [3.0, 4.0]):
        frame = pd.DataFrame({"a": scores, "b": scores[::-1], "c": scores})
        yield frame.rankeval.paired_bootstrap(adjust="holm")["p_value"]


@_walk("judging.annotation.needed_candidates", low=0.8, high=1.0)
def _candidates() -> Iterator[Any]:
    yield rankeval_pd.needed_candidates(1e-9, 1.0 - 1e-9, 0.0)["power"]
    with pytest.raises(ValueError, match="requires more than 65,536 judgments"):
        rankeval_pd.needed_candidates(0.5, np.nextafter(0.5, 1.0), 0.0)


@_walk("stats.areas.newcombe_limits", "stats.areas.area_difference_limits", low=-1.0, high=1.0)
def _areas() -> Iterator[Any]:
    variance = np.array([0.0, np.nan, TINY, 1.0, np.inf])
    for size in (1.0, HUGE):
        found = areas.AreaSpread(variance, ONES, size * ONES, ONES)
        yield areas.newcombe_limits(FLAT, found, 0.95)
        for other in (FLAT, FLAT[::-1]):
            yield areas.area_difference_limits(
                (FLAT, other), (variance,) * 3, ONES, (size * ONES, ONES), 0.95
            )


@_walk("stats.bootstrap._common_step", low=0.0)
def _steps() -> Iterator[Any]:
    for numbers in ([1.0] * 5, [0.0] * 5, [TINY, HUGE], [1.0, np.pi], [3.0], [1.0, np.inf]):
        yield bootstrap._common_step(max(numbers), min(numbers), TINY)


@_walk("stats.bootstrap._tilt_to_mean", low=0.0, high=1024.0)
def _tilt_to_mean() -> Iterator[Any]:
    for mean in (np.tanh, lambda _: 0.0, lambda _: np.nan, lambda theta: theta):
        yield from (bootstrap._tilt_to_mean(mean, target) for target in (-np.inf, 0.0, 1.0, np.inf))


@_walk(
    "stats.differences.miettinen_nurminen",
    "stats.differences._restricted_rates",
    "stats.differences._bisection_points",
    low=-1.0,
    high=1.0,
)
def _differences() -> Iterator[Any]:
    for size in (1.0, 1e15):
        yield differences.miettinen_nurminen(size * FLAT, size, size * FLAT[::-1], size, 0.95)
    tables = np.array([(0, 0, 1), (0, 0, 1), (1, 0, 1), (10**9, 1, 10**9 + 1), (5, 5, 20)]).T
    yield from (differences.tango_limits(*tables, level) for level in (0.95, 1.0 - 1e-12))


@_walk(
    "stats.differences._largest",
    "stats.differences.mixed_tail",
    "stats.two_by_two._largest_expectations",
    low=0.0,
    high=1.0 + 1e-12,
)
def _paired() -> Iterator[Any]:
    for tail, n in itertools.product((1e-300, 0.05, 0.5), (1, 20, 10**5)):
        yield from (differences.accuracy_power(x, 0.5, n, tail, 2) for x in (0.0, TINY, 0.5))
    for margin in (TINY, 0.5, 0.999):
        yield from (differences.paired_p(x, y, 9, margin) for x, y in ((0, 0), (9, 0), (0, 9)))
    t = np.array([0.0, np.inf, -np.inf, np.nan, 1e300])
    yield from (differences.mixed_tail(t, share, 1.0, np.inf) for share in (0.0, 1.0))
    for value in (np.zeros((2, 9)), np.ones((2, 9)), np.ones((1, 3))):
        yield two_by_two._largest_expectations(value, value.shape[1] - 2)


@_walk("stats.distributions.series_sum", "stats.distributions._tilt", high=1e-12)
def _laws() -> Iterator[Any]:
    i = np.array([0.0, 1.0, 1e9, 1e12])
    yield from distributions.tails_of_binomial(i, i, 0.5)
    yield from distributions.tails_of_binomial(i, 1e12 + 0.0 * i, TINY)
    yield from distributions.tails(i, 1e12, 0.5e12, i)
    halves = np.log([[0.5, 0.5], [1.0 - 1e-16, 1e-300]])
    for count, times in ((0, [1, 0]), (2, [1, 1]), (10_000, [9_999, 1]), (np.inf, [1, 1])):
        yield from distributions.tails_of_sum(float(count), halves, np.array(times))


@_walk("stats.distributions.first_true", "stats.distributions.first_near", low=0.0)
def _integers() -> Iterator[Any]:
    low, high = np.zeros(3), np.array([0.0, 1.0, 2.0**53])
    for found in (np.zeros_like, np.ones_like, lambda x: x > 7.0, np.isnan):
        holds = functools.partial(_holds, found)
        yield distributions.first_true(holds, low, high)
        for guess in (-np.inf, 0.0, 1e9, np.inf):
            yield distributions.first_near(holds, low, high, guess + low)


def _holds(found: Callable[[Any], Any], count: Any, _: Any = None) -> Any:
    return np.asarray(found(count), dtype=bool)


@_walk("stats.item_gains._Law._limit", low=-1.0, high=1.0)
def _laws_of_gains() -> Iterator[Any]:
    for a, b in ((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.5, 0.5)):
        for size, shared in ((1.0, 0.0), (1.0, 1.0), (1e6, 0.0)):
            yield _Law(a, b, size, size, shared, np.inf).limits(0.95)


@_walk("stats.items.exact_sums")
def _sums() -> Iterator[Any]:
    numbers = [[0.0] * 3, [TINY] * 3, [1.7e308] * 3, [1.7e308, TINY, -1.7e308], [np.inf, 0.0, 1.0]]
    yield items.exact_sums(np.array(numbers)).rounded()
    yield items.exact_sums(np.empty((1, 0))).rounded()


@_walk("stats.judged._share_edge", low=0.0, high=1.0)
def _share_edges() -> Iterator[Any]:
    for near, sign in itertools.product((FLAT, HUGE * ONES, np.nan * ONES), (-1.0, 1.0)):
        yield judged._share_edge(FLAT, FLAT[::-1], near, FLAT, sign)


@_walk("stats.ranks.gaffke", low=0.0, high=1.0)
def _gaffke() -> Iterator[Any]:
    for values in (
        np.zeros((1, 1)),
        np.ones((2, 9)),
        np.array([[TINY, 1.0]]),
        np.full((1, 3), 0.5),
    ):
        yield from ranks.gaffke(values, 1.0, np.array([0.0, 0.95, 1.0 - 1e-16]))


@_walk("stats.proportions.beta_logits", low=0.0, high=1.0)
def _proportions() -> Iterator[Any]:
    size = np.array([1.0, 1e-9, 1e6, 1e15])
    for level, ci in itertools.product((0.0, 0.95, 1.0 - 1e-16), proportions.INTERVALS.values()):
        yield from (ci(share * size, size, level) for share in (0.0, 0.5, 1.0))


@_walk(
    "stats.random_model._critical_search",
    "stats.random_model._root",
    "stats.random_model.simultaneous_p_values",
    "stats.random_model._largest_level",
    low=0.0,
)
def _random_model() -> Iterator[Any]:
    n = np.arange(1.0, 4_001.0)
    for law in (
        Finite(4e3, 0.0),
        Finite(4e3, 4e3),
        Finite(4e3, 1.0),
        Infinite(TINY),
        Infinite(0.5),
    ):
        yield random_model.critical_counts(np.array([-HUGE, -700.0, -1.0, 0.0]), n[-2:], law)
        yield from (random_model.envelope(p, n[:1], law).counts for p in (1e-300, 0.5, 1 - 1e-12))
        yield random_model.envelope(0.05, n[:50], law).counts
        tp = np.zeros(n.size)
        yield random_model.simultaneous_p_values(law.tails(tp, n).ge, tp, n, law)
    for p in (1e-300, 0.5, 1.0 - 1e-12):
        yield random_model.parametric_bound(p, np.array([1.0, 1e8]), np.array([TINY, 0.5]))


@_walk("stats.ranks._joint_tests", "stats.swaps.swap_tests", low=0.0, high=1.0)
def _rankings() -> Iterator[Any]:
    for scores in ([1.0] * 8, [0.0, 1.0] * 4, [1.0, 2.0]):
        gold = np.arange(len(scores)) % 2 == 0
        frame = pd.DataFrame({"a": scores, "b": scores[::-1], "c": scores, "gold": gold})
        yield frame.rankeval.measure_ranks(kind="roc")["ci_low"]
        yield frame.rankeval.compare(n=[1, 2], adjust="max-t")["p_value"]


@_walk("stats.ranks.guaranteed_precision", low=0.0, high=1.0)
def _guaranteed() -> Iterator[Any]:
    for tp, wanted in itertools.product((0, 1), (TINY, 0.5, 1.0 - 1e-16)):
        for n in (np.array([1]), np.arange(1, 100), np.array([], dtype=int)):
            sets = ranks.Sets(n[::-1] * 1.0, n, tp * n, int(tp * n.max(initial=0)), 1)
            yield ranks.guaranteed_precision(sets, wanted, 0.95).low


@_walk("stats.ranks.walsh_average")
def _walsh() -> Iterator[Any]:
    for numbers in (
        [0.0],
        [0.0] * 99,
        [5.0] * 99,
        [TINY] * 9 + [HUGE] * 9,
        [-HUGE, *[0.0] * 9, HUGE],
    ):
        ordered = np.sort(numbers)
        yield from (ranks.walsh_average(ordered, k) for k in (1, len(numbers)))
    near = np.sort(np.append(np.random.default_rng(1).normal(size=500) * 1e-30, [-1.0, 1.0]))
    yield ranks.walsh_average(near, 60_000)


@_walk("systems.planning._PlannedTest.gain", "systems.planning._smallest_sufficient", low=0.0)
def _plans() -> Iterator[Any]:
    for error, metric in itertools.product((0.0, TINY, 0.1), (None, "accuracy")):
        yield rankeval_pd.detectable_gain(error, 100, metric=metric, power=1.0 - 1e-12)
    for gain in (TINY, 1e-9):
        with pytest.raises(ValueError, match="requires more than"):
            rankeval_pd.needed_items(gain, 0.1, 100)
    yield rankeval_pd.needed_items(HUGE, 0.1, 100)
    yield rankeval_pd.needed_seeds(
        1.0, {"gain_se": 0.1, "gain_se_seeds": 0.1, "n_seeds": 3, "n_items": 100}
    )


def _loops(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.AST]]:
    """Find the loops without items of their own, and root searches, with the function's name."""
    for child in ast.iter_child_nodes(node):
        inner = owner
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            inner = f"{owner}.{child.name}"
        counted = isinstance(child, ast.For) and ast.unparse(child.target) == "_"
        rooted = isinstance(child, ast.Call) and ast.unparse(child.func).endswith("brentq")
        if counted or rooted or isinstance(child, ast.While):
            yield owner, child
        yield from _loops(child, inner)


def _found() -> list[tuple[str, ast.AST]]:
    found = []
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found += _loops(ast.parse(path.read_text("utf-8")), ".".join(parts))
    return found


def test_every_loop_is_listed_and_the_bounds_of_counted_loops_have_names():
    found = _found()
    assert {name for name, _ in found} == {*FINITE, *WALKS}
    assert not {*FINITE} & {*WALKS}
    for loop in [loop for _, loop in found if isinstance(loop, ast.For)]:
        assert ast.unparse(loop.iter.func) == "range"
        assert not [x for x in ast.walk(loop.iter.args[0]) if isinstance(x, ast.Constant)]


@pytest.mark.parametrize(("walk", "low", "high"), dict.fromkeys(WALKS.values()))
@pytest.mark.filterwarnings("ignore")
def test_a_search_ends_soon(walk, low, high):
    begin = time.thread_time()  # without the threads of linear algebra, which spin
    for found in walk():
        values = np.asarray(found, dtype=float)
        assert ((low <= values) & (values <= high) | np.isnan(values)).all()
    assert time.thread_time() - begin < _SOON


def test_a_search_beyond_its_bound_is_an_error(monkeypatch):
    monkeypatch.setattr("rankeval_pd.stats.proportions._MOST_STEPS", 1)
    with pytest.raises(ArithmeticError, match=r"a beta quantile did not end within 1 steps"):
        rankeval_pd.precision_interval(3, 1_000, ci="clopper-pearson")
