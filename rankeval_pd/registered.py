"""What pandas and xarray know of the accessors: enough to load them when data are first asked."""

from __future__ import annotations

from typing import Any


def registered(accessor: str) -> Any:  # a class to type checkers, of which it takes the place
    """Return what stands for an accessor until it is needed."""
    return _Registered(accessor)


class _Registered:
    """Stands for a class of :mod:`rankeval_pd.accessors`, which is loaded when it is needed."""

    def __init__(self, accessor: str) -> None:
        self._name = accessor

    @property
    def _accessor(self) -> Any:
        from rankeval_pd import accessors

        return getattr(accessors, self._name)

    def __call__(self, data: Any) -> Any:
        """Return the accessor of the data."""
        return self._accessor(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._accessor, name)

    def __dir__(self) -> list[str]:
        return dir(self._accessor)

    def __repr__(self) -> str:
        return repr(self._accessor)
