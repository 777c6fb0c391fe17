"""Count the public cases of peers: ``python -m tests.tools.peers`` writes ``counts.csv``.

SciPy and scikit-learn ship their tests: these run with spies, see ``spies.py``. The others are
asked with seeded cases, see ``cases.py``. A minute or two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from tests.tools.peers import cases

ROOT = Path(__file__).parents[3]
COUNTS = Path(__file__).with_name("counts.csv")
FILES = {
    "scipy": [
        "stats/tests/test_contingency.py", "stats/tests/test_odds_ratio.py",
        "stats/tests/test_relative_risk.py", "stats/tests/test_stats.py",
        "stats/tests/test_morestats.py", "stats/tests/test_distributions.py",
    ],
    "sklearn": ["metrics/tests/test_ranking.py", "metrics/tests/test_classification.py"],
}  # fmt: skip
ONLY = (
    "test_contingency or test_odds_ratio or test_relative_risk or test_ranking or f1 or accuracy"
    " or binary or Fisher or ttest_rel or FalseDiscovery or FDR or Binom or Wilcoxon or Hypergeom"
)


def of_their_tests() -> list[tuple[str, str, str, int]]:
    """Run the tests that the peers ship; return peer, function, outcome and count."""
    homes = {name: find_spec(name) for name in FILES}
    files = [
        Path(str(home.origin)).parent / file
        for name, home in homes.items()
        if home is not None
        for file in FILES[name]
    ]
    files = [file for file in files if file.exists()]
    if not files:
        return []
    site = Path(os.path.commonpath([str(Path(str(h.origin)).parent) for h in homes.values() if h]))
    with tempfile.TemporaryDirectory() as folder:
        noted = Path(folder) / "counts.json"
        subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", "-p", "tests.tools.peers.spies", "-p",
                "no:cacheprovider", "-p", "no:randomly", f"--confcutdir={site}",
                f"--rootdir={site}", *map(str, files), "-k", ONLY,
            ],
            check=False, cwd=folder, capture_output=True,
            env={**os.environ, "RANKEVAL_PD_PEERS": str(noted), "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        return [tuple(row) for row in json.loads(noted.read_text("utf-8"))]


def counted() -> pd.DataFrame:
    """Return a row per peer and function: tried, agree, differ, and why."""
    rows = [*of_their_tests(), *cases.counted()]
    found = pd.DataFrame(rows, columns=["peer", "function", "outcome", "count"])
    result = []
    for (peer, function), part in found.groupby(["peer", "function"]):
        agree = int(part.loc[part["outcome"] == "agree", "count"].sum())
        others = part[part["outcome"] != "agree"]
        result.append({
            "peer": peer, "function": function, "tried": int(part["count"].sum()),
            "agree": agree, "differ": int(others["count"].sum()),
            "reason": "; ".join(others["outcome"]),
        })  # fmt: skip
    return pd.DataFrame(result)


if __name__ == "__main__":
    table = counted()
    table.to_csv(COUNTS, index=False)
    print(table.to_string())
