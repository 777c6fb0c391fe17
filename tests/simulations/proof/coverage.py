"""Pages on the coverage of intervals and bands, and on the size of tests.

For each procedure, ``coverage.csv`` says what it is (``use``: default, option, or other, which
people do instead), what is promised (coverage, size, power, width, warned or warning) at which
``nominal`` level (a number, or an expression of columns), and where the simulation is: the table,
the rows, the column, the ``error`` (a column, "exact", or "of" an expression: the repetitions), and
the columns of a setting.
"""

import functools
import inspect
import re
import tomllib
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pandas as pd

import rankeval_pd
from tests.simulations.proof.pages import REFERENCE, as_table, written

# what was simulated for each question
SIMULATED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NUMBERS = ["simulated", "worst", "settings", "miss", "far"]
ERRORS = 3  # Monte-Carlo errors beyond which a share misses the target
ROUNDING = 1e-9  # of decimal fractions
FAR = {"coverage": 0.02, "size": 0.01}  # from here on, it misses whatever its error

# columns and options of methods that promise a level
PROMISES = r"(ci|band|rank|phi|threshold|power)_low|p_?value|\bp_(dispersion|min|low)\b"
CHOICES = ("test", "ci", "event", "interval")

TEXTS = {
    "of", "kind", "setting", "part", "differences", "judged", "what", "asked", "metric", "pair",
}  # fmt: skip


def claims():
    listed = pd.read_csv(Path(__file__).with_suffix(".csv"), dtype=str, keep_default_na=False)
    return list(listed.itertuples(index=False))


def simulated(source):
    if source == "query_means":  # its script prints
        names = ["metric", "queries", "coverage", "below", "above"]
        return pd.read_csv(
            REFERENCE / "query_means.txt", sep=r"\s+", skiprows=1, names=names, header=None
        )
    return pd.read_csv(REFERENCE / f"{source}.csv")


def _error(share, rows, said):
    """Return Monte-Carlo errors; of a share of 0 or 1 too."""
    if said == "exact":
        return 0.0 * share
    if not said.startswith("of "):
        return rows[said]
    count = rows.eval(said[3:]) + 0 * share
    near = (share * count + 0.5) / (count + 1)
    return np.sqrt(near * (1 - near) / count).where(count > 0, 0.0)


def _said(setting):
    """Return a setting as words: what is text speaks for itself."""
    return ", ".join(
        str(value) if name in TEXTS else f"{name.replace('_', ' ')} {value}"
        for name, value in setting.items()
        if pd.notna(value)
    )


def settings_of(claim):
    """Return every setting of a procedure: promised, simulated, error, shortfall."""
    rows = simulated(claim.source)
    rows = rows.query(claim.where, engine="python") if claim.where else rows
    rows = rows[rows[claim.column].notna()]
    share = rows[claim.column]
    nominal = rows.eval(claim.nominal) + 0 * share
    error = _error(share, rows, claim.error)
    above = claim.promise in ("size", "width", "warned")
    lacking = share - nominal if above else nominal - share
    named = rows[claim.settings.split()].to_dict("records")
    said = {name: getattr(claim, name) for name in ("question", "procedure", "use", "promise")}
    found = {
        "nominal": nominal, "simulated": share, "error": error,
        "setting": [_said(setting) for setting in named],
        "lacking": lacking, "far": lacking > FAR.get(claim.promise, np.inf) + ROUNDING,
        "source": claim.source,
    }  # fmt: skip
    table = pd.DataFrame(said | found)
    return table.assign(miss=table["far"] | (table["lacking"] > ERRORS * table["error"]))


@functools.cache
def every_setting():
    return pd.concat([settings_of(claim) for claim in claims()], ignore_index=True)


def _share(value):
    # a mean that ends in 5 may differ in its last bit from machine to machine
    return f"{round(value, 9):.3f}".replace("0.", ".", 1)


def _target(row):
    return f"{row.promise} {_share(float(f'{row.nominal:.3g}')).rstrip('0')}"


def _reached(row):
    return f"{_share(row.simulated)}±{_share(row.error)}"


def _promised(mine):
    """Return the worst share of one promise, and the median of the settings with its level."""
    worst = mine.loc[mine["lacking"].idxmax()]
    alike = mine[mine["nominal"] == worst["nominal"]]
    usual = {"coverage": 0.95, "size": 0.05, "width": 1.3, "warned": 0.1}
    level = (
        "" if usual.get(worst["promise"]) == worst["nominal"] else f" for {worst['nominal']:.3g}"
    )
    median = _share(alike["simulated"].median())
    return f"{worst['promise']} {_share(worst['simulated'])} ({median}){level}"


def summary(table):
    """Return a row for each procedure and use: its worst settings, and how many miss."""
    rows = []
    keys = ["question", "use", "procedure"]
    for values, mine in table.groupby(keys, sort=False):
        promises = mine.groupby(["promise", "source"], sort=False)
        row = dict(zip(keys, values, strict=True))
        row["worst (median)"] = "; ".join(_promised(part) for _, part in promises)
        row |= {"settings": len(mine), **mine[["miss", "far"]].sum()}
        rows.append(row)
    return pd.DataFrame(rows)


def section(found, question):
    """Return a section: what was simulated, and how often each procedure misses its target."""
    sources = dict.fromkeys(claim.source for claim in claims() if claim.question == question)
    files = ", ".join(f"`{source}`" for source in sources)
    mine = found[found["question"] == question].drop(columns="question")
    mine = mine.sort_values(["far", "miss"], ascending=False, kind="stable")
    mine = mine.sort_values("use", kind="stable")
    shown = mine[["procedure", "use", *(x for x in mine if x not in ("procedure", "use"))]]
    return f"## {question}\n\n{SIMULATED[question]} ({files})\n\n{as_table(shown, NUMBERS)}"


def every_miss(table):
    """Return the settings that miss their target: defaults before options, the worst first."""
    found = table[table["miss"] & (table["use"] != "other")]
    found = found.sort_values("lacking", ascending=False, kind="stable")
    found = found.sort_values("use", kind="stable")
    return found[["procedure", "use", "setting"]].assign(
        target=[_target(row) for row in found.itertuples()],
        simulated=[_reached(row) for row in found.itertuples()],
        far=found["far"].map({True: "far", False: ""}),
    )


def promising():
    """Return the public functions that return intervals, bands or p-values, by name."""
    found = {}
    for name in rankeval_pd.__all__:
        function = getattr(rankeval_pd, name)
        if inspect.isfunction(function):
            said = f"{name} {vars(function).get('capabilities')} {function.__doc__}"
            options = inspect.signature(function).parameters
            if re.search(PROMISES, said) or not {*CHOICES}.isdisjoint(options):
                found[name] = function
    return found


def not_simulated():
    """Return the methods, and the tests and intervals of others, that ``coverage.csv`` lacks."""
    told = [claim.procedure for claim in claims() if claim.use != "other"]
    methods, options = [], []
    for name, function in promising().items():
        mine = [x for x in told if re.search(rf"`{name}\b", x)]
        if not mine:
            methods.append(f"`{name}`")
            continue
        hints, given = get_type_hints(function), inspect.signature(function).parameters
        for option in [x for x in CHOICES if x in given]:
            values = re.findall(r"'([\w-]+)'", str(hints[option]))
            default = given[option].default
            if default is None and option != "interval":
                default = values[0]
            choices = [f"{option}='{value}'" for value in values if value != default]
            options += [f"`{name}({x})`" for x in choices if not any(x in said for said in mine)]
    return methods, options


def page():
    table = every_setting()
    counted = {"errors": ERRORS, "missed": as_table(every_miss(table), ["simulated"])}
    for use in ("default", "option"):
        mine = table[table["use"] == use]
        counted[use] = (
            f"{int(mine['miss'].sum())} of {len(mine):,} settings miss the target, and"
            f" {int(mine['far'].sum())} are far from it"
        )
    methods, options = not_simulated()
    counted |= {"methods": ", ".join(methods) or "none", "choices": ", ".join(options) or "none"}
    counted |= {"promising": len(promising()), "simulated": len(promising()) - len(methods)}
    found = summary(table)
    sections = "\n\n".join(section(found, question) for question in SIMULATED)
    return written("coverage", sections=sections, **counted)
