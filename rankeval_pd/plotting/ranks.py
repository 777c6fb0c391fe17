"""Pictures of which measure is best; and of measures in the pictures of systems over items."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from rankeval_pd.forms.choices import AreaKind, FamilyAdjustment, ListSizes
from rankeval_pd.forms.rankings import Data
from rankeval_pd.nbest import ranks
from rankeval_pd.nbest.ranks import Asked, pairs_tested
from rankeval_pd.plotting.asked import RankingPlot, is_table, of_data_or_table, parted
from rankeval_pd.plotting.drawing.ranks import NEEDED, as_systems, draw_measure_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Picture = TypeVar("Picture", bound=Callable[..., Any])
_PAIRS = ("measure_a", "measure_b", "difference", "p_value")


@of_data_or_table(draw_measure_ranks, NEEDED, "measure_ranks")
def measure_ranks(
    data: Data,
    n: ListSizes = None,
    *,
    kind: AreaKind | None = None,
    adjust: FamilyAdjustment | None = "max-t",
    n_resamples: int | None = None,
    level: float = 0.95,
    progress: bool | None = None,
    **options: Unpack[RankingPlot],
) -> Axes:
    """Draw which measure is best: its value, the interval, and the ranks that are left open.

    Parameters
    ----------
    data : DataFrame or Dataset
        Candidates with a score for each measure and a gold label; or the result of
        :func:`rankeval_pd.measure_ranks`, or of :func:`rankeval_pd.summary` for candidates.
    n, kind, adjust, n_resamples, level, progress
        Of data: as in :func:`rankeval_pd.measure_ranks`. Several n are a panel each.
    **look
    line_kw, band_kw, marker_kw : mapping, optional
        Keywords of the grid (``Axes.grid``), of the intervals (``Axes.hlines``), and of the points
        (``Axes.plot``).
    **roles
        Of data: which column is what.

    Returns
    -------
    Axes

    Notes
    -----
    A point is the value of a measure, a bar its own interval, and on the right stand the ranks
    that the tests of all pairs leave open. A full point is tied for best: no other measure is
    significantly better. Two bars that overlap may be told apart all the same, because the
    measures rank the same candidates: read the ranks.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(500)
    >>> ax = df.rankeval.plot.measure_ranks(50)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('precision, n = 50', ['1', '2', 'rank'])
    """
    look, roles = parted(options)
    table = ranks.measure_ranks(
        data, n, kind=kind, adjust=adjust, n_resamples=n_resamples, level=level,
        progress=progress, **roles,
    )  # fmt: skip
    return cast("Axes", draw_measure_ranks(table, **look))


def of_measures_too(picture: Picture) -> Picture:
    """Make a picture of pairs of systems also take a table of pairs of measures."""

    @functools.wraps(picture)
    def drawn(data: Any, *args: Any, **options: Any) -> Any:
        if is_table(data, NEEDED):
            raise ValueError(
                "table has ranks of measures, and no pairs of them: give the data, with n=... or"
                " kind=..., or the result of compare(adjust='max-t') or compare_area."
            )
        _check_asked(data, options)
        return picture(as_systems(data) if is_table(data, _PAIRS) else data, *args, **options)

    return cast(Picture, drawn)


def _check_asked(data: Any, options: Mapping[str, Any]) -> None:
    """Raise a ValueError where candidates with a gold label come without what to rank them by."""
    if any(options.get(name) is not None for name in ("n", "kind", "measures")):
        return
    names = getattr(data, "columns", getattr(data, "variables", ()))
    if options.get("gold") is not None or "gold" in names:
        raise ValueError(
            "n=None, kind=None: data are candidates with a gold label. Say by what their measures"
            " are compared: n=..., the size of the lists, or kind='ap' or 'roc'. If 'gold' is a"
            " system over test items, rename it."
        )


def pairs_of_measures(
    data: Any,
    asked: Mapping[str, Any],
    items_only: Mapping[str, tuple[Any, Any]],
    roles: Mapping[str, Any],
) -> Any:
    """Return the tests of all pairs of measures as those of pairs of systems.

    ``items_only``: options that rankings do not have, with what they are and what they are unless
    given.
    """
    for name, (given, default) in items_only.items():
        if given is not default and given != default:
            raise ValueError(
                f"{name}={given!r} is an option of systems over test items, and n or kind asks for"
                f" measures of rankings. Leave {name} out; measures=[...] chooses measures."
            )
    options = Asked.of(
        asked["n"], asked["kind"], asked["adjust"], asked["n_resamples"], 1.0 - asked["alpha"],
        asked["progress"], None,
    )  # fmt: skip
    return as_systems(pairs_tested(data, options, roles))
