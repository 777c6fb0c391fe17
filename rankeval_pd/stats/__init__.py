"""The arithmetic: arrays in, named arrays out. Several rooms use what stands here."""

from __future__ import annotations

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.areas import Outline, RankingOutline
from rankeval_pd.stats.bands import CurveLists, vote_difference
from rankeval_pd.stats.clusters import QueryMean, agreed, factors_of, packed, t_test
from rankeval_pd.stats.differences import (
    DIFFERENCE_INTERVALS,
    corrected_score,
    delta_method,
    difference_spread,
    edge_precision,
    interval_p,
    margin_name,
    nbest_spread,
    overlap_difference,
    paired_difference,
    regions_margin_p,
    tango_limits,
)
from rankeval_pd.stats.distributions import (
    Finite,
    Infinite,
    Population,
    Tails,
    binomial_laws,
    hypergeometric_laws,
    log_betainc,
    tails,
    tails_of_binomial,
    tails_of_sum,
)
from rankeval_pd.stats.families import adjust, interval_levels, letters, level_of_each, step_down
from rankeval_pd.stats.items import (
    ADJUSTMENTS,
    DIRECTED_METRICS,
    METRICS,
    WRITTEN,
    AnyItems,
    ExactSums,
    Items,
    MetricFormula,
    PairOptions,
    Step,
    chrf_formula,
    exact_sums,
    quiet,
    scores_of,
)
from rankeval_pd.stats.proportions import (
    INTERVALS,
    Limits,
    agree_with_test,
    alike_share,
    clopper_pearson,
    failures,
    quantile_of,
    z_of,
)
from rankeval_pd.stats.ranking import (
    Accepted,
    AcceptedRegions,
    Keys,
    NBest,
    Ranking,
    Regions,
    Size,
    Whole,
    accepted_regions,
    again_in_groups,
    by_position,
    mix,
    nbest_regions,
    same_order,
    stands_for,
    up_to_ranks,
)
from rankeval_pd.stats.ranks import (
    BASELINE,
    RANKS,
    SCORE_INTERVALS,
    Sets,
    SystemScores,
    all_pairs,
    drawn_scores,
    draws_for_ranks,
    signed_rank_tests,
    t_scores,
    t_tests,
    with_one,
)
from rankeval_pd.stats.ties import (
    EXPECTED_METRICS,
    Ends,
    TiedLists,
    order_ends,
    ranking_alone,
    tied_swap_tests,
)
from rankeval_pd.stats.two_by_two import (
    ALTERNATIVES,
    Pilot,
    barnard,
    boschloo,
    conditional_odds_ratio,
    discordant_test,
    drawn_laws,
    fisher_power,
    fisher_test,
    kosinski_test,
    mcnemar_test,
    rejects,
    sample_odds_ratio,
    score_test,
)
