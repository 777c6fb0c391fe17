"""The tools of development: seeded faults have their places, and peers' cases their reasons."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.tools import house, mutants
from tests.tools.peers.__main__ import COUNTS, counted

# ---- Seeded faults. Whether tests notice them is what ``python tests/tools/mutants.py`` sees.


def test_every_fault_has_one_place_and_changes_it():
    sources = {}
    for fault in mutants.FAULTS:
        path = fault.path(mutants.ROOT)
        source = sources.setdefault(path, path.read_text(encoding="utf-8"))
        assert source.count(fault.text) == 1, f"{fault.file}: {fault.text}"
        assert fault.text != fault.faulty


def test_every_fault_has_tests():
    texts = {}
    for test in {test for fault in mutants.FAULTS for test in fault.tests}:
        file, _, name = test.partition("::")
        text = texts.setdefault(file, (mutants.ROOT / file).read_text(encoding="utf-8"))
        assert f"def {name or 'test_'}" in text, test


def test_faults_are_many_and_in_every_file_of_statistics():
    assert len(set(mutants.FAULTS)) == len(mutants.FAULTS) >= 100
    files = {path.name for path in (mutants.ROOT / mutants.STATS).glob("*.py")}
    computing = files - {"__init__.py", "_types.py"}
    assert {fault.file for fault in mutants.FAULTS} >= computing


# ---- The house check


def test_the_house_check_prints_all_parts_and_says_what_to_do(monkeypatch, capsys):
    counts = dict.fromkeys(house.MOST, 1) | {"option names": house.MOST["option names"] + 1}
    sizes = house.Style(house.MOST_TOKENS + 1, 1, 1, 0, 0, 0, 0, [1])
    monkeypatch.setattr(house, "style_of", lambda: sizes)
    monkeypatch.setattr(house, "face_of", lambda: counts)
    monkeypatch.setattr("sys.argv", ["house", "--only", "style", "face"])
    with pytest.raises(SystemExit) as told:
        house.main()
    printed = capsys.readouterr().out
    assert printed.index("== style") < printed.index("== face") < printed.index("raise statements")
    tokens, names = str(told.value).strip().splitlines()
    assert "MOST_TOKENS" in tokens
    assert names.startswith("option names: more than MOST")
    assert all(text.endswith("only an issue may raise a limit.") for text in (tokens, names))
    sizes, counts["option names"] = sizes._replace(tokens=1), 1
    monkeypatch.setattr(house, "style_of", lambda: sizes)
    house.main()


# ---- The public cases of peers: each agrees, or differs for a reason that is told

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
