"""How often is an interval, a band or a test right?

The simulations are those of ``tests/reference``; ``coverage.csv`` says, for each procedure, which
of their columns it is, of how many repetitions, and what was promised.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from tests.proof.pages import REFERENCE, as_table, opening

ERRORS = 3  # Monte-Carlo errors beyond which a share falls short

TEXTS = {
    "of", "kind", "setting", "part", "differences", "judged", "what", "asked", "metric", "pair",
}  # fmt: skip


class Claim(NamedTuple):
    """A procedure and where its simulation is."""

    question: str
    procedure: str
    use: str  # default, option, or other: what people do instead
    promise: str  # coverage, size, power, width or warned
    nominal: str  # a number, or a column
    source: str
    where: str
    column: str
    error: str  # a column, "exact", or "of" an expression: the repetitions
    settings: str


def claims() -> list[Claim]:
    """Return all procedures."""
    listed = pd.read_csv(Path(__file__).with_suffix(".csv"), dtype=str, keep_default_na=False)
    return [Claim(*row) for row in listed.itertuples(index=False)]


def simulated(source: str) -> pd.DataFrame:
    """Return a committed table."""
    if source == "query_means":  # its script prints
        names = ["metric", "queries", "coverage", "below", "above"]
        return pd.read_csv(
            REFERENCE / "query_means.txt", sep=r"\s+", skiprows=1, names=names, header=None
        )
    return pd.read_csv(REFERENCE / f"{source}.csv")


def _error(share: pd.Series, rows: pd.DataFrame, said: str) -> pd.Series:
    """Return Monte-Carlo errors; of a share of 0 or 1 too."""
    if said == "exact":
        return 0.0 * share
    if not said.startswith("of "):
        return rows[said]
    count = rows.eval(said[3:]) + 0 * share
    near = (share * count + 0.5) / (count + 1)
    return np.sqrt(near * (1 - near) / count).where(count > 0, 0.0)


def _said(setting: dict[str, object]) -> str:
    """Return a setting as words: what is text speaks for itself."""
    return ", ".join(
        str(value) if name in TEXTS else f"{name.replace('_', ' ')} {value}"
        for name, value in setting.items()
    )


def made_by(source: str) -> str:
    """Return the command of a simulation: some scripts write their table, some print it."""
    script, kind = f"tests/reference/{source}.py", "txt" if source == "query_means" else "csv"
    prints = f"{script} > " in (REFERENCE / f"{source}.py").read_text("utf-8")
    return f"python {script}" + (f" > tests/reference/{source}.{kind}" if prints else "")


def settings_of(claim: Claim) -> pd.DataFrame:
    """Return every setting of a procedure: promised, simulated, error, shortfall."""
    rows = simulated(claim.source)
    rows = rows.query(claim.where, engine="python") if claim.where else rows
    rows = rows[rows[claim.column].notna()]
    share = rows[claim.column]
    nominal = rows[claim.nominal] if claim.nominal in rows else float(claim.nominal) + 0 * share
    error = _error(share, rows, claim.error)
    above = claim.promise in ("size", "width", "warned")
    lacking = share - nominal if above else nominal - share
    named = rows[claim.settings.split()].to_dict("records")
    return pd.DataFrame(
        {
            "question": claim.question,
            "procedure": claim.procedure,
            "use": claim.use,
            "promise": claim.promise,
            "nominal": nominal,
            "simulated": share,
            "error": error,
            "setting": [_said(setting) for setting in named],
            "lacking": lacking,
            "short": lacking > ERRORS * error,
            "source": claim.source,
        }
    )


def every_setting() -> pd.DataFrame:
    """Return all settings of all procedures."""
    return pd.concat([settings_of(claim) for claim in claims()], ignore_index=True)


def _share(value: float) -> str:
    # a mean that ends in 5 may differ in its last bit from machine to machine
    return f"{round(value, 9):.3f}".replace("0.", ".", 1)


def _printed(table: pd.DataFrame) -> pd.DataFrame:
    found = table.assign(
        nominal=table["nominal"].map("{:.3g}".format),
        simulated=[
            f"{_share(s)} ± {_share(e)}"
            for s, e in zip(table["simulated"], table["error"], strict=True)
        ],
    )
    return found[["procedure", "promise", "nominal", "simulated", "setting"]]


def short(table: pd.DataFrame, use: str) -> pd.DataFrame:
    """Return where procedures fall short, the worst first."""
    found = table[table["short"] & (table["use"] == use)]
    return found.sort_values("lacking", ascending=False, kind="stable")


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each procedure and promise: how many settings, the worst, how many short."""
    rows = []
    for claim in claims():
        here = table["procedure"].eq(claim.procedure) & table["promise"].eq(claim.promise)
        mine = table[here & table["source"].eq(claim.source)]
        worst = mine.loc[mine["lacking"].idxmax()]
        alike = mine[mine["nominal"] == worst["nominal"]]
        rows.append(
            {
                "procedure": claim.procedure,
                "use": claim.use,
                "promise": claim.promise,
                "nominal": f"{worst['nominal']:.3g}",
                "settings": len(mine),
                "short": int(mine["short"].sum()),
                "median": _share(alike["simulated"].median()),
                "worst": f"{_share(worst['simulated'])} ± {_share(worst['error'])}",
                "worst at": worst["setting"],
            }
        )
    return pd.DataFrame(rows)


def page() -> str:
    """Return the page."""
    table = every_setting()
    numbers = ["simulated", "nominal", "median", "worst"]
    defaults, options = short(table, "default"), short(table, "option")
    count = table["use"].eq("default").sum()
    parts = [
        opening(
            "coverage",
            "Do intervals and tests keep their promise?",
            "Each interval, band and test, in simulations whose truth is known. *coverage*: how"
            " often the interval holds the truth; *size*: how often the test finds what is not"
            " there; *power*: how often it finds what is there, as planned; *width*: how many times"
            " as wide intervals are as those that just cover; *warned*: how often a warning comes"
            " although the level holds. ± is the Monte-Carlo"
            " error; where all outcomes were enumerated it is .000. A setting is *short* where it"
            f" misses its promise by more than {ERRORS} of these errors.",
            "The simulations and their scripts are in `tests/reference`; small versions of them run"
            " in the tests.",
        ),
        "## Where a default falls short",
        f"{len(defaults)} of {count} settings, the worst first.",
        as_table(_printed(defaults), numbers),
        "## Where an option falls short",
        f"{len(options)} of {table['use'].eq('option').sum()} settings; of each option the worst"
        " one. These are not what you get unless you ask for them.",
        as_table(_printed(options.groupby("procedure", sort=False).head(1)), numbers),
        "## Every procedure",
        "*other*: what people do instead, for comparison; no method of the package does it"
        " unless a warning says so. *median*: of the settings with this nominal value.",
    ]
    found = summary(table)
    for question in dict.fromkeys(claim.question for claim in claims()):
        mine = [claim.question == question for claim in claims()]
        sources = dict.fromkeys(claim.source for claim in claims() if claim.question == question)
        commands = ", ".join(f"`{made_by(source)}`" for source in sources)
        parts += [f"### {question}", as_table(found[mine], numbers), f"Simulated by {commands}."]
    return "\n\n".join(parts) + "\n"
