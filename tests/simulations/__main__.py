"""Make the table of a simulation: ``python -m tests.simulations areas`` writes ``areas.csv``.

A simulation has ``rows``, and ``NAMES`` of the columns if rows are no mappings. A number after its
name is that of samples, if ``rows`` takes it; other words choose parts, whose rows (by the columns
``keys`` of ``FORM``) replace those of the table.
"""

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

import rankeval_pd


def main():
    warnings.simplefilter("ignore")
    rankeval_pd.set_options(progress=False, details=True)
    name, *asked = sys.argv[1:]
    simulation, found = import_module(f"tests.simulations.{name}"), []
    for row in simulation.rows(*(int(x) if x.isdigit() else x for x in asked)):
        found.append(row)
        print(*(row.values() if isinstance(row, Mapping) else row), flush=True)
    table = pd.DataFrame(found, columns=getattr(simulation, "NAMES", None))
    path = Path(simulation.__file__).with_name(getattr(simulation, "TABLE", f"{name}.csv"))
    text = written(table, path, **getattr(simulation, "FORM", {}))
    path.write_text(getattr(simulation, "HEAD", "") + text, "utf-8", newline="")


def written(table, path, *, digits=4, keys=(), **form):
    """Return a table in this form; if it has keys, within that which is there."""
    if keys and path.exists():
        table = into(pd.read_csv(path), table, keys)
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
