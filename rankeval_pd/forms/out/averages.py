"""Check whether results can be averaged or combined over groups."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Literal

from rankeval_pd.errors import check_choice

Average = Literal["macro", "micro"]


def check_average(average: str | None, *, combine: bool = False) -> None:
    """Raise a ValueError for an unknown average, or for combine=True with an average."""
    check_choice("average", average, (None, "macro", "micro"))
    if average is not None and combine:
        raise ValueError(
            f"average={average!r} with combine=True: average= averages over the groups, but"
            " combine=True tests the sum over the groups. Pass one of the two."
        )


def check_groups(names: Collection[Hashable]) -> None:
    """Raise a ValueError if there are no groups to combine."""
    if len(names) == 0:
        raise ValueError(
            "average= and combine=True combine groups, but there are none. Pass the name of the"
            " group column as by=..., or add a group dimension to the Dataset."
        )
