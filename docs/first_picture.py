"""Draw the picture of the README and of the start page: ``python docs/first_picture.py``.

It shows the data of Evert (2004), which are fetched."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

import rankeval_pd


def main() -> None:
    krenn = rankeval_pd.datasets.load_krenn_ppv().set_index(["PP", "verb"])
    krenn = krenn.rename(columns={"log.like": "G2", "chisq": "X2"})
    rankings = krenn.rankeval(gold="is.colloc", measures=["G2", "X2"])
    with plt.rc_context({"figure.figsize": (7, 4), "font.size": 9}):
        ax = rankings.plot.comparison("G2", "X2", range(100, 2001))
        path = Path(__file__).parent / "_static" / "first_picture.png"
        ax.figure.savefig(path, dpi=110, bbox_inches="tight")
    print(path)


if __name__ == "__main__":
    main()
