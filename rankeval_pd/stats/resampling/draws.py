"""What is drawn of the items, for all pairs of systems together, when it is first needed."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.resampling import bootstrap, resamples, wild
from rankeval_pd.stats.resampling.asked import Items, Options, Step


def studentises(options: Options) -> bool:
    """Whether standard errors of every pair in every resample are needed."""
    together = options.adjust == "max-t" and options.event != "wild"
    return together or "studentised" in (options.event, options.ci)


class Draws:
    """What is drawn of the items, when it is first needed."""

    def __init__(self, items: Items, pairs: IntArray, options: Options, step: Step) -> None:
        self.items, self.pairs, self.options, self.step = items, pairs, options, step
        self.drawn = items.drawn
        self.theta = items.sign * items.score(items.statistics.sum(axis=1))

    @cached_property
    def parts(self) -> wild.Contributions:
        """What items, or clusters, add to the scores."""
        return wild.contributions(self.items)

    @cached_property
    def subsets(self) -> wild.Subsets:
        """The sums of these over subsets of the items."""
        return wild.subset_sums(self.parts, self.items, self.options, self.step)

    @cached_property
    def scores(self) -> FloatArray:
        """Resampled scores (system, resample), the larger the better."""
        return self._resampled[0]

    @cached_property
    def errors(self) -> FloatArray:
        """The standard error of every pair's gain in every resample, (pair, resample)."""
        result = self._resampled[1]
        assert result is not None
        return result

    @cached_property
    def own_errors(self) -> FloatArray:
        """The standard error of every pair's gain, (pair,), as those of resamples are found."""
        once, sums = np.ones((1, self.drawn.shape[1])), self.drawn.sum(axis=1)[np.newaxis]
        result = bootstrap.standard_errors(
            once, sums, self.drawn, self.items.score, self.pairs, self.items.drawn_strata
        )
        return np.asarray(self._with_seeds(result)[:, 0])

    @cached_property
    def _resampled(self) -> tuple[FloatArray, FloatArray | None]:
        items, drawn, options = self.items, self.drawn, self.options
        n = drawn.shape[1]
        strata = items.drawn_strata
        chunks = resamples.count_chunks(n, options.n_resamples, options.seed, strata)
        if not studentises(options):
            result = resamples.resampled_scores(
                drawn, items.score, chunks, options.n_resamples, self.step
            )
            return items.sign * result + self.trained, None
        errors = np.empty((len(self.pairs), options.n_resamples))
        scores = np.empty((len(drawn), options.n_resamples))
        flat = resamples.for_sums(resamples.flat(drawn), n)
        for rows, weights in resamples.placed(chunks):
            sums = resamples.weighted_sums(weights, flat).reshape(-1, len(drawn), drawn.shape[2])
            scores[:, rows] = items.score(sums).T
            errors[:, rows] = bootstrap.standard_errors(
                weights, sums, drawn, items.score, self.pairs, strata
            )
            self.step(len(weights))
        return items.sign * scores + self.trained, self._with_seeds(errors)

    @cached_property
    def trained(self) -> FloatArray | float:
        """How far the scores of other trainings would lie, (system, resample); 0 without seeds."""
        seeds, options = self.items.seeds, self.options
        if seeds is None:
            return 0.0
        t = resamples.t_draws(seeds.freedom, options.n_resamples, options.seed)
        return np.asarray(seeds.error[:, np.newaxis] * t.T)

    def _with_seeds(self, errors: FloatArray) -> FloatArray:
        """Return standard errors (pair, ...) with those of the systems' seeds."""
        if self.items.seeds is None:
            return errors
        variance = (self.items.seeds.error[self.pairs] ** 2).sum(axis=1)
        return np.asarray(np.sqrt(errors**2 + variance[:, np.newaxis]))

    @cached_property
    def scale(self) -> FloatArray:
        """The scale of each system's scores, on which equality is judged."""
        largest = np.fmax.reduce(np.abs(self.scores), axis=1, initial=0.0)
        return np.asarray(np.fmax(np.abs(self.theta), largest))

    @cached_property
    def without(self) -> FloatArray:
        """The scores without each item, or cluster, in turn."""
        return self.items.sign * resamples.leave_one_out(self.drawn, self.items.score)

    def gains(self, which: AnyArray) -> FloatArray:
        """Return the gains of some pairs, (pair,)."""
        a, b = self.pairs[which].T
        return np.asarray(self.theta[a] - self.theta[b])

    def turned(self, which: AnyArray) -> FloatArray:
        """Return the sums of pairs' contributions over subsets, (pair, subset): signs turned."""
        a, b = self.pairs[which].T
        return np.asarray(self.subsets.values[a] - self.subsets.values[b])

    def own(self, which: AnyArray) -> FloatArray:
        """Return what the items, or clusters, add to the gains of pairs, (pair, item)."""
        a, b = self.pairs[which].T
        return np.asarray(self.parts.values[a] - self.parts.values[b])

    @cached_property
    def _sizes(self) -> FloatArray:
        return np.asarray(np.abs(self.parts.values).max(axis=1, initial=0.0))

    def room(self, which: AnyArray) -> FloatArray:
        """Return up to which size a sum of a pair's contributions is rounding alone, (pair,)."""
        return np.asarray(self.parts.accuracy * self._sizes[self.pairs[which]].max(axis=1))

    def linear_errors(self, which: AnyArray) -> FloatArray:
        """Return the standard errors of pairs' gains by linearisation, (pair,)."""
        own, weights = self.own(which), self.parts.weights
        rest = own - weights * (own.sum(axis=1) / weights.sum())[:, np.newaxis]
        error = np.sqrt((rest**2).sum(axis=1))
        return np.where(error > self.room(which), self.parts.unit * error, 0.0)
