"""Make the table of a simulation: ``python -m tests.simulations areas`` writes ``areas.csv``.

The table keeps its columns: a simulation returns rows in this order, or mappings. A number after
its name sets how many samples to draw, if ``rows`` takes it. Other words choose parts; their rows
(by the columns ``keys`` of the form) replace the rows in the table.
"""

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd

#: other tables that a script makes, by ``..._rows``, from the same draws
ALSO = {
    "areas": ("area_laws", "average_precision", "early", "unpaired"),
    "boards": ("factors", "scores", "skewness", "swaps"),
    "clusters": ("cluster_areas", "dependence", "query_means", "query_tests"),
    "equivalence": ("differences", "enumerated", "unconditional"),
    "lists": ("fisher_power",),
    "paired_sizes": ("family_intervals", "sizes"),
    "partly_judged": ("annotators", "assurance", "judged_clusters", "plans"),
    "repetition": ("gain_threshold",),
    "second_audit_rankings": ("tie_orders",),
    "simultaneous": ("curve_bands", "curve_points", "measure_ranks", "pointwise", "recall"),
    "thresholds": ("choose_threshold", "cluster_rates", "f1", "sets", "two_aims"),
}
MADE_BY = {name: script for script, names in ALSO.items() for name in names}
#: how a table is written: with four digits, if nothing is said
WHOLE = "area_laws cluster_areas differences measure_ranks pointwise ratios simultaneous"
FORMS = {
    **{name: {"digits": None} for name in WHOLE.split()},
    **{name: {"float_format": "%.6g"} for name in ("equivalence", "paired_sizes", "sizes")},
    "clusters": {"digits": None, "na_rep": "nan"},
    "dependence": {"float_format": "%.4g", "keys": ["call", "setting"]},
    "family_intervals": {"digits": None, "lineterminator": "\r\n"},
    "judged_clusters": {"float_format": "%.4g", "keys": ["call", "setting"]},
    "plans": {"digits": 3},
}


def simulation_of(name):
    """Return the script of a table, and what yields its rows."""
    script = import_module(f"tests.simulations.{MADE_BY.get(name, name)}")
    return script, getattr(script, f"{name}_rows" if name in MADE_BY else "rows")


def main():
    warnings.simplefilter("ignore")
    rankeval_pd.set_options(progress=False, details=True)
    name, *asked = sys.argv[1:]
    script, rows = simulation_of(name)
    found = []
    for row in rows(*(int(x) if x.isdigit() else x for x in asked)):
        found.append(row)
        print(*(row.values() if isinstance(row, Mapping) else row), flush=True)
    (path,) = (x for x in Path(__file__).parent.glob(f"{name}.*") if x.suffix in (".csv", ".txt"))
    columns = list(pd.read_csv(path, nrows=0, comment="#"))
    if isinstance(found[0], Mapping):
        columns = sorted(pd.DataFrame(found), key=columns.index)
    text = written(pd.DataFrame(found, columns=columns), path, **FORMS.get(name, {}))
    path.write_text(getattr(script, "HEAD", "") + text, "utf-8", newline="")


def written(table, path, *, keys=(), **form):
    """Return a table in this form; if it has keys, within that which is there."""
    if keys and path.exists():
        table = into(pd.read_csv(path), table, keys)
    digits = form.pop("digits", None if form else 4)
    table = table if digits is None else table.round(digits)
    return table.to_csv(index=False, **form)


def into(old, table, keys):
    """Return the old table with the new rows in the places of those with the same keys."""
    known, again = (pd.MultiIndex.from_frame(x[keys]) for x in (old, table))
    both = pd.concat([old[~known.isin(again)], table])
    place = {key: k for k, key in enumerate(known)}
    order = [place.get(key, len(place)) for key in both[keys].itertuples(index=False, name=None)]
    return both.iloc[np.argsort(order, kind="stable")]


if __name__ == "__main__":
    main()
