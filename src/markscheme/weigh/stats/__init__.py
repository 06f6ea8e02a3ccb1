"""Statistics on exact sums: tests, intervals, power and agreement of raters.

Counts and sums are integers and fractions; a float appears only at the end, where a root or a
distribution needs one. Nothing here knows rubrics, runs or gates: values in, numbers out.
"""

from markscheme.weigh.stats.agreement import (
    Agreement,
    compute_ordinal_alpha,
    compute_percent_agreement,
    compute_quadratic_ac2,
    compute_quadratic_kappa,
    measure_agreement,
)
from markscheme.weigh.stats.distributions import (
    ALPHA,
    POWER,
    SampleStatistics,
    adjust_by_holm,
    compute_falling_p,
    compute_power,
    compute_quantile,
    compute_unseen_share,
    compute_wilson_interval,
    count_inversions,
    count_pairs_needed,
    find_detectable_effect,
    find_least_above,
    noncentral_t_cdf,
    sum_counts,
    t_cdf,
    t_quantile,
)
from markscheme.weigh.stats.proportions import (
    ClusteredMean,
    McNemar,
    compute_clopper_pearson_interval,
    compute_clustered_mean,
    compute_tango_interval,
    run_mcnemar_test,
    sum_by_cluster,
)
from markscheme.weigh.stats.sign_flips import (
    SignFlip,
    compute_smallest_p,
    count_pairs_for_alpha,
    run_sign_flip_test,
)

__all__ = [
    "ALPHA",
    "POWER",
    "Agreement",
    "ClusteredMean",
    "McNemar",
    "SampleStatistics",
    "SignFlip",
    "adjust_by_holm",
    "compute_clopper_pearson_interval",
    "compute_clustered_mean",
    "compute_falling_p",
    "compute_ordinal_alpha",
    "compute_percent_agreement",
    "compute_power",
    "compute_quadratic_ac2",
    "compute_quadratic_kappa",
    "compute_quantile",
    "compute_smallest_p",
    "compute_tango_interval",
    "compute_unseen_share",
    "compute_wilson_interval",
    "count_inversions",
    "count_pairs_for_alpha",
    "count_pairs_needed",
    "find_detectable_effect",
    "find_least_above",
    "measure_agreement",
    "noncentral_t_cdf",
    "run_mcnemar_test",
    "run_sign_flip_test",
    "sum_by_cluster",
    "sum_counts",
    "t_cdf",
    "t_quantile",
]
