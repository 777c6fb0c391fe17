"""For the tests and the examples in docstrings: no figure stays open, lines have 100 columns."""

import sys
from collections.abc import Iterator

import pandas as pd
import pytest


@pytest.fixture(autouse=True)
def _one_at_a_time() -> Iterator[None]:
    with pd.option_context("display.width", 100, "display.max_columns", 20):
        yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
