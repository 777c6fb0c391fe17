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
from tests.simulations.proof.pages import REFERENCE, as_table, beside, written

# a page for each topic: its title, and what is said of each question
TOPICS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SIMULATED = {
    question: said["simulated"]
    for topic in TOPICS.values() for question, said in topic["questions"].items()
}  # fmt: skip
TITLES = {name: topic["title"] for name, topic in TOPICS.items()}
TITLES |= {"missed": "All settings that miss the target"}
NUMBERS = ["simulated", "worst", "settings", "miss", "far"]
USES = {"default": "defaults", "option": "options", "other": "alternatives"}
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


def missed(table, use):
    """Return the settings that miss their target, the worst first."""
    found = table[table["miss"] & (table["use"] == use)]
    return found.sort_values("lacking", ascending=False, kind="stable")


def _target(row):
    return f"{row.promise} {_share(float(f'{row.nominal:.3g}')).rstrip('0')}"


def _reached(row):
    return f"{_share(row.simulated)}±{_share(row.error)}"


def shortfalls(table, use):
    """Return a row for each procedure and promise with a setting that misses its target."""
    rows = []
    for (name, promise), mine in missed(table, use).groupby(["procedure", "promise"], sort=False):
        alike = (table["procedure"] == name) & (table["promise"] == promise)
        worst = mine.iloc[0]
        rows.append({
            "procedure": name,
            "target": _target(worst),
            "settings": int((alike & (table["use"] == use)).sum()),
            "miss": len(mine),
            "far": int(mine["far"].sum()),
            "worst": _reached(worst),
            "worst setting": worst["setting"],
        })  # fmt: skip
    return pd.DataFrame(rows)


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


def outcome(found):
    """Return a sentence: in how many settings the defaults and the options miss their target."""
    parts = []
    for use in ("default", "option"):
        mine = found[found["use"] == use]
        if not mine.empty:
            count = f"{mine['miss'].sum()} of {mine['settings'].sum():,} settings"
            parts.append(f"{USES[use]} miss the target in {count}")
    return f"{' and '.join(parts)}.".capitalize()


def section(found, question):
    """Return a section: what was simulated, and how often each procedure misses its target."""
    here = found[found["question"] == question]
    sources = dict.fromkeys(claim.source for claim in claims() if claim.question == question)
    *first, last = (f"`{source}`" for source in sources)
    files = f"{', '.join(first)} and {last}" if first else last
    said = f"{SIMULATED[question]} {outcome(here)} All settings are in {files} (CSV)."
    parts = [f"## {question}", said]
    for use, head in USES.items():
        mine = here[here["use"] == use].drop(columns=["question", "use"])
        if not mine.empty:
            worst_first = mine.sort_values(["far", "miss"], ascending=False, kind="stable")
            parts.append(as_table(worst_first.rename(columns={"procedure": head}), NUMBERS))
    return parts


def topic(name, found):
    questions = TOPICS[name]["questions"]
    parts = [part for question in questions for part in section(found, question)]
    title = f"{TITLES[name]}: coverage and size"
    return beside("coverage", name, title, sections="\n\n".join(parts))


def every_miss(table):
    """Return the page of all settings that miss their target."""
    parts = []
    for use in ("default", "option"):
        found = missed(table, use)
        shown = found[["procedure", "setting"]].assign(
            target=[_target(row) for row in found.itertuples()],
            simulated=[_reached(row) for row in found.itertuples()],
            far=found["far"].map({True: "far", False: ""}),
        )
        parts += [f"## {USES[use].capitalize()}", as_table(shown, ["simulated"])]
    return beside("coverage", "missed", TITLES["missed"], sections="\n\n".join(parts))


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
    counted = {"errors": ERRORS}
    for use in ("default", "option"):
        mine = table[table["use"] == use]
        counted[use] = (
            f"{int(mine['miss'].sum())} of {len(mine):,} settings miss the target, and"
            f" {int(mine['far'].sum())} are far from the target"
        )
        counted[f"{use}s"] = as_table(shortfalls(table, use), NUMBERS)
    methods, options = not_simulated()
    counted |= {"methods": ", ".join(methods) or "none", "choices": ", ".join(options) or "none"}
    counted |= {"promising": len(promising()), "simulated": len(promising()) - len(methods)}
    return written("coverage", TITLES, **counted)


def topics():
    table = every_setting()
    found = summary(table)
    return {name: topic(name, found) for name in TOPICS} | {"missed": every_miss(table)}
