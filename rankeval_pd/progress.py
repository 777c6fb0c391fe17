"""Show progress bars for calls that take longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

_INSIDE = ContextVar("_INSIDE", default=False)  # whether an outer bar counts the work
#: start time of the outermost call
BEGUN: ContextVar[float | None] = ContextVar("BEGUN", default=None)
#: the choice of the outermost call: True shows bars at once, None after two seconds, False never
SHOWN: ContextVar[bool | None] = ContextVar("SHOWN", default=None)
_DELAY = 2.0  # seconds


@contextmanager
def progress_bar(
    *, total: int | None, what: str, unit: str, alone: bool = False
) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances the bar by a given number of units.

    The outermost call chooses whether bars are shown (:data:`SHOWN`). Without a total, the bar
    shows only a count. With ``alone``, no bar appears inside another bar, and the wait starts with
    the outermost call.
    """
    shown = SHOWN.get()
    if total == 0 or shown is False or (alone and _INSIDE.get()):
        yield nothing_moves
        return
    since = time.monotonic()
    if alone:
        since = BEGUN.get() or since
    bar = _LateBar(since, {"total": total, "desc": what, "unit": f" {unit}"})
    if shown:
        bar.open()
    inside = _INSIDE.set(True)
    try:
        yield bar.advance
    finally:
        _INSIDE.reset(inside)
        if bar.bar is not None:
            bar.bar.close()


@dataclass
class _LateBar:
    """Count units, and open tqdm's bar when the wait is over."""

    since: float
    labels: dict[str, Any]
    count: int = 0
    bar: Any = None  #: tqdm's bar, once it is open

    def open(self) -> None:
        self.bar = _bar()(leave=False, mininterval=0.5, initial=self.count, **self.labels)

    def advance(self, units: int) -> None:
        self.count += units
        if self.bar is not None:
            self.bar.update(units)
        elif time.monotonic() >= self.since + _DELAY:
            self.open()


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
