"""Ask two revisions the same questions: ``python -m tests.tools.equality REVISION [--calls 4000]``.

The calls are drawn from the methods of the accessor and the public functions, their options (the
``Literal`` of each annotation) and the forms of data. Each revision answers in a process of its
own, and the answers come back as arrays, numbers and text. Every column, variable, dimension,
coordinate and attr has to be the same to the last bit, or to 1e-12 where sums may run in another
order; a refused call has to be refused by the same error; warnings have to be the same. The exit
code is 1 where two answers differ and ``EXCEPTIONS`` does not say why.

``--only METHOD`` asks one method, ``--case K`` one call, which is then shown.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pickle
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import rankeval_pd
from tests.tools.fuzz.data import MEASURES, Call, data_of

ROOT = Path(__file__).resolve().parents[2]
CLOSE = 1e-12  # relative
MOST = 4  # differences that are printed for a call

#: what differs, as "method [form] place: ..." (a regular expression), and the reason
EXCEPTIONS: dict[str, str] = {
    r"attrs\.keys: ": "the record has one order in every table",
    r"attrs\.'(ci': gone|interval': new)": "the record calls the interval by this name",
    r"attrs\.'(quantity|unit)': new": "the record says what was measured",
    r"attrs\.'(test|interval)': new": "the record names the law of a method without an option",
    r"attrs\.'n_(candidates|rankings|groups)': new": "the record says how much was counted",
    r"attrs\.'columns': ": "a Dataset lists its dimensions in the order of its layout",
    r"attrs\.'(n_items|by|n_resamples)': new": "a Dataset has the record of its frame",
    r"attrs\.'caption': ": "a caption names the interval that the record names",
    r"judged_\w+ \[(Dataset|batches|chunked)\] .*values: int64.* became float64": (
        "where values of a Dataset are missing, counts are floats, as in the other methods"
    ),
    r"annotator_agreement \[(batches|chunked)\]": (
        "the groups of a Dataset are answered one by one, as by= answers them"
    ),
    r"gain_by_size \[(batches|chunked)\]": "each group draws test sets of its own, as by= does",
    r"difference_region \[(Dask|head)\] \.result": (
        "the ranks of candidates outside a list take a pass of their own: compute the columns"
    ),
    r"tie_sensitivity \[(Dask|head)\] ": "a head has some of the tied candidates: it is refused",
    r"\[head\] \.result\.message: ": "the error names the role of the new head",
    r"\[Dask\] \.result(: (dict|str)|\.(\w+|'.*'): (gone|new))": (
        "whole curves of a Dask DataFrame went; methods by groups, and of counts, came"
    ),
    r"\[(Dask|Dataset|batches|chunked|odd)\] \.result\.(message|error): ": (
        "the door checks first, and the method for frames refuses Datasets and Dask DataFrames"
    ),
    r"\[(Dataset|batches|chunked)\] \.result(: (dict|str)|\.(\w+|'.*'): (gone|new))": (
        "a Dataset is answered or refused as the frame that it equals"
    ),
    r"difference_region \[chunked\] .*lazy: True became False": (
        "the rows of a region depend on the values, so the values are computed"
    ),
    r"\[chunked\] .*lazy: False became True": "columns of all groups are laid out at once",
    r"\[(Dask|Dataset|batches|chunked|odd)\] \.warnings: ": (
        "one warning for all groups, and from lazy answers when they are computed"
    ),
    r"\[(Dataset|batches|odd)\] .*(values: (float64|int64|bool|\[)|(sizes|dims|coords|names): )"
    r".* became .*\]$": (
        "candidates with tied votes are in no list, so there are as many n as in the frame"
    ),
    r"attrs\.'annotators_differ': ": "the annotators are listed, without their verdicts",
    r"'leaning'\.dtype: 'object' became 'str'": "names have one dtype, also if none is given",
    r"became 'progress=": "progress= is checked at the door of every method",
    r"\[odd\] .*(dtype|values): .* became ": "an empty answer has the types of the frame's",
    r"random_bound .*attrs\.'simultaneous': new": "simultaneous= is that of random_envelope",
    r"(random_bound|precision_band) \[\w+\] \.result(: dict|\.('\w+'|\w+): (gone|new))": (
        "simultaneous= and of='recall' took the place of random_envelope and recall_band"
    ),
    r"\.result\.message: .* became \"\w+=.* is not one of ": (
        "values that an annotation lists are checked at the door, and some of them went"
    ),
    r"\.warnings: .*agreement='any', 'all' or 'mean' to keep": "agreement='mean' went",
    r"\.result\.('(undecided|p_best)'|attrs\.'(ranks|prior)'): gone": "these went",
    r"^(area|roc|det|gain|lift) \[\w+\] \.result(: dict|\.('\w+'|\w+): (gone|new))": (
        "average precision takes no ci=, and a class too small for a band has NaN"
    ),
    r"\.warnings: .*(compare|unpaired)_area: a class has": "few candidates have one warning",
    r"^(roc|det|gain|lift|precision_recall) .*became .*(a band needs|cannot stand beside)": (
        "a class too small for a band is a warning, and combinations are refused by a table"
    ),
    r"\.result\.(names|columns): .*'(undecided|p_best)'.* became ": "undecided and p_best went",
    r"message: .*(cannot reach alpha|only items in memory|ranks have no t|two p-val|but for)": (
        "the errors of tests without draws, and of too few draws, are joined"
    ),
    r"paired_bootstrap .*\.result(: dict|\.('\w+'|\w+): (gone|new))": "max-t draws signs only",
    r"system_ranks .*attrs\.'n_resamples': ": "exact tests and intervals draw nothing",
    r"\.warnings: .*A decision at alpha=": "a warning took the place of the column undecided",
    r"\.result\.message: .*(max-t draws random signs|does not record|not one of the labels)": (
        "max-t draws signs only; errors of labels and of lost attrs are joined"
    ),
    r"\.message: .*judged_recall, judged_average_precision and": "judged_average_precision went",
    r"judged_\w+ .*attrs\.'estimator': gone": "there is one estimator",
    r"plan_annotation .*\.warnings: .*(out of reach|power is 0)": "a plan is told in fewer words",
    r"\.result\.(message|error): .*(a long frame|applies only to|independent candidates|is of type"
    r"|has no meaning without|cannot stand beside|is not the name of|pass True, False or None"
    r"|no names|no candidate has"
    r"|paired_bootstrap\(details=True\) returns)": "the door refuses roles by tables",
    r"\[odd\] \.result\.\S+: (gone|new)": "a Dataset without groups is refused",
    r"difference_region \[\w+\] \.result\.('candidate'|names): ": (
        "the rows of a Dataset have the columns of the frame that it equals"
    ),
    r"crossovers .*attrs\.'contiguous': gone": "runs have at least two sizes",
    r"^compare_thresholds ": "the sets of compare(threshold=) have their own method",
    r"^(detectable_gain|needed_items) .*: dict .* became (float|int) ": (
        "with a row or a mapping, n_items and n_seeds are the planned numbers"
    ),
    r"significant_ranges .*attrs\.'(ci|level|target)'.*(: gone| became )": "ranges have none",
    r"significant_ranges \[batches\] .*(columns|index\.name): .*annotator": (
        "annotators stand before groups, as in the frame"
    ),
    r"'tied_for_best'.* np\.True_ became np\.False_": "without a list, nothing is tied for best",
    r"'ci_high'\.values.*float64\(0\.99999999\d+\) became np\.float64\(1\.0\)": (
        "upper limits of proportions near 1 had not converged"
    ),
    r"\[odd\] .*values\[.*\]: .* became ": "a cell without rows is empty, as in the frame",
    r"\[odd\] \.result\.attrs\.'family': ": "groups without rows form no family",
    r"\.result\.message: .*(nonsense|largest of several|within a stratum|variance between seeds"
    r"|sizes: -1|by is missing|no column 10{30}|no more positives than|odds_ratios, random_test)": (
        "refused in other words"
    ),
    r"^random_bound \[(head|by|frame)\] \.result\.(error|message): ": (
        "it has simultaneous=, and wrong roles have one kind of error each"
    ),
    r"random_test .*: str .* became dict .*ties='(worst|best|expected)'": (
        "random_test has the ties that all methods have"
    ),
    r"\.message: .* became .*ties='\w+' is supported only by nbest_precision and the curves": (
        "random_test has the ties that all methods have"
    ),
    r"random_test .*\.message: .* became '\w+= cannot stand beside": "one table of refusals",
    r"label swaps need lists of whole candidates": "means over tie orders have no label swaps",
    r"(compare|significant_ranges) \[\w+\] .*attrs\.'phi': gone": "no test of lists has phi",
    r"(compare|significant_ranges|measure_ranks|summary) .*(undecided|names: |'columns': )": (
        "decisions that more draws could change are not marked"
    ),
    r"\.message: .* became .*(cannot stand beside|pass exactly one of|numbers from )": (
        "refused combinations, and impossible numbers, have one text each"
    ),
    r"\] \.result: ['\"].* became ['\"]": (
        "a whole table reads like its short one, and every test is called by its own name"
    ),
}

# ---------------------------------------------------------------------------------- the answers


def ask(call: Call, seed: int) -> Any:
    """Return the answer to a call."""
    if call.kind == "none":
        return getattr(rankeval_pd, call.method)(**call.options)
    data = data_of(call, seed)
    if call.form == "function":
        answer = getattr(rankeval_pd, call.method)(data, **call.options)
    else:
        accessor = data.rankeval
        if call.form == "head":
            accessor = accessor(measures=MEASURES).head(20)
        answer = getattr(accessor, call.method)(**call.options)
    return getattr(rankeval_pd, call.then)(answer) if call.then else answer


def answered(call: Call, seed: int) -> dict[str, Any]:
    """Return the answer as plain data: arrays, numbers, text, and mappings of these."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with rankeval_pd.set_options(progress=False, **call.session):
            try:
                result = plain(ask(call, seed))
            except Exception as error:  # the errors are compared, too
                result = {"error": type(error).__name__, "message": plain(str(error))}
    said = sorted(f"{x.category.__name__}: {x.message}" for x in caught)
    return {"result": result, "warnings": plain(said)}


def plain(value: Any) -> Any:
    """Return a result as arrays, numbers, text, and mappings of these."""
    if isinstance(value, pd.DataFrame):
        columns = {repr(x): plain(value.iloc[:, k]) for k, x in enumerate(value.columns)}
        names = [repr(x) for x in value.columns]
        index = plain(value.index.to_frame(index=False)) if value.index.nlevels > 1 else ""
        index = index or plain(pd.Series(value.index)) | {"name": repr(value.index.name)}
        return {"columns": names, **columns, "index": index, "attrs": plain(value.attrs)}
    if isinstance(value, pd.Series):
        numbers = isinstance(value.dtype, np.dtype) and value.dtype.kind != "O"
        return {
            "dtype": str(value.dtype),
            "values": plain(value.to_numpy() if numbers else value.array),
        }
    if isinstance(value, xr.Dataset):
        return {
            "sizes": [f"{name!r}: {size}" for name, size in value.sizes.items()],
            "names": [*map(repr, value.data_vars)],
            "coords": sorted(map(repr, value.coords)),
            **{repr(name): plain(x) for name, x in value.variables.items()},
            "attrs": plain(value.attrs),
        }
    if isinstance(value, xr.Variable):
        held = {"dims": [*map(repr, value.dims)], "lazy": value.chunks is not None}
        return held | {"values": plain(value.to_numpy()), "attrs": plain(value.attrs)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcmM":
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return plain(value.item())
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {"keys": [*map(repr, value)]} | {repr(k): plain(x) for k, x in value.items()}
    if isinstance(value, (list, tuple, np.ndarray, pd.api.extensions.ExtensionArray)):
        return [plain(x) for x in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if hasattr(value, "npartitions"):
        return {"lazy": True, "table": plain(value.compute())}
    text = value if isinstance(value, str) else repr(value)
    return re.sub(r"\b0x[0-9a-f]+|[\d.,]+ GB is available", "...", text)  # not of the call


def answer_all(plan: Path, answers: Path) -> None:
    """Answer the calls of a plan with the package that is imported, and store the answers."""
    import dask

    importlib.import_module("rankeval_pd.dask")
    assert Path(rankeval_pd.__file__).resolve().is_relative_to(Path.cwd().resolve())
    seed, calls = pickle.loads(plan.read_bytes())
    with dask.config.set(scheduler="synchronous"):
        answers.write_bytes(pickle.dumps({x.number: answered(x, seed) for x in calls}))


# ------------------------------------------------------------------------------- are they equal?


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield where two answers differ; ``~`` and the place where they do by less than 1e-12."""
    if type(old) is not type(new):
        yield f"{place}: {type(old).__name__} {old!r:.80} became {type(new).__name__} {new!r:.80}"
    elif isinstance(old, dict):
        for name in [*old, *(x for x in new if x not in old)]:
            if name not in old or name not in new:
                yield f"{place}.{name}: {'gone' if name in old else 'new'}"
            else:
                yield from differences(old[name], new[name], f"{place}.{name}")
    elif isinstance(old, list) and len(old) == len(new) and any(map(held, old)):
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}[{k}]")
    elif isinstance(old, (float, np.ndarray)):
        yield from of_numbers(np.asarray(old), np.asarray(new), place)
    elif old != new:
        yield f"{place}: {old!r:.200} became {new!r:.200}"


def held(value: Any) -> bool:
    """Return whether a value is compared part by part."""
    return isinstance(value, (dict, list, float, np.ndarray))


def of_numbers(old: np.ndarray[Any, Any], new: np.ndarray[Any, Any], place: str) -> Iterator[str]:
    """Yield how two arrays of numbers differ."""
    if old.shape != new.shape or old.dtype != new.dtype:
        yield f"{place}: {old.dtype}{list(old.shape)} became {new.dtype}{list(new.shape)}"
        return
    equal = (old == new) | ((old != old) & (new != new))  # NaN, NaT
    if old.dtype.kind == "f":
        equal &= np.signbit(old) == np.signbit(new)
        equal |= np.isnan(old) & np.isnan(new)
    if equal.all():
        return
    if old.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            gap = np.abs(old - new) / np.maximum(np.abs(old), np.abs(new))
        if (equal | (gap <= CLOSE) | ((old == 0) & (new == 0))).all():
            yield f"~{place}"
            return
    first = np.argwhere(~equal)[0].tolist() if old.ndim else []
    one, other = old[tuple(first)], new[tuple(first)]
    yield f"{place}{first}: {one!r} became {other!r} ({np.sum(~equal)} of {equal.size} differ)"


VERDICTS = ("equal", "refused alike", "to 1e-12", "excepted", "differs")


def verdict(call: Call, old: dict[str, Any], new: dict[str, Any]) -> tuple[str, list[str]]:
    """Return how the answers to a call compare, and each difference."""
    lines = [f"{call.method} [{call.form}] {x}" for x in differences(old, new)]
    far = [x for x in lines if "] ~" not in x]
    unknown = [x for x in far if not any(re.search(known, x) for known in EXCEPTIONS)]
    if unknown:
        return "differs", unknown
    if far:
        return "excepted", far
    if lines:
        return "to 1e-12", lines
    refused = isinstance(old["result"], dict) and "error" in old["result"]
    return "refused alike" if refused else "equal", []


# ------------------------------------------------------------------------------------- the run


def unpack(revision: str | None, folder: Path) -> Path:
    """Put the package of a revision, or the one here, and these tests into a folder."""
    folder.mkdir()
    if revision is None:
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "rankeval_pd", folder / "rankeval_pd", ignore=leave)
    else:
        archive = subprocess.run(
            ["git", "archive", revision, "rankeval_pd"], cwd=ROOT, check=True, capture_output=True
        )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
    (folder / "tests").symlink_to(ROOT / "tests")
    return folder


def answers_of(folder: Path, plan: Path) -> dict[int, dict[str, Any]]:
    """Return the answers of the package in a folder, from a process of its own."""
    answers = folder / "answers"
    code = "import sys; from pathlib import Path; from tests.tools import equality"
    code += "; equality.answer_all(*map(Path, sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", code, str(plan), str(answers)]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    found: dict[int, dict[str, Any]] = pickle.loads(answers.read_bytes())
    return found


def main() -> int:
    """Compare two revisions; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("revision", help="the old one")
    parser.add_argument("--new", help="the new one (default: the files here)")
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="METHOD")
    parser.add_argument("--case", type=int)
    chosen = parser.parse_args()
    from tests.tools.fuzz.calls import Planner  # which the old package need not have

    planner = Planner(chosen.seed, chosen.only)
    numbers = range(chosen.calls) if chosen.case is None else [chosen.case]
    calls = [planner.call(number) for number in numbers]
    with tempfile.TemporaryDirectory() as temporary:
        plan = Path(temporary) / "plan"
        plan.write_bytes(pickle.dumps((chosen.seed, calls)))
        trees = {"old": chosen.revision, "new": chosen.new}
        old, new = (
            answers_of(unpack(x, Path(temporary) / name), plan) for name, x in trees.items()
        )
    counts: Counter[tuple[str, str, str]] = Counter()
    for call in calls:
        found, lines = verdict(call, old[call.number], new[call.number])
        counts[call.method, call.form, found] += 1
        if found == "differs" or chosen.case is not None:
            more = [f"and {len(lines) - MOST} more"] if len(lines) > MOST else []
            print(f"{call}  [--case {call.number}]", *lines[:MOST], *more, sep="\n    ")
    if chosen.case is not None:
        print(old[chosen.case], new[chosen.case], sep="\n")
    rows = pd.Series(counts, name="calls").rename_axis(["method", "form", "verdict"])
    for way in ("method", "form"):
        table = rows.reset_index().pivot_table("calls", way, "verdict", "sum", fill_value=0)
        table = table.reindex(columns=[*VERDICTS], fill_value=0).rename_axis(columns=None)
        print(f"\n{table.assign(calls=table.sum(axis=1)).to_string()}")
    each = rows.groupby("verdict").sum()
    print("\n" + ", ".join([f"{len(calls):,} calls", *(f"{x} {n:,}" for x, n in each.items())]))
    return int("differs" in each)


if __name__ == "__main__":
    sys.exit(main())
