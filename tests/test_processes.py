"""Names without the stub file, packages in a zip file, and processes of workers."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import rankeval_pd
from rankeval_pd import plotting

PACKAGE = Path(rankeval_pd.__file__).parent
ASK = """
import rankeval_pd
df = rankeval_pd.datasets.simulate_candidates(300)
print(rankeval_pd.__file__)
print(df.rankeval.compare("good", "fair", 20)["n"].tolist())
print(len(rankeval_pd.nbest_precision(df, 20)), len(rankeval_pd.__all__))
print(rankeval_pd.in_words(df.rankeval.summary(20)) != "", rankeval_pd.plotting.roc.__name__)
print(type(df.rankeval.plot.roc()).__name__, type(rankeval_pd.rankeval(df)).__name__)
"""


def names_of(stub: Path) -> dict[str, list[str]]:
    """Return the names that a stub file imports, by module."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(stub.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.setdefault(node.module or "", []).extend(x.name for x in node.names)
    return found


@pytest.mark.parametrize("module", [rankeval_pd, plotting], ids=["rankeval_pd", "plotting"])
def test_the_names_at_run_time_are_those_of_the_stub(module):
    stub = names_of(Path(module.__file__).with_suffix(".pyi"))
    own = stub.pop("", [])
    homes = {home: names.split() for home, names in module._HOMES.items()}
    if module is rankeval_pd:  # the accessors load last, because their methods are the functions
        homes["accessors"] = module._ACCESSORS
    assert homes == stub
    assert sorted(module.__all__) == sorted([*own, *(x for names in stub.values() for x in names)])
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("stubs", [True, False], ids=["whole", "without stubs"])
def test_a_zipped_package_is_imported(tmp_path, stubs):
    path = tmp_path / "rankeval_pd-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in PACKAGE.rglob("*"):
            if file.suffix in (".py", ".typed", *([".pyi"] if stubs else [])):
                archive.write(file, Path("rankeval_pd") / file.relative_to(PACKAGE))
    code = f"import sys; sys.path.insert(0, {str(path)!r})\n{ASK}"
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout.splitlines()
    assert told[0].startswith(str(path))
    assert told[1:] == [
        "[20]", f"2 {len(rankeval_pd.__all__)}", "True roc", "Axes FrameAccessor",
    ]  # fmt: skip


# what the page "In workers" shows, in a process of its own: tests have their own workers
LOKY = """
from joblib import Parallel, delayed
import pandas as pd

def asked(seed, how):
    import sys
    there = "rankeval_pd" in sys.modules
    if how == "import":
        import rankeval_pd
    df = pd.DataFrame({"a": range(9), "gold": [True, False, True] * 3})
    if how == "function":
        from rankeval_pd import nbest_precision
        return nbest_precision(df, 3)["tp"].tolist()
    return df.rankeval.nbest_precision(3)["tp"].tolist() if how == "import" else there

if __name__ == "__main__":
    import rankeval_pd
    for how in ("import", "function", "none"):
        print(Parallel(2, backend="loky")(delayed(asked)(k, how) for k in range(2)))
"""


def told_by(path: Path, code: str) -> list[str]:
    """Return what a script prints."""
    path.write_text(code, "utf-8")
    found = subprocess.run([sys.executable, path], check=True, capture_output=True, text=True)
    return found.stdout.splitlines()


@pytest.mark.full
def test_workers_of_joblib(tmp_path):
    pytest.importorskip("joblib")
    told = told_by(tmp_path / "loky.py", LOKY)
    assert told[:2] == ["[[2], [2]]"] * 2
