"""The accessor of heads: the usual methods, of the best candidates and the numbers of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pandas as pd

from rankeval_pd.accessors import FrameAccessor
from rankeval_pd.errors import listed
from rankeval_pd.forms.heads import Head, HeadFrame

HEAD_METHODS = (
    "nbest_precision", "local_precision", "precision_band", "compare", "significant_ranges",
    "difference_band", "measure_ranks", "summary", "mean_difference", "odds_ratios",
    "tie_sensitivity", "random_bound", "random_cdf", "random_envelope", "random_test", "crossovers",
    "random_band", "isolines",
)  # fmt: skip


class HeadAccessor(FrameAccessor):
    """The best candidates of each measure, with the numbers of all: the usual methods up to n_max.

    Methods that take all candidates refuse, and say so.
    """

    def __init__(self, data: pd.DataFrame, roles: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self._roles = roles or {}

    @property
    def candidates(self) -> pd.DataFrame:
        """The candidates that are kept, in the order of the data: a DataFrame."""
        return pd.DataFrame(self._data)

    @property
    def n_max(self) -> int:
        """The longest list that can be asked for."""
        return self._head.whole.asked

    @property
    def n_candidates(self) -> int:
        """N, of the whole."""
        return self._head.whole.total

    @property
    def n_positive(self) -> int:
        """N+, the true positives of the whole."""
        return self._head.whole.positive

    @property
    def _frame(self) -> HeadFrame:
        return cast(HeadFrame, self._data)

    @property
    def _head(self) -> Head:
        return self._frame.known

    def __repr__(self) -> str:
        share = self.n_positive / self.n_candidates if self.n_candidates else float("nan")
        return "\n".join(
            [
                "<the head of a ranking>",
                f"  candidates          {self.n_candidates:,}, {len(self._data):,} of them kept",
                f"  true positives      {self.n_positive:,}",
                f"  baseline precision  {share:.4%}",
                f"  measures            {listed(self._head.measures)}",
                f"  lists               up to n = {self.n_max:,}",
                f"  methods             {', '.join(HEAD_METHODS)}",
            ]
        )

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"

    def __dir__(self) -> list[str]:
        return [*HEAD_METHODS, "candidates", "n_candidates", "n_max", "n_positive", "plot"]
