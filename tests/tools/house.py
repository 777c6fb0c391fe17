"""Print how the package is built and what calls cost: ``python -m tests.tools.house [--only way]``.

``style``  tokens of code without comments and docstrings, lines, modules, imports, and what is
           counted about how the code reads. Fails if there are more tokens than ``MOST_TOKENS``.
``face``   what a user meets: public callables, names of options, the longest signature, words of
           ``compare``'s docstring, and the statements that raise an error. Fails above ``MOST``.
``way``    the files and functions of the package on the way of a call, after a first call, how
           often the call switches files, and how many functions of the package are on the stack
           when the deepest call of ``stats`` begins. Lambdas and comprehensions count.

Only public names are asked, so that the modules may have any names and places.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import statistics
import sys
import tokenize
import types
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import rankeval_pd

ROOT = Path(rankeval_pd.__file__).resolve().parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
)  # fmt: skip

Call = Callable[[], object]


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


# ---- How the package reads

MOST_TOKENS = 308_359  # .ci/run fails above this number, which only an issue may raise
MEND = "Shorten code, or merge what is alike; only an issue may raise a limit."


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


def style() -> str:
    """Print how the package reads, and return what to do if it grew too large."""
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
        return f"tokens: {count.tokens:,}, more than {MOST_TOKENS:,} (MOST_TOKENS). {MEND}"
    return ""


# ---- What a user meets

MOST = {  # .ci/run fails above these numbers
    "public callables": 100,
    "option names": 115,
    "keywords of one function": 20,
    "words about compare": 700,
    "raise statements": 400,
}


def public_functions() -> dict[str, Call]:
    """Return the public functions, the plots and the functions of ``datasets``."""
    found = {name: getattr(rankeval_pd, name) for name in rankeval_pd.__all__}
    rooms = {"plot": type(candidates(9).rankeval.plot), "datasets": rankeval_pd.datasets}
    for room, holder in rooms.items():
        names = [name for name in dir(holder) if not name.startswith("_")]
        found |= {f"{room}.{name}": getattr(holder, name) for name in names}
    return {name: value for name, value in found.items() if callable(value)}


def face_of() -> dict[str, int]:
    """Count what a user meets. Roles, which all methods take, are no options."""
    functions = public_functions()
    roles = set(inspect.signature(rankeval_pd.FrameAccessor.__call__).parameters) | {"args"}
    options: set[str] = set()
    for function in filter(inspect.isroutine, functions.values()):
        parameters = inspect.signature(function).parameters.values()
        options |= {x.name for x in parameters if x.kind != x.VAR_KEYWORD} - roles
    trees = [ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    written = {name.rpartition(".")[2] for name in functions}
    described = next(x for x in nodes if isinstance(x, FUNCTIONS) and x.name == "compare")
    return {
        "public callables": len(functions),
        "option names": len(options),
        "keywords of one function": max(
            len(x.args.kwonlyargs) for x in nodes if isinstance(x, FUNCTIONS) and x.name in written
        ),
        "words about compare": len((ast.get_docstring(described) or "").split()),
        "raise statements": sum(isinstance(x, ast.Raise) for x in nodes),
    }


def face() -> str:
    """Print what a user meets, and return what to do if it grew too large."""
    counts = face_of()
    for name, count in counts.items():
        print(f"{name:<28} {count:,} (at most {MOST[name]:,})")
    grown = [name for name, count in counts.items() if count > MOST[name]]
    if grown:
        return f"{', '.join(grown)}: more than MOST allows. {MEND}"
    return ""


# ---- The way of a call


def candidates(number: int) -> pd.DataFrame:
    """Return candidates with two measures."""
    return rankeval_pd.datasets.simulate_candidates(number, quality={"m0": 1.5, "m1": 1.0})


def items(number: int) -> pd.DataFrame:
    """Return the scores of three systems."""
    scores = np.random.default_rng(1).normal([0.0, 0.05, 0.1], size=(number, 3))
    return pd.DataFrame(scores, columns=["old", "new", "newer"])


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


def way() -> str:
    """Print the files and functions on the way of some calls, which have no limit."""
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
    return ""


def closed(call: Call) -> None:
    """Draw a picture and close it."""
    from matplotlib import pyplot

    call()
    pyplot.close("all")


PARTS = {"style": style, "face": face, "way": way}


def main() -> None:
    """Print the parts asked for, and then fail if anything grew too large."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.house",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    chosen = parser.parse_args().only
    warnings.simplefilter("ignore")
    print(f"rankeval_pd {rankeval_pd.__version__}, Python {sys.version.split()[0]}")
    grown = []
    for name in chosen:
        print(f"\n== {name}")
        grown.append(PARTS[name]())
    if any(grown):
        raise SystemExit("\n" + "\n".join(filter(None, grown)))


if __name__ == "__main__":
    main()
