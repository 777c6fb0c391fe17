"""A search for functions by their docstrings."""

from __future__ import annotations

from importlib import resources

import pandas as pd

from rankeval_pd.errors import checked_call


@checked_call
def load_docstring_search() -> pd.DataFrame:
    """Return a search experiment on docstrings, with two runs and judgments.

    The 9,887 documents are the docstrings of public functions, methods and classes in NumPy, SciPy,
    pandas, xarray and Matplotlib, without the "See Also" sections. The 185 queries are names from
    xarray and Matplotlib with the first line of their docstring. The relevant documents are those
    that "See Also" names, at least two for each query. The run ``bm25`` ranks words by BM25 (k1 =
    1.2, b = 0.75). The run ``tfidf`` ranks by the cosine similarity of TF-IDF vectors.

    Returns
    -------
    DataFrame
        A frame in the format of :func:`read_trec`. ``query`` and ``document`` contain public names.
        ``bm25`` and ``tfidf`` contain scores, which are NaN if the document is not among the first
        50 of the run. ``grade`` is 1 for a link and missing otherwise.

    Notes
    -----
    The judgments are mechanical, so documents without a link may be just as relevant. The
    docstrings come from the same package versions as in :func:`load_terms`.

    Examples
    --------
    >>> from rankeval_pd import datasets
    >>> found = datasets.load_docstring_search()
    >>> list(found.columns)
    ['query', 'document', 'bm25', 'tfidf', 'grade']
    """
    with resources.files("rankeval_pd.datasets").joinpath("search.csv.gz").open("rb") as file:
        table = pd.read_csv(file, compression="gzip", keep_default_na=False, na_values=[""])
    return table.astype({"grade": "Int64"})
