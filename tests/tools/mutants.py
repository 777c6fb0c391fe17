"""Seeded faults of statistics and verdicts, and a runner that sees whether the tests notice them.

``python tests/tools/mutants.py [--only pattern] [--jobs 1] [--quick]``, from any folder, copies the
package and its tests, runs the tests unchanged once, and then puts in one fault at a time. A fault
that no test notices is said and makes the exit code 1. With ``--quick``, only the quick tests run.
Tests read data from RANKEVAL_PD_DATA. Not part of the ordinary tests: some 15 minutes.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import multiprocessing
import multiprocessing.connection
import os
import py_compile
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, STATS = "rankeval_pd", "rankeval_pd/stats"
COPIED = ("rankeval_pd", "tests", "conftest.py", "pyproject.toml")
LONGEST = 120.0  # seconds: a fault that makes a search go on for ever is noticed
NOT_RUN = 99  # exit code, besides pytest's: 0 that all passed, 1 that some failed


FORK = multiprocessing.get_context("fork")


class Fault(NamedTuple):
    """What is written in the place of a text that stands once in a file."""

    file: str  #: under rankeval_pd/stats, or under rankeval_pd
    text: str
    faulty: str
    tests: tuple[str, ...]  #: files that should notice, or single tests in them

    def path(self, root: Path) -> Path:
        """Return the file, in a copy of the package."""
        inside = root / STATS / self.file
        return inside if inside.is_file() else root / PACKAGE / self.file


def _path(name: str) -> str:
    file, _, test = name.partition("::")
    *folder, last = file.split("/")
    return "/".join(["tests", *folder, f"test_{last}.py"]) + (f"::{test}" if test else "")


# fmt: off
# file and tests, without ``tests/test_`` and ``.py``: what stands there, and what takes its place
SEEDED = {
    ("areas.py", "stats/areas"): [
        ("sign * (drift or 0.0)", "(drift or 0.0)"),
        ("own < -side * gap", "own < side * gap"),
        ("times * self.variance**2 / self.fourth", "times * self.variance / self.fourth"),
        ("times @ squares**2", "times @ squares"),
    ],
    ("ranks.py", "systems/tests_ranks"): [
        ("sizes.max() <= 2 * sizes.min()", "False"),
        ("most[items.strata], (0.0, 1.0)).all()", "most[items.strata], (0.0, 1.0)).any()"),
    ],
    ("ranks.py", "systems/tests"): [
        ("stdtr(freedom, np.stack([-t, t]))", "stdtr(freedom, np.stack([-t, -t]))"),
    ],
    ("clusters.py", "roles_annotators roles_copies judging/annotation stats/clusters stats/bands"
     " stats/ranking"): [
        ("2 * positive == count, np.nan", "2 * positive == count, 1.0"),
        ("positive == count).astype", "positive > 0).astype"),
        ("axis=-1) / n**2", "axis=-1) / n"),
        ("(votes != votes[0]).any()", "False"),
        ("total * (total - 1.0)", "total * total"),
        ("votes - 1.0, apart), alike", "votes - 0.0, apart), alike"),
        ("(n - 1.0) / n * squares", "squares"),
        ("min(freedom, n - 1.0)", "n - 1.0"),
        ("1.5 * squares.sum()", "squares.sum()"),
        ("1.0 - apart / float(expected)", "1.0 - apart"),
    ],
    ("clusters.py", "decisions/averages chance/bounds"): [
        ("1.0 - share * (1.0 - value), high)", "share * value, high)"),
        ("count / (count - 1.0), np.nan)", "1.0, np.nan)"),
        ("np.maximum(count - 1.0, 1.0), level)", "np.maximum(count, 1.0), level)"),
        ("np.exp2(-np.maximum(found.n, 1.0))", "np.exp(-np.maximum(found.n, 1.0))"),
        (".minimum(1.0, 2.0 * np.minimum(above, below)", ".minimum(1.0, np.minimum(above, below)"),
        ("value * (1.0 - value) / se**2", "value * (1.0 - value) / se"),
        ("count - 1.0, 1.0), level)) ** 2", "count - 1.0, 1.0), level))"),
    ],
    ("clusters.py", "stats/clusters stats/areas stats/differences lists/groups"): [
        ("squares - sums**2 / np.maximum(counted, 1.0)", "squares"),
        ("second**2 / np.maximum(fourth, 1.0)", "second / np.maximum(fourth, 1.0)"),
        ("np.minimum(everyone, 2.0 * n_groups) - 1.0", "np.full(n_groups.shape, everyone - 1.0)"),
        ("np.maximum(1.0 - share,", "np.maximum(1.0 - 0.0 * share,"),
        ("self.freedom, 1.0), level), np.inf)", "self.freedom, 1.0), 2.0 * level - 1.0), np.inf)"),
        ("(z_of(level) / found.quantile(level)) ** 2", "z_of(level) / found.quantile(level)"),
        ("size -= 2.0 * list_counts", "size -= list_counts"),
        ("own = 2.0 * squares**2", "own = 9.0 * squares**2"),
        ("alike * squares / whole**2", "squares / whole**2"),
        ("(apart - within) / total", "apart / total"),
        ("(1.0 - 2.0 * share) ** power", "(1.0 - 2.0 * share) ** 2"),
    ],
    ("clusters.py", "lists/groups::test_two_factors_are_as_statsmodels_has_them"
     " lists/groups::test_cells_are_told_from_clusters_and_keep_their_levels"
     " lists/groups::test_variance_of_recall_is_that_of_totals_by_hand"
     " lists/groups::test_groups_of_one_random_test_is_the_t_test_of_the_covariance"): [
        ("one + other - cells", "one + other"),
        ("np.maximum(one, other))", "one)"),
        ("(first + 1) * _FACTOR + second", "first * _FACTOR + second"),
        ("moved = total - np.multiply", "moved = total + np.multiply"),
        ("moved += np.multiply.outer(of_all", "moved -= np.multiply.outer(of_all"),
        ("weight = np.asarray(positive, dtype=float)", "pass"),
    ],
    ("ranking.py", "stats/ranking stats/bands roles_annotators roles_copies judging/annotation"
     " stats/clusters"): [
        ("np.abs(high - low) <= _ROUNDING", "np.abs(high - low) <= 0.0"),
        ("(up == apart).all()", "True"),
        ("not (down & apart).any()", "True"),
        ("-1 if low == high else", "place if low == high else"),
        ("low, high = high, low", "pass"),
        ("(listed + 2.0) / (n + 4.0)", "(listed + 1.0) / (n + 2.0)"),
        ("beyond * (precision - edge) ** 2", "(precision - edge) ** 2"),
        ("half = np.maximum(20, ", "half = np.maximum(10, "),
        ("+ 1.0) / (np.maximum(high - low, 0) + 2.0", "+ 1.0) / (np.maximum(high - low, 0) + 1.0"),
        ("(listed - only) * (edge_a - edge_b) ** 2", "listed * (edge_a - edge_b) ** 2"),
        ("positions = np.argsort(-self.score", "positions = np.argsort(self.score"),
        ("inverse(self.order) + 1", "inverse(self.order)"),
        ("np.maximum(self.size - 1, 1)", "np.maximum(self.size, 1)"),
        ("(index - start) * block.tp / block.size", "(index - start - 1) * block.tp / block.size"),
        ("asked <= total", "asked < total"),
        ("both = np.maximum(rank_a, rank_b)", "both = np.minimum(rank_a, rank_b)"),
        ('self.score[row][usable[row]], side="right"', 'self.score[row][usable[row]], side="left"'),
        ("((score >= least[..., cut", "((score > least[..., cut"),
        ("np.minimum(index - start, block.tp)", "np.maximum(index - start, block.tp)"),
        ("index - start - (block.size - block.tp), 0, block", "index - start - block.tp, 0, block"),
    ],
    ("ranking.py", "decisions/verdicts decisions/families lists/acceptance lists/ranges"
     " lists/regions"): [
        ("& (n < self.size.total", "& (n <= self.size.total"),
        ("(one == other) |", "(one >= other) |"),
    ],
    ("ranking.py", "stats/swaps stats/ranking"): [
        ("of_a <= of_b, of_a > of_b", "of_a < of_b, of_a > of_b"),
        ("rank = place - up_to + first", "rank = place - up_to - first"),
        ("np.maximum(rank[self.later], rank[self.", "np.minimum(rank[self.later], rank[self."),
        ("2.0**-53 * 2.0 * np.pi", "2.0**-53 * np.pi"),
        ("np.sqrt(-2.0 * np.log", "np.sqrt(-1.0 * np.log"),
        ('bitorder="little"', 'bitorder="big"'),
    ],
    ("decisions/ranks.py", "roles_annotators roles_copies judging/annotation stats/clusters"
     " stats/bands stats/ranking lists/regions_ties"): [
        ("alike = (stands < 0)", "alike = (stands < -1)"),
        ("rejects(p, how.alpha) != own", "rejects(p, how.alpha) == own"),
    ],
    ("decisions/ranks.py", "stats/ranks lists/measure_ranks decisions/verdicts decisions/ranks"
     " decisions/families systems/tests_families::test_letters_ranks_and_pairs_say_the_same"): [
        ("1 + better.sum(axis=-2)", "1 + better.sum(axis=-3)"),
        ("decisive & (difference < 0)", "decisive & (difference > 0)"),
        ("(every.p_adjusted, count, 1.0), how.", "(every.p_adjusted, count, 1.0), 2.0 * how."),
        ("held = adjusted_p(once.ravel(), how.adjust, families, pairs).reshape(p.shape)\n        #",
         "held = once\n        #"),
        ("better | np.swapaxes(better, -3, -2)", "better"),
        ("np.isnan(p_values) | rejects(p_values,", "np.isnan(p_values) | (p_values <= 2.0 *"),
        ("stands=stands, family=stats.BASELINE)", "stands=stands)"),
        ("if how.each:\n", "if not how.each:\n"),
    ],
    ("distributions.py", "stats/two_by_two stats/proportions stats/differences"
     " stats/random_model stats/distributions"): [
        ("middle + 1.0, low)", "middle + 2.0, low)"),
        ("(low < high) & result, middle, high)", "(low < high) & result, middle - 1.0, high)"),
        ("(self.total - self.positive - n + i)", "(self.total - self.positive - n - i)"),
        ("return Finite(self.total, self.total - self.", "return Finite(self.total, self."),
        ("np.full(np.broadcast(i, n).shape, 1.0 - self", "np.full(np.broadcast(i, n).shape, self"),
    ],
    ("distributions.py", "stats/distributions judging/judged judging/annotation"): [
        ("probe = np.clip(np.floor(guess), low, high)", "probe = np.floor(guess)"),
        ("np.minimum(probe[~holds] + 1.0", "np.minimum(probe[~holds] + 2.0"),
        ("= probe[holds]", "= probe[holds] - 1.0"),
        ("above_mode = inside >= np.floor((n + 1.0) * zs)", "above_mode = inside >= 0.0 * zs"),
        ("deviance(n - i, n * (1.0 - z))", "deviance(n - i, n * z)"),
        ("np.where(above_mode, down, up) + 1.0", "np.where(above_mode, down, up) + 2.0"),
        ("highest = np.where(mean > 0.0, np.inf, 0.0)", "highest = np.where(mean > 0.0, 1e2, 0.0)"),
        ("x + 1.0, infinite, mean[here])", "x, infinite, mean[here])"),
        ("(inside) - deviance(inside, mean)", "(inside) + deviance(inside, mean)"),
        ("_HALF_LOG_2PI = 0.5 * math.log", "_HALF_LOG_2PI = 0.5 * math.log10"),
        ("u * (1 / 360 - u", "u * (1 / 300 - u"),
        ("2.0 * x * v * series", "x * v * series"),
        ("for odd in range(21, 2, -2)", "for odd in range(9, 2, -2)"),
        ("xf * np.log(ratio) + mf - xf", "xf * np.log(ratio) - mf + xf"),
        ("2.207822206123445", "2.207822206123745"),
        ("_UNDERFLOW_LIMIT = 1e-200", "_UNDERFLOW_LIMIT = 0.0"),
        ("+ np.log(b / n)", "+ np.log(a / n)"),
        ("infinite, a + 1.0, infinite, -z)", "infinite, a, infinite, -z)"),
        ("above + 0.5 * at, at])", "above + at, at])"),
        ("np.exp(-theta * x[x > 0.0])", "np.exp(theta * x[x > 0.0])"),
        ("[below, below + at, below", "[below + at, below + at, below"),
        ("_NEGLIGIBLE_MASS = 1e-30", "_NEGLIGIBLE = 1e-6"),
        ("if often % 2:", "if often % 2 == 0:"),
    ],
    ("distributions.py", "stats/distributions stats/two_by_two"): [
        ("(i <= lowest, 0.0, np.where(above, -np.inf", "(i < lowest, 0.0, np.where(above, -np.inf"),
        ("half = log_pmf + np.log(0.5 + series)", "half = log_pmf + np.log1p(series)"),
        ("np.minimum([strict, whole, half], 0.0)", "np.minimum([whole, whole, half], 0.0)"),
        ("above_mode, [whole, strict, half]", "above_mode, [whole, whole, half]"),
        ("_NEGLIGIBLE = 1e-18", "_NEGLIGIBLE = 1e-8"),
        ("_LOG_HALF = math.log(0.5)", "_LOG_HALF = -1e9"),
        ("np.maximum(0.0, n - (total - positive))", "np.maximum(0.0, n - positive)"),
        ("        - stirling_remainder(total)", "        + stirling_remainder(total)"),
        ("(above_mode, neither, only_listed) + 1.0", "(above_mode, neither, only_listed)"),
    ],
    ("proportions.py", "stats/proportions stats/item_gains stats/families"): [
        ("share * t / 3.0", "share * t / 6.0"),
        ("share * share * t / 27.0", "share * share * t / 9.0"),
        ("+ lean / 6.0)", "+ lean / 3.0)"),
        ("np.minimum(np.abs(t), np.abs(other))", "np.abs(t)"),
        ("estimate - error * untransformed(critical, lean)", "estimate - error * 2.0"),
        ("error * untransformed(-critical, lean)", "error * untransformed(critical, lean)"),
        ("slant = width * (b_part - a_part)", "slant = width * (a_part - b_part)"),
        ("value *= -width", "value *= width"),
        ("_DEGREE = 10", "_DEGREE = 5"),
        ("in reversed(powers[:-1]):", "in reversed(powers[1:-1]):"),
        ("a = 2.0 / (width**2 * (1.0 + t))", "a = 2.0 / (width**2 * (1.0 - t))"),
        ("if not left <= _WORST_RESIDUAL:", "if left > 1.0:"),
        ("LEAST_EXPANDED = 100.0", "LEAST_EXPANDED = 1.0"),
        ("np.minimum(a, b) >= LEAST_EXPANDED", "np.maximum(a, b) >= LEAST_EXPANDED"),
        ("lambda a, b: beta_logits(a - shift[0], b - shift[1],", "lambda a, b: beta_logits(a, b,"),
    ],
    ("proportions.py", "decisions/averages chance/bounds stats/proportions stats/differences"): [
        ("ndtri(_tail_of(level))", "ndtri(1.0 - level)"),
        ("stdtrit(freedom, _tail_of(level))", "stdtrit(freedom, 1.0 - level)"),
        ("lower=_AT_LEAST, upper=_MORE", "lower=_MORE, upper=_AT_LEAST"),
        ("lower=_JEFFREYS, upper", "lower=(1.0, 1.0), upper"),
        ("z2 * (z2 + 4.0 * tp", "z2 * (z2 + 2.0 * tp"),
        ("(2.0 * (size + z2))", "(2.0 * size + z2)"),
        ("for k in range(1, int(a.max())):", "for k in range(1, int(a.max()) - 1):"),
        ("_LAST_STEP = 1e-5", "_LAST_STEP = 1e-1"),
        ("1.0 / np.asarray(count, dtype=float)", "1.0 * np.asarray(count, dtype=float)"),
    ],
    ("proportions.py", "decisions/verdicts decisions/families lists/acceptance lists/ranges"
     " lists/regions"): [
        ("kept = p_value > (1.0 - level) * (1.0 + 1e-12)", "kept = p_value > 0.5 * (1.0 - level)"),
    ],
    ("lists/repetition.py", "lists/repetition"): [
        ("size - (self.n_a - self.tp_a)", "size - (self.n_b - self.tp_a)"),
        ("order[:_KEPT], order[-_KEPT:]", "order[:_KEPT], order[:1]"),
    ],
    ("proportions.py", "lists/repetition"): [
        ("special.chdtri(freedom, tail)", "special.chdtri(freedom, 1.0 - tail)"),
        ("special.chdtrc(freedom, chi2)", "special.chdtr(freedom, chi2)"),
        ("/ np.mean(n))", "* np.mean(1.0 / n))"),
        ("expected - steps[:-1])", "expected - steps[1:])"),
        ("yield tp[np.newaxis], np.ones(1)", "pass"),
        ("(positive - count) / (total - size)", "positive / total"),
        ("method=\"marginals\")", "method=\"marginals\")[:, ::-1]"),
        ("np.exp(log - log.max())", "np.ones(log.size)"),
        ("np.square(n).sum() / n.sum())", "n.mean())"),
        ("max(highest, freedom), min(lowest, freedom)", "lowest, highest"),
    ],
    ("gains.py", "systems/tests systems/tests_families systems/tests_ranks"
     " systems/tests_intervals stats/proportions stats/item_gains stats/families"): [
        ("stdtr(freedom, -transformed(t, lean))", "stdtr(freedom, -t)"),
        ("gains < (gain - 1e-12 * scale)", "gains <= (gain + 1e-12 * scale)"),
        ("change = moved[rows, b] - moved", "change = moved[rows, b] - 2.0 * moved"),
        ("= theta[pairs[:, 0]] < theta[pairs[:, 1]]", "= theta[pairs[:, 0]] > theta[pairs[:, 1]]"),
        ("tail(2 * total + 1)", "tail(2 * total)"),
        ("total = 0\n", "total = 1\n"),
        ("error *= on.spread", "error *= on.size"),
        ("return result or float(2.0**-law.n)", "return result"),
        ("gains[which, np.newaxis] - 2.0 * draws.", "gains[which, np.newaxis] - draws."),
    ],
    ("gains.py", "decisions/verdicts_margins"
     " lists/groups::test_two_factors_are_as_statsmodels_has_them"): [
        ("shares**2 / (1.0 - weights)", "shares**2"),
        ("(variance / total) ** 1.5", "(variance / total)"),
        ("of_seeds / total, items.seeds", "0.0 * total, items.seeds"),
        ("weights * shares.sum(axis=1, keepdims=True)", "0.0 * shares"),
        ("- weights * shares.sum", "- 0.0 * weights * shares.sum"),
        ("size.size / (size.size - 1.0)", "1.0"),
        ("freedom = min(freedom,", "freedom = max(0.0,"),
    ],
    ("gains.py", "stats/bootstrap stats/ranks stats/families systems/tests"
     " systems/tests_intervals systems/tests_families"): [
        ("np.count_nonzero(sums > room,", "np.count_nonzero(sums > -room,"),
    ],
    ("gains.py", "stats/gains systems/studies systems/planning"): [
        ("below <= tail)", "below < 2.0 * tail)"),
        ("float(ordered[first[-1]])", "float(ordered[first[0]])"),
        ("np.sqrt(1.0 + np.true_divide(n_items,", "np.sqrt(0.0 + np.true_divide(n_items,"),
        ("running >= quantile * total", "running > quantile * total + 1e-9"),
        ("counts[:, pairs[:, 0]] * counts", "counts[:, pairs[:, 0]] + counts"),
    ],
    ("contingency.py", "stats/contingency association"): [
        ("np.copysign(2.0 * result, excess)", "np.copysign(result, excess)"),
        ("(t.o22, t.r2, t.c2, excess)", "(t.o22, t.r2, t.c2, -excess)"),
        ("np.where(less.high > 0.0, sign, 0.0)", "sign"),
        ("root(product(t.o11, t.total, t.total))", "root(product(t.o11, t.total))"),
        ("_over_expected(t, power), np.log2", "_over_expected(t, power), np.log"),
        ("power=3", "power=2"),
        ("Cells(t.o11 + 0.5, t.o12 + 0.5,", "Cells(t.o11 + 0.5, t.o12,"),
        ("product(t.o11, t.c2), product(t.o12, t.c1", "product(t.o11, t.r2), product(t.o21, t.r1"),
        ("np.minimum(quotient(t.o11, t.r1)", "np.maximum(quotient(t.o11, t.r1)"),
        ("quotient(t.excess(), product(t.r1, t.r2))", "quotient(t.excess(), product(t.c1, t.c2))"),
        ("t.total, less, more).ge", "t.total, less, more).gt"),
        ("t.o11, t.expected).ge", "t.o11, t.expected).mid"),
        ("2.0**27 + 1.0", "2.0**36 + 1.0"),
        ("+ a * d + b * c", "+ a * d - b * c"),
        ("+ (a.low - b.low)", "+ (a.low + b.low)"),
        ("np.isfinite(near), near + rest", "np.isfinite(near), near - rest"),
        ("near > 0.0, 2.0 * near", "near > 0.0, near"),
        ("np.log2(second[some] / first[some])", "np.log2(first[some] / second[some])"),
    ],
    ("differences.py", "stats/proportions stats/differences"
     " systems/tests_intervals::test_tangos_limits_are_where_the_score_test_rejects"): [
        ("np.hypot(a - low_a, high_b - b)", "np.hypot(a - low_a, b - low_b)"),
        ("step = 0.25 * (np.true_divide", "step = 0.5 * (np.true_divide"),
        ("- 2.0 * shared / (n_a * n_b)", "- shared / (n_a * n_b)"),
        ("for added in (0.0, _HALF)", "for added in (0.0, 0.0)"),
        ("(1.0 - 3.0 * n_both / n_b) / n_a**2", "(1.0 - n_both / n_b) / n_a**2"),
        ("np.where((gap > 0.0) & (greater <= tail), 0.0, -1.0)", "-np.ones(gap.shape)"),
        ("(n_a + n_b) / (n_a + n_b - 1.0)", "(n_a + n_b) / (n_a + n_b)"),
        ("x * gap * (1.0 - gap) / total", "x * gap * (1.0 + gap) / total"),
        ("linear * linear - 8.0 * n * constant", "linear * linear - 4.0 * n * constant"),
        ("n * (2.0 * share + delta * (1.0 - delta))", "n * (2.0 * share - delta * (1.0 - delta))"),
    ],
    ("differences.py", "decisions/verdicts_margins"): [
        ("return np.maximum(not_worse", "return np.minimum(not_worse"),
        ("return not_worse(-1.0)", "return not_worse(1.0)"),
        ("np.minimum(q - margin, rest)", "np.minimum(q, rest)"),
        ("lambda q: q - margin", "lambda q: q"),
        ("max(1.0 - 2.0 * alpha, 1e-3)", "max(1.0 - alpha, 1e-3)"),
        ("float(found.max()) + left_out", "float(found.max())"),
        ("max(low, margin)) > high", "max(low, 0.0)) > high"),
        ("least - _AS_EXTREME", "least + _AS_EXTREME"),
        ("_ROUNDS = 6", "_ROUNDS = 0"),
        ("(c <= 0, 1.0", "(c < 0, 1.0"),
        ("(1.0 + 6.51 / n)", "(1.0 - 6.51 / n)"),
        ("held = held_back_t(t, lean, two_sided=False)", "held = t"),
        ("1.0 - _level_reaching_0(-below)", "_level_reaching_0(-below)"),
        ("low, high = -high, -low", "pass"),
        ("clip(first / (first - second), 0.0, 1.0)", "clip(first, 0.0, 0.0)"),
    ],
    ("differences.py", "stats/areas stats/differences curves/area_differences curves/areas"): [
        ("shared / (2.0 * np.sqrt", "shared / (np.sqrt"),
        ("(1.0 - part) * (a**2 + b**2)", "(a**2 + b**2)"),
    ],
    ("differences.py", "systems/tests_designs systems/planning systems/tests_wilcoxon"
     " systems/tests_intervals systems/tests_ranks"): [
        ("share * far - (1.0 - share)", "share * far - share"),
        ("found + scipy.special.ndtr((-gain - edge) / error)", "found"),
        ("rejected = rejected + _upper(least, m, 1.0 - better)", "rejected = 0.5 * rejected"),
        ("np.where(up & ~settled, middle, low)", "np.where(up, low, low)"),
    ],
    ("judged.py", "lists/groups judging/judged_groups systems/tests_designs"): [
        ("np.clip(1.0 - own.sum(axis=1) / every, 0.0, 1.0)", "1.0"),
        ("simpson_number(seen) - 1.0", "simpson_number(seen)"),
        ("np.maximum(1.0 - h, 0.5 /", "np.maximum(1.0 - 0.0 * h, 0.5 /"),
        ("(1.0 - own) * inside - own * outside", "(1.0 - own) * inside"),
        ("np.maximum(apart * squares,", "np.maximum(squares,"),
        ("more * freedom / max(apart, 1e-9)", "more * freedom"),
        ("np.isin(cluster[~judged], cluster[judged])", "np.isin(cluster, cluster[judged])"),
    ],
    ("judged.py", "stats/judged judging/judged judging/annotation"): [
        ("alpha = 0.5 * (1.0 - level)", "alpha = 1.0 - level"),
        ("size - _least_positives(judged - tp,", "size - _least_positives(judged - tp + 1.0,"),
        ("np.exp(tails.ge) > alpha", "np.exp(tails.gt) > alpha"),
        ("spread = (1.0 - probability) * weight**2", "spread = weight**2"),
        ("= np.where(judged, 1.0 / probability, 0.0)", "= np.where(judged, probability, 0.0)"),
        ("worth / wider**2, 1.0)", "worth / wider, 1.0)"),
        ("(1.0 - r) * middle - r * rest", "(1.0 - r) * middle - rest"),
        ("np.hypot(one - a.low, b.high - other)", "np.hypot(one - a.low, other - b.low)"),
        ("np.where(unknown, a.low - b.high,", "np.where(unknown, a.low - b.low,"),
    ],
    ("judging/judged.py", "lists/groups judging/judged_groups systems/tests_designs"): [
        ("= np.where(least == most, least, limit * size)", "= np.clip(limit * size, least, most)"),
    ],
    ("bands.py", "stats/bands lists/recall curves/shapes lists/acceptance stats/two_by_two"): [
        ("edge**2 * (1.0 - n / total) * n / positive", "edge**2 * n / positive"),
        ("recall * (1.0 - recall) * (1.0 - 2.0 * edge)", "recall * (1.0 - recall) * (1.0 - edge)"),
        ("positive + 2 * added", "positive + added"),
        ("np.repeat(low, times), np.repeat(high,", "np.repeat(high, times), np.repeat(low,"),
        ("ENDS = 5 ", "ENDS = 9 "),
        ("(end - center) ** 2 + (count - end) ** 2", "(count - end) ** 2"),
    ],
    ("bands.py", "stats/bands stats/ranking"): [
        ("sums[signs] += 2.0 * heads", "sums[signs] += heads"),
        ("(ordered.size + 1) * level", "(ordered.size - 1) * level"),
        ("apart * np.sqrt(self.size[beyond])", "apart * (self.size[beyond])"),
        ("(every, -sign * edge)", "(every, -edge)"),
        ("every = np.ones_like(true)\n", "every = ~true\n"),
        ("tail = 2.0 * places.size * scipy", "tail = places.size * scipy"),
        ("rest = z - along * own", "rest = z - own"),
    ],
    ("differences.py", "lists/groups lists/recall"): [
        ("center**2 - rest * beyond", "center**2 - beyond"),
        ("side * root) / rest", "side * root)"),
    ],
    ("lists/recall.py", "lists/recall"): [
        ("edge * (value - share)", "edge * value"),
    ],
    ("bands.py", "lists/precision"): [
        ("factor = positive / (rarest * total)", "factor = 1.0"),
    ],
    ("decisions/verdicts.py", "lists/groups"): [
        ("(difference == 0.0) & (error == 0.0), 0.0", "(error == 0.0), reach"),
    ],
    ("decisions/verdicts.py", "decisions/verdicts decisions/ranks decisions/families"
     " lists/comparison lists/acceptance lists/ranges lists/regions"): [
        ("np.maximum(2.0 * levels - 1.0, _LEAST_LEVEL)", "levels"),
        ("high[varies] = most[varies]", "high[varies] = -1.0"),
        ("keep_low & (low > 0.0)", "keep_low & (low > 1.0)"),
    ],
    ("lists/groups.py",
     "lists/groups::test_groups_of_one_random_test_is_the_t_test_of_the_covariance"
     " lists/groups::test_no_p_value_depends_on_the_target"): [
        ("np.stack([-t, t])", "np.stack([t, -t])"),
    ],
    ("item_gains.py", "systems/tests_ratios stats/items stats/item_gains systems/tests_designs"
     " systems/tests_wilcoxon"): [
        ("aside * median < 0.0", "aside * median > 0.0"),
        ("> _TWOFOLD * below", "> below"),
        ("np.ceil(bound - _ROOM)", "np.floor(bound + _ROOM)"),
        ("p_a, p_b, 1.0 / n_a - 1.0 / n_b)", "p_a, p_b, 1.0 / n_a + 1.0 / n_b)"),
        ("weights = 1.0 / n_a + 1.0 / n_b, -1.0", "weights = 1.0 / n_a + 1.0 / n_b, 1.0"),
        ("xu - b * xv - a * yu + a * b * yv", "xu - b * xv - a * yu - a * b * yv"),
        ("min(axis=1) < LEAST_ANSWERS", "max(axis=1) < LEAST_ANSWERS"),
        ("n * (size @ size) <=", "n * (size @ size) >"),
        ("p <= _MOVES / len(pairs)", "p > _MOVES / len(pairs)"),
        ("z.T / 2.0", "z.T"),
    ],
    ("item_gains.py", "systems/tests_designs systems/tests systems/tests_families"
     " systems/tests_ranks systems/tests_intervals"): [
        ("return scores + seeds.error[:, np.newaxis] * trained", "return scores"),
    ],
    ("item_gains.py", "systems/tests_designs systems/planning systems/tests_wilcoxon"
     " systems/tests_intervals systems/tests_ranks"): [
        ("up * (1.0 - mean) ** power + down * (-1.0 - mean)", "up + down * (-1.0 - mean)"),
        ("squares / 4.0, self.options", "squares / 2.0, self.options"),
        ("np.where(variance > 0.0, np.fmax(*both), 1.0)", "np.where(variance > 0.0, 0.5, 1.0)"),
        ("about - critical * error, about +", "about - 2.0 * critical * error, about +"),
    ],
    ("doors/item_tables.py",
     "systems/tests_designs::test_a_gain_that_moves_with_the_size_of_groups_is_said"): [
        ("cluster.size / sizes.size / sizes)[cluster]", "sizes)[cluster]"),
    ],
    ("families.py", "stats/families stats/bootstrap stats/ranks systems/tests"
     " systems/tests_families systems/tests_ranks systems/tests_intervals"): [
        ("m - rank + 1.0, 1.0)", "m - rank, 1.0)"),
        ("scaled = ordered * (m / rank)", "scaled = ordered * (m / (rank + 1.0))"),
        (".accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]", ".accumulate(scaled, axis=-1)"),
        ("np.cumsum(1.0 / rank)", "np.cumsum(1.0 / rank**2)"),
        ("(~np.isnan(p), axis=-1, keepdims=True)", "(~np.isnan(p) | True, axis=-1, keepdims=True)"),
        ("(last, np.arange(order.size))", "(last, np.arange(order.size), side='right')"),
        ("np.unique(family[order][::-1], return_index=", "np.unique(family[order], return_index="),
        ("np.fill_diagonal(tied, val=False)", "np.fill_diagonal(tied, val=True)"),
        ("np.maximum.accumulate(stepped[order])", "stepped[order]"),
        ("moved = np.abs(moved)\n        moved[", "pass\n        moved["),
        ("np.maximum.accumulate(moved, axis=0, out=moved)", "pass"),
        ("        moved[0] = np.maximum(largest, moved[0])\n", ""),
        ("np.searchsorted(both[0], edge)", "np.searchsorted(both[0], edge) - 1"),
        ("(shown[here][off] > 1).all()", "(shown[here][off] > 0).all()"),
        ("fits &= tied[clique[-1]]", "fits = tied[clique[-1]]"),
        ("named = sorted([*cliques, *alone])", "named = sorted(cliques)"),
        ("_name(more - 1)", "_name(more)"),
        ("error * np.maximum(rejected, 1)", "error * np.maximum(rejected + 1, 1)"),
    ],
    ("families.py", "stats/families lists/precision lists/acceptance lists/measure_ranks"): [
        ("left = 1.0 - critical**2", "left = 1.0 + critical**2"),
        ("1.0 - (1.0 - level) / count", "1.0 - (1.0 - level)"),
    ],
    ("two_by_two.py", "stats/two_by_two curves/shapes lists/acceptance judging/annotation"): [
        ("p_value = np.exp(one.ge)", "p_value = np.exp(one.gt)"),
        ("1.0 - 0.5 * np.exp(upper.pmf)", "1.0 - np.exp(upper.pmf)"),
        ("0.5 * (p_value + _tail_mass(", "(_tail_mass("),
        ("_tail_mass(observed + _AS_LIKELY", "_tail_mass(observed - _AS_LIKELY"),
        ("tails(positive - left, total", "tails(positive - left + 1.0, total"),
        ("right_a = tp_a + (n_b - tp_b)", "right_a = tp_a + tp_b"),
        ("total, 0.5).ge)\n    p_value", "total, 0.5).gt)\n    p_value"),
        ("_GRID_DENSITY = 8.0", "_GRID_DENSITY = 0.5"),
        ("_ROUNDS = 4", "_ROUNDS = 1"),
        ("0.5 * (tails[:, :-1] + tails[:, 1:]), score)", "tails[:, :-1], score)"),
        ("(tails[:, :-1] + tails[:, 1:]), score)", "(tails[:, :-1] + tails[:, 1:]), 1.0)"),
        ("-order * (1.0 + _AS_EXTREME)", "-order * (1.0 - _AS_EXTREME)"),
        ("np.maximum(largest, beyond)", "np.minimum(largest, beyond)"),
        ("_JEFFREYS = 0.5", "_JEFFREYS = 1.0"),
        ("(i <= low[of_sum]) | (i >= high[of_sum])", "(i < low[of_sum]) | (i > high[of_sum])"),
        ("self.judged - self.tp + _JEFFREYS", "self.judged + _JEFFREYS"),
    ],
    ("two_by_two.py", "stats/two_by_two"): [
        ("difference - 0.25 * sizes", "difference - 0.5 * sizes"),
        ("sizes * total / (total - 1.0)", "sizes"),
        ("sides = 2.0", "sides = 1.0"),
    ],
    ("two_by_two.py", "stats/two_by_two decisions/averages chance/bounds"): [
        ("factor = 2.0", "factor = 1.0"),
        ("1.0 - 0.5 * math.exp(result.pmf)", "1.0"),
        ("(4.0 * n)", "(2.0 * n)"),
        ("weight = float(n.sum()) / 2.0", "weight = float(n.sum())"),
        ("(size, 2.0 * size, positive)", "(size, 2.0 * size + 1.0, positive)"),
    ],
    ("two_by_two.py", "systems/tests_designs systems/planning systems/tests_wilcoxon"
     " systems/tests_intervals systems/tests_ranks"): [
        ("found[back.reshape(better.shape)]", "found[0 * back.reshape(better.shape)]"),
    ],
    ("judging/annotation.py", "judging/judged judging/annotation stats/judged"): [
        ("min(max(wanted - wanted // 2, wanted - sides", "min(max(wanted // 2, wanted - sides"),
    ],
    ("judging/annotation.py", "lists/measure_ranks lists/acceptance decisions/averages"
     " decisions/verdicts curves/early_retrieval curves/areas judging/annotation"
     " words_by_hand judging/annotation::test_the_power_of_a_plan_is_exact"
     " judging/annotation::test_plan_is_kept"
     " judging/annotation::test_plans_where_nothing_is_left"
     " judging/annotation::test_plans_that_show_nothing_say_so"
     " judging/annotation::test_sheets_there_and_back"
     " judging/annotation::test_published_figures_to_plan_with"
     " judging/annotation::test_plans_of_groups"): [
        ("(t + 0.5) / (m + 1.0)", "(t + 1.0) / (m + 1.0)"),
        ("min(max(total - total // 2, total - size", "min(max(total // 2, total - size"),
        ("total - size, judged[0]), size", "total - size, 0), size"),
        ("range(max(place - _TEETH, 0), place)", "range(place, place)"),
        ("2 * state.size / (row[\"n\"] + state.size)", "2 * state.size / (2 * row[\"n\"])"),
        ("round(share * self.size) - tp, 0)", "round(share * self.size), 0)"),
        ("(max(first, second) - (1.0 - overlap))", "(min(first, second) - (1.0 - overlap))"),
        ("min(max(0.5 * (first + second), lowest)", "min(max(min(first, second), lowest)"),
        ("left = 2 * state.size - sum(state.judged)", "left = 2 * state.size"),
        ("        elif left:\n", "        else:\n"),
        ("budget is None and planned < wanted", "budget is None and planned <= wanted"),
    ],
    ("lists/acceptance.py", "lists/acceptance lists/measure_ranks decisions/averages"
     " decisions/verdicts curves/early_retrieval curves/areas judging/annotation"
     " words_by_hand lists/comparison lists/ranges lists/regions"): [
        ("sets.threshold * signs[row]", "sets.threshold"),
        ("tp_only_a / only_a - tp_only_b / only_b", "share_a - share_b"),
        ("stats.paired_tails(tp_only_b, tp_only_a, of_all)", "1.0"),
        ("2 * r.tp_b / (r.n_b + positive)", "2 * r.tp_b / r.n_b"),
        ("recall = r.tp_a / positive, r.tp_b", "recall = r.tp_b / positive, r.tp_a"),
        ("np.where(unequal, np.nan, towards)", "towards"),
    ],
    ("random_model.py", "stats/random_model stats/distributions lists/precision lists/regions"): [
        ("np.where(tail >= 1.0 - _EQUAL, 0.0, 1.0)", "np.where(tail > 1.0 + _EQUAL, 0.0, 1.0)"),
        ("critical - 1.0 + (tail - 1.0) / below", "critical + (tail - 1.0) / below"),
        ("n[active]).ge - log_p[active] <= _EQUAL", "n[active]).gt - log_p[active] <= _EQUAL"),
        ("(n + 1.0) / (n + 2.0 - c)", "(n + 1.0) / (n + 1.0 - c)"),
        ("rises = tail + gain > 1.0 + _EQUAL", "rises = tail + gain >= 1.0 - _EQUAL"),
        ("log_betainc(x + 1.0, n - x, prior)", "log_betainc(x, n - x + 1.0, prior)"),
        ("np.maximum(tail - at, 0.0) + at * up", "np.maximum(tail - at, 0.0)"),
        ("(log_p, k.astype(float), population.opposite)", "(log_p, k.astype(float), population)"),
        ("_LOST_SHARE = 1e-13", "_LOST_SHARE = 1e-3"),
        ("return (counts <= lowest).any(axis=-1)", "return (counts < lowest).any(axis=-1)"),
        ("counts[:, ascending], n[ascending], population)", "counts, n[ascending], population)"),
        ("np.diff(path, append=int(highest[-1]) + 2) > 0", "np.diff(path, append=0) > 0"),
        ("np.where(count >= path[", "np.where(count > path["),
        ("max(high - base, first + 1)", "max(low - base, first + 1)"),
        ("law[:, near:] -= reached", "law[:, near:] -= 0.0 * reached"),
        ("base += fewest", "base += 0"),
        ("start = place + 1", "start = place"),
        ("bool(reached <= alpha * (1.0", "bool(reached <= 2.0 * alpha * (1.0"),
        ("if steps.size < 2:", "if steps.size < 3:"),
    ],
    ("swaps.py", "stats/swaps"): [
        ("variance = positive / (-2.0 * only)", "variance = positive / (-1.0 * only)"),
        ("counts.tp_b - 2 * counts.tp_overlap", "counts.tp_b - counts.tp_overlap"),
        ("(1 + as_large) / (drawn.size + 1)", "as_large / drawn.size"),
        ("= observed - _EQUAL * np.maximum(np.abs(observed), 1.0)", "= observed + 1e-9"),
        ("(1 + hits) / (n_resamples + 1)", "hits / n_resamples"),
        ("in_first = first & (up_to <= np", "in_first = first & (up_to < np"),
        ("return np.abs(statistic)", "return statistic"),
        ("signs = np.where(slots.a < slots.b, -1, 1", "signs = np.where(slots.a < slots.b, 1, -1"),
    ],
    ("swaps.py", "decisions/verdicts decisions/families lists/acceptance lists/ranges"
     " lists/regions"): [
        ("sqrt(p_single * (1.0 - p_single) / drawn)", "sqrt(p_single * (1.0 - p_single)) / drawn"),
        ("(drawn + 1.0)) - 1.0, 0.0)", "(drawn + 1.0)), 0.0)"),
    ],
    ("ties.py", "lists/regions_ties"): [
        ("[[start + 1, end]", "[[start, end]"),
        ("- found[1:, :3] - found[:3, 1:] + found", "- found[1:, :3] - found[:3, 1:] - found"),
        ("np.minimum(np.maximum(score, normal), 1.0)", "np.minimum(score, 1.0)"),
        ("np.minimum(np.maximum(score, normal), 1.0)", "np.minimum(normal, 1.0)"),
        ("self.only**2 / np", "self.only / np"),
        ("self._own_variance(self._blocks[1].sum(axis=0))", "np.ones(self.n.size)"),
        ("_Z * np.sqrt(total)", "np.sqrt(total)"),
        ("np.minimum(f, g) - f * g", "np.minimum(f, g)"),
        ("high[0] - a, b - low[1]", "high[0] - a, 0.0"),
        ("taken - _upper_point(size, size - tp", "taken - _upper_point(size, tp"),
        ("taken[these]).gt", "taken[these]).ge"),
        ("(of_a - whole) * g + (of_b - whole) * f", "(of_a - whole) * f + (of_b - whole) * g"),
        ("seen / (np.maximum(f, g) if self.cut_off else 1.0)", "seen / 1.0"),
        ("np.where(end, rank, rank.size + 1)", "np.where(end, rank, 0)"),
        ("(self.positive - gap + 1) // 2", "(self.positive - gap) // 3"),
    ],
    ("curves/area_differences.py", "curves/areas"): [
        ("one_or_two_sided(above, 1.0 - above", "one_or_two_sided(1.0 - above, 1.0 - above"),
    ],
    ("lists/regions.py", "lists/regions_ties"): [
        ("sizes - pair.only,", "pair.only,"),
    ],
    ("areas.py", "stats/areas stats/differences curves/areas curves/area_differences"
     " stats/ranks"): [
        ("beaten = 1.0 - 0.5 * worse / negative", "beaten = 1.0 - worse / negative"),
        ("np.where(size > 1, size - 1.0, np.nan)", "np.where(size > 1, size, np.nan)"),
        ("wrong / (2.0 * positive[..., 0]", "wrong / (positive[..., 0]"),
        ("half = 0.5 * (positive + negative) - 1.0", "half = 0.5 * (positive + negative)"),
        ("found.variance), np.nan, p_value)", "found.variance), np.nan, 0.5 * p_value)"),
        ("t_of(freedom, level)) ** 2", "t_of(freedom, level))"),
        ("np.minimum(n, m) - 1.0", "np.maximum(n, m) - 1.0"),
        ("a**2 / (n - 1.0)", "a**2 / n"),
        ("LEAST = 4.0", "LEAST = 1.0"),
        ("np.cumsum(outline.tied) - outline.tied", "np.cumsum(outline.tied)"),
        ("(outline.tp * (2 * above + outline.tied))", "(outline.tp * (2 * above))"),
        ("0.5 * (2 * above + outline.tied) / negative", "(above + outline.tied) / negative"),
        ("tp_up_to[1:] + tp_up_to[:-1]", "2 * tp_up_to[1:]"),
        ("far**2 / (size * (size - 1.0))", "far**2 / (size * size)"),
        ("listed & (n > 1.0), (tp - 1.0) / (n - 1.0), 0.0)", "listed, tp / n, 0.0)"),
        ("np.asarray((1.0 - others * np.log1p", "np.asarray((1.1 - others * np.log1p"),
        ("positive / np.where(positive > 1, positive - 1.0, np.nan)", "positive / positive"),
        ("(at, listed / n * precision)", "(at, listed * precision)"),
        ("(positive - 1.0) / np.maximum(at.total - 1.0, 1.", "positive / np.maximum(at.total, 1."),
    ],
    ("areas.py", "curves/areas curves/area_differences lists/groups stats/areas"
     " stats/differences"): [
        ("moved * (gap + side * middle) ** 2", "moved * (gap - side * middle) ** 2"),
        ("1.0 + side * gap / middle", "1.0 - side * gap / middle"),
    ],
    ("areas.py", "stats/clusters stats/areas stats/differences lists/groups"): [
        ("power, least = 0.5, LEAST", "power, least = 1.0, LEAST"),
        ("((totals - totals.mean()) ** 2).sum()", "(totals**2).sum()"),
        ("freedom = max(even, min(least,", "freedom = max(even, 0.0 * min(least,"),
        ("_RARE * (2.0 * area - 1.0) ** 6", "0.0 * area"),
    ],
    ("areas.py", "curves/early_retrieval curves/areas curves/area_differences"
     " lists/measure_ranks lists/acceptance decisions/averages decisions/verdicts"
     " judging/annotation words_by_hand stats/areas stats/differences"): [
        ("worst = best * np.exp(-alpha * (1.0 - share))", "worst = best * np.exp(-alpha * share)"),
        ("moved = 0.5 * at.around(below)", "moved = at.around(below)"),
        ("0.5 * inside**2 * width", "inside**2 * width"),
        ("(rate + 0.5 * inside * (later - rate) - last)", "(rate + 0.5 * inside * (later - rate))"),
        ("worst = best * np.exp(-alpha * (1.0 - share))", "worst = best * np.exp(-alpha)"),
        ("np.tanh(0.5 * alpha / size)", "np.tanh(0.5 * alpha / (size + 1))"),
        ("rtol=_EARLY_ROUNDING, atol=0.0)", "rtol=0.0, atol=0.0)"),
        ("np.maximum(np.sin(np.maximum(angle", "np.minimum(np.sin(np.maximum(angle"),
        ("0.5 * inside**2 * width)", "0.5 * inside * width)"),
        ("0.5 * at.around(below)", "at.around(below)"),
        ("np.where(share >= 1.0, alone,", "np.where(share > 1.0, alone,"),
        ("ranking.ranks <= scored, 2, 4)", "ranking.ranks <= scored, 2, 2)"),
        ("falls / step / (end - start)", "falls / step"),
        ("rate + inside * (later - rate), 0.0)", "rate + (later - rate), 0.0)"),
    ],
    ("ranks.py", "curves/areas curves/area_differences stats/ranks queries/per_query"
     " lists/measure_ranks decisions/verdicts::test_rows_of_areas_agree_with_themselves"): [
        ("areas.freedom_of(parts[:2], sizes)", "areas.freedom_of(parts[1:], sizes)"),
        ("freedom = items.n_items - 1.0", "freedom = items.n_items - 0.0"),
        ("(values[a] - values[b]).std(ddof=1)", "(values[a] - values[b]).std()"),
        ("max(critical_value(drawn, level), alone)", "alone"),
    ],
    ("ranks.py", "lists/acceptance"): [
        ("1.0 - 2.0 * alpha / sequences", "1.0 - 2.0 * alpha"),
        ("2.0 * level - 1.0", "level"),
        ("starts = least * 2 ** np", "starts = least * 3 ** np"),
        ("[np.searchsorted(failures, first)] - 1", "[np.searchsorted(failures, first)]"),
        ("np.searchsorted(reach, starts)", 'np.searchsorted(sets.n, starts, side="right")'),
    ],
    ("ranks.py", "stats/ranks lists/measure_ranks decisions/verdicts decisions/ranks"
     " decisions/families"): [
        ("- 2.0 * x[left, right]", "- x[left, right]"),
        ("(influence[:, group]).reshape(shape) / size", "(influence[:, group]).reshape(shape)"),
        ("rng.chisquare(freedom, size) / freedom", "rng.chisquare(freedom, size)"),
        ("np.abs(areas[:, sides[0]] - areas[:, sides[1", "(areas[:, sides[0]] - areas[:, sides[1"),
    ],
    ("ranks.py", "systems/tests_designs systems/planning systems/tests_wilcoxon"
     " systems/tests_intervals systems/tests_ranks"): [
        ("law.tail(total // unit), law.tail(-total", "law.tail(total // unit), law.tail(total"),
        ("(count + 1) // 2)", "(count + 3) // 2)"),
        ("n * (n + 1) // 2 + 1 - first", "n * (n + 1) // 2 - first"),
    ],
    ("ranks.py", "stats/bootstrap stats/ranks stats/families"
     " systems/tests_ranks"
     " systems/tests_families::test_letters_ranks_and_pairs_say_the_same"
     " systems/tests::test_the_mirror_image_of_errors_has_the_same_ranks_and_calibration"): [
        ("np.fmin(low, least)", "np.fmax(low, least)"),
        ("count * draws.options.n_alike", "draws.options.n_alike"),
        ("np.add(before, step, out=here)", "here + chance * (before - here)"),
        ("np.vstack([values, most - values])", "np.vstack([values, 1.0 - values])"),
    ],
    ("queries.py", "queries/per_query"): [
        ("np.where(negative, bits, ~(bits", "np.where(negative, ~bits, ~(bits"),
        ("= retrieved.running(hit)[rows[heads]] - 1", "= retrieved.running(hit)[rows[heads]]"),
        ("np.lexsort((-score[rows], queries))", "np.lexsort((score[rows], queries))"),
        ("rank < self.request.cutoff", "rank <= self.request.cutoff"),
        ("for i in range(2, size + 2)", "for i in range(3, size + 3)"),
        ("cutoff = run.positives[run.retrieved.query]",
         "cutoff = run.positives[run.retrieved.query] + 1"),
        ("/ 2.0**request.top", "/ 2.0 ** (request.top - 1)"),
        ("(1.0 - p) * p ** np", "p ** np"),
        ("np.maximum(block.size - block.hits + 1, 1)", "np.maximum(block.size - block.hits, 1)"),
        ("(block.hits - 1) / np.maximum(block.size - 1,", "block.hits / np.maximum(block.size,"),
        ("left = np.maximum(m - place, 1.0)", "left = np.maximum(m - place + 1.0, 1.0)"),
        ("beside * (start + 1.0)) * inverse", "beside * start) * inverse"),
        ("(block.before + 1) / (start + 1.0), result)", "block.before / (start + 1.0), result)"),
        ("stop * reaching / (rank + 1.0)", "stop * reaching / (rank + 2.0)"),
    ],
    ("bootstrap.py", "stats/bootstrap stats/ranks stats/families systems/tests"
     " systems/tests_families systems/tests_ranks systems/tests_intervals"): [
        ("if edge <= self.start:", "if edge <= self.start + 3:"),
        ("2.0 * a + a * a + b * b", "2.0 * a + a * a"),
        ("fft.fftfreq(length)", "np.arange(length) / length"),
        ("shift -= times * middle", "shift += times * middle"),
        ("log_total = np.log1p(self.chances @ np.expm1(tilts))", "pass"),
        ("self.law[edge - self.start :]", "self.law[edge - self.start + 1 :]"),
        ("np.expm1(-theta * self.sizes) / 2.0", "np.expm1(-theta * self.sizes)"),
        ("-(-(edge + self.total) // 2)", "(edge + self.total) // 2"),
        ("_LEAST_PLAIN_TAIL = 0.01", "_LEAST_PLAIN_TAIL = 1e-14"),
        ("0.9 * spread * _least_step(of_items)", "9.0 * spread * _least_step(of_items)"),
        (", self.multiples, self.multiples) - total**2", ", self.multiples, self.multiples)"),
        ("_ROUNDING = 1e-12", "_ROUNDING = 0.0"),
        ("float(self.chances[-1] ** self.n)", "float(self.chances[-1] * self.n)"),
        ("inside = gains <= 2.0 * gain + room", "inside = gains < 2.0 * gain - room"),
        ("inside = gains > room", "inside = gains > -room"),
        ("inside = gains < 2.0 * gain - room", "inside = gains < gain - room"),
        ("return (hits + 1) / (n_resamples + 1)", "return hits / n_resamples"),
        ("share * (size - 1) for share", "share * size - 1 for share"),
        ("draws(options.tails * tests / options.alpha", "draws(tests / options.alpha"),
        ("_whole_draws(_DECIDING * options.tails * tests", "_whole_draws(_DECIDING * tests"),
    ],
    ("bootstrap.py", "stats/bootstrap stats/ranks stats/families"
     " systems/tests::test_random_signs_by_enumeration"
     " systems/tests::test_clusters_get_one_sign"
     " systems/tests::test_contributions_of_any_metric_are_its_influences"
     " systems/tests::test_four_wins_without_a_loss"
     " systems/tests::test_up_to_five_groups_nothing_is_significant_and_that_is_said"): [
        ("added = int(not every)", "added = 0"),
        ("(1.0 - level) / 2.0 * (weights.size", "(1.0 - level) * (weights.size"),
        ("weights / float(exact_total(weights)) * about", "1.0 / weights.size * about"),
        ("last = scores.shape[1] - 1 - most", "last = scores.shape[1] - 2 - most"),
    ],
    ("items.py", "stats/items systems/tests_designs stats/item_gains"): [
        ("_BETA_SQUARED = 4.0", "_BETA_SQUARED = 2.0"),
        ("np.minimum(1.0 - ref_len / sys_len, 0.0)", "1.0 - ref_len / sys_len"),
        ("np.exp2(-np.cumsum(unmatched, axis=-1))", "np.exp2(1.0 - np.cumsum(unmatched, axis=-1))"),
        ("2.0 * sums[..., 0], sums[..., 1] + sums[...,", "sums[..., 0], sums[..., 1] + sums[...,"),
        ("return 1.0 - ratio(np.stack([correct_sure", "return ratio(np.stack([correct_sure"),
        ("spawn_key=(block, *purpose)", "spawn_key=(0, *purpose)"),
        ("octets[place % 8 :][: stop", "octets[: stop"),
        ("chunk * 4 * -(-step * width // 4)", "chunk * step * width"),
        ("(numbers >> powers) & 1", "(numbers >> (powers + 1)) & 1"),
        ("drawn = order[start + rng.integers", "drawn = order[rng.integers"),
        ("axis=1), count - 1.0", "axis=1), count * 1.0"),
        ("np.sqrt(squares / freedom / count)", "np.sqrt(squares / freedom)"),
        ("np.sqrt(sizes / (sizes - 1.0))[strata]", "1.0"),
        ("stdtrit(freedom, 0.975) / ndtri(0.975)", "stdtrit(freedom, 0.95) / ndtri(0.95)"),
        ("there.sum(axis=-1))", "seeds)"),
        ("self.undefined | other.undefined", "self.undefined"),
        ("_PIECE_BITS = 26", "_PIECE_BITS = 46"),
        ("whole / 2**-_LEAST_EXPONENT", "whole / 2 ** (1 - _LEAST_EXPONENT)"),
        ("_KEPT_BITS = 60", "_KEPT_BITS = 40"),
        ("_EXACT_BITS = 52", "_EXACT_BITS = 62"),
        ("_SINGLE_BITS = 24", "_SINGLE_BITS = 60"),
        ("alike[1:]", "alike"),
        ("(7 - places % 8)", "(places % 8)"),
        ("unpacked[:, first % 8 :]", "unpacked"),
    ],
    ("items.py", "stats/items systems/tests systems/tests_families systems/tests_ranks"
     " systems/tests_intervals doors/item_tables"): [
        ("np.add.at(summed, self.cluster,", "np.add.at(summed, self.cluster[::-1],"),
        ("1.0 / float(self.totals[0, 1])", "1.0 / float(self.totals[:, 1].sum())"),
        ("if alone and below.flat[0] == 1.0:", "if alone:"),
    ],
    ("items.py", "systems/tests systems/tests_families systems/tests_ranks"
     " systems/tests_intervals doors/dask::test_tests_of_items_are_those_of_pandas"): [
        ("numbers - weights[part] / level.weight * gains", "numbers"),
        ("block[a] - block[b]", "block[a] + block[b]"),
    ],
    ("items.py", "systems/tests_designs systems/planning systems/tests_wilcoxon"
     " systems/tests_intervals systems/tests_ranks"): [
        ("total**2 / np.where(fourth > 0.0, fourth, 1.0)", "total / np.where(fourth > 0.0, 1, 1)"),
        ("return other, one", "return one, other"),
    ],
    ("decisions/gains.py", "stats/bootstrap stats/ranks stats/families systems/tests"
     " systems/tests_families systems/tests_ranks systems/tests_intervals"): [
        ("family = largest.down", "family = largest.alone"),
        ("(least < options.alpha) & (options.alpha < most)", "options.alpha < most"),
        ("tails * np.sqrt(shares * (1.0", "np.sqrt(shares * (1.0"),
        ("    doubled = np.minimum(1.0, 2.0 * ordered)", "    doubled = np.minimum(1.0, ordered)"),
        ("together = _negative(together)", "together = together"),
    ],
    ("blocks.py", "doors/dask::test_tests_of_items_are_those_of_pandas"): [
        ("weights / linear.weight * linear.about", "linear.about / weights.size"),
        ("self.both + other.both", "self.both"),
        ("np.maximum(self.sizes, other.sizes),\n            (min", "self.sizes,\n            (min"),
        ("both = own.plus(more)", "both = own"),
        ("min(items.BLOCK, options.n_resamples - number * items.BLOCK)", "items.BLOCK"),
    ],
    ("systems/studies.py", "systems/studies"): [
        ("if not limits[1] < np.inf:", "if limits[1] < np.inf:"),
        ('ci: ThresholdInterval = "systems"', 'ci: ThresholdInterval = "order"'),
    ],
    ("lists/measure_ranks.py", "lists/measure_ranks lists/acceptance decisions/averages"
     " decisions/verdicts curves/early_retrieval curves/areas judging/annotation"
     " words_by_hand lists/summary"
     " decisions/ranks::test_what_is_shown_with_a_baseline_is_its_family"
     " decisions/ranks::test_letters_are_the_decisions_of_comparisons"): [
        ("adjust_over=over,", "adjust_over='group',"),
        ("    _test_as_compared(tests, task)\n", ""),
        ("alpha = 1.0 - how.level\n", "alpha = how.level\n"),
        ("return 9_999", "return 999"),
        ("swaps.enough_swaps(pairs, alpha)", "swaps.least_swaps(pairs, alpha)"),
        ("how.n_resamples < needed:", "how.n_resamples <= needed:"),
        ("        attrs[\"adjust_over\"]", "        attrs[\"over\"]"),
        ("        if how.adjust is not None:\n", "        if how.adjust is None:\n"),
        ("if how.baseline is None:", "if how.baseline is not None:"),
        ("_lower=-table[\"value\"]", "_lower=table[\"value\"]"),
        ("families.get(stats.BASELINE, tests)", "1 + families.get(stats.BASELINE, tests)"),
        ("families[stats.BASELINE] = doors.", "families[BASELINE] = 1 + doors."),
        ("[1.0 - (1.0 - how.level) / tests for", "[how.level for"),
        ("tests = exists.shape[1] * task.sizes.size", "tests = exists.shape[1]"),
        ("tests = exists.shape[1] * task.sizes.size", "tests = task.sizes.size"),
        (".floor(counts), total, positive, size).ge", ".floor(counts), total, positive, size).gt"),
        ("total, total - positive, size)", "total, positive, size)"),
        ("decisions.beats_chance(fewer,", "decisions.beats_chance(more,"),
        ("(r.tp_a - r.tp_b) / n", "(r.tp_b - r.tp_a) / n"),
        ("> 0, np.sqrt(spread.variance) / n, 0.0)", "> 0, np.sqrt(spread.variance) / only, 0.0)"),
        ("student=how.kind == \"ap\"", "student=how.kind == \"roc\""),
    ],
    ("curves/early_retrieval.py", "curves/early_retrieval curves/areas curves/area_differences"
     " lists/measure_ranks lists/acceptance decisions/averages decisions/verdicts"
     " judging/annotation words_by_hand"): [
        ("least = 0.5 * fpr", "least = fpr"),
        ("0.5 * columns[\"se\"] / (1.0 - least)", "columns[\"se\"] / (1.0 - least)"),
        ("np.minimum(low, lower)", "np.maximum(low, lower)"),
        ("np.maximum(high, higher)", "np.minimum(high, higher)"),
        ("more.error, freedom", "by.error, freedom"),
        ("names.index(\"measure\") + 1", "names.index(\"measure\") + 2"),
        ("level, target=\"nbest\")", "level, target=\"region\")"),
    ],
    ("curves/areas.py", "lists/measure_ranks lists/acceptance decisions/averages"
     " decisions/verdicts curves/early_retrieval curves/areas judging/annotation"
     " words_by_hand curves/area_differences"): [
        ("x.positive * x.negative / (x.positive + x.negative)", "x.positive + x.negative"),
        ("sum(x.variance**2 / x.freedom", "sum(x.variance**2 / (1.0 + x.freedom)"),
        ("np.fmax(error, at_least)", "np.fmin(error, at_least)"),
        ("np.where(at_least > error, np.inf,", "np.where(at_least < error, np.inf,"),
        ("other.variance, one.variance + other.", "other.variance, one.variance - other."),
        ("alpha = round(1.0 - level, 12)", "alpha = 0.5 - 0.5 * level"),
        ("quantile_of(freedom, level)", "quantile_of(np.inf + 0 * freedom, level)"),
    ],
    ("errors.py", "systems/planning"): [
        ("wrong |= values == least", "wrong |= values < least"),
    ],
    ("systems/planning.py", "systems/planning systems/tests_designs systems/tests_wilcoxon"
     " systems/tests_intervals systems/tests_ranks errors"): [
        ("alpha / SIDES[alternative]", "alpha * SIDES[alternative]"),
        ("ratio = plan.n_items / n_items", "ratio = n_items / plan.n_items"),
        ("if power <= alpha:", "if power < alpha:"),
        ("plan.seeds * plan.n_seeds / n_seeds", "plan.seeds"),
        ("\"greater\": 1.0}", "\"greater\": 2.0}"),
        ("* ratio * drawn / (drawn - 1.0)", "* ratio"),
    ],
    ("decisions/averages.py", "lists/measure_ranks lists/acceptance decisions/averages"
     " decisions/verdicts curves/early_retrieval curves/areas judging/annotation"
     " words_by_hand chance/bounds"
     " words_read::test_equal_queries_leave_the_other_queries_open"): [
        ("over_groups(tp, n * drawn / total)", "over_groups(tp, positive / total)"),
        ("if average == \"micro\":", "if average == \"macro\":"),
        ("np.where(known, chance, np.nan) * times", "np.where(known, chance, np.nan)"),
        ("for x in (n, positive, others)", "for x in (n + 1.0, positive, others)"),
        ("\"tpr\": (\"tp\", \"positive\")", "\"tpr\": (\"tp\", \"n\")"),
        ("np.where(empty, np.nan, x) for x", "x for x"),
        ("n_missing\": n_groups - of_groups.n_queries", "n_missing\": n_groups"),
        ("np.where(last >= first, row, -1)", "self.row"),
    ],
    ("words/results.py", "words_by_hand words words_read paper_tables"): [
        ("rejects(row[p], alpha_of(attrs))", "(row[p] < alpha_of(attrs))"),
        ("not turned) != is_lower_better(attrs)", "not turned)"),
        ("sure = rejects(frame[p], alpha)", "sure = frame[p] < alpha"),
        ("frame[gap].abs().to_numpy()", "frame[gap].to_numpy()"),
        ("if row[\"better\"] == other", "if row[\"better\"] != other"),
        ("if row[\"n_last\"] > row[\"n_first\"]", "if row[\"n_last\"] >= row[\"n_first\"]"),
        ("if sure and ends[0] <= 0.0 <= ends[1]", "if sure and ends[0] < 0.0 < ends[1]"),
        ("frame = frame[frame[p].notna()]", "frame = frame.copy()"),
        ("if len(frame) <= MOST:", "if len(frame) < MOST:"),
        ("ascending=lower, kind", "ascending=not lower, kind"),
        ("sure = rejects(row[p], alpha_of(attrs))", "sure = row[p] < alpha_of(attrs)"),
        ("turned = value < 0.0", "turned = value > 0.0"),
        ("!= is_lower_better(attrs)\n", "!= False\n"),
        ("alike & ~untested, \"or\"", "alike, \"or\""),
        ("~shares.any(axis=1)", "~shares.all(axis=1)"),
        ("part.loc[~part[\"better_than_chance\"]", "part.loc[part[\"better_than_chance\"]"),
        ("cut = part[part[\"tied\"] > 0]", "cut = part[part[\"tied\"] > 1]"),
        ("if p and others[\"difference\"]", "if others[\"difference\"]"),
    ],
    ("words/__init__.py", "words_by_hand words"): [
        ("\"greater\": (\"ci_high\", math.inf)", "\"greater\": (\"ci_low\", -math.inf)"),
    ],
    ("words/numbers.py", "words_by_hand words"): [
        ("    if p < 0.001:", "    if p < 0.01:"),
        ("    if len(texts) > most:", "    if len(texts) >= most:"),
        ("np.median(wide)) / 40.0)", "np.median(wide)) / 4.0)"),
        ("decimals = 2 + (p < 0.1)", "decimals = 2"),
        ("rejects(float(f\"{p:.{decimals}f}\"), alpha) != rejects(p, alpha)",
         "(float(f\"{p:.{decimals}f}\") < alpha) != (p < alpha)"),
        ("(1.0 - 1e-9)) > 1.01 * p * 10.0**place:", "(1.0 - 1e-9)) > 2.01 * p * 10.0**place:"),
        ("p <= least * (1.0 + 1e-9)", "p < least * (1.0 - 1e-9)"),
    ],
    ("words/rows.py", "words_by_hand words words_read"): [
        ("frame[frame[\"n_pairs\"] > 0]", "frame[frame[\"n_pairs\"] >= 0]"),
        ("frame[\"p_value\"].count() > 1", "frame[\"p_value\"].count() > 0"),
        ("replace(\"%\", \" points\")", "replace(\"%\", \"%\")"),
    ],
    ("words/vocabulary.py", "words_by_hand words"): [
        ("1.0 / (float(draws) + 1.0)", "1.0 / float(draws)"),
        ("1.0 - attrs.get(\"level\", 0.95)", "attrs.get(\"level\", 0.95)"),
    ],
}
# fmt: on
FAULTS = [
    Fault(file, *change, tuple(map(_path, tests.split())))
    for (file, tests), changes in SEEDED.items()
    for change in changes
]


def where(fault: Fault, root: Path) -> int:
    """Return the line of the fault's text; a ValueError unless it stands once in its file."""
    found = fault.path(root).read_text(encoding="utf-8")
    times = found.count(fault.text)
    if times != 1:
        raise ValueError(f"{fault.file}: {fault.text!r} stands {times} times, not once")
    return found[: found.index(fault.text)].count("\n") + 1


def copied() -> Path:
    """Return a new folder with the package and its tests, of which bytecode is checked by hash.

    By time and size, as is usual, the bytecode of one fault could pass for that of the next.
    """
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder / name)
    checked = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "rankeval_pd", quiet=1, invalidation_mode=checked)
    return folder


def _tested(tests: tuple[str, ...], folder: Path, which: str) -> None:
    """Run the tests against the copy, in a process of their own, and leave with pytest's code."""
    with open(folder / "output.txt", "w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder), "CI": "true"}  # the examples are the same with CI
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain"]
    options += ["-m", which, "--hypothesis-profile=mutants"]
    code = NOT_RUN
    try:
        code = int(pytest.main([*options, *tests]))
        if not str(sys.modules["rankeval_pd"].__file__).startswith(str(folder)):
            code = NOT_RUN  # another copy of the package was tested
    finally:
        sys.stdout.flush()
        os._exit(code)


class Run(NamedTuple):
    """The tests of one fault, while they run."""

    number: int
    process: multiprocessing.process.BaseProcess
    folder: Path
    right: str  #: what the file is without the fault
    start: float


def started(number: int, fault: Fault, folder: Path, which: str) -> Run:
    """Put the fault in and start its tests."""
    where(fault, folder)
    path = fault.path(folder)
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(fault.text, fault.faulty), encoding="utf-8")
    process = FORK.Process(target=_tested, args=(fault.tests, folder, which))
    process.start()
    return Run(number, process, folder, right, time.perf_counter())


def ended(run: Run, fault: Fault) -> str:
    """Take the fault out, and return what became of it: killed, SURVIVED, or BROKEN."""
    if run.process.is_alive():  # searches for ever
        run.process.kill()
        run.process.join()
        code = 1
    else:
        run.process.join()
        code = run.process.exitcode
    fault.path(run.folder).write_text(run.right, encoding="utf-8")
    # any other code than that of failed tests says that they could not run
    return {0: "SURVIVED", 1: "killed"}.get(code, "BROKEN")


def results(
    faults: list[Fault], folders: list[Path], which: str
) -> Iterator[tuple[Fault, str, float]]:
    """Yield what became of each fault, and the seconds that it took, one at a time per folder."""
    waiting, free, runs = list(enumerate(faults))[::-1], list(folders), []
    while waiting or runs:
        while waiting and free:
            number, fault = waiting.pop()
            runs.append(started(number, fault, free.pop(), which))
        oldest = min(run.start for run in runs)
        left = max(0.0, oldest + LONGEST - time.perf_counter())
        multiprocessing.connection.wait([run.process.sentinel for run in runs], left)
        for run in list(runs):
            taken = time.perf_counter() - run.start
            if taken >= LONGEST or not run.process.is_alive():
                runs.remove(run)
                yield faults[run.number], ended(run, faults[run.number]), taken
                free.append(run.folder)


def _load() -> None:
    """Import what the tests need beside the package, once for all faults."""
    for name in (
        "ir_measures", "matplotlib.pyplot", "mpmath", "pandas", "scipy.fft",
        "scipy.interpolate", "scipy.optimize", "scipy.sparse", "scipy.stats", "sklearn.metrics",
        "statsmodels.api", "statsmodels.stats.multitest", "statsmodels.stats.proportion", "xarray",
    ):  # fmt: skip
        importlib.import_module(name)
    # the same examples in every run, and none looked for that is simpler than the first to fail
    hypothesis.settings.register_profile(
        "mutants", deadline=None, derandomize=True, max_examples=40,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )  # fmt: skip


def main() -> int:
    """Run the list; 1 if a fault survives, or proves nothing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="regular expression of file and texts")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    parser.add_argument("--quick", action="store_true", help="run the quick tests only")
    given = parser.parse_args()
    which = "not full" if given.quick else "full"
    chosen = [f for f in FAULTS if re.search(given.only, f"{f.file} {f.text} -> {f.faulty}")]
    lines = {fault: where(fault, ROOT) for fault in chosen}
    folders = [copied() for _ in range(given.jobs)]
    _load()
    start, wrong = time.perf_counter(), 0
    try:
        named = tuple(sorted({test for fault in chosen for test in fault.tests}))
        plain = FORK.Process(target=_tested, args=(named, folders[0], which))
        plain.start()
        plain.join()
        if plain.exitcode:
            print(
                (folders[0] / "output.txt").read_text(), "the tests fail without a fault", sep="\n"
            )
            return 1
        print(f"{time.perf_counter() - start:5.0f} s  the tests pass without a fault", flush=True)
        for fault, result, taken in results(chosen, folders, which):
            print(
                f"{result:8} {taken:5.1f} s  {fault.file}:{lines[fault]}:"
                f" {fault.text!r} -> {fault.faulty!r}",
                flush=True,
            )
            wrong += result != "killed"
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(chosen)} faults in {time.perf_counter() - start:.0f} s, {wrong} not noticed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
