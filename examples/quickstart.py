"""Which association measure finds technical terms best, and could it be chance?

Scores the bundled word pairs, prints the tables that answer three questions, and writes three
pictures to the folder ``quickstart_output``, or the one given as argument.
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

    terms = rankeval_pd.datasets.load_terms().set_index(["word1", "word2"])
    rankings = terms.rankeval.with_association_measures(["G2", "X2", "t", "MI"]).rankeval()
    print(rankings, end="\n\n")

    print("How good is each n-best list?")
    precision = rankings.nbest_precision([200, 500, 1000])
    print(precision.to_string(index=False), end="\n\n")

    print("Is G2 better than t?")
    compared = rankings.compare("G2", "t", [200, 500, 1000])
    print(compared.to_string(index=False))
    print("\nFor all n from 200 to 1500 together:")
    ranges = rankings.significant_ranges("G2", "t", range(200, 1501), adjust="max-t")
    print(ranges.to_string(index=False), end="\n\n")

    print("All pairs at n = 500, with Holm's adjustment for six tests:")
    pairs = rankings.compare(n=500, adjust="holm").sort_values("p_adjusted")
    print(pairs.to_string(index=False), end="\n\n")

    print("Is each list better than a random one?")
    chance = rankings.random_test([200, 500, 1000])
    print(chance.to_string(index=False), end="\n\n")

    n = range(200, 1501)
    pictures = {
        "precision": rankings.plot.precision(n, measures=["G2", "t"]),
        "comparison": rankings.plot.comparison("G2", "t", n),
        "random_bound": rankings.plot.random_bound([0.05, 0.001], n, measures=["G2", "t"]),
    }
    for name, ax in pictures.items():
        path = folder / f"{name}.png"
        ax.figure.savefig(path, dpi=150)
        print(f"wrote {path}")

    print("\nThe verdict")
    print(rankeval_pd.in_words(rankings.summary(500)))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "quickstart_output"))
