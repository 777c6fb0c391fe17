"""Text beside the tables on the coverage pages."""

from __future__ import annotations

# a page for each topic: its title, and its questions
TOPICS = {
    "lists": (
        "Lists and thresholds",
        ["Precision of a list", "n-best lists", "Simultaneous bands and tests", "At a threshold"],
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
        "Coverage was computed exactly for lists of 5 to 500 candidates, a grid of true precisions"
        " and three levels.",
        "The coverage of the default and `blaker` is never below the nominal level. The other"
        " intervals reach this level only on average.",
    ),
    "n-best lists": (
        "All tables for two regions were enumerated. Acceptance sets, recall and lists with ties"
        " were simulated from populations with known values.",
        "The defaults maintain the nominal level, which `midp` slightly exceeds. Alternative"
        " intervals can be far too narrow for small regions.",
    ),
    "n-best lists with clusters": (
        "Labels and scores of candidates in the same cluster are correlated. Clusters are equal in"
        " size, contain 1 to 50 candidates, or include one cluster that contains a third of all"
        " candidates.",
        "If one of 100 clusters contains a third of all candidates, coverage is slightly too"
        " low (0.93 to 0.94). Without `groups=`, intervals are far too narrow.",
    ),
    "Simultaneous bands and tests": (
        "Samples of 1,000 to 5,102 candidates come from populations with a known curve. A band"
        " covers the curve if it contains the curve at every n.",
        "The default bands reach their nominal coverage. Pointwise intervals and tests do not"
        " maintain the nominal level across list sizes. The `emproc` bands are too narrow for"
        " accurate measures.",
    ),
    "AUC": (
        "Scores are normally distributed, mostly with 2 to 100 positives. Variances are equal or"
        " unequal, areas reach 0.995, and correlations between measures reach 0.99.",
        "With 2 or 3 positives, intervals are too narrow if positives have more variable"
        " scores than negatives. With 30 or fewer positives and equal areas of 0.983, intervals for"
        " the difference are up to three times as wide as DeLong's. Narrower intervals fail in some"
        " settings. With 10 to 50 groups and areas near 1, intervals for two equal measures are up"
        " to 2.9 times as wide as needed. Student's interval is narrower, but its coverage is only"
        " 0.64 to 0.90 if one measure is better by one standard error.",
    ),
    "Early enrichment": (
        "Scores are normally distributed with few positives. The true value is computed from the"
        " population.",
        "The default reaches its nominal coverage in every setting.",
    ),
    "Average precision": (
        "Scores are normally distributed, with 2 to 1,000 positives. In some settings, scores are"
        " rounded to produce ties.",
        "The interval for a difference fails if 2 or 3 positives make up half of the candidates.",
    ),
    "Verdicts": (
        "Nearly equal measures are ranked. Thresholds are chosen on a sample and checked in the"
        " population.",
        "All defaults meet their targets.",
    ),
    "Judged in part": (
        "A random fifth of Krenn's data is judged under four designs, and additional judgments"
        " are planned from pilots. With `groups=`, samples come from known populations, and entire"
        " groups or a third of each group are judged.",
        "The defaults reach their nominal coverage. Without `groups=`, intervals fail if whole"
        " groups are judged.",
    ),
    "Queries": (
        "Queries are drawn from a population of 20,000 queries. Pairs of equal runs are simulated"
        " with known query difficulties.",
        "All defaults meet their targets.",
    ),
    "Systems": (
        "Two or more equally good systems are scored on 5 to 300 items. Differences are symmetric,"
        " skewed or binary. Other settings use ratios, groups or crossed factors.",
        "With up to 50 items, tests reject too often for rare large gains or long tails. Tests"
        " that weight items equally also reject too often if group sizes are lognormal and gains"
        " increase with group size.",
    ),
    "Seeds and strata": (
        "Equal systems are trained with a few seeds, or tested in strata whose gains cancel out.",
        "The defaults maintain the nominal level. Methods that average over seeds first or ignore"
        " the strata reject too often.",
    ),
    "Equivalence": (
        "The true difference equals the margin. The size is one-sided.",
        "For differences with a long exponential tail, the size of tests for means slightly"
        " exceeds the nominal level. Textbook tests exceed this level by more.",
    ),
    "Annotators": (
        "Five annotators with a known kappa label candidates.",
        "In one setting, coverage with a majority vote is 0.942.",
    ),
    "Curves": (
        "The scores of 120 to 1,000 candidates are normally distributed. A band covers the curve"
        " if it contains the entire curve.",
        "All settings meet their targets.",
    ),
    "At a threshold": (
        "Two measures classify 120 to 400 candidates with known sensitivity and specificity.",
        "All defaults meet their targets.",
    ),
}
