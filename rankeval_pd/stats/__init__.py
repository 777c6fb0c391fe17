"""The arithmetic: arrays in, named arrays out. Several rooms use what stands here."""

from __future__ import annotations

from rankeval_pd.stats._types import AnyArray, BoolArray, FloatArray, IntArray, silent_division
from rankeval_pd.stats.areas import Outline, RankingOutline
from rankeval_pd.stats.bands import CurveLists, allow_for_positives, critical_value
from rankeval_pd.stats.clusters import (
    ADDED,
    ClusterSpread,
    ListTotals,
    QueryMean,
    agreed,
    band_freedom,
    cohen_kappa,
    effective_size,
    factors_of,
    fleiss_kappa,
    krippendorff_alpha,
    largest_statistics,
    packed,
    positives_variance,
    rare_label,
    ratio_gap_spread,
    t_test,
    total_spread,
    whole_spread,
)
from rankeval_pd.stats.differences import (
    Parts,
    accuracy_power,
    corrected_score,
    correlated_limits,
    interval_p,
    limits_over,
    margin_name,
    one_or_two_sided,
    paired_limits,
    regions_margin_p,
    set_difference,
    set_tails,
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
from rankeval_pd.stats.item_gains import f1_law
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
    all_counts,
    chrf_formula,
    entropy,
    exact_sums,
    numbered_formula,
    quiet,
    scores_of,
)
from rankeval_pd.stats.proportions import (
    INTERVALS,
    Limits,
    agree_with_test,
    alike_share,
    clopper_pearson,
    p_of_t,
    quantile_of,
    reaching,
    z_of,
)
from rankeval_pd.stats.random_model import bound
from rankeval_pd.stats.ranking import (
    NEARLY,
    Accepted,
    AcceptedRegions,
    Keys,
    NBest,
    Ranking,
    Regions,
    Size,
    Whole,
    accepted_regions,
    by_position,
    difference_spread,
    edge_precision,
    mix,
    nbest_regions,
    nbest_spread,
    same_order,
    stands_for,
    up_to_ranks,
)
from rankeval_pd.stats.ranks import (
    BASELINE,
    Sets,
    all_pairs,
    scores_with_limits,
    signed_rank_tests,
    t_tests,
    with_one,
)
from rankeval_pd.stats.swaps import (
    FIRST,
    enough_swaps,
    least_swaps,
    monte_carlo_error,
    sided,
    swap_tests,
)
from rankeval_pd.stats.ties import (
    Ends,
    TiedLists,
    order_ends,
    ranking_alone,
)
from rankeval_pd.stats.two_by_two import (
    Pilot,
    drawn_laws,
    fisher_power,
    fisher_test,
    mantel_haenszel_difference,
    mcnemar_test,
    paired_tails,
    rejects,
    sample_odds_ratio,
    stratified_exact_test,
)
