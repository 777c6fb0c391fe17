"""Print how the package is built and what calls cost: ``python -m tests.house [--only way tasks]``.

``style``  tokens of code without comments and docstrings, lines, modules, imports, and what is
           counted about how the code reads. Fails if there are more tokens than ``MOST_TOKENS``.
``size``   files, lines by kind, functions. A line is *code* if it has a token that is neither of a
           docstring nor of a comment. It *begins a statement* if one other than a docstring starts
           on it. It is *executable* if the bytecode of a named function (``co_lines``; not of a
           module, a class, a lambda or a comprehension) is of it, which depends on the version of
           Python: of the definitions tried this is the one nearest to an earlier count, which gave
           18,815 where this gives 18,880 (Python 3.11), and it is not that count. Comments have a
           line of their own. A function's lines are all from ``def`` on, without its docstring.
``way``    the files and functions of the package on the way of a call, after a first call, how
           often the call switches files, and how many functions of the package are on the stack
           when the deepest call of ``stats`` begins. Lambdas and comprehensions count.
``sorts``  the arrays of at least N numbers that a call sorts, N being the candidates. The methods
           of arrays are seen by a profile, wherever they are called, ``np.argsort``, ``np.unique``
           and pandas among the callers; ``np.lexsort`` is replaced by a function that counts.
           ``float64`` are scores, ``uint64`` hashes of labels, ``int64`` places and groups,
           ``bool`` who is absent. "2 N" has a row for each measure: two rankings in one call.
``tasks``  the tasks of Dask for each chunk: of the graph as it is built, as it is optimized, and
           of those that a run does. "each more" is what a chunk more costs: the constant part of
           the graph is not in it. Chunks that are in memory are nodes of a graph and no task of a
           run.
``time``   the processor's seconds, the shortest of five runs.

Only public names are asked, so that the modules may have any names and places.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import statistics
import sys
import time
import tokenize
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import rankeval_pd

ROOT = Path(rankeval_pd.__file__).resolve().parent
LARGE = 500  # lines of a file that is long
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
)  # fmt: skip
SORTS = ("sort", "argsort", "partition", "argpartition")

Call = Callable[[], object]


# ------------------------------------------------------------------------------------------- size


class Lines(NamedTuple):
    """The lines of a file by their kind."""

    name: str
    every: int
    code: int
    executable: int
    statements: int
    docstrings: int
    comments: int
    blank: int
    functions: list[int]  #: how long each is


def docstring_of(node: ast.AST) -> ast.stmt | None:
    """Return the docstring of a module, a class or a function."""
    if not isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) or not node.body:
        return None
    first = node.body[0]
    text = first.value if isinstance(first, ast.Expr) else None
    return first if isinstance(text, ast.Constant) and isinstance(text.value, str) else None


def span(node: ast.AST) -> set[int]:
    """Return the lines of a node."""
    return set(range(node.lineno, node.end_lineno + 1))


def compiled(code: types.CodeType) -> set[int]:
    """Return the lines of the bytecode of named functions."""
    found: set[int] = set()
    if code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<"):
        found.update(line for *_, line in code.co_lines() if line)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= compiled(inner)
    return found


def read(path: Path) -> Lines:
    """Return the lines of a file by their kind."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    documented = {id(x): span(x) for node in nodes if (x := docstring_of(node)) is not None}
    docstrings = set().union(*documented.values())
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    starts = {x.lineno for x in nodes if isinstance(x, ast.stmt) and id(x) not in documented}
    lengths = []
    for node in nodes:
        if isinstance(node, FUNCTIONS):
            first = docstring_of(node)
            lengths.append(len(span(node)) - (len(span(first)) if first else 0))
    every, own = len(text.splitlines()), comments - code
    return Lines(
        path.relative_to(ROOT).as_posix(),
        every,
        len(code - docstrings),
        len(compiled(compile(text, str(path), "exec"))),
        len(starts),
        len(docstrings),
        len(own),
        every - len(code | docstrings | own),
        lengths,
    )


def size() -> None:
    """Print what the package is built of."""
    files = [read(path) for path in sorted(ROOT.rglob("*.py"))]
    every = [file.every for file in files]
    total = sum(every)
    functions = [length for file in files for length in file.functions]
    comments = sum(file.comments for file in files)
    print(f"modules                      {len(files):,}")
    print(f"  of more than {LARGE} lines      {sum(x > LARGE for x in every):,}")
    print(f"  median                     {statistics.median(every):g} lines")
    print(f"lines                        {total:,}")
    for title, name in (
        ("code", "code"),
        ("docstrings", "docstrings"),
        ("comments", "comments"),
        ("blank", "blank"),
    ):
        print(f"  {title:<25}  {sum(getattr(file, name) for file in files):,}")
    print("of the code")
    print(f"  begins a statement         {sum(file.statements for file in files):,}")
    print(f"  executable, in functions   {sum(file.executable for file in files):,}")
    print(f"one comment in               {total / max(1, comments):.0f} lines")
    print(f"functions                    {len(functions):,}")
    print(f"  median                     {statistics.median(functions):g} lines")
    print(f"  of more than 50 lines      {sum(x > 50 for x in functions):,}")
    print("the longest files")
    for file in sorted(files, key=lambda file: -file.every)[:10]:
        print(f"  {file.every:>5,}  {file.name}")


# ------------------------------------------------------------------------------- size and reading

MOST_TOKENS = 345_930  # .ci/run fails above this number, which only an issue may raise


class Style(NamedTuple):
    """What is counted about how the package reads."""

    tokens: int  #: without comments and docstrings
    lines: int
    modules: int
    conditional: int  #: conditional expressions
    skips: int  #: exceptions from formatting
    nested: int  #: functions inside functions
    repeated: int  #: names of functions that several modules define
    imports: list[int]  #: modules of the package that each module imports


def tokens_of(text: str) -> int:
    """Return the number of tokens of code, without comments and docstrings."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (first := docstring_of(node)) is not None:
            lines |= span(first)
    return sum(
        token.type not in NO_CODE
        and not (token.type == tokenize.STRING and token.start[0] in lines)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def imported_modules(tree: ast.AST, modules: set[str]) -> set[str]:
    """Return the modules of the package that a module imports."""
    known = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {alias.name for alias in node.names} & modules
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:  # a module of the package, or a name from a module
                inner = f"{node.module}.{alias.name}"
                known |= {inner if inner in modules else node.module} & modules
    return known


def nested_functions(tree: ast.AST) -> int:
    """Count the functions that are defined inside another function."""
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            inside |= {id(x) for x in ast.walk(node) if isinstance(x, FUNCTIONS) and x is not node}
    return len(inside)


def style_of(root: Path = ROOT) -> Style:
    """Count how the package reads."""
    texts = {path: path.read_text("utf-8") for path in sorted(root.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    modules = {
        ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in texts
    }
    homes = Counter(
        name
        for tree in trees.values()
        for name in {x.name for x in tree.body if isinstance(x, FUNCTIONS)}
    )
    return Style(
        tokens=sum(map(tokens_of, texts.values())),
        lines=sum(len(text.splitlines()) for text in texts.values()),
        modules=len(texts),
        conditional=sum(isinstance(x, ast.IfExp) for t in trees.values() for x in ast.walk(t)),
        skips=sum(text.count("# fmt: skip") for text in texts.values()),
        nested=sum(map(nested_functions, trees.values())),
        repeated=sum(count > 1 for count in homes.values()),
        imports=[len(imported_modules(tree, modules)) for tree in trees.values()],
    )


def style() -> None:
    """Print how the package reads, and fail if it grew."""
    count = style_of()
    print(f"tokens                       {count.tokens:,} (at most {MOST_TOKENS:,})")
    print(f"lines                        {count.lines:,}")
    print(f"modules                      {count.modules:,}")
    print(
        f"imports of a module          median {statistics.median(count.imports):g}, largest"
        f" {max(count.imports)}"
    )
    print(f"function names in several    {count.repeated:,}")
    print(f"nested functions             {count.nested:,}")
    print(
        f"conditional expressions      {1_000 * count.conditional / count.lines:.1f} in 1,000 lines"
    )
    print(f"formatting exceptions        {count.skips:,}")
    if count.tokens > MOST_TOKENS:
        raise SystemExit(f"tokens: {count.tokens:,}, more than {MOST_TOKENS:,} (MOST_TOKENS).")


# -------------------------------------------------------------------------------- what is asked


def candidates(number: int, measures: int = 2, decimals: int | None = None) -> pd.DataFrame:
    """Return candidates with some measures."""
    quality = {f"m{k}": 1.5 - 0.5 * k for k in range(measures)}
    return rankeval_pd.datasets.simulate_candidates(number, quality=quality, decimals=decimals)


def partly_judged(df: pd.DataFrame) -> pd.DataFrame:
    """Return the candidates with a gold label for every third, drawn at random."""
    judged = np.random.default_rng(1).random(len(df)) < 1 / 3
    return df.assign(gold=df["gold"].astype(float).where(judged))


def items(number: int) -> pd.DataFrame:
    """Return the scores of three systems."""
    scores = np.random.default_rng(1).normal([0.0, 0.05, 0.1], size=(number, 3))
    return pd.DataFrame(scores, columns=["old", "new", "newer"])


def one_ranking(df: pd.DataFrame, chunks: int) -> Any:
    """Return a lazy Dataset of one ranking in chunks of candidates."""
    ds = df.reset_index(drop=True).rename_axis("candidate").to_xarray().drop_vars("candidate")
    return ds.chunk(candidate=-(-len(df) // chunks))


def many_rankings(df: pd.DataFrame, chunks: int, of_chunk: int = 3, length: int = 100) -> Any:
    """Return a lazy Dataset of many rankings, a few in each chunk."""
    queries = chunks * of_chunk
    names = [range(queries), range(length)]
    index = pd.MultiIndex.from_product(names, names=["query", "candidate"])
    return df.iloc[: queries * length].set_index(index).to_xarray().chunk(query=of_chunk)


# -------------------------------------------------------------------------------------------- way


class Way(NamedTuple):
    """What a call passes."""

    files: int
    functions: int
    switches: int  #: how often a function calls one of another file
    depth: int  #: functions on the stack when the deepest call of ``stats`` begins


def way_of(call: Call) -> Way:
    """Return what a second call passes."""
    call()
    seen: set[tuple[str, int, str]] = set()
    stack: list[str] = []
    switches = depth = 0
    package, kernels = str(ROOT), str(ROOT / "stats")

    def profile(frame: types.FrameType, event: str, _: object) -> None:
        nonlocal switches, depth
        code = frame.f_code
        if not code.co_filename.startswith(package):
            return
        if event == "return" and stack:
            stack.pop()
        if event != "call":
            return
        seen.add((code.co_filename, code.co_firstlineno, code.co_name))
        outside = not stack or not stack[-1].startswith(kernels)
        if code.co_filename.startswith(kernels) and outside:
            depth = max(depth, len(stack) + 1)
        switches += bool(stack) and stack[-1] != code.co_filename
        stack.append(code.co_filename)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Way(len({file for file, *_ in seen}), len(seen), switches, depth)


def way() -> None:
    """Print the files and functions on the way of some calls."""
    df, systems = candidates(5_000), items(500)
    calls: dict[str, Call] = {
        "compare(n=100)": lambda: df.rankeval.compare("m0", "m1", n=100),
        "nbest_precision(100)": lambda: df.rankeval.nbest_precision(100),
        "area()": lambda: df.rankeval.area(),
        "paired_bootstrap()": lambda: systems.rankeval.paired_bootstrap(n_resamples=200),
        "plot.precision()": lambda: closed(df.rankeval.plot.precision),
    }
    print(f"{'':<28}{'files':>7}{'functions':>11}{'switches':>10}{'depth':>7}")
    for name, call in calls.items():
        files, functions, switches, depth = way_of(call)
        print(f"{name:<28}{files:>7,}{functions:>11,}{switches:>10,}{depth:>7,}")


# ------------------------------------------------------------------------------------------ sorts


@contextmanager
def sorts_counted(least: int) -> Iterator[Counter[tuple[str, str, int]]]:
    """Count the arrays of at least so many numbers that are sorted: (what, type, numbers)."""
    found: Counter[tuple[str, str, int]] = Counter()
    lexsort = np.lexsort

    def profile(_: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call" and getattr(called, "__name__", None) in SORTS:
            array = getattr(called, "__self__", None)
            if isinstance(array, np.ndarray) and array.size >= least:
                found[called.__name__, str(array.dtype), array.size] += 1

    def counting(keys: Any, axis: int = -1) -> Any:
        several = [np.asarray(key) for key in keys]
        if several and several[0].size >= least:
            kinds = ", ".join(str(key.dtype) for key in several)
            found["lexsort", kinds, several[0].size] += 1
        return lexsort(keys, axis=axis)

    np.lexsort = counting
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(None)
        np.lexsort = lexsort


def sorts() -> None:
    """Print what some calls sort, of scores that differ and of tied ones."""
    number = 20_000
    cuts = {"m0": 1.5, "m1": 1.0}
    calls: dict[str, Callable[[pd.DataFrame], object]] = {
        "nbest_precision(100)": lambda df: df.rankeval.nbest_precision(100),
        "compare(n=100)": lambda df: df.rankeval.compare("m0", "m1", n=100),
        "area()": lambda df: df.rankeval.area(),
        "random_test(100)": lambda df: df.rankeval.random_test(100),
        "judged_precision(100)": lambda df: partly_judged(df).rankeval.judged_precision(100),
        "choose_threshold(.3)": lambda df: df.rankeval.choose_threshold(precision=0.3),
        "acceptance_precision": lambda df: df.rankeval.acceptance_precision(cuts),
    }
    for decimals, title in ((None, "scores that differ"), (1, "scores of one decimal: ties")):
        # of tied scores those that some candidate has alone need no key
        least = number if decimals is None else number // 2
        print(f"{title}; N = {number:,}, 2 measures; arrays of at least {least:,} numbers")
        print(f"{'':<24}{'arrays':>7}{'float':>7}{'other':>7}")
        for name, call in calls.items():
            call(candidates(number, decimals=decimals))
            df = candidates(number, decimals=decimals)  # which knows nothing of the first call
            with sorts_counted(least) as found:
                call(df)
            scores = sum(n for (_, kind, _), n in found.items() if kind == "float64")
            what = "; ".join(
                f"{n} {how} of {kind}, {numbers / number:.3g} N"
                for (how, kind, numbers), n in found.items()
            )
            every = found.total()
            print(f"{name:<24}{every:>7}{scores:>7}{every - scores:>7}  {what}")


# ------------------------------------------------------------------------------------------ tasks


class Tasks(NamedTuple):
    """How many tasks a question has."""

    raw: int | None
    optimized: int | None
    done: int
    runs: int


def tasks_of(ask: Call) -> Tasks:
    """Return the tasks of a question: of a lazy answer, or of what is computed inside."""
    import dask
    from dask.callbacks import Callback

    done: list[object] = []
    runs: list[object] = []
    with (
        Callback(start=runs.append, pretask=lambda key, *_: done.append(key)),
        dask.config.set(scheduler="synchronous"),
    ):
        answer: Any = ask()
        raw = optimized = None
        if dask.is_dask_collection(answer):
            raw = len(dict(answer.__dask_graph__()))
            optimized = len(dict(dask.optimize(answer)[0].__dask_graph__()))
            answer.compute()
    return Tasks(raw, optimized, len(done), len(runs))


def tasks() -> None:
    """Print the tasks for each chunk of some questions of lazy data."""
    import dask.dataframe as dd

    import_module("rankeval_pd.dask")  # gives Dask DataFrames the accessor

    df, systems = candidates(20_000), items(4_000)
    judged = partly_judged(df)

    def frame(chunks: int) -> Any:
        return dd.from_pandas(df, npartitions=chunks)

    def of_items(chunks: int) -> Any:
        return dd.from_pandas(systems, npartitions=chunks)

    calls: list[tuple[str, Callable[[int], object]]] = [
        ("one ranking, chunks of candidates", lambda k: one_ranking(df, k)),
        ("  nbest_precision(100)", lambda k: one_ranking(df, k).rankeval.nbest_precision(100)),
        ("  compare(n=100)", lambda k: one_ranking(df, k).rankeval.compare("m0", "m1", n=100)),
        (
            "  judged_precision(100)",
            lambda k: one_ranking(judged, k).rankeval.judged_precision(100),
        ),
        ("many rankings, 3 in a chunk", lambda k: many_rankings(df, k)),
        ("  nbest_precision(10)", lambda k: many_rankings(df, k).rankeval.nbest_precision(10)),
        ("  compare(n=10)", lambda k: many_rankings(df, k).rankeval.compare("m0", "m1", n=10)),
        (
            "  judged_precision(10)",
            lambda k: many_rankings(judged, k).rankeval.judged_precision(10),
        ),
        ("a Dask DataFrame", frame),
        ("  head(100)", lambda k: frame(k).rankeval.head(100)),
        ("  compare(n=100)", lambda k: frame(k).rankeval.compare("m0", "m1", n=100)),
        ("  area()", lambda k: frame(k).rankeval.area()),
        ("items in a Dask DataFrame", of_items),
        ("  paired_bootstrap()", lambda k: of_items(k).rankeval.paired_bootstrap(n_resamples=200)),
    ]
    few, many = 20, 40
    print(f"{few} chunks, and {many}; the lines of the data are of the data alone")
    titles = ("raw", "/ chunk", "each more", "optim.", "/ chunk", "done", "/ chunk", "each more")
    print(f"{'':<36}{''.join(f'{title:>10}' for title in titles)}{'runs':>6}")
    for name, ask in calls:
        first, second = tasks_of(lambda ask=ask: ask(few)), tasks_of(lambda ask=ask: ask(many))
        done = [f"{first.done}", f"{first.done / few:.2f}"]
        done.append(f"{(second.done - first.done) / (many - few):.2f}")
        built = ["", "", "", "", ""]
        if first.raw is not None and first.optimized is not None and second.raw is not None:
            built = [f"{first.raw}", f"{first.raw / few:.2f}"]
            built.append(f"{(second.raw - first.raw) / (many - few):.2f}")
            built += [f"{first.optimized}", f"{first.optimized / few:.2f}"]
        print(f"{name:<36}{''.join(f'{x:>10}' for x in [*built, *done])}{first.runs:>6}")


# ------------------------------------------------------------------------------------------- time


def seconds(call: Call, repeat: int = 5) -> float:
    """Return the processor's seconds of the shortest of some runs, after a first one."""
    call()
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


def closed(call: Call) -> None:
    """Draw a picture and close it."""
    from matplotlib import pyplot

    call()
    pyplot.close("all")


def timed() -> None:
    """Print the processor's seconds of some calls."""
    number = 200_000
    df, small = candidates(number, 3), candidates(5_000, 3)
    calls: dict[str, Call] = {
        "nbest_precision(100)": lambda: df.rankeval.nbest_precision(100),
        "nbest_recall(100)": lambda: df.rankeval.nbest_recall(100),
        "compare(n=100)": lambda: df.rankeval.compare(n=100),
        "plot.roc()": lambda: closed(df.rankeval.plot.roc),
        "plot.roc() of 5,000": lambda: closed(small.rankeval.plot.roc),
        "nbest_precision(100) of 5,000": lambda: small.rankeval.nbest_precision(100),
    }
    print(f"N = {number:,} unless said, 3 measures; ms")
    for name, call in calls.items():
        print(f"{name:<32}{1e3 * seconds(call):>8.1f}")


PARTS = {"style": style, "size": size, "way": way, "sorts": sorts, "tasks": tasks, "time": timed}


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.house",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    chosen = parser.parse_args().only
    warnings.simplefilter("ignore")
    print(f"rankeval_pd {rankeval_pd.__version__}, Python {sys.version.split()[0]}")
    for name in chosen:
        print(f"\n== {name}")
        PARTS[name]()


if __name__ == "__main__":
    main()
