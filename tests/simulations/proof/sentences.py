"""The numbers in sentences about levels, in README, the docs and the docstrings.

``sentences.csv`` lists each sentence with {} for its numbers, and how they follow from the tables
of simulations. The command that writes the pages on coverage puts the numbers into the sentences.
"""

import math
import re
from pathlib import Path

import pandas as pd

from tests.simulations.proof.coverage import every_setting, simulated
from tests.simulations.proof.pages import REFERENCE, ROOT

NUMBER = r"(\d[\d.,]*\d|\d)"


def sentences():
    listed = pd.read_csv(Path(__file__).with_suffix(".csv"), dtype=str, keep_default_na=False)
    return list(listed.itertuples(index=False))


def _text(share):
    return f"{share:.3f}".rstrip("0").rstrip(".")


def least(shares):
    """Return what all shares reach, down to three digits."""
    return _text(math.floor(1e3 * shares.min() + 1e-6) / 1e3)


def most(shares):
    """Return what no share exceeds, up to three digits."""
    return _text(math.ceil(1e3 * shares.max() - 1e-6) / 1e3)


def rounded(shares):
    """Return the shares of a table's row with three digits."""
    return [f"{share + 1e-9:.3f}" for share in shares]


class Names(dict):
    """What an expression may name: the tables of simulations, and what it calls."""

    def __missing__(self, name):
        if (REFERENCE / f"{name}.csv").exists():
            return simulated(name)
        raise KeyError(name)


def numbers(sentence):
    """Return the numbers of a sentence, from the tables; ";" is between their expressions."""
    names = Names(most=most, least=least, rounded=rounded, settings=every_setting())
    found = [eval(expression, names) for expression in sentence.value.split("; ")]
    return found[0] if isinstance(found[0], list) else found


def pattern(sentence):
    """Return what finds a sentence, with any numbers and line ends."""
    parts = re.escape(sentence.text).replace(r"\{\}", NUMBER)
    return re.compile(re.sub(r"(\\ )+", r"\\s+", parts))


def write():
    """Put the numbers into all sentences."""
    for sentence in sentences():
        path = ROOT / sentence.file
        text = path.read_text("utf-8")
        (match,) = pattern(sentence).finditer(text)
        for group, number in reversed([*enumerate(numbers(sentence), start=1)]):
            text = text[: match.start(group)] + number + text[match.end(group) :]
        path.write_text(text, "utf-8")
