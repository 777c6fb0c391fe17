"""What does a random ranking reach at any n at all?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Unpack

import numpy as np
import xarray as xr

from rankeval_pd.errors import check_shares
from rankeval_pd.forms import tables
from rankeval_pd.forms.answers import answer, common_size
from rankeval_pd.forms.choices import ListSizes
from rankeval_pd.forms.n import check_n
from rankeval_pd.forms.rankings import Data
from rankeval_pd.forms.roles import RankingRoles
from rankeval_pd.forms.spelled_out import with_roles_but
from rankeval_pd.progress import progress_bar
from rankeval_pd.stats._types import AnyArray, FloatArray, IntArray
from rankeval_pd.stats.distributions.populations import Finite
from rankeval_pd.stats.random_model.envelope import Envelope, envelope

ENVELOPE_COLUMNS = ("alpha", "n", "expected", "envelope", "local_level", "attainable")


@with_roles_but(
    "key", "label", "groups", "lower_is_better", "ties", "rng",
    measures="no effect here, but under missing='drop'.",
)  # fmt: skip
def random_envelope(
    data: Data,
    alpha: float | Sequence[float] = 0.05,
    n: ListSizes = None,
    *,
    progress: bool | None = None,
    **roles: Unpack[RankingRoles],
) -> Data:
    """Return counts that a random ranking reaches at any n asked for with probability alpha.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a gold label; their scores play no part.
    alpha : float or list of float
        Levels, 0 < alpha < 1.
    n : int, sequence of int, range or None
        The sizes of lists that are looked at; None is every n from 1 to the number of candidates.
    progress : bool, optional
        Whether to count the levels that are tried; by default where the work takes more than two
        seconds.
    **roles
        Which column is what, see :func:`nbest_precision`.

    Returns
    -------
    DataFrame or Dataset
        One row per alpha and n (Dataset: dimensions alpha and n):

        * ``expected``: mean number of true positives, n N+ / N;
        * ``envelope``: a random ranking has as many true positives at one n asked for or more with
          a probability of at most alpha; min(n, N+) + 1 where no count is out of reach enough;
        * ``local_level``: the largest P(X >= envelope) at a single n;
        * ``attainable``: whether a list of n can have as many true positives at all.

    Notes
    -----
    The envelope has the same level t at every n: it is ``critical`` of :func:`random_bound` at
    p = t, for the largest t that keeps the promise. The probability is exact, by the paper's
    recursion with what reaches the envelope taken out. It depends on the n asked for: name those
    that you look at, such as ``range(100, 2001)``. Where equal scores are to count as one block,
    name the ends of blocks.

    Cost: ten boundaries or so, each of some ten microseconds for every count that it rises by: a
    third of a second for every n of 5,102 candidates, one for every n of 100,000 with 10,000
    positives, six for every n of a million with 50,000, one for some 3,000 of them.
    Relative errors of the probability are about 1e-12.

    References
    ----------
    Macskassy (2005), Eqs 12 to 15, here with absorption; figure 7 joins bounds that hold for
    one n each. S. Aldor-Noiman et al. (2013), The power to see, American Statistician 67: equal
    local levels.

    Examples
    --------
    >>> import pandas as pd, rankeval_pd
    >>> df = pd.DataFrame({"gold": [True] * 40 + [False] * 160})
    >>> df.rankeval.random_envelope(0.05, [10, 20, 40]).round(4).drop(columns="attainable")
       alpha   n  expected  envelope  local_level
    0   0.05  10       2.0         6       0.0268
    1   0.05  20       4.0         8       0.0268
    2   0.05  40       8.0        13       0.0268
    """
    levels = check_shares("alpha", alpha)

    def question(inner: xr.Dataset, sizes: IntArray) -> xr.Dataset:
        names = (*ENVELOPE_COLUMNS[2:], "exists")
        lazy = any(variable.chunks is not None for variable in inner.variables.values())
        with progress_bar(
            False if lazy else progress, total=None, what="trying levels", unit="boundaries"
        ) as step:
            columns = xr.apply_ufunc(
                _envelope_columns,
                *common_size(inner),
                kwargs={"alpha": levels, "n": sizes, "step": step},
                input_core_dims=[[], []],
                output_core_dims=[["alpha", "n"]] * len(names),
                dask="parallelized",
                dask_gufunc_kwargs={"output_sizes": {"alpha": levels.size, "n": sizes.size}},
                output_dtypes=[float, np.int64, float, bool, bool],
            )
        result = tables.as_columns(names, columns)
        return result.assign_coords(alpha=("alpha", levels), n=("n", sizes))

    return answer(
        data,
        roles,
        question,
        ENVELOPE_COLUMNS,
        n=check_n(n),
        scored=False,
        any_ties=True,
        counted=True,
        any_heads=True,
    )


_MOST_KEPT = 2**14  # n of an envelope that is kept for other groups


@lru_cache(maxsize=64)
def _kept(alpha: float, n: bytes, model: Finite) -> Envelope:
    """Return an envelope, which groups of one size share, chunk after chunk in one process."""
    return envelope(alpha, np.frombuffer(n), model)


def _envelope_columns(
    total: IntArray,
    positive: IntArray,
    *,
    alpha: FloatArray,
    n: IntArray,
    step: Callable[[int], object],
) -> tuple[AnyArray, ...]:
    total, positive = np.asarray(total), np.asarray(positive)
    shape = (*total.shape, alpha.size, n.size)
    expected, local = np.full(shape, np.nan), np.full(shape, np.nan)
    counts, exists = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    attainable = np.zeros(shape, dtype=bool)
    sizes = np.stack([total, positive], axis=-1).reshape(-1, 2)
    for size in np.unique(sizes, axis=0):  # groups of one size share their envelope
        same = (sizes == size).all(axis=-1).reshape(total.shape)
        fits = n <= size[0]
        model = Finite(*size.astype(float).tolist())
        for level in range(alpha.size):
            asked = n[fits].astype(float)
            if total.size > 1 and asked.size <= _MOST_KEPT:
                result = _kept(float(alpha[level]), asked.tobytes(), model)
            else:
                result = envelope(float(alpha[level]), asked, model, step)
            where = np.ix_(np.flatnonzero(same), np.array([level]), np.flatnonzero(fits))
            for column, values in (
                (expected, n[fits] * model.prior),
                (counts, result.counts),
                (local, result.local_level),
                (attainable, result.counts <= model.support(n[fits].astype(float))[1]),
                (exists, True),
            ):
                column.reshape(total.size, *shape[-2:])[where] = values
    return expected, counts, local, attainable, exists
