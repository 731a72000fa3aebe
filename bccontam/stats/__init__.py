"""Small-sample statistics for two groups of entries: intervals, and the test that fits the values.

The one door to all of them: exact tests, permutation tests and power have modules of their own and are
offered here too. What a number means for a benchmark is decided in `bccontam.contamination`. Pure, standard
library only; definitions and reference values are in docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from bccontam.stats.exact import BOSCHLOO_LIMIT, boschloo, fisher, fisher_midp, group_size
from bccontam.stats.power import control_needed, minimum_detectable_effect, power
from bccontam.stats.resampling import (
    PERMUTATIONS,
    SEED,
    Significance,
    SweepSignificance,
    permutation_test,
    stratified_permutation_test,
    sweep_permutation_test,
)

__all__ = [
    "BOSCHLOO_LIMIT",
    "PERMUTATIONS",
    "SEED",
    "Significance",
    "SweepSignificance",
    "boschloo",
    "control_needed",
    "difference_test",
    "fisher",
    "fisher_midp",
    "minimum_detectable_effect",
    "newcombe_interval",
    "permutation_test",
    "power",
    "stratified_permutation_test",
    "sweep_permutation_test",
    "wilson_interval",
]


def wilson_interval(k: float, n: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval (1927) of a rate, within [0, 1]; None when n = 0.

    `k` is the sum of the entries' values and need not be whole. Raises ValueError when it is outside [0, n],
    or the confidence outside (0, 1).
    """
    n = group_size(n)
    if not 0 <= k <= n:
        raise ValueError(f"{k!r} hits among {n} entries: hits must lie between 0 and the number of entries.")
    z = _z(confidence)
    if n == 0:
        return None
    rate = k / n
    shrunk = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrunk
    reach = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrunk
    # At the ends the interval touches 0 or 1, and it always holds the rate; rounding leaves it a hair beside.
    low = 0.0 if k == 0 else max(0.0, min(rate, centre - reach))
    high = 1.0 if k == n else min(1.0, max(rate, centre + reach))
    return low, high


def newcombe_interval(
    k1: float, n1: int, k2: float, n2: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Newcombe's hybrid score interval (1998, method 10) of k1/n1 − k2/n2, within [−1, 1].

    None when a group is empty. Raises ValueError as `wilson_interval` does.
    """
    first, second = wilson_interval(k1, n1, confidence), wilson_interval(k2, n2, confidence)
    if first is None or second is None:
        return None
    rate1, rate2 = k1 / n1, k2 / n2
    difference = rate1 - rate2
    below = math.sqrt((rate1 - first[0]) ** 2 + (second[1] - rate2) ** 2)
    above = math.sqrt((first[1] - rate1) ** 2 + (rate2 - second[0]) ** 2)
    return max(-1.0, difference - below), min(1.0, difference + above)


def difference_test(pre: Sequence[float], control: Sequence[float]) -> Significance:
    """The one-sided test of pre > control that fits: one value in [0, 1] per entry on either side.

    0/1 values: Boschloo's test up to `BOSCHLOO_LIMIT` entries a side, Fisher's mid-p above. Fractions: the
    permutation test over entries. None when a group is empty; raises ValueError for a value outside [0, 1].
    """
    for value in (*pre, *control):
        if not 0 <= value <= 1:
            raise ValueError(f"{value!r} is no value of an entry: give a fraction between 0 and 1.")
    if not pre or not control:
        return Significance(None, None)
    if any(value not in (0, 1) for value in (*pre, *control)):
        return permutation_test(pre, control)
    table = int(sum(pre)), len(pre), int(sum(control)), len(control)
    if max(len(pre), len(control)) <= BOSCHLOO_LIMIT:
        return Significance(boschloo(*table), "Boschloo's exact test")
    return Significance(fisher_midp(*table), "Fisher's exact test with mid-p")


def _z(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"{confidence!r} is no confidence: give a fraction between 0 and 1, such as 0.95.")
    return NormalDist().inv_cdf((1 + confidence) / 2)
