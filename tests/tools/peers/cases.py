"""Seeded cases of peers that ship no tests: trec_eval by pytrec_eval, and sacrebleu."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

import rankeval_pd

TREC = {  # names of trec_eval, and of per_query
    "map": "AP", "recip_rank": "RR", "Rprec": "Rprec", "bpref": "Bpref", "P_5": "P@5",
    "P_10": "P@10", "recall_5": "R@5", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10",
    "map_cut_10": "AP@10", "success_5": "Success@5", "iprec_at_recall_0.10": "IPrec@0.1",
}  # fmt: skip
WORDS = """the a cat dog house tree river runs sleeps sees over under red blue old new""".split()


def counted() -> Iterator[tuple[str, str, str, int]]:
    """Yield peer, function, outcome and count."""
    counts: Counter[tuple[str, str, str]] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ask in (_trec_eval, _sacrebleu):
            try:
                counts.update(ask())
            except ImportError:
                continue
    for (peer, function, outcome), count in sorted(counts.items()):
        yield peer, function, outcome, count


def _trec_eval() -> Iterator[tuple[str, str, str]]:
    import pytrec_eval

    rng = np.random.default_rng(35)
    for _ in range(40):
        rows, graded = [], rng.random() < 0.5
        for query in range(int(rng.integers(1, 5))):
            for document in range(int(rng.integers(5, 40))):
                score = float(rng.integers(0, 9)) if rng.random() < 0.5 else float(rng.normal())
                grade = int(rng.integers(0, 4 if graded else 2))
                retrieved, judged = rng.random() < 0.8, rng.random() < 0.8
                rows.append((
                    f"q{query}", f"d{document}", np.float32(score) if retrieved else np.nan,
                    grade if judged else np.nan,
                ))  # fmt: skip
        data = pd.DataFrame(rows, columns=["query", "document", "run", "gold"])
        data = data.dropna(subset=["run", "gold"], how="all")
        judged, run = data.dropna(subset="gold"), data.dropna(subset="run")
        qrels = {q: dict(zip(x["document"], x["gold"].astype(int), strict=True))
                 for q, x in judged.groupby("query")}  # fmt: skip
        runs = {q: dict(zip(x["document"], x["run"].astype(float), strict=True))
                for q, x in run.groupby("query")}  # fmt: skip
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {*pytrec_eval.supported_measures}).evaluate(
            runs
        )
        found = rankeval_pd.per_query(
            data, [*TREC.values()], by="query", key="document", measures="run", missing="absent",
            unjudged="negative",
        ).set_index(["query", "metric"])["value"]  # fmt: skip
        for query, numbers in theirs.items():
            if (query, "AP") not in found.index:
                continue
            for there, here in TREC.items():
                near = np.isclose(found[query, here], numbers[there], rtol=1e-9, atol=1e-12)
                yield "trec_eval (pytrec_eval)", there, "agree" if near else "differs"


def _sacrebleu() -> Iterator[tuple[str, str, str]]:
    import sacrebleu

    rng = np.random.default_rng(35)

    def lines(count: int) -> list[str]:
        return [" ".join(rng.choice(WORDS, rng.integers(1, 15))) for _ in range(count)]

    metrics = {"bleu": sacrebleu.BLEU, "chrf": sacrebleu.CHRF, "ter": sacrebleu.TER}
    for _ in range(15):
        count = int(rng.integers(2, 12))
        references = [lines(count) for _ in range(int(rng.integers(1, 3)))]
        noisy = [
            x if rng.random() < 0.4 else y for x, y in zip(references[0], lines(count), strict=True)
        ]
        systems = {"a": noisy, "b": lines(count)}
        for name, metric in metrics.items():
            items = rankeval_pd.from_sacrebleu(systems, references, name)
            found = items.rankeval(metric=items.attrs.get("metric", name)).system_ranks(
                n_resamples=20
            )
            for system, value in zip(found["system"], found["value"], strict=True):
                wanted = metric().corpus_score(systems[system], references).score
                near = np.isclose(value, wanted, rtol=1e-9, atol=1e-9)
                yield "sacrebleu", name, "agree" if near else "differs"
