"""Candidates for collocations and terms."""

from __future__ import annotations

import os
import warnings
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

from rankeval_pd.errors import checked_call
from rankeval_pd.tables import Options

# ---- Load the data set from Evert (2004): German PP-verb pairs, annotated by Krenn
#
# The file is pinned to one commit of the R package's source and verified against its SHA-256 hash.

_COMMIT = "5bfa54d0f4da111ca84b697973a65fd499e116fa"
URL = f"https://raw.githubusercontent.com/cran/corpora/{_COMMIT}/data/KrennPPV.rda"
SHA256 = "20bd0944b0e1a3e2feedc6f6dd6840eddf572641ba080528efdc0624daf6e44e"
_CSV = "krenn_ppv.csv"

_COLUMNS = {  # the columns in order, and their dtypes
    str: "PP verb",
    bool: "is.colloc is.SVC is.figur",
    np.int64: "freq",
    np.float64: "MI Dice z.score t.score chisq chisq.corr log.like Fisher",
}


@checked_call
def load_krenn_ppv() -> pd.DataFrame:
    """Return Evert's (2004) German PP-verb pairs with annotations and scores.

    Returns
    -------
    DataFrame
        5,102 candidates with a frequency of 30 or more. ``PP`` and ``verb`` are the two words of a
        pair. ``is.colloc`` marks 566 collocations. Among the collocations, ``is.SVC`` marks support
        verb constructions, and ``is.figur`` marks figurative expressions. ``freq`` is the
        frequency, and ``MI``, ``Dice``, ``z.score``, ``t.score``, ``chisq``, ``chisq.corr``,
        ``log.like`` and ``Fisher`` are association scores. The scores are rounded, so there are
        many ties.

    Raises
    ------
    OSError
        If the data are neither stored on this machine nor available for download. The message
        explains what to do.
    ImportError
        If the packages for the download are not installed.

    Notes
    -----
    If the environment variable ``RANKEVAL_PD_DATA`` names a folder that contains ``krenn_ppv.csv``,
    this file is read. Otherwise ``KrennPPV.rda`` is downloaded from the source of the R package
    *corpora* (GPL-3), verified against its SHA-256 hash and stored in the user's cache folder.
    Downloads require ``pip install pooch rdata``. Both files yield the same frame.

    References
    ----------
    * Evert (2004), COLING, https://aclanthology.org/C04-1136, figures 1 to 3.
    * Krenn (2000), The usual suspects: data-oriented models for the identification and
      representation of lexical collocations.

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> df = datasets.load_krenn_ppv()  # doctest: +SKIP
    >>> df.rankeval(gold="is.colloc").nbest_precision(500, measures="log.like")  # doctest: +SKIP
    """
    folder = data_folder()
    if folder is not None and (folder / _CSV).is_file():
        return _uniform_frame(pd.read_csv(folder / _CSV))
    path = _download()
    try:
        import rdata
    except ImportError as error:
        raise ImportError(_ways_out("rdata is not installed")) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rdata warns about R classes, which are not needed
        return _uniform_frame(rdata.read_rda(path)["KrennPPV"])


def _uniform_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Standardize the column names, order, types and index of both file formats."""
    columns: Options = {}
    for dtype, names in _COLUMNS.items():
        for name in names.split():
            columns[name] = frame[name].astype(object).to_numpy().astype(dtype)
            if dtype is str:
                columns[name] = columns[name].tolist()  # pandas chooses the dtype of texts
    return pd.DataFrame(columns)


def _download() -> Path:
    """Return the path of the verified file, downloading the file if necessary."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(_ways_out("pooch is not installed")) from error
    options: Options = {"known_hash": f"sha256:{SHA256}", "fname": "KrennPPV.rda"}
    options["downloader"] = pooch.HTTPDownloader(progressbar=False, timeout=30)
    try:
        return Path(pooch.retrieve(URL, path=pooch.os_cache("rankeval_pd"), **options))
    except (OSError, ValueError) as error:
        # ValueError: wrong checksum; OSError: server unreachable or connection lost
        raise OSError(_ways_out(str(error))) from error


def _ways_out(reason: str) -> str:
    return (
        f"the data of Evert (2004) could not be loaded: {reason}. To download {URL}, connect to the"
        " network and run pip install pooch rdata, or set the environment variable RANKEVAL_PD_DATA"
        f" to a folder that contains {_CSV}."
    )


def data_folder() -> Path | None:
    """Return the folder named by the environment variable ``RANKEVAL_PD_DATA``, if any."""
    named = os.environ.get("RANKEVAL_PD_DATA")
    return Path(named).expanduser() if named else None


# ---- Load word pairs with gold labels from the documentation of five packages

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
        return _summed_counts(table, list(_TOTALS))
    parts = pd.concat({name: _summed_counts(table, [name]) for name in _TOTALS}, names=["package"])
    return parts[parts["O11"] > 0].reset_index("package").reset_index(drop=True)


def _summed_counts(table: pd.DataFrame, packages: list[str]) -> pd.DataFrame:
    """Return the pairs, with counts summed over several packages."""
    kinds = ("pair", "first", "second")
    columns = {kind: [f"{name}_{kind}" for name in packages] for kind in kinds}
    pair, first, second = (table[names].sum(axis=1) for names in columns.values())
    total = sum(_TOTALS[name] for name in packages)
    result = table[["word1", "word2", "head"]].assign(
        O11=pair, O12=first - pair, O21=second - pair, O22=total - first - second + pair
    )
    return result.join(table[_JUDGMENTS])
