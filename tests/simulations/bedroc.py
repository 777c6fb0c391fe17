"""BEDROC of RDKit, at random labels. Needs RDKit.

A row holds the labels, best first, as ones and zeros.
"""

from itertools import product

import numpy as np
from rdkit import rdBase
from rdkit.ML.Scoring.Scoring import CalcBEDROC, CalcEnrichment

HEAD = f"# RDKit {rdBase.rdkitVersion}\n"


def rows():
    rng = np.random.default_rng(7)
    for (total, prevalence), early in product(
        ((12, 0.3), (60, 0.1), (200, 0.05), (200, 0.5)), (0.0, 2.0)
    ):
        gold = rng.random(total) < prevalence
        gold[:2] = [True, False]
        best_first = np.argsort(-(early * gold + rng.normal(size=total)))
        ranked = gold[best_first][:, np.newaxis]
        for alpha in (1.0, 20.0, 80.5):
            yield {
                "labels": "".join("01"[int(x)] for x in ranked[:, 0]), "alpha": alpha,
                "bedroc": CalcBEDROC(ranked, 0, alpha),
                "ef_5": CalcEnrichment(ranked, 0, [0.05])[0],
            }  # fmt: skip
