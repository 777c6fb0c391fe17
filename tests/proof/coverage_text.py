"""What the pages of coverage say beside their tables."""

from __future__ import annotations

# a page for each topic: its title, and its questions
TOPICS = {
    "lists": (
        "Lists and thresholds",
        ["A precision", "n-best lists", "All n together", "At a threshold"],
    ),
    "clusters": ("Clusters and queries", ["n-best lists of clusters", "Queries"]),
    "curves": ("Curves and areas", ["AUC", "Average precision", "Early enrichment", "Curves"]),
    "judged": (
        "Judged samples, annotators, verdicts",
        ["Judged in part", "Annotators", "Verdicts"],
    ),
    "systems": ("Systems", ["Systems"]),
    "seeds": ("Seeds, strata, equivalence", ["Seeds and strata", "Equivalence"]),
}

# question: what was simulated, and where it falls short
SAID = {
    "A precision": (
        "All outcomes of lists of 5 to 500 candidates were enumerated over a grid of true"
        " precisions, at three levels.",
        "The default and `blaker` never fall below the level. The other intervals cover only on"
        " average.",
    ),
    "n-best lists": (
        "Tables of two regions were enumerated. Acceptance sets, recall and lists with ties were"
        " drawn from populations with known values.",
        "The defaults hold their level. `midp` exceeds it slightly, and the alternative intervals"
        " can miss it by far in small regions.",
    ),
    "n-best lists of clusters": (
        "Labels and scores of candidates in the same cluster share part of their variance. Clusters"
        " are equal, or contain 1 to 50 candidates, or a third of all.",
        "A band covers slightly less if a third of all candidates is in one of 100 clusters."
        " Without `groups=`, intervals are far too narrow.",
    ),
    "All n together": (
        "Samples of 1,000 to 5,102 candidates have a known curve. A band covers if it contains the"
        " curve at every n.",
        "The default bands hold. Intervals and tests of single n, read together, do not, and the"
        " `emproc` bands fail for strong measures.",
    ),
    "AUC": (
        "Normal scores, mostly with 2 to 100 positives, equal or unequal spread, areas up to 0.995,"
        " and two measures that correlate up to 0.99.",
        "With 2 or 3 positives that vary more than the negatives, intervals are too narrow. With 30"
        " or fewer positives and equal areas of 0.983, intervals of the difference are up to three"
        " times as wide as DeLong's; with few clusters they are too wide, too. Five other rules"
        " were tried in the same 96 settings of correlated scores. Student's t with DeLong's error"
        " covers as little as 0.80. A bootstrap-t covers 0.85 with 10 positives, because samples of"
        " nearly perfect rankings do not vary."
        " A correction for the skewness of the placements covers 0.81 at 1.2 times DeLong's width,"
        " and 0.86 at 1.4 times. Half of the allowance for unseen candidates covers 0.92 at 1.8"
        " times the width, but a test of a margin then rejects 0.11. An allowance that grows with"
        " the difference covers 0.945 at 1.9 times, but the test of a margin rejects 0.10.",
    ),
    "Early enrichment": (
        "Normal scores with few positives; the true value comes from the population.",
        "The default holds in every setting.",
    ),
    "Average precision": (
        "Normal scores, also rounded to produce ties, with 2 to 1,000 positives.",
        "The interval of a difference fails with 2 or 3 positives that make up half of the"
        " candidates.",
    ),
    "Verdicts": (
        "Nearly equal measures are ranked, and thresholds are chosen on one sample and checked in"
        " the population.",
        "No default falls short.",
    ),
    "Judged in part": (
        "A fifth of the Krenn data is judged at random in four designs, and pilots plan further"
        " judgments. Whole groups, or a third of each group, are judged in 100 populations a"
        " setting, with known values.",
        "The defaults hold, but if 10 groups of 60 are judged, some intervals are too wide. Without"
        " `groups=`, intervals of whole judged groups fail.",
    ),
    "Queries": (
        "Queries are drawn from a population of 20,000, and pairs of equal runs from known"
        " difficulties.",
        "No default falls short.",
    ),
    "Systems": (
        "Two or more equally good systems are scored on 5 to 300 items, with symmetric, skewed and"
        " right-or-wrong differences, ratios, groups and crossed factors.",
        "Up to 50 items with rare large gains or a long tail, tests reject too often. So do tests"
        " weighted by item if a gain grows with the size of its group and sizes are lognormal.",
    ),
    "Seeds and strata": (
        "Equal systems are trained with a few seeds, or tested in strata whose gains cancel.",
        "The defaults hold. Averaging the seeds first, or leaving out the strata, does not.",
    ),
    "Equivalence": (
        "The true difference lies exactly at the margin; the size is one-sided.",
        "Means of differences with a long exponential tail exceed the level by little."
        " Textbook tests exceed it more.",
    ),
    "Annotators": (
        "Five annotators label candidates with a known kappa.",
        "One setting with a majority vote falls short.",
    ),
    "Curves": (
        "Normal scores of 120 to 1,000 candidates; a band covers if it contains the whole curve.",
        "No setting falls short.",
    ),
    "At a threshold": (
        "Two measures classify 120 to 400 candidates with known rates.",
        "No default falls short.",
    ),
}
