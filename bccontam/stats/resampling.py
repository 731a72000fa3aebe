"""Permutation tests over entries: plain, within strata, and the greatest signal over many cutoffs.

Group labels are shuffled, values stay; p = (b + 1) / (B + 1), one-sided, where b of B shuffles reach the
observed signal. No list is shuffled: entries with equal values are interchangeable, so only how many of each
value fall into a group is drawn. Those counts are hypergeometric, the very distribution that shuffling gives,
at a cost that grows with the number of different values and not with the number of entries. The seed alone
decides the shuffles; the order of entries has no part in it.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

PERMUTATIONS = 9_999
FEWER_PERMUTATIONS = 999
"""B where 9,999 would take too long; the name of a test always states the B used."""
SEED = 2026

_MOST_DRAWS = 1_000
_MOST_SWEPT_ENTRIES = 1_000
_SAME = 1e-9  # sums of values that differ by rounding alone


class Significance(NamedTuple):
    """A one-sided p in (0, 1] and the test's name; both None where the comparison is undefined."""

    p_value: float | None
    method: str | None


class SweepSignificance(NamedTuple):
    """The max-statistic p of every cutoff tried, in the order given, and the test's name.

    The smallest of them is the p of the whole sweep.
    """

    p_values: list[float]
    method: str


def permutation_test(
    pre: Sequence[float], control: Sequence[float], *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> Significance:
    """Whether the mean of `pre` is above that of `control`: one value per entry, of any finite size.

    For a difference-in-differences give per entry the model's value minus the reference's. Undefined when a
    group is empty; raises ValueError for a value that is not finite.
    """
    return _within([(pre, control)], "permutation test", permutations, seed)


def stratified_permutation_test(
    rows: Iterable[tuple[str, float, bool]], *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> Significance:
    """The same within strata: rows of (stratum, value, whether the entry is an older one).

    Labels are shuffled inside each stratum only. Undefined when no stratum has entries on both sides; raises
    ValueError for a value that is not finite.
    """
    strata: dict[str, tuple[list[float], list[float]]] = {}
    for name, value, older in rows:
        strata.setdefault(name, ([], []))[0 if older else 1].append(value)
    groups = [strata[name] for name in sorted(strata)]
    return _within(groups, "permutation test within strata", permutations, seed)


def sweep_permutation_test(
    values: Sequence[float], ends: Sequence[int], *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> SweepSignificance:
    """Max-statistic p of every cutoff: `values` by date, `ends[i]` of them before cutoff i.

    The statistic of a cutoff is its signal in units of its own standard deviation under shuffling, so that
    small groups do not drown the others; the p of a cutoff counts shuffles whose greatest statistic over all
    cutoffs reaches it. Order between two cutoffs has no effect. Raises ValueError for a cutoff that leaves a
    group empty and for a value that is not finite.
    """
    _check_finite(values)
    for end in ends:
        if not 0 < end < len(values):
            raise ValueError(f"{end} of {len(values)} entries before a cutoff: both groups need entries.")
    if not ends:
        return SweepSignificance([], _name("max-statistic permutation test", permutations, seed))
    tried = sorted(set(ends))
    levels = sorted(Counter(values).items())
    if len(levels) > 2 and len(values) > _MOST_SWEPT_ENTRIES:
        # Among many entries with fractions hardly two draws share a distribution, and each has to be set up.
        permutations = min(permutations, FEWER_PERMUTATIONS)
    if set(values) <= {0.0, 1.0}:
        shuffled = _greatest_of_hits(_random(seed), len(values), sum(map(int, values)), tried, permutations)
    else:
        shuffled = _greatest(_random(seed), levels, tried, permutations)
    greatest = sorted(shuffled)
    total = math.fsum(values)
    p_values = []
    for end in ends:
        mean, scale = _standard(end, total, len(values))
        observed = (math.fsum(values[:end]) - mean) * scale
        reaching = permutations - bisect_left(greatest, observed - _SAME)
        p_values.append((reaching + 1) / (permutations + 1))
    return SweepSignificance(p_values, _name("max-statistic permutation test", permutations, seed))


def _within(
    strata: Sequence[tuple[Sequence[float], Sequence[float]]], name: str, permutations: int, seed: int
) -> Significance:
    """Shuffles inside each (older, control) pair; with sizes fixed, the older sum orders the signal."""
    mixed = []
    for pre, control in strata:
        _check_finite(pre)
        _check_finite(control)
        if pre and control:
            mixed.append((Counter(pre), Counter(control)))
    if not mixed:
        return Significance(None, None)
    if sum(len(older | newer) - 1 for older, newer in mixed) > _MOST_DRAWS:
        permutations = min(permutations, FEWER_PERMUTATIONS)
    rng = _random(seed)
    observed = 0.0
    sums = [0.0] * permutations
    for older, newer in mixed:
        levels = sorted((older + newer).items())
        observed += sum(value * older[value] for value, _ in levels)
        shuffled = _older_sums(rng, levels, older.total(), permutations)
        sums = [before + more for before, more in zip(sums, shuffled, strict=True)]
    tolerance = _SAME * max(1.0, abs(observed))
    reaching = sum(total >= observed - tolerance for total in sums)
    return Significance((reaching + 1) / (permutations + 1), _name(name, permutations, seed))


def _older_sums(
    rng: random.Random, levels: Sequence[tuple[float, int]], older: int, permutations: int
) -> list[float]:
    """Per shuffle the sum of the values on the `older` places; `levels` are (value, how many entries)."""
    if len(levels) == 2:  # 0 and 1, most often: every shuffle draws from one distribution
        (first, size), (second, others) = levels
        counts = _Inverse(size + others, size, older).draw(rng, permutations)
        return [first * count + second * (older - count) for count in counts]
    left = sum(size for _, size in levels)
    places = [older] * permutations
    sums = [0.0] * permutations
    for value, size in levels[:-1]:
        drawn = _draw(rng, repeat(left), places, repeat(size))
        sums = [total + value * count for total, count in zip(sums, drawn, strict=True)]
        places = [open_ - count for open_, count in zip(places, drawn, strict=True)]
        left -= size
    last = levels[-1][0]
    return [total + last * open_ for total, open_ in zip(sums, places, strict=True)]


def _greatest(
    rng: random.Random, levels: Sequence[tuple[float, int]], ends: Sequence[int], permutations: int
) -> list[float]:
    """Per shuffle the greatest standardised signal over the cutoffs, by segment and level."""
    entries = sum(size for _, size in levels)
    total = math.fsum(value * size for value, size in levels)
    unplaced = [[size] * permutations for _, size in levels]
    sums = [0.0] * permutations
    greatest = [-math.inf] * permutations
    start = 0
    for end in ends:
        population = [entries - start] * permutations
        places = [end - start] * permutations
        for level, (value, _) in enumerate(levels[:-1]):
            left = unplaced[level]
            drawn = _draw(rng, population, left, places)
            sums = [before + value * count for before, count in zip(sums, drawn, strict=True)]
            population = [size - count for size, count in zip(population, left, strict=True)]
            unplaced[level] = [size - count for size, count in zip(left, drawn, strict=True)]
            places = [open_ - count for open_, count in zip(places, drawn, strict=True)]
        last = levels[-1][0]
        sums = [before + last * open_ for before, open_ in zip(sums, places, strict=True)]
        mean, scale = _standard(end, total, entries)
        signals = [(older - mean) * scale for older in sums]
        greatest = list(map(max, greatest, signals))
        start = end
    return greatest


def _greatest_of_hits(
    rng: random.Random, entries: int, hits: int, ends: Sequence[int], permutations: int
) -> list[float]:
    """The same where every value is 0 or 1, which is most often so: a shuffle is a number of hits."""
    placed = [0] * permutations
    greatest = [-math.inf] * permutations
    start = 0
    for end in ends:
        # Shuffles with the same number of hits so far draw from the same distribution.
        draws = {
            count: _Inverse(entries - start, hits - count, end - start).draw(rng, rows)
            for count, rows in sorted(Counter(placed).items())
        }
        placed = [count + next(draws[count]) for count in placed]
        mean, scale = _standard(end, hits, entries)
        signals = [(count - mean) * scale for count in range(hits + 1)]
        greatest = [
            signals[count] if signals[count] > best else best
            for count, best in zip(placed, greatest, strict=True)
        ]
        start = end
    return greatest


def _standard(older: int, total: float, entries: int) -> tuple[float, float]:
    """What a sum over `older` entries is expected to be, and the factor that standardises what it is beyond.

    The factor is one over the standard deviation under shuffling, but for what all cutoffs share.
    """
    return older * total / entries, 1 / math.sqrt(older * (entries - older))


def _draw(
    rng: random.Random, population: Iterable[int], marked: Iterable[int], sample: Iterable[int]
) -> list[int]:
    """Hypergeometric draws, one per row: how many of `sample` out of `population` are among the `marked`."""
    # The endless constants stand beside a list, which ends the rows.
    keys = list(zip(population, marked, sample, strict=False))
    draws = {key: _Inverse(*key).draw(rng, rows) for key, rows in sorted(Counter(keys).items())}
    return [next(draws[key]) for key in keys]


class _Inverse:
    """Inverts one hypergeometric distribution, summed up from the mode outwards and only as far as asked."""

    __slots__ = ("_cumulative", "_outcomes", "_rest")

    def __init__(self, population: int, marked: int, sample: int) -> None:
        self._rest = _outwards(population, marked, sample)
        outcome, mass = next(self._rest)
        self._outcomes = [outcome]
        self._cumulative = [mass]

    def draw(self, rng: random.Random, rows: int) -> Iterator[int]:
        """Independent outcomes, as many as rows."""
        outcomes, cumulative = self._outcomes, self._cumulative
        quantiles = [rng.random() for _ in range(rows)]
        greatest = max(quantiles)
        while cumulative[-1] <= greatest:
            outcome, mass = next(self._rest, (outcomes[-1], 1.0))
            outcomes.append(outcome)
            cumulative.append(cumulative[-1] + mass)
        return iter([outcomes[bisect_right(cumulative, quantile)] for quantile in quantiles])


def _outwards(population: int, marked: int, sample: int) -> Iterator[tuple[int, float]]:
    """(outcome, probability), the likelier neighbour first, until the rest is below a float's precision."""
    low, high = max(0, marked + sample - population), min(marked, sample)
    unmarked = population - marked
    mode = min(high, max(low, (marked + 1) * (sample + 1) // (population + 2)))
    mass = math.exp(
        _log_choose(marked, mode) + _log_choose(unmarked, sample - mode) - _log_choose(population, sample)
    )
    yield mode, mass
    up = down = mode
    more = less = mass
    while True:
        # Both are 0 at the end of their side, where a factor above the line is.
        ahead = more * (marked - up) * (sample - up) / ((up + 1) * (unmarked - sample + up + 1))
        behind = less * down * (unmarked - sample + down) / ((marked - down + 1) * (sample - down + 1))
        if max(ahead, behind) < 1e-18:
            return
        if ahead >= behind:
            up, more = up + 1, ahead
            yield up, ahead
        else:
            down, less = down - 1, behind
            yield down, behind


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - it shuffles, it guards nothing


def _name(test: str, permutations: int, seed: int) -> str:
    return f"{test}, B = {permutations:,}, seed {seed}"


def _check_finite(values: Iterable[float]) -> None:
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{value!r} is no value of an entry: give finite numbers.")
