"""A progress bar for what takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    progress: bool | None, *, total: int, what: str, unit: str
) -> Iterator[Callable[[int], object]]:
    """Give a function that moves the bar on by so many units.

    ``progress`` True shows the bar at once, None after two seconds, False never.
    """
    from tqdm.auto import tqdm

    with tqdm(
        total=total,
        desc=what,
        unit=f" {unit}",
        disable=progress is False,
        delay=0 if progress else 2,
        leave=False,
        mininterval=0.5,
    ) as bar:
        yield bar.update
