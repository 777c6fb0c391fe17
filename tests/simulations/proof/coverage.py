"""Pages on the coverage of intervals and bands, and on the size of tests.

For each procedure, ``coverage.csv`` says what it is (``use``: default, option, or other, which
people do instead), what is promised (coverage, size, power, width or warned) at which ``nominal``
level (a number, or a column), and where the simulation is: the table, the rows, the column, the
``error`` (a column, "exact", or "of" an expression: the repetitions), and the columns of a setting.
"""

import functools
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from tests.simulations.proof.pages import REFERENCE, as_table, beside, written

# a page for each topic: its title, and what is said of each question
TOPICS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SAID = {
    question: f"{said['simulated']} {said['result']}"
    for topic in TOPICS.values() for question, said in topic["questions"].items()
}  # fmt: skip
NUMBERS = ["median", "worst", "settings", "short", "far"]
USES = {"default": "defaults", "option": "options", "other": "alternatives"}
ERRORS = 3  # Monte-Carlo errors beyond which a share falls short

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
    )


def settings_of(claim):
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
    said = {name: getattr(claim, name) for name in ("question", "procedure", "use", "promise")}
    found = {
        "nominal": nominal, "simulated": share, "error": error,
        "setting": [_said(setting) for setting in named],
        "lacking": lacking, "short": lacking > ERRORS * error, "source": claim.source,
    }  # fmt: skip
    return pd.DataFrame(said | found)


@functools.cache
def every_setting():
    return pd.concat([settings_of(claim) for claim in claims()], ignore_index=True)


def _share(value):
    # a mean that ends in 5 may differ in its last bit from machine to machine
    return f"{round(value, 9):.3f}".replace("0.", ".", 1)


def short(table, use):
    """Return where procedures fall short, the worst first."""
    found = table[table["short"] & (table["use"] == use)]
    return found.sort_values("lacking", ascending=False, kind="stable")


def far(table):
    """Return where a level is missed by much: coverage below .93, size above .06."""
    below = table["promise"].eq("coverage") & (table["simulated"] < table["nominal"] - 0.02)
    above = table["promise"].eq("size") & (table["simulated"] > table["nominal"] + 0.01)
    return below | above


def _promise(promise, nominal):
    return f"{promise} {_share(float(f'{nominal:.3g}')).rstrip('0')}"


def shortfalls(table, use):
    """Return a row for each procedure and promise with a far setting: its worst setting."""
    found, together = short(table, use), ["procedure", "promise"]
    distant = far(found) | (found["promise"] == "width")
    found = found[distant.groupby([found[x] for x in together]).transform("any")]
    counts = found.groupby(together, sort=False).size()
    worst = found.groupby(together, sort=False).head(1)
    promised = worst[["promise", "nominal"]].itertuples(index=False)
    reached = worst[["simulated", "error"]].itertuples(index=False)
    return pd.DataFrame({
        "procedure": worst["procedure"],
        "target": [_promise(*x) for x in promised],
        "short": [counts[key] for key in worst[together].itertuples(index=False, name=None)],
        "worst": [f"{_share(value)}±{_share(error)}" for value, error in reached],
        "worst setting": worst["setting"],
    })  # fmt: skip


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
    """Return a row for each procedure and use: its worst settings, and how many fall short."""
    rows = []
    keys = ["question", "use", "procedure"]
    for (question, use, name), mine in table.groupby(keys, sort=False):
        promises = [part for _, part in mine.groupby(["promise", "source"], sort=False)]
        lost = [part.loc[part["lacking"].idxmax()] for part in promises if part["short"].any()]
        row = dict(zip(keys, (question, use, name), strict=True))
        row["worst (median)"] = "; ".join(_promised(part) for part in promises)
        row |= {
            "settings": len(mine),
            "short": int(mine["short"].sum()),
            "far": int(far(mine).sum()),
        }
        rows.append(row | {"worst setting": "; ".join(dict.fromkeys(x["setting"] for x in lost))})
    return pd.DataFrame(rows)


def section(found, question):
    """Return a section: what was simulated, what falls short, and what does not."""
    here = found[found["question"] == question]
    sources = dict.fromkeys(claim.source for claim in claims() if claim.question == question)
    *first, last = (f"`{source}`" for source in sources)
    files = f"{', '.join(first)} and {last}" if first else last
    parts = [f"## {question}", f"{SAID[question]} All settings are in {files} (CSV)."]
    for use, said in USES.items():
        mine = here[here["use"] == use]
        holds, fails = mine[mine["short"] == 0], mine[mine["short"] > 0]
        if not fails.empty:
            columns = ["procedure", "worst (median)", "settings", "short", "far"]
            columns += ["worst setting"] * (use == "option")
            worst_first = fails.sort_values("far", ascending=False, kind="stable")[columns]
            parts.append(as_table(worst_first.rename(columns={"procedure": said}), NUMBERS))
        if not holds.empty:
            lines = [
                f"* {row.procedure}: {row[4]}" + f"; {row.far} far" * (row.far > 0)
                for row in holds.itertuples()
            ]
            count = f"{holds['settings'].sum():,} settings"
            parts.append(f"{said.capitalize()} that never miss the target ({count}):")
            parts.append("\n".join(lines))
    return parts


def topic(name, found):
    questions = TOPICS[name]["questions"]
    parts = [part for question in questions for part in section(found, question)]
    title = f"{TOPICS[name]['title']}: coverage and size"
    return beside("coverage", name, title, sections="\n\n".join(parts))


def page():
    table = every_setting()
    counted = {}
    for use in ("default", "option"):
        mine, fails = table[table["use"] == use], len(short(table, use))
        counted[use] = (
            f"{fails} of {len(mine):,} settings miss the target, and {int(far(mine).sum())} are far"
            " from the target"
        )
    titles = {name: topic["title"] for name, topic in TOPICS.items()}
    worst = as_table(shortfalls(table, "default"), NUMBERS)
    return written("coverage", titles, shortfalls=worst, errors=ERRORS, **counted)


def topics():
    found = summary(every_setting())
    return {name: topic(name, found) for name in TOPICS}
