"""Show progress bars for calls that take longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

_SETTLED = ContextVar("_SETTLED", default=False)  # whether a bar is shown or was declined
#: start time of the outermost call
BEGUN: ContextVar[float | None] = ContextVar("BEGUN", default=None)
#: the choice of the outermost call: True shows bars at once, None after two seconds, False never
SHOWN: ContextVar[bool | None] = ContextVar("SHOWN", default=None)


@contextmanager
def progress_bar(
    *, total: int | None, what: str, unit: str, alone: bool = False
) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances the bar by a given number of units.

    The outermost call chooses whether bars are shown (:data:`SHOWN`). Without a total, the bar
    shows only a count. With ``alone``, no bar appears if an outer call shows or has declined one.
    The two-second wait starts with the outermost call.
    """
    progress = SHOWN.get()
    declined = progress is not None and not progress
    shown = not declined and total != 0 and not (alone and _SETTLED.get())
    before = _SETTLED.set(_SETTLED.get() or declined or shown)
    try:
        begun = BEGUN.get()
        delay = 2.0
        if progress:
            delay = 0.0
        elif alone and begun is not None:
            delay = max(0.0, begun + 2.0 - time.monotonic())
        bar = _silent()
        if shown:
            bar = _progress_bar(total, what, unit, delay)
        with bar as advance:
            yield advance
    finally:
        _SETTLED.reset(before)


@contextmanager
def _silent() -> Iterator[Callable[[int], object]]:
    yield nothing_moves


@contextmanager
def _progress_bar(
    total: int | None, what: str, unit: str, delay: float
) -> Iterator[Callable[[int], object]]:
    with _bar()(
        total=total,
        desc=what,
        unit=f" {unit}",
        delay=delay,
        leave=False,
        mininterval=0.5,
    ) as bar:
        yield bar.update


def _bar() -> Any:
    """Return tqdm's widget bar in notebooks and its text bar elsewhere.

    ``tqdm.auto`` is not used because it warns if widgets are missing. A warning filter
    would affect all threads.
    """
    if "ipykernel" in sys.modules and find_spec("ipywidgets"):
        from tqdm import notebook

        return notebook.tqdm
    from tqdm import std

    return std.tqdm


def nothing_moves(_: int) -> None:
    """Do nothing instead of advancing a progress bar."""
