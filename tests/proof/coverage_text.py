"""Texts beside the tables on the pages of coverage."""

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

# question: what was simulated, and the result
SAID = {
    "A precision": (
        "All outcomes of lists of 5 to 500 candidates were enumerated over a grid of true"
        " precisions, at three levels.",
        "The coverage of the default and of `blaker` is never below the level. The other intervals"
        " reach the level only on average.",
    ),
    "n-best lists": (
        "Tables for two regions were enumerated. Acceptance sets, recall and lists with ties were"
        " drawn from populations with known values.",
        "The defaults keep the level. The size of `midp` exceeds the level slightly. The"
        " alternative intervals can be far too narrow for small regions.",
    ),
    "n-best lists of clusters": (
        "Labels and scores of candidates in the same cluster are correlated. Clusters have equal"
        " sizes, or contain 1 to 50 candidates, or one cluster contains a third of all candidates.",
        "If one of 100 clusters contains a third of all candidates, the coverage is slightly too"
        " low, 0.93 to 0.94. Without `groups=`, intervals are far too narrow.",
    ),
    "All n together": (
        "Samples of 1,000 to 5,102 candidates have a known curve. A band covers the curve if it"
        " contains the curve at every n.",
        "The default bands reach their nominal coverage. Intervals and tests for single n, read"
        " together, do not. The `emproc` bands fail for strong measures.",
    ),
    "AUC": (
        "Scores are normal, mostly with 2 to 100 positives, equal or unequal variances, areas up to"
        " 0.995, and correlations between two measures of up to 0.99.",
        "With 2 or 3 positives whose scores vary more than the negatives', intervals are too"
        " narrow. With 30 or fewer positives and equal areas of 0.983, intervals for the difference"
        " are up to three times as wide as DeLong's. We tried five narrower methods. The coverage"
        " of four is 0.80 to 0.92 somewhere in these settings, and an equivalence test with the"
        " fifth has an error rate of 0.10. With 10 to 50 groups and areas near 1, intervals are up"
        " to 2.9 times as wide as needed for two equal measures. Student's interval is narrower,"
        " but its coverage is only 0.64 to 0.90 if one measure is better by one standard error.",
    ),
    "Early enrichment": (
        "Scores are normal with few positives; the true value comes from the population.",
        "The default reaches its nominal coverage in every setting.",
    ),
    "Average precision": (
        "Scores are normal, in some settings rounded to produce ties, with 2 to 1,000 positives.",
        "The interval for a difference fails with 2 or 3 positives that make up half of the"
        " candidates.",
    ),
    "Verdicts": (
        "Nearly equal measures are ranked, and thresholds are chosen on one sample and checked in"
        " the population.",
        "No default misses its target.",
    ),
    "Judged in part": (
        "A fifth of the Krenn data is judged at random in four designs, and further judgments are"
        " planned from pilots. Whole groups, or a third of each group, are judged in 100"
        " populations per setting, with known values.",
        "The defaults reach their nominal coverage, but three intervals for recall and average"
        " precision are too wide. Without `groups=`, intervals for whole judged groups fail.",
    ),
    "Queries": (
        "Queries are drawn from a population of 20,000, and pairs of equal runs from known"
        " difficulties.",
        "No default misses its target.",
    ),
    "Systems": (
        "Two or more equally good systems are scored on 5 to 300 items, with symmetric, skewed and"
        " right-or-wrong differences, ratios, groups and crossed factors.",
        "With up to 50 items and rare large gains or a long tail, tests reject too often. Tests"
        " weighted by item reject too often if gains grow with group size and sizes are lognormal.",
    ),
    "Seeds and strata": (
        "Equal systems are trained with a few seeds, or tested in strata whose gains cancel.",
        "The defaults keep the level. Methods that average the seeds first, or ignore the strata,"
        " do not.",
    ),
    "Equivalence": (
        "The true difference lies exactly at the margin; the size is one-sided.",
        "For differences with a long exponential tail, the size of tests of means slightly exceeds"
        " the level. Textbook tests exceed the level by more.",
    ),
    "Annotators": (
        "Five annotators label candidates with a known kappa.",
        "In one setting, the coverage with a majority vote is 0.942.",
    ),
    "Curves": (
        "Scores of 120 to 1,000 candidates are normal. A band covers the curve if it contains the"
        " whole curve.",
        "No setting misses its target.",
    ),
    "At a threshold": (
        "Two measures classify 120 to 400 candidates with known rates.",
        "No default misses its target.",
    ),
}
