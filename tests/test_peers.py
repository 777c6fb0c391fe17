"""The public cases of peers, asked of us: each agrees, or differs for a reason that is told."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.tools.peers.__main__ import COUNTS, counted

REASONS = {
    "exact with ties and zeros, where SciPy uses a normal approximation or ignores ties",
    "an unknown positive label raises an error here",
    "NaN without guesses, 0 there",
}


def check(table: pd.DataFrame) -> None:
    """Raise unless all cases agree or have a reason, and most agree."""
    told = {x for reason in table["reason"] for x in reason.split("; ") if x}
    assert told <= REASONS
    assert (table["tried"] == table["agree"] + table["differ"]).all()
    assert table["agree"].sum() > 0.99 * table["tried"].sum()


def test_the_counts_on_the_page_have_reasons():
    table = pd.read_csv(COUNTS, keep_default_na=False)
    check(table)
    assert {"SciPy", "scikit-learn", "sacrebleu", "trec_eval (pytrec_eval)"} == {*table["peer"]}


@pytest.mark.full
def test_cases_of_peers_agree():
    for module in ("sklearn", "pytrec_eval", "sacrebleu"):
        pytest.importorskip(module)
    table = counted()
    check(table)
    assert set(table["peer"]) == set(pd.read_csv(COUNTS)["peer"])
    assert table["tried"].sum() > 1_000
