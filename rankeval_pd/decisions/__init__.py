"""What a table of tests concludes: families, intervals, verdicts, ranks and averages."""

from __future__ import annotations

from rankeval_pd.decisions.averages import (
    Average,
    GroupAverage,
    GroupCells,
    average_areas,
    average_curves,
    average_lists,
    check_groups,
    over_groups,
)
from rankeval_pd.decisions.families import compared_with, enough_draws, family_of
from rankeval_pd.decisions.gains import (
    bootstrapped_pairs,
    over_all_groups,
    pairs_tested_once,
    ranked_systems,
    ranks_of,
)
from rankeval_pd.decisions.ranks import (
    RankOptions,
    beats_chance,
    of_measures,
    order_decides,
    rank_columns,
)
from rankeval_pd.decisions.verdicts import (
    OF_CLUSTERS,
    OF_ERROR,
    OF_F1,
    OF_ONLY,
    OF_PAIRED,
    OF_REGIONS,
    OF_SETS,
    P_ENDS,
    REGIONS,
    SWAPPED,
    TIE_COLUMNS,
    TIE_ENDS,
    UNCUT,
    Decision,
    Interval,
    decide,
    decision_columns,
    warn_of_rows,
)
from rankeval_pd.tables import GROUP, PAIR, PLACE, STANDS, Rows
