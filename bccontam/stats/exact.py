"""Exact one-sided tests of two rates from 0/1 values: Fisher's, Fisher's with mid-p, and Boschloo's.

A table is `k1` hits among `n1` older entries and `k2` among `n2` control entries; a small p speaks for a
higher rate of the older ones. Nothing here chooses between the tests or takes fractional values: that is
`bccontam.stats`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import index, mul
from typing import NamedTuple

BOSCHLOO_LIMIT = 500
"""Up to this many entries a side the test is Boschloo's, above it Fisher's mid-p (docs/statistics.md)."""

TIE = 1e-10
"""Fisher p-values this close to each other (relative) are one: only rounding separates them."""

_GRID_STEP = 0.1  # in units of 1 / sqrt(n1 + n2) radians, twice the binomial's standard deviation
_LARGEST_KEPT_GRID = 2 * BOSCHLOO_LIMIT
_NEGLIGIBLE = 1e-17
_GOLDEN = (math.sqrt(5) - 1) / 2

Distribution = tuple[int, list[float]]
"""A distribution over consecutive counts: the first of them, and the probability of each from there on."""


class Region(NamedTuple):
    """The tables whose Fisher p is at most a limit. They form a staircase, so its edge says all.

    `levels[m]` is the chance of the region given m hits in both groups together; `bounds[k1]` the greatest k2
    in the region (−1: none); `outside` the smallest Fisher p outside.
    """

    levels: list[float]
    bounds: list[int]
    outside: float


def fisher(k1: int, n1: int, k2: int, n2: int) -> float | None:
    """One-sided p of Fisher's exact test, in (0, 1]; None when a group is empty.

    Raises ValueError when the numbers are no table.
    """
    tails = _tails(k1, n1, k2, n2)
    return None if tails is None else _as_p(tails[0] + tails[1])


def fisher_midp(k1: int, n1: int, k2: int, n2: int) -> float | None:
    """One-sided mid-p of Fisher's test: the observed table counts half. None when a group is empty.

    A table without any hit, or without any miss, has 0.5. Raises ValueError when the numbers are no table.
    """
    tails = _tails(k1, n1, k2, n2)
    return None if tails is None else _as_p(tails[0] + 0.5 * tails[1])


def boschloo(k1: int, n1: int, k2: int, n2: int) -> float | None:
    """One-sided p of Boschloo's exact test, in (0, 1]; None when a group is empty.

    Boschloo (1970): the largest chance, over all common rates, of a table whose Fisher p is at most the
    observed one. Raises ValueError when the numbers are no table. 500 / 500 takes some 0.05 s.
    """
    return _boschloo(*_table(k1, n1, k2, n2))


@lru_cache(maxsize=4096)
def _boschloo(k1: int, n1: int, k2: int, n2: int) -> float | None:
    observed = fisher(k1, n1, k2, n2)
    if observed is None or observed < 1e-250:
        # Boschloo's p is at most Fisher's; so far out the walk along the edge leaves the range of floats.
        return observed
    return _as_p(min(observed, _size(fisher_region(n1, n2, observed).levels)))


def rejection_bounds(n1: int, n2: int, alpha: float) -> Sequence[int]:
    """For each k1 from 0 to n1 the greatest k2 at which the test rejects at `alpha` (−1: none).

    The test is the one that 0/1 values get: Boschloo's up to `BOSCHLOO_LIMIT` a side, Fisher's mid-p above.
    """
    if max(n1, n2) > BOSCHLOO_LIMIT:
        return fisher_region(n1, n2, alpha, mid=True).bounds
    return _boschloo_bounds(n1, n2, alpha)


@lru_cache(maxsize=256)
def _boschloo_bounds(n1: int, n2: int, alpha: float) -> tuple[int, ...]:
    # Boschloo's p grows with Fisher's, so its region is a Fisher region with some limit above alpha. Bisect
    # for it until no Fisher p lies between a limit that keeps the level and one that does not.
    region, broken = fisher_region(n1, n2, alpha), 1.0
    while region.outside < broken * (1 - 2 * TIE):
        candidate = fisher_region(n1, n2, math.sqrt(region.outside * broken))
        if _exceeds(candidate.levels, alpha):
            broken = max(candidate.levels)
        else:
            region = candidate
    return tuple(region.bounds)


def binomial(count: int, rate: float) -> Distribution:
    """The binomial distribution, without tails that are negligible beside its mode."""
    if rate <= 0 or rate >= 1:
        return (count if rate >= 1 else 0), [1.0]
    odds = rate / (1 - rate)
    mode = min(count, int((count + 1) * rate))
    return _from_mode(0, count, mode, lambda k: (count - k) / (k + 1) * odds, _NEGLIGIBLE)


def fisher_region(n1: int, n2: int, limit: float, *, mid: bool = False) -> Region:
    """All tables with a Fisher p (`mid`: mid-p, for limits below 0.5) of at most `limit`; no empty group.

    The p falls with k1 and grows with k2. Going through the number of hits m from 0 to n1 + n2, the smallest
    k1 inside therefore stays or grows by one, and its tail probability follows from the step before by adding
    what one more draw brings in: O(n1 + n2) for all tables.
    """
    total = n1 + n2
    limit *= 1 + TIE
    if limit >= 1:
        return Region([1.0] * (total + 1), [n2] * (n1 + 1), 1.0)
    # `edge` is the smallest k1 inside, `tail` the chance of k1 >= edge, `beside` that of k1 = edge − 1.
    edge, tail, beside = 1, 0.0, 1.0
    levels, bounds, outside = [0.0], [-1], 1.0
    share = 0.5 if mid else 0.0
    for hits in range(1, total + 1):
        left = total - hits + 1
        gain = beside * (n1 - edge + 1) / left
        at_edge = gain * hits / edge
        if tail + gain - share * at_edge > limit:
            outside = min(outside, tail + gain)
            bounds.append(hits - edge - 1)
            # The same as tail + gain − at_edge, without subtracting numbers that dwarf the limit.
            tail = max(0.0, tail - gain * (hits - edge) / edge)
            beside = at_edge
            edge += 1
        else:
            tail += gain
            beside *= (n2 - hits + edge) * hits / ((hits - edge + 1) * left)
        levels.append(tail)
    bounds.extend([n2] * (n1 + 1 - len(bounds)))
    return Region(levels, bounds, outside)


def _size(levels: Sequence[float]) -> float:
    """The largest chance of a region over all common rates.

    Given the rate, the number of hits is binomial, so the chance is the mean of `levels` under a binomial. It
    is smooth in the angle arcsin(sqrt(rate)), where the binomial is equally wide everywhere: a grid that is
    fine beside this width finds the peaks, a golden-section search their tops.
    """
    angles = _angles(len(levels) - 1)
    values = [_mean(levels, weights) for weights in _grid(len(levels) - 1)]
    best, slack, last = max(values), _slack(levels), len(values) - 1
    if best >= max(levels) * (1 - TIE):
        return max(levels)
    for i, value in enumerate(values):
        before, after = max(0, i - 1), min(last, i + 1)
        if values[before] <= value >= values[after] and value + slack > best:
            best = max(best, _top(levels, angles[before], angles[after]))
    return best


def _exceeds(levels: Sequence[float], alpha: float) -> bool:
    """Whether the size of a region is above alpha; quicker than the size itself."""
    best = 0.0
    for weights in _grid(len(levels) - 1):
        best = max(best, _mean(levels, weights))
        if best > alpha:
            return True
    return best + _slack(levels) > alpha and _size(levels) > alpha


def _slack(levels: Sequence[float]) -> float:
    """How far a peak can rise above the grid at most.

    The second derivative of the mean in the angle is at most 8 N max(levels), as the binomial's information
    about the angle is 4 N; and a peak is at most half a step from the grid.
    """
    return _GRID_STEP**2 * max(levels)


def _top(levels: Sequence[float], low: float, high: float) -> float:
    """The largest mean of levels between two angles around one peak."""

    def mean(angle: float) -> float:
        return _mean(levels, binomial(len(levels) - 1, math.sin(angle) ** 2))

    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = mean(left), mean(right)
    for _ in range(16):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = mean(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = mean(right)
    return max(at_left, at_right)


def _mean(levels: Sequence[float], distribution: Distribution) -> float:
    first, weights = distribution
    mean: float = sum(map(mul, weights, levels[first : first + len(weights)]))
    return mean


def _angles(total: int) -> list[float]:
    steps = math.ceil(math.pi / 2 * math.sqrt(total) / _GRID_STEP)
    return [math.pi / 2 * i / steps for i in range(steps + 1)]


def _grid(total: int) -> Iterable[Distribution]:
    """Binomial distributions at the angles of the grid; kept between calls while they are small."""
    return _kept_grid(total) if total <= _LARGEST_KEPT_GRID else _fresh_grid(total)


def _fresh_grid(total: int) -> Iterable[Distribution]:
    return (binomial(total, math.sin(angle) ** 2) for angle in _angles(total))


@lru_cache(maxsize=8)
def _kept_grid(total: int) -> tuple[Distribution, ...]:
    # The angles lie evenly about the middle, and a rate and its complement have mirrored distributions.
    angles = _angles(total)
    half = [binomial(total, math.sin(angle) ** 2) for angle in angles[: (len(angles) + 1) // 2]]
    mirrored = [(total + 1 - first - len(weights), weights[::-1]) for first, weights in half]
    return (*half, *reversed(mirrored[: len(angles) // 2]))


def _tails(k1: int, n1: int, k2: int, n2: int) -> tuple[float, float] | None:
    """The chance, given all hits, of more than k1 in the first group, and of k1; None without a group."""
    k1, n1, k2, n2 = _table(k1, n1, k2, n2)
    if n1 == 0 or n2 == 0:
        return None
    hits = k1 + k2
    low, high = max(0, hits - n2), min(hits, n1)
    mode = min(high, max(low, (hits + 1) * (n1 + 1) // (n1 + n2 + 2)))

    def ratio(k: int) -> float:
        return (n1 - k) * (hits - k) / ((k + 1) * (n2 - hits + k + 1))

    first, weights = _from_mode(low, high, mode, ratio, sys.float_info.min)
    more = list(accumulate(reversed([*weights, 0.0])))[::-1]
    at = k1 - first
    if at < 0:
        return 1.0, 0.0
    if k1 == low:
        return 1.0 - weights[at], weights[at]
    return (more[at + 1], weights[at]) if at < len(weights) else (0.0, 0.0)


def _from_mode(
    low: int, high: int, mode: int, ratio: Callable[[int], float], smallest: float
) -> Distribution:
    """A unimodal distribution on low..high from `ratio(k)` = P(k + 1) / P(k).

    Tails end where they fall below `smallest` times the mode's probability. Starting at the mode and dividing
    by the sum needs no factorial and loses no digits.
    """
    above = [1.0]
    k = mode
    while k < high and above[-1] > smallest:
        above.append(above[-1] * ratio(k))
        k += 1
    below: list[float] = []
    mass = 1.0
    k = mode
    while k > low and mass > smallest:
        k -= 1
        mass /= ratio(k)
        below.append(mass)
    weights = below[::-1] + above
    total = math.fsum(weights)
    return k, [weight / total for weight in weights]


def _as_p(value: float) -> float:
    """A p-value is never above 1, and never 0: one below the range of floats is the smallest of them."""
    return min(1.0, max(sys.float_info.min, value))


def _table(k1: int, n1: int, k2: int, n2: int) -> tuple[int, int, int, int]:
    k1, n1 = _group(k1, n1)
    k2, n2 = _group(k2, n2)
    return k1, n1, k2, n2


def _group(k: int, n: int) -> tuple[int, int]:
    n = group_size(n)
    try:
        k = index(k)
    except TypeError:
        raise ValueError(f"{k!r} hits among {n} entries: hits of an exact test are a whole number.") from None
    if not 0 <= k <= n:
        raise ValueError(f"{k} hits among {n} entries: hits must lie between 0 and the number of entries.")
    return k, n


def group_size(n: int) -> int:
    """The size of a group as an int; ValueError when it is none."""
    try:
        n = index(n)
    except TypeError:
        raise ValueError(f"{n!r} entries: the size of a group is a whole number.") from None
    if n < 0:
        raise ValueError(f"{n} entries: the size of a group is 0 or more.")
    return n
