"""Random data as users have them, and as nobody should, and those of a planned call.

Nothing here is of one revision of the package alone.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from tests.questions import CELLS, tied_candidates

MEASURES = ["a", "b", "c"]
Rng = np.random.Generator
T = TypeVar("T")


class Case(NamedTuple):
    """Data, and what the options need to know of them."""

    data: Any
    form: str  #: "ranking" or "items"
    names: list[Hashable]  #: of the measures, or of the systems
    size: int
    by: Hashable | None
    plain: bool  #: numbers of ordinary types, labels that are text


class Call(NamedTuple):
    """A question, from which each revision makes the same data and the same call."""

    number: int
    method: str
    form: str
    kind: str  #: of the data
    options: dict[str, Any]
    session: dict[str, Any]  #: of ``set_options``
    then: str = ""  #: the function that reads the answer, if any
    refused: str = ""  #: the option that is not allowed, if any

    @property
    def drawn_anew(self) -> bool:
        """Whether each call draws other numbers."""
        return self.options.get("rng", 0) is None

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r:.60}" for name, value in self.options.items())
        session = f" within {self.session}" if self.session else ""
        then = f", then {self.then}" if self.then else ""
        return f"{self.method}({options}) of {self.kind}{session}{then}"


def pick(rng: Rng, several: Sequence[T]) -> T:
    """Return one of several."""
    return several[int(rng.integers(len(several)))]


SCORES: dict[str, Callable[[Rng, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, max(2, n // 3), n).astype(float),
    "whole": lambda rng, n: rng.integers(-5, 5, n),
    "constant": lambda rng, n: np.full(n, 2.5),
}
ODD_SCORES: dict[str, Callable[[Rng, int], Any]] = {
    "denormal": lambda rng, n: rng.choice([5e-324, 1e-310, 0.0, -0.0], n),
    "huge": lambda rng, n: rng.choice([1e308, -1.7e308, 1e300, 1e-300], n),
    "infinite": lambda rng, n: rng.choice([np.inf, -np.inf, 0.0, 1.0], n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
    "unsigned": lambda rng, n: rng.integers(0, 5, n).astype("u1"),
    "half": lambda rng, n: rng.random(n).astype("f2"),
    "single": lambda rng, n: rng.choice([0.7, 0.3, 0.1], n).astype("f4"),
    "narrow": lambda rng, n: rng.integers(-128, 128, n).astype("i1"),
    "widest unsigned": lambda rng, n: rng.choice(np.array([2**64 - 1, 2**63, 0], "u8"), n),
    "UInt8": lambda rng, n: pd.array([None, 0, 255], dtype="UInt8")[rng.integers(0, 3, n)],
    "large whole": lambda rng, n: rng.choice(np.array([2**62, 2**53 + 1, 5]), n),
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "Int64": lambda rng, n: pd.array([None, 1, 2, 3], dtype="Int64")[rng.integers(0, 4, n)],
    "arrow": lambda rng, n: pd.array(rng.random(n), dtype="double[pyarrow]"),
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.integers(0, 3, n).astype(float)),
    "decimal": lambda rng, n: objects([decimal.Decimal(int(x)) / 3 for x in rng.integers(0, 5, n)]),
    "beyond floats": lambda rng, n: objects([10**400 * int(x) for x in rng.integers(0, 2, n)]),
    "category": lambda rng, n: pd.Categorical(rng.integers(0, 3, n)),
    "text": lambda rng, n: objects([f"s{x}" for x in rng.integers(0, 3, n)]),
    "dates": lambda rng, n: pd.Timestamp("2020") + pd.to_timedelta(rng.integers(0, 3, n), "D"),
    "complex": lambda rng, n: rng.random(n) + 1j,
    "lists": lambda rng, n: objects([[1] for _ in range(n)]),
}
GOLD: dict[str, Callable[[Rng, int], Any]] = {
    "bool": lambda rng, n: rng.random(n) < pick(rng, [0.1, 0.5, 0.9]),
    "whole": lambda rng, n: rng.integers(0, 2, n),
    "float": lambda rng, n: rng.integers(0, 2, n).astype(float),
}
ODD_GOLD: dict[str, Callable[[Rng, int], Any]] = {
    "none": lambda rng, n: np.zeros(n, dtype=bool),
    "all": lambda rng, n: np.ones(n, dtype=bool),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, 1.0),
    "boolean": lambda rng, n: pd.array([None, True, False], dtype="boolean")[rng.integers(0, 3, n)],
    "objects": lambda rng, n: objects([bool(x) for x in rng.integers(0, 2, n)]),
    "grades": lambda rng, n: rng.integers(0, 3, n),
    "narrow": lambda rng, n: rng.integers(0, 2, n).astype(pick(rng, ["i1", "u1", "f2", "f4"])),
    "category": lambda rng, n: pd.Categorical.from_codes(rng.integers(0, 2, n), [False, True]),
    "infinite": lambda rng, n: rng.choice([np.inf, 0.0], n),
    "beyond floats": lambda rng, n: objects([10**400 * int(x) for x in rng.integers(0, 2, n)]),
    "text": lambda rng, n: objects(["yes" if x else "" for x in rng.integers(0, 2, n)]),
    "no dates": lambda rng, n: np.full(n, "NaT", dtype="M8[ns]"),
    "lists": lambda rng, n: objects([[1] for _ in range(n)]),
}
GROUPS: dict[str, Callable[[Rng, int], Any]] = {
    "text": lambda rng, n: objects([f"q{x}" for x in rng.integers(0, 3, n)]),
    "numbers": lambda rng, n: rng.integers(0, 3, n),
    "each": lambda rng, n: np.arange(n),
    "category": lambda rng, n: pd.Categorical.from_codes(rng.integers(0, 2, n), list("abc")),
    "gaps": lambda rng, n: objects([None if x == 0 else "q" for x in rng.integers(0, 4, n)]),
    "mixed": lambda rng, n: objects([(7, "7", 8, 7.5)[x] for x in rng.integers(0, 4, n)]),
    "unsigned": lambda rng, n: rng.integers(0, 3, n).astype("u1"),
    "tuples": lambda rng, n: objects([("q", int(x)) for x in rng.integers(0, 2, n)]),
    "sets": lambda rng, n: objects([frozenset([int(x)]) for x in rng.integers(0, 2, n)]),
}
INDEX: dict[str, Callable[[Rng, int], pd.Index]] = {
    "range": lambda rng, n: pd.RangeIndex(n),
    "text": lambda rng, n: pd.Index([f"c{x}" for x in rng.permutation(n)], dtype=object),
    "repeated": lambda rng, n: pd.Index(rng.integers(0, max(1, n // 2), n)),
    "dates": lambda rng, n: pd.Timestamp("2020") + pd.to_timedelta(rng.permutation(n), "h"),
    "levels": lambda rng, n: pd.MultiIndex.from_arrays([rng.permutation(n), np.zeros(n, int)]),
    "floats": lambda rng, n: pd.Index(rng.permutation(n) / 2),
    "mixed": lambda rng, n: pd.Index([x if x % 2 else str(x) for x in rng.permutation(n).tolist()]),
}
#: columns that are joined to candidates: of their query, or of the candidates themselves
JOINED: dict[str, Callable[[Rng, int], Any]] = {
    "age": lambda rng, n: rng.integers(18, 90, n),
    "title": lambda rng, n: objects([f"title {x}" for x in rng.integers(0, 4, n)]),
    "ident": lambda rng, n: rng.permutation(n),
    "language": lambda rng, n: pd.Categorical(rng.choice(["de", "en"], n)),
    "seen": lambda rng, n: rng.random(n) < 0.5,
}
NAMES: dict[str, list[Hashable]] = {
    "text": ["G2", "t.score", "MI", "z"],
    "numbers": [0, 1, 2, 3],
    "tuples": [("a", 1), ("a", 2), ("b", 1), ("b", 2)],
    "ours": ["n", "tp", "score", "pair"],
    "nothing": [pd.NA, "c", pd.NaT, "d"],
    "markup": ["$\\foo$", "_hidden", "", "a\nb"],
}
SIZES = (0, 1, 2, 3, 7, 7, 50, 50, 200)


def objects(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return values as an array of objects, one each."""
    return pd.Series([*values], dtype=object).to_numpy()


def ranking(rng: Rng) -> Case:
    """Return a frame, or now and then a Dataset, of candidates."""
    if rng.random() < 0.3:
        return batches(rng)
    n, plain = pick(rng, SIZES), bool(rng.random() < 0.5)
    names = _names(rng, plain)[: pick(rng, [1, 2, 2, 3])]
    columns = [_of(rng, n, SCORES, ODD_SCORES, plain) for _ in names]
    columns.append(_of(rng, n, GOLD, ODD_GOLD, plain))
    header: list[Hashable] = [*names, "gold"]
    by = None
    if rng.random() < 0.4:
        by = "query"
        columns.append(_of(rng, n, {"text": GROUPS["text"]}, GROUPS, plain))
        header.append(by)
    if not plain and rng.random() < 0.3:
        name = pick(rng, [*JOINED])
        columns.append(JOINED[name](rng, n))
        header.append(name)
    return Case(_frame(rng, columns, header, n, plain), "ranking", names, n, by, plain)


def batches(rng: Rng) -> Case:
    """Return a Dataset of candidates, with or without batches."""
    n, plain = pick(rng, SIZES), bool(rng.random() < 0.5)
    dims: dict[Hashable, int] = pick(
        rng, [{}, {"query": 3}, {"query": 1}, {"query": 0}, {"query": 2, "lang": 2}]
    )
    shape = (*dims.values(), n)
    total = int(np.prod(shape))
    names: list[Hashable] = ["x", "y"]
    held = dict.fromkeys((*names, "gold"), (*dims, "candidate"))
    values = {name: np.asarray(pick(rng, [*SCORES.values()])(rng, total)) for name in names}
    values["gold"] = np.asarray(pick(rng, [*GOLD.values()])(rng, total))
    result = xr.Dataset({k: (held[k], v.reshape(shape)) for k, v in values.items()})
    if rng.random() < 0.5:
        result = result.assign_coords({d: [f"b{i}" for i in range(k)] for d, k in dims.items()})
    if not plain:
        beside: dict[Any, Any] = pick(rng, [{}, {"n": 5}, {"tp": 1}, {"measure": "x"}])
        result = result.assign_coords(beside)
        if rng.random() < 0.3:
            result["X"] = (("candidate", "feature"), rng.normal(size=(n, 4)))
    if rng.random() < 0.25 and total:
        result = result.chunk({d: max(1, k // 2) for d, k in result.sizes.items()})
    return Case(result, "ranking", names, n, None, plain)


def items(rng: Rng) -> Case:
    """Return a frame of systems scored on test items."""
    n, plain = pick(rng, SIZES), bool(rng.random() < 0.5)
    names = _names(rng, plain)[: pick(rng, [0, 1, 2, 3, 3])]
    kinds = {
        "right": lambda rng, n: rng.integers(0, 2, n),
        "shares": lambda rng, n: rng.integers(0, 5, n) / 4,
    }
    columns = [_of(rng, n, kinds, ODD_SCORES, plain) for _ in names]
    header, by = list(names), None
    if rng.random() < 0.3:
        by = "domain"
        columns.append(_of(rng, n, {"text": GROUPS["text"]}, GROUPS, plain))
        header.append(by)
    return Case(_frame(rng, columns, header, n, plain), "items", names, n, by, plain)


def trec_lines(rng: Rng) -> tuple[str, str, dict[tuple[str, str], float]]:
    """Return a run and judgments, with comments and odd spaces, and the scores that they hold."""
    scores = {}
    run, judged = ["# a run"] * int(rng.integers(0, 2)), []
    for query in ("1", "q#2", "003"):
        for document in rng.choice(["A", "B#1", "#C", "7", "ß", "NA"], 3, replace=False).tolist():
            scores[query, document] = float(pick(rng, [0.5, -3.0, 1e-3, 12.25]))
            gap = pick(rng, [" ", "\t", "  ", " \t "])
            words = [query, "Q0", document, "1", f"{scores[query, document]!r}", "mine"]
            run.append(gap.join(words) + pick(rng, ["", " "]))
            judged.append(gap.join([query, "0", document, str(rng.integers(-1, 3))]))
            for lines in (run, judged):
                lines.extend(pick(rng, [[], [], ["# between"], ["#"]]))
    end = pick(rng, ["\n", "\r\n"])
    return end.join(run) + pick(rng, ["", end]), end.join(judged), scores


def odd_case(rng: Rng) -> Case:
    """Return data of any kind."""
    return ranking(rng) if rng.random() < 0.75 else items(rng)


def _names(rng: Rng, plain: bool) -> list[Hashable]:
    names = NAMES["text"] if plain else pick(rng, [*NAMES.values()])
    return [names[k] for k in rng.permutation(len(names))]


def _of(rng: Rng, n: int, plain: Any, odd: Any, only_plain: bool) -> Any:
    kinds = [*plain.values()] if only_plain or rng.random() < 0.6 else [*odd.values()]
    return pick(rng, kinds)(rng, n)


def _frame(
    rng: Rng, columns: list[Any], header: list[Hashable], n: int, plain: bool
) -> pd.DataFrame:
    kinds = ["range", "text"] if plain else list(INDEX)
    series = [pd.Series(getattr(x, "array", x), index=range(n)) for x in columns]
    result = pd.concat(series, axis=1) if series else pd.DataFrame(index=range(n))
    result.index = INDEX[pick(rng, kinds)](rng, n)
    result.columns = pd.Index(header, tupleize_cols=False, dtype=object)
    if not plain:
        result.attrs = {"kept": [1, 2]}
    return result


# ------------------------------------------------------------------------ the data of planned calls


def data_of(call: Call, seed: int) -> Any:
    """Return the data of a call, in its form."""
    rng = np.random.default_rng([seed, call.number])
    if call.kind == "odd":
        return odd_case(rng).data
    size = int(pick(rng, [48, 48, 96]))
    frame = tied_candidates(int(rng.integers(50)), size)
    if call.kind == "cells":
        return pd.DataFrame({k: x + rng.integers(0, 9, 6) for k, x in CELLS.items()})
    if call.kind == "candidates":
        frame["partly"] = frame["gold"].astype(float).where(rng.random(size) < 0.7)
        return in_form(frame, call.form, items=False)
    most = pick(rng, [1, 1, 4])
    frame[MEASURES] = rng.integers(0, most + 1, (size, 3)) / most
    frame = frame[[*MEASURES, "query", "half"]]
    if call.kind == "pairs":
        return frame.rankeval.paired_bootstrap(n_resamples=50, measures=MEASURES, by="query")
    return in_form(frame, call.form, items=True)


def in_form(frame: pd.DataFrame, form: str, *, items: bool) -> Any:
    """Return a frame with three queries as a Dataset, or on Dask."""
    if form in ("Dask", "head"):
        import dask.dataframe

        return dask.dataframe.from_pandas(frame, npartitions=3)
    if form in ("frame", "function", "by"):
        return frame
    if items:
        held = ("query", "item", "system")
        values = frame[MEASURES].to_numpy().reshape(3, -1, 3)
        result = xr.Dataset({"x": (held, values)}, {"system": MEASURES, "query": ["x", "y", "z"]})
    else:
        columns = frame.drop(columns="query")
        arrays = {
            k: (("query", "candidate"), x.to_numpy().reshape(3, -1)) for k, x in columns.items()
        }
        result = xr.Dataset(arrays, {"query": ["x", "y", "z"]})
    if form == "Dataset":
        return result.isel(query=0, drop=True)
    return result.chunk(query=1) if form == "chunked" else result
