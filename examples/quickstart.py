"""Which association measure finds technical terms best, is that chance, and is it any good?

Builds a corpus from the docstrings of the installed scientific packages, scores its word pairs,
prints the tables that answer the three questions, and writes three pictures to the folder
``quickstart_output`` (or the one named as argument).
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import pandas as pd

import rankeval_pd


def main(folder: Path) -> None:
    """Answer the three questions."""
    folder.mkdir(parents=True, exist_ok=True)
    pd.set_option("display.width", 120, "display.max_columns", 20)

    terms = rankeval_pd.datasets.load_docstring_terms(min_frequency=10)
    scored = terms.rankeval.with_association_measures(["G2", "X2", "t", "f", "MI"])
    rankings = scored.rankeval(gold="gold")
    print(rankings, end="\n\n")

    print("How good is each measure's n-best list, and how sure is that?")
    precision = rankings.nbest_precision([100, 200, 500, 1000, 2000])
    print(precision.to_string(index=False), end="\n\n")

    print("Is X2 better than frequency, or is it chance?")
    compared = rankings.compare("X2", "f", [100, 200, 500, 1000, 2000])
    print(compared.to_string(index=False))
    # frequencies are tied: precision is the mean over all orders of equal scores
    ranges = rankings(ties="expected").significant_ranges("X2", "f", range(100, 2001))
    print("\nEvery n from 100 to 2000, each tested alone at 5 %:")
    print(ranges.to_string(index=False), end="\n\n")

    print("All pairs at n = 500, Holm's adjustment for ten tests:")
    pairs = rankings.compare(n=500, adjust="holm").sort_values("p_adjusted")
    print(pairs.to_string(index=False), end="\n\n")

    print("Is it better than a random ranking?")
    chance = rankings.random_test([100, 200, 500, 1000])
    print(chance.to_string(index=False))
    print("\nWhat a random ranking reaches, and what it takes to beat it:")
    bound = rankings.random_bound([0.05, 0.001], [100, 200, 500, 1000])
    print(bound.to_string(index=False), end="\n\n")

    n = range(100, 2001)
    pictures = {
        "precision": rankings.plot.precision(n, measures=["X2", "f"]),
        "comparison": rankings.plot.comparison("X2", "f", n),
        "random_bound": rankings.plot.random_bound([0.05, 0.001], n),
    }
    for name, ax in pictures.items():
        path = folder / f"{name}.png"
        ax.figure.savefig(path, dpi=150)
        print(f"wrote {path}")

    print("\nThe verdict")
    print(rankeval_pd.in_words(rankings.summary(500)))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "quickstart_output"))
