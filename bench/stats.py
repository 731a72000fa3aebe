"""How long the statistics take: Boschloo's test, detectable effects, permutation tests on 100,000 entries.

    python -m bench.stats

Caches are emptied before each measurement, so a figure is what a first call costs. It asserts nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from bccontam import stats
from bccontam.stats import exact

SIZES = ((89, 12), (74, 27), (64, 37), (200, 100), (500, 500))
RATES = (0.01, 0.05, 0.10, 0.20, 0.30, 0.50)
TABLE_SIZES = ((90, 5), (89, 12), (74, 27), (64, 37), (50, 50), (200, 100))
ENTRIES = 100_000


def milliseconds(call: Callable[[], object]) -> float:
    for cached in (exact._boschloo, exact._boschloo_bounds, exact._kept_grid):
        cached.cache_clear()
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def slowest_boschloo(n1: int, n2: int, rng: random.Random, tables: int = 30) -> float:
    """The slowest of some random tables, half of them with a difference near the edge of significance."""
    slowest = 0.0
    for i in range(tables):
        k1 = rng.randint(0, n1)
        k2 = rng.randint(0, n2) if i % 2 else max(0, int((k1 / n1 - 0.1) * n2))
        slowest = max(slowest, milliseconds(lambda k1=k1, k2=k2: stats.boschloo(k1, n1, k2, n2)))  # type: ignore[misc]
    return slowest


def values(count: int, samples: int, rng: random.Random) -> list[float]:
    return [sum(rng.random() < 0.3 for _ in range(samples)) / samples for _ in range(count)]


def time_exact_tests(rng: random.Random) -> None:
    print(f"{'pre / control':>14}  {'Boschloo':>9}  {'detectable':>10}  {'needed for 20 points':>20}")
    for n1, n2 in SIZES:
        boschloo = slowest_boschloo(n1, n2, rng)
        detectable = milliseconds(lambda n1=n1, n2=n2: stats.minimum_detectable_effect(n1, n2, 0.3))  # type: ignore[misc]
        needed = milliseconds(lambda n1=n1: stats.control_needed(n1, 0.2, 0.3))  # type: ignore[misc]
        print(f"{n1:>8} / {n2:<3}  {boschloo:>6.1f} ms  {detectable:>7.1f} ms  {needed:>17.1f} ms")


def print_detectable_effects() -> None:
    print("\nSmallest effect found with power 80 %, in points, by control rate")
    print(f"{'pre / control':>14}  " + "".join(f"{100 * rate:>6.0f} %" for rate in RATES))
    for n1, n2 in TABLE_SIZES:
        effects = [stats.minimum_detectable_effect(n1, n2, rate) for rate in RATES]
        cells = "".join("       –" if effect is None else f"{100 * effect:>8.1f}" for effect in effects)
        print(f"{n1:>8} / {n2:<3}  {cells}")


def time_permutations(rng: random.Random) -> None:
    print(f"\nPermutation tests on {ENTRIES:,} results, 90 % of them older")
    for samples in (1, 5):
        entries = ENTRIES // samples
        all_values, older = values(entries, samples, rng), entries * 9 // 10
        rows = [(str(i % 50), value, i < older) for i, value in enumerate(all_values)]
        differences = [value - rng.choice((0.0, 1.0)) for value in all_values]
        ends = [entries * month // 37 for month in range(1, 37)]
        calls: dict[str, Callable[[], object]] = {
            "the test of the headline": lambda v=all_values, k=older: stats.difference_test(v[:k], v[k:]),  # type: ignore[misc]
            "plain": lambda v=all_values, k=older: stats.permutation_test(v[:k], v[k:]),  # type: ignore[misc]
            "difference-in-differences": lambda v=differences, k=older: stats.permutation_test(v[:k], v[k:]),  # type: ignore[misc]
            "within 50 strata": lambda rows=rows: stats.stratified_permutation_test(rows),  # type: ignore[misc]
            "sweep over 36 cutoffs": lambda v=all_values, ends=ends: stats.sweep_permutation_test(v, ends),  # type: ignore[misc]
        }
        for name, call in calls.items():
            print(f"{entries:>8,} entries of {samples}  {name:<26} {milliseconds(call):>8.0f} ms")


def main() -> None:
    """All three tables."""
    generator = random.Random(1)
    time_exact_tests(generator)
    print_detectable_effects()
    time_permutations(generator)


if __name__ == "__main__":
    main()
