"""What comparing two groups of 0/1 values can detect: power, smallest detectable effect, entries it needs.

All figures are exact: they add up the probabilities of the tables at which the test rejects. Values that are
fractions (several samples an entry) are not covered; they carry more information than one 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import ceil
from statistics import NormalDist

from bccontam.stats.exact import binomial, group_size, rejection_bounds

MOST_CONTROL_ENTRIES = 10_000
"""`control_needed` looks no further than this."""


def power(n1: int, n2: int, p1: float, p2: float, alpha: float = 0.05) -> float | None:
    """The chance that the one-sided test finds older > control at true rates p1 and p2; None without a group.

    The test is Boschloo's up to 500 entries a side and Fisher's mid-p above, as for the signal itself. Raises
    ValueError for a rate outside [0, 1], an alpha outside (0, 1) or a negative size.
    """
    n1, n2 = group_size(n1), group_size(n2)
    _check_rates(p1, p2)
    _check_levels(alpha)
    if n1 == 0 or n2 == 0:
        return None
    return _rejected(rejection_bounds(n1, n2, alpha), n1, n2, p1, p2)


def minimum_detectable_effect(
    n1: int, n2: int, control_rate: float, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest p1 − p2, a fraction, that the test finds with the given power at p2 = `control_rate`.

    None when a group is empty or when even p1 = 1 would not be found. Raises ValueError as `power` does.
    """
    n1, n2 = group_size(n1), group_size(n2)
    _check_rates(control_rate)
    _check_levels(alpha, power)
    if n1 == 0 or n2 == 0:
        return None
    bounds = rejection_bounds(n1, n2, alpha)
    if _rejected(bounds, n1, n2, 1.0, control_rate) < power:
        return None
    low, high = control_rate, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if _rejected(bounds, n1, n2, middle, control_rate) < power:
            low = middle
        else:
            high = middle
    return high - control_rate


def control_needed(
    n1: int, effect: float, control_rate: float, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """How many control entries find `effect` with the given power, beside n1 older entries.

    None when none do, up to `MOST_CONTROL_ENTRIES`, or when `effect` does not fit above the rate. Power rises
    in small saws: the answer reaches it and one entry less does not, though an even smaller number might.
    Raises ValueError as `power` does, and for an effect outside [0, 1].
    """
    n1 = group_size(n1)
    _check_rates(control_rate, effect)
    _check_levels(alpha, power)
    p1 = control_rate + effect
    if n1 == 0 or p1 > 1 + 1e-9:
        return None

    def enough(n2: int) -> bool:
        return _rejected(rejection_bounds(n1, n2, alpha), n1, n2, p1, control_rate) >= power

    return _turning_point(enough, _approximate_need(n1, p1, control_rate, alpha, power), MOST_CONTROL_ENTRIES)


def _approximate_need(n1: int, p1: float, p2: float, alpha: float, power: float) -> int:
    """About how many control entries are needed, by the normal approximation: where to begin looking."""
    quantile = NormalDist().inv_cdf
    detectable = ((p1 - p2) / (quantile(1 - alpha) + quantile(power))) ** 2
    left = detectable - p1 * (1 - p1) / n1
    if left <= 0:
        return 1
    return min(MOST_CONTROL_ENTRIES, max(1, ceil(p2 * (1 - p2) / left)))


def _turning_point(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """A number that is enough while one less is not, found in growing steps from `start` and by bisection.

    None when not even `most` is enough.
    """
    low, high, step = 0, start, 1
    if enough(start):
        while high - step > 0 and enough(high - step):
            high, step = high - step, 2 * step
        low = max(0, high - step)
    else:
        while not enough(high):
            if high >= most:
                return None
            low, high, step = high, min(high + step, most), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _rejected(bounds: Sequence[int], n1: int, n2: int, p1: float, p2: float) -> float:
    """The chance of a table within the rejection bounds at true rates p1 and p2."""
    first1, weights1 = binomial(n1, p1)
    first2, weights2 = binomial(n2, p2)
    at_most = list(accumulate(weights2))
    total = 0.0
    for k1, weight in enumerate(weights1, first1):
        reach = bounds[k1] - first2
        if reach >= 0:
            total += weight * at_most[min(reach, len(at_most) - 1)]
    return min(1.0, total)


def _check_rates(*rates: float) -> None:
    for rate in rates:
        if not 0 <= rate <= 1:
            raise ValueError(f"{rate!r} is no rate: give a fraction between 0 and 1.")


def _check_levels(*levels: float) -> None:
    for level in levels:
        if not 0 < level < 1:
            raise ValueError(f"{level!r} is no level: alpha and power lie between 0 and 1.")
