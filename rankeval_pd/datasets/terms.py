"""Load word pairs with gold labels from the documentation of five packages."""

from __future__ import annotations

from importlib import resources

import pandas as pd

from rankeval_pd.errors import checked_call

# word pairs counted in the docstrings of each package
_TOTALS = {"numpy": 91317, "scipy": 258344, "pandas": 135554, "xarray": 45933, "matplotlib": 97872}
_JUDGMENTS = ["pass_1", "pass_2", "gold"]


@checked_call
def load_terms(*, per_package: bool = False) -> pd.DataFrame:
    """Return 1,911 word pairs with counts and labels (technical term or not).

    The pairs are adjacent words that occur at least 9 times in the docstrings of NumPy 2.4.6, SciPy
    1.17.1, pandas 3.1.1, xarray 2026.9.0 and Matplotlib 3.11.2. Repeated sentences count once per
    package. Pairs with a function word ("of", "is", "each") are excluded.

    Parameters
    ----------
    per_package : bool
        Whether to return a separate row for each package in which a pair occurs. You can rank such
        packages separately with ``by="package"``.

    Returns
    -------
    DataFrame
        One row per pair, in order of decreasing frequency, with the columns:

        * ``package``: only with ``per_package``;
        * ``word1``, ``word2``: the pair, in lowercase; ``head``: the second word, in the singular;
        * ``O11``, ``O12``, ``O21``, ``O22``: the contingency table, with counts of the pair, of the
          first word before other words, of the second word after other words, and of all other
          pairs;
        * ``pass_1``, ``pass_2``: whether the pair was labeled as a technical term in each of two
          independent passes; ``gold``: the final label, after a third pass resolved disagreements.

    Notes
    -----
    A language model labeled the pairs according to a written guideline (see the page on data).
    The model saw no counts, scores or judgments from other passes.

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> terms = datasets.load_terms()
    >>> terms.shape
    (1911, 10)
    >>> scored = terms.rankeval.with_association_measures(["G2", "t"])
    >>> scored.rankeval.nbest_precision(100)[["measure", "tp"]]
      measure  tp
    0      G2  89
    1       t  70
    """
    with resources.files("rankeval_pd.datasets").joinpath("terms.csv").open("rb") as file:
        table = pd.read_csv(file, keep_default_na=False).astype(dict.fromkeys(_JUDGMENTS, bool))
    if not per_package:
        return _counted(table, list(_TOTALS))
    parts = pd.concat({name: _counted(table, [name]) for name in _TOTALS}, names=["package"])
    return parts[parts["O11"] > 0].reset_index("package").reset_index(drop=True)


def _counted(table: pd.DataFrame, packages: list[str]) -> pd.DataFrame:
    """Return the pairs, with counts summed over several packages."""
    pair, first, second = (
        table[[f"{name}_{count}" for name in packages]].sum(axis=1)
        for count in ("pair", "first", "second")
    )
    total = sum(_TOTALS[name] for name in packages)
    cells = {
        "O11": pair,
        "O12": first - pair,
        "O21": second - pair,
        "O22": total - first - second + pair,
    }
    return pd.concat(
        [table[["word1", "word2", "head"]], pd.DataFrame(cells), table[_JUDGMENTS]], axis=1
    )
