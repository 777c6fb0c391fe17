"""Texts beside the tables on the pages of coverage."""

from __future__ import annotations

# a page for each topic: its title, and its questions
TOPICS = {
    "lists": (
        "Lists and thresholds",
        ["Precision of a list", "n-best lists", "All n together", "At a threshold"],
    ),
    "clusters": ("Clusters and queries", ["n-best lists with clusters", "Queries"]),
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
    "Precision of a list": (
        "The coverage is exact for lists of 5 to 500 candidates, a grid of true precisions and"
        " three levels.",
        "The coverage of the default and of `blaker` is never below the level. The other intervals"
        " reach the level only on average.",
    ),
    "n-best lists": (
        "All tables for two regions were enumerated. Acceptance sets, recall and lists with ties"
        " were simulated from populations with known values.",
        "The defaults keep their level. The size of `midp` slightly exceeds the level. The"
        " alternative intervals can be far too narrow for small regions.",
    ),
    "n-best lists with clusters": (
        "Labels and scores of candidates in the same cluster are correlated. Clusters have equal"
        " sizes or 1 to 50 candidates, or one cluster contains a third of all candidates.",
        "If one of 100 clusters contains a third of all candidates, the coverage is slightly too"
        " low (0.93 to 0.94). Without `groups=`, intervals are far too narrow.",
    ),
    "All n together": (
        "Samples of 1,000 to 5,102 candidates come from populations with a known curve. A band"
        " covers the curve if the band contains the curve at every n.",
        "The default bands reach their nominal coverage. Pointwise intervals and tests do not keep"
        " their level over all n. The `emproc` bands fail for strong measures.",
    ),
    "AUC": (
        "Scores are normal, mostly with 2 to 100 positives. Variances are equal or unequal, areas"
        " are up to 0.995, and correlations between two measures are up to 0.99.",
        "Intervals are too narrow with 2 or 3 positives whose scores vary more than the scores of"
        " the negatives. With 30 or fewer positives and equal areas of 0.983, intervals for the"
        " difference are up to three times as wide as DeLong's. Narrower methods fail in some"
        " settings. With 10 to 50 groups and areas near 1, intervals are up to 2.9 times as wide"
        " as needed for two equal measures. Student's interval is narrower, but its coverage is"
        " only 0.64 to 0.90 if one measure is better by one standard error.",
    ),
    "Early enrichment": (
        "Scores are normal with few positives. The true value is computed from the population.",
        "The default reaches its nominal coverage in every setting.",
    ),
    "Average precision": (
        "Scores are normal with 2 to 1,000 positives. In some settings, scores are rounded to"
        " produce ties.",
        "The interval for a difference fails with 2 or 3 positives that make up half of the"
        " candidates.",
    ),
    "Verdicts": (
        "Nearly equal measures are ranked. Thresholds are chosen on a sample and checked in the"
        " population.",
        "All defaults reach their targets.",
    ),
    "Judged in part": (
        "A random fifth of Krenn's data is judged in four designs, and further judgments are"
        " planned from pilots. For `groups=`, either entire groups or a third of each group are"
        " judged in samples from known populations.",
        "The defaults reach their nominal coverage. Without `groups=`, intervals fail if whole"
        " groups are judged.",
    ),
    "Queries": (
        "Queries are drawn from a population of 20,000 queries. Pairs of equal runs are simulated"
        " with known difficulties of the queries.",
        "All defaults reach their targets.",
    ),
    "Systems": (
        "Two or more equally good systems are scored on 5 to 300 items. Differences are symmetric,"
        " skewed or right-or-wrong. Other settings have ratios, groups or crossed factors.",
        "With up to 50 items and rare large gains or a long tail, tests reject too often. Tests"
        " with equally weighted items also reject too often if group sizes are lognormal and gains"
        " increase with group size.",
    ),
    "Seeds and strata": (
        "Equal systems are trained with a few seeds, or tested in strata with gains that cancel"
        " out.",
        "The defaults keep their level. Methods that average the seeds first or ignore the strata"
        " reject too often.",
    ),
    "Equivalence": (
        "The true difference is exactly at the margin. The size is one-sided.",
        "For differences with a long exponential tail, the size of tests for means slightly"
        " exceeds the level. Textbook tests exceed the level by more.",
    ),
    "Annotators": (
        "Five annotators label candidates with a known kappa.",
        "In one setting, the coverage with a majority vote is 0.942.",
    ),
    "Curves": (
        "Scores of 120 to 1,000 candidates are normal. A band covers the curve if the band"
        " contains the entire curve.",
        "All settings reach their targets.",
    ),
    "At a threshold": (
        "Two measures classify 120 to 400 candidates with known rates.",
        "All defaults reach their targets.",
    ),
}
