"""Write pages of the proof.

    python -m tests.simulations.proof accuracy coverage elsewhere performance papers

writes ``docs/validation/accuracy.md``, ... ``coverage`` also puts its numbers into the sentences
of ``sentences.csv``. Some minutes for ``performance``, a minute for the rest.
"""

import argparse
from importlib import import_module

from tests.simulations.proof import sentences
from tests.simulations.proof.pages import NAMES, place


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.simulations.proof", description=__doc__)
    parser.add_argument("page", nargs="+", choices=NAMES)
    for name in parser.parse_args().page:
        module = import_module(f"tests.simulations.proof.{name}")
        texts = {name: module.page()}
        if hasattr(module, "topics"):
            texts |= {f"{name}/{topic}": text for topic, text in module.topics().items()}
        for where, text in texts.items():
            place(where).parent.mkdir(exist_ok=True)
            place(where).write_text(text, encoding="utf-8")
            print(place(where))
        if name == "coverage":
            sentences.write()


if __name__ == "__main__":
    main()
