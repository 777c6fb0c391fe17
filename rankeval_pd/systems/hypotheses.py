"""From translations and references to the statistics that a paired test needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from rankeval_pd.errors import listed, shown
from rankeval_pd.forms.choices import TextMetric
from rankeval_pd.stats.resampling.metrics import METRICS

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
#: what the formulas of this package assume, and sacrebleu's defaults are
_FIXED: Mapping[str, Mapping[str, Any]] = {
    "bleu": {"smooth_method": "exp", "max_ngram_order": 4, "effective_order": False},
    "chrf": {"beta": 2, "eps_smoothing": False},
    "ter": {},
}
Row = tuple[float, ...]


def from_sacrebleu(
    hypotheses: Mapping[str, Sequence[str]],
    references: Sequence[str] | Sequence[Sequence[str | None]],
    metric: TextMetric = "bleu",
    **options: Any,
) -> pd.DataFrame:
    """Return the statistics of each segment of which sacrebleu makes BLEU, chrF or TER.

    Parameters
    ----------
    hypotheses : mapping or DataFrame
        The segments of each system, by the system's name; all have the same number.
    references : sequence of str, or of sequences of str
        A reference for each segment; or, as sacrebleu takes them, several such sequences, in which
        None stands for a reference that a segment lacks.
    metric : {"bleu", "chrf", "ter"}
    **options
        What ``sacrebleu.metrics.BLEU``, ``CHRF`` or ``TER`` take, as ``tokenize="zh"``,
        ``lowercase=True``, ``word_order=2`` (chrF++), ``normalized=True``.

    Returns
    -------
    DataFrame
        A row per segment, two-level columns (system, statistic): the form of systems over test
        items. Give the same ``metric`` to the methods. Of TER, the lower the better, the numerator
        is 100 times the edits, so that scores are percentages, as sacrebleu's.

    Raises
    ------
    ImportError
        If sacrebleu is not installed.
    ValueError
        If numbers of segments differ, a segment has no reference, or an option changes the formula:
        ``smooth_method``, ``max_ngram_order``, ``effective_order``, ``beta``, ``eps_smoothing``.

    See Also
    --------
    paired_bootstrap, system_ranks

    Notes
    -----
    The score of a corpus is the formula of the summed statistics and equals sacrebleu's of the same
    options. BLEU's and TER's statistics are those of sacrebleu's scores of single segments, chrF's
    n-grams are counted here. Of several references, chrF takes the one with the best score for the
    segment. The cost is that of scoring each segment once.

    Examples
    --------
    >>> import rankeval_pd
    >>> table = rankeval_pd.from_sacrebleu(
    ...     {"a": ["the cat sat", "a dog ran"], "b": ["the cat sat down", "dogs run"]},
    ...     ["the cat sat down", "the dog ran"],
    ...     "ter",
    ... )
    >>> table
    system         a                     b
    statistic numerator denominator numerator denominator
    segment
    0             100.0         4.0       0.0         4.0
    1             100.0         3.0     300.0         3.0
    """
    _check_names(hypotheses, metric, options)
    streams = _streams(references)
    size = len(streams[0])
    beside = [tuple(x for x in of if x is not None) for of in zip(*streams, strict=True)]
    alone = [row for row, of in enumerate(beside) if not of]
    if alone:
        raise ValueError(f"references: segment {alone[0]} (counted from 0) has none.")
    scorer = SCORERS[metric](options)
    tables = {}
    for system, texts in hypotheses.items():
        _check_segments(texts, f"hypotheses[{shown(system)}]", size)
        rows = [scorer.score(text, of) for text, of in zip(texts, beside, strict=True)]
        tables[system] = pd.DataFrame(rows, columns=list(scorer.statistics), dtype=float)
    joined = pd.concat(tables, axis=1, names=["system", "statistic"])
    return joined.rename_axis(index="segment")


class _Scorer(NamedTuple):
    statistics: Sequence[str]
    score: Callable[[str, Sequence[str]], Row]


def _check_names(hypotheses: Any, metric: Any, options: Mapping[str, Any]) -> None:
    if not hasattr(hypotheses, "items"):
        raise TypeError(
            f"hypotheses is of type {type(hypotheses).__name__}: give a mapping from the name of"
            " each system to its segments, as {'system A': lines}."
        )
    if not len(hypotheses):
        raise ValueError("hypotheses has no system.")
    if not isinstance(metric, str) or metric not in SCORERS:
        raise ValueError(
            f"metric={shown(metric)} is not one of {listed(SCORERS)}. Settings are keywords, as"
            " metric='chrf', word_order=2."
        )
    for name, known in _FIXED[metric].items():
        if options.get(name, known) != known:
            raise ValueError(
                f"{name}={shown(options[name])} makes another formula than that of"
                f" metric={metric!r} in paired tests, which has {name}={known!r}."
            )


def _streams(references: Any) -> list[Sequence[str | None]]:
    """Return one or several sequences of references, all as long as the first."""
    if isinstance(references, str) or not hasattr(references, "__len__"):
        raise TypeError(
            f"references is of type {type(references).__name__}: give a list with a reference for"
            " each segment, or a list of such lists."
        )
    found = list(references)
    if not found:
        raise ValueError("references is empty.")
    one = all(isinstance(x, str) for x in found)
    streams: list[Sequence[str | None]] = [found] if one else found
    for place, stream in enumerate(streams):
        _check_segments(stream, f"references[{place}]", len(streams[0]), optional=True)
    return streams


def _check_segments(texts: Any, name: str, size: int, *, optional: bool = False) -> None:
    if isinstance(texts, str) or not hasattr(texts, "__len__"):
        raise TypeError(f"{name} is of type {type(texts).__name__}: give a list of segments.")
    if len(texts) != size:
        raise ValueError(
            f"{name} has {len(texts)} segments, and the references have {size}. Segments and"
            " references stand in the same order; does a file end in an empty line?"
        )
    for row, text in enumerate(texts):
        if not isinstance(text, str) and not (optional and text is None):
            raise TypeError(
                f"{name}: segment {row} (counted from 0) is of type {type(text).__name__}, and text"
                " is needed. An empty output is ''."
            )


def _metrics() -> Any:
    try:
        import sacrebleu.metrics as metrics
    except ImportError as error:
        raise ImportError(
            "from_sacrebleu needs sacrebleu: pip install 'rankeval_pd[translation]'."
        ) from error
    return metrics


def _bleu(options: Mapping[str, Any]) -> _Scorer:
    # effective_order has no effect on the counts, and silences a warning about single segments
    scorer = _metrics().BLEU(**{**options, "effective_order": True})

    def score(text: str, references: Sequence[str]) -> Row:
        found = scorer.sentence_score(text, references)
        return (found.sys_len, found.ref_len, *found.counts, *found.totals)

    return _Scorer(METRICS["bleu"].statistics, score)


def _ter(options: Mapping[str, Any]) -> _Scorer:
    scorer = _metrics().TER(**options)

    def score(text: str, references: Sequence[str]) -> Row:
        found = scorer.sentence_score(text, references)
        return 100.0 * found.num_edits, found.ref_length

    return _Scorer(METRICS["ter"].statistics, score)


def _chrf(options: Mapping[str, Any]) -> _Scorer:
    scorer = _metrics().CHRF(**options)  # checks the options, and has the orders
    characters, words = scorer.char_order, scorer.word_order
    orders = range(1, characters + words + 1)

    def grams(text: str) -> list[Counter[str]]:
        text = text.lower() if scorer.lowercase else text
        letters = text if scorer.whitespace else "".join(text.split())
        found = [Counter(_runs(letters, k)) for k in range(1, characters + 1)]
        tokens = _words(text) if words else []
        return found + [
            Counter(" ".join(run) for run in _runs(tokens, k)) for k in range(1, words + 1)
        ]

    def score(text: str, references: Sequence[str]) -> Row:
        own = grams(text)
        rows = [_matches(own, grams(reference)) for reference in references]
        # the first of equals, as sacrebleu does
        return rows[0] if len(rows) == 1 else max(rows, key=_chrf_of)

    return _Scorer([f"{kind}_{i}" for i in orders for kind in ("hyp", "ref", "match")], score)


def _chrf_of(row: Row) -> float:
    return float(METRICS["chrf"].score(pd.Series(row).to_numpy()))


def _runs(sequence: Any, length: int) -> list[Any]:
    return [sequence[i : i + length] for i in range(len(sequence) - length + 1)]


def _words(text: str) -> list[str]:
    """Return words, of which the last mark of punctuation, or else the first, is one of its own."""
    found: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            found += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found


def _matches(own: list[Counter[str]], reference: list[Counter[str]]) -> Row:
    """Return hyp, ref, match of each order; an order that the reference lacks does not count."""
    row: list[float] = []
    for ours, theirs in zip(own, reference, strict=True):
        row += [ours.total() if theirs else 0, theirs.total(), (ours & theirs).total()]
    return tuple(row)


SCORERS: Mapping[str, Callable[[Mapping[str, Any]], _Scorer]] = {
    "bleu": _bleu,
    "chrf": _chrf,
    "ter": _ter,
}
