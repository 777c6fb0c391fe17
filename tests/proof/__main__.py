"""Write pages of the proof.

    python -m tests.proof accuracy coverage performance papers

writes ``docs/accuracy.md``, ... Some minutes for ``performance``, a minute for the rest.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from tests.proof.pages import NAMES, place


def main() -> None:
    """Write the pages that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("page", nargs="+", choices=NAMES)
    for name in parser.parse_args().page:
        text = import_module(f"tests.proof.{name}").page()
        place(name).write_text(text, encoding="utf-8")
        print(place(name))


if __name__ == "__main__":
    main()
