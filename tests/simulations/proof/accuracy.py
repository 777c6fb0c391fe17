"""How near is each number to a reference from another source?

The references are those of the tests: this page runs the tests that ``accuracy.csv`` names and
notes, at each comparison, how far the two numbers are from each other. ``only`` are the parameters
that are meant; where ``log`` is said, logarithms are compared: their difference is the relative
error.
"""

import contextlib
import io
import itertools
import math
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.simulations.proof.pages import ROOT, as_table, written
from tests.stats import exact


@dataclass
class Compared:
    reference: str = ""
    errors: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)  # log10 of the reference values


@dataclass(eq=False)  # pytest needs a plugin that is hashable
class Recorder:
    """A plugin of pytest that notes the numbers which the chosen tests compare."""

    found: dict[str, Compared] = field(default_factory=dict)
    logs: frozenset[str] = frozenset()
    now: str = ""
    failed: list[str] = field(default_factory=list)

    def pytest_runtest_call(self, item):
        self.now = item.nodeid
        note = (item.function.__doc__ or "").strip().split("\n")[0]
        self.found[self.now] = Compared(note or item.originalname.replace("_", " "))

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed":
            self.failed.append(f"{report.nodeid}: {report.outcome}")

    @property
    def of_logs(self):
        """Whether the test that runs compares logarithms."""
        return self.now.split("[")[0] in self.logs

    def values(self, ours, wanted):
        ours, wanted = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (ours, wanted)))
        here = np.isfinite(wanted) & (wanted != 0)
        ours, wanted = ours[here], wanted[here]
        if self.of_logs:
            error, size = np.abs(ours - wanted), wanted / math.log(10)
        else:
            error, size = np.abs(ours / wanted - 1), np.log10(np.abs(wanted))
        self.found[self.now].errors.extend(error.tolist())
        self.found[self.now].sizes.extend(size.tolist())

    def error(self, value, at=math.nan):
        self.found[self.now].errors.append(float(value))
        self.found[self.now].sizes.append(math.log10(abs(at)) if at else math.nan)


@contextlib.contextmanager
def _comparisons_noted(recorder):
    """Let the ways in which tests compare numbers tell the recorder.

    Not noted: what is printed with some digits, or drawn, and so compared with a wide margin.
    """
    close, equal = np.testing.assert_allclose, np.testing.assert_array_equal
    approx, within = pytest.approx, exact.assert_within

    def noted_close(actual, desired, rtol=1e-7, atol=0.0):
        if rtol or recorder.of_logs:
            recorder.values(actual, desired)
        close(actual, desired, rtol=rtol, atol=atol)

    def noted_equal(actual, desired):
        recorder.values(actual, desired)
        equal(actual, desired)

    def noted_approx(expected, **margin):
        result = approx(expected, **margin)
        plain = type(result)
        if "rel" not in margin and margin.get("abs", 0.0) > 1e-9:
            return result

        def is_close(self, actual):
            recorder.values(actual, expected)
            return bool(plain.__eq__(self, actual))

        result.__class__ = type("Noted", (plain,), {"__eq__": is_close, "__hash__": None})
        return result

    def noted_within(error, limit, at=math.nan):
        recorder.error(error, at)
        within(error, limit, at)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(np.testing, "assert_allclose", noted_close)
        patched.setattr(np.testing, "assert_array_equal", noted_equal)
        patched.setattr(pytest, "approx", noted_approx)
        patched.setattr(exact, "assert_within", noted_within)
        yield


def checks():
    listed = pd.read_csv(Path(__file__).with_suffix(".csv"), dtype=str, keep_default_na=False)
    return list(listed.itertuples(index=False))


def run(chosen):
    """Run the tests of some checks and return what they compared."""
    recorder = Recorder(logs=frozenset(f"tests/{c.test}" for c in chosen if c.log))
    tests = list(dict.fromkeys(str(ROOT / "tests" / c.test) for c in chosen))
    options = ["-q", "-n0", "-m", "", "-p", "no:cacheprovider", "--tb=short", "--hypothesis-seed=0"]
    os.environ["CI"] = "true"  # as many examples, and the same ones, wherever the page is made
    with _comparisons_noted(recorder), contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main([*options, f"--rootdir={ROOT}", *tests], plugins=[recorder])
    if code != 0 or recorder.failed:
        raise SystemExit(said.getvalue()[-5000:])
    return recorder


def _power(log10):
    """Return a number from its logarithm, which may be far below what a float holds."""
    return f"{10**log10:.2g}" if abs(log10) < 300 else f"1e{log10:.0f}"


def _row(check, recorder):
    start = f"tests/{check.test}"
    mine = [
        compared for name, compared in recorder.found.items()
        if name.split("[")[0] == start and check.only in name
    ]  # fmt: skip
    errors = np.array([error for compared in mine for error in compared.errors])
    sizes = [size for compared in mine for size in compared.sizes if math.isfinite(size)]
    return {
        "statistic": check.statistic,
        "error": f"{errors.max():.1e}" if errors.max() else "0",
        "values": f"{_power(min(sizes))} to {_power(max(sizes))}" if sizes else math.nan,
        "reference": mine[0].reference,
    }


def page():
    return written("accuracy", sections="\n\n".join(tables()), **of_peers())


def tables():
    """Return the section of each group of checks."""
    recorder, found = run(checks()), []
    right = ["error", "values"]
    for title, group in itertools.groupby(checks(), key=lambda check: check.group):
        table = pd.DataFrame([_row(check, recorder) for check in group])
        found.append(f"## {title}\n\n{as_table(table, right)}")
    return found


def of_peers():
    """Return the section on the public cases of peers, see ``python -m tests.tools.peers``."""
    counts = pd.read_csv(ROOT / "tests/tools/peers/counts.csv", keep_default_na=False)
    tried, agree = int(counts["tried"].sum()), int(counts["agree"].sum())
    rows = [
        {
            "peer": peer,
            "functions": ", ".join(f"`{name}`" for name in part["function"]),
            "tried": part["tried"].sum(),
            "agree": part["agree"].sum(),
            "differ": "; ".join(
                f"{row.differ} of `{row.function}`: {row.reason}"
                for row in part[part["differ"] > 0].itertuples()
            ),
        }
        for peer, part in counts.groupby("peer", sort=False)
    ]
    table = as_table(pd.DataFrame(rows))
    return {"agree": agree, "tried": tried, "differ": tried - agree, "peers": table}
