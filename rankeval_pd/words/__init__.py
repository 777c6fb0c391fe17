"""Write results as sentences, with the methods that were used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr

from rankeval_pd.errors import check_attrs, checked_call, no_table
from rankeval_pd.tables import Attrs, listed_in, rows_in
from rankeval_pd.words.methods import methods_section
from rankeval_pd.words.numbers import join
from rankeval_pd.words.results import comparison_sentences, range_sentences, verdict_sentences
from rankeval_pd.words.rows import row_sentences
from rankeval_pd.words.vocabulary import CAVEATS, DIFFERENCES, PAIRED, handled, no_columns

Writer = Callable[[pd.DataFrame, Attrs], Iterator[str]]
Table = pd.DataFrame | xr.Dataset
Tables = Table | Sequence[Table] | Mapping[Any, Table]

#: how the tables of a method are written; tables of other methods have a sentence for each row
_WRITERS: dict[str, Writer] = {
    **dict.fromkeys(PAIRED, comparison_sentences),
    **dict.fromkeys(("summary", "measure_ranks", "system_ranks"), verdict_sentences),
    "significant_ranges": range_sentences,
}


@checked_call
def in_words(table: Tables, *, methods: bool = False) -> str:
    """Write the result of a method as sentences.

    Parameters
    ----------
    table : DataFrame, Dataset, or a list or mapping of these
        The result of a method, or some of its rows, with the default or all columns. Names in a
        mapping precede the sentences. The ``attrs`` of a table record how it was made; methods of
        pandas that drop them, such as ``merge``, need ``x.attrs = table.attrs``. Rows of your own
        data, as from :func:`difference_region`, have no record, and raise an error.
    methods : bool
        Whether to describe the methods instead of the results.

    Returns
    -------
    str
        One paragraph per group and list size for tables that rank measures, and one or two
        sentences per row for other tables. Long tables are summarized. If there are several
        unadjusted p-values, the text says so.

    Examples
    --------
    >>> import rankeval_pd
    >>> df = rankeval_pd.datasets.simulate_candidates(1_000)
    >>> print(rankeval_pd.in_words(df.rankeval.summary(100)))
    good has the highest precision at n = 100 (49.0%, simultaneous 95% interval 36.0% to
    62.1%). It is significantly better than fair.
    >>> compared = df.rankeval.compare("good", "fair", 100)
    >>> print(rankeval_pd.in_words(compared))
    At n = 100, the precision is 17.0 points higher for good than for fair (95% interval 6.6 to
    27.4 points; p = 0.002). The difference is significant at the 5% level.
    >>> print(rankeval_pd.in_words(compared, methods=True))
    The table was made with `compare` of rankeval_pd 0.1.0 at n = 100. Differences were tested
    with Fisher's exact test. The tests were two-sided and unadjusted, with a significance level
    of 5%. Score and normal intervals (the wider of the limits for fixed thresholds and for
    n-best lists) have a confidence level of 95%. Equal scores were ordered at random, in the
    same order for all measures.
    """
    texts = []
    for name, one in named_tables(table):
        frame, attrs = result_frame(one), one.attrs
        check_attrs(attrs)
        if methods:
            told = [methods_section(frame, attrs)]
        else:
            write = _WRITERS.get(attrs["method"], row_sentences)
            try:
                told = [*write(frame, attrs), *_caveats(attrs)] or ["The table has no rows."]
            except KeyError as error:  # the user has renamed or dropped a column
                raise no_columns(error.args) from error
        if name:
            told = [f"{name}: {text}" for text in told]
        texts += told
    return "\n\n".join(texts)


def named_tables(tables: Tables) -> list[tuple[str, Table]]:
    """Return the tables and their names, which are "" unless the tables are in a mapping."""
    if isinstance(tables, pd.DataFrame | xr.Dataset):
        return [("", tables)]
    if isinstance(tables, Mapping):
        tables_by_name: Mapping[Any, Any] = tables
        return [(str(name), table) for name, table in tables_by_name.items()]
    if isinstance(tables, list | tuple):
        return [("", table) for table in tables]
    raise no_table("table", tables, "the result of a method, or a list or mapping of results")


_LIMITING = 1.2  # seeds are mentioned if they widen intervals by this factor


def _caveats(attrs: Attrs) -> Iterator[str]:
    """Describe what all rows share: ties, skipped sizes, annotators, chance level and design."""
    for key, text in CAVEATS.items():
        name, _, value = key.partition("=")
        given = attrs.get(name, 0)
        if value == str(given) or (not value and given not in (0, 1, "all", "retrieved")):
            yield text.format_map(attrs)
    names, differ = listed_in(attrs, "annotators"), listed_in(attrs, "annotators_differ")
    if names and differ:
        yield f"With the labels of {join(differ, 'or')} alone, the conclusion differs."
    elif names:
        yield f"The conclusion is the same with the labels of each of the {len(names)} annotators."
    yield from handled(attrs, ("strata", "groups"))
    if attrs.get("seed_widening", 1.0) >= _LIMITING:
        yield (
            f"With {attrs['n_seeds']} seeds, the intervals for gains are"
            f" {attrs['seed_widening']:.1f} times as wide as intervals from the items alone."
        )


#: the limit that a one-sided interval lacks
_OPEN: dict[str, tuple[str, float]] = {
    "greater": ("ci_high", math.inf),
    "less": ("ci_low", -math.inf),
}


def result_frame(table: Any) -> pd.DataFrame:
    """Return a result as a frame, stacking the batches of a Dataset.

    One-sided intervals of differences end at infinity instead of the end of the possible range.
    """
    frame: pd.DataFrame = table
    if isinstance(table, xr.Dataset):
        frame = rows_in(table).drop(columns=["row", "pair", "cut"], errors="ignore")
        last = dict.fromkeys(table.data_vars, 2)
        if "pair" in table.dims:
            last |= {"n": 1, "size": 1}
        frame = frame[sorted(frame, key=lambda name: last.get(name, 0))].dropna(how="all")
    elif not isinstance(table, pd.DataFrame):
        raise no_table("table", table, "the result of a method")
    end, infinity = _OPEN.get(str(table.attrs.get("alternative")), ("", 0.0))
    if table.attrs.get("method") in DIFFERENCES and end in frame:
        frame = frame.assign(**{end: frame[end] + infinity})
    return frame
