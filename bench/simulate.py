"""How often the verdict says `signal` when there is none: seeded simulations of whole comparisons.

    python -m bench.simulate [--repetitions 1000] [--seed 1] [--json FILE]

The default takes about two minutes. A row is one setting; its shares are percent of the repetitions. The rule
is `bccontam.contamination.decide`.
"""

from __future__ import annotations

import argparse
import json
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import accumulate
from math import fsum
from pathlib import Path

from bccontam import stats
from bccontam.contamination import Signal, Thresholds, decide
from bccontam.stats.exact import binomial

SPLITS = ((89, 12), (74, 27), (64, 37))
RATES = (0.01, 0.02, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50)
SOME_RATES = (0.01, 0.10, 0.30, 0.50)
DRIFT = 0.12
SAMPLES = 5
CONCENTRATION = 1.0
"""Entries differ: their rates follow a beta distribution with parameters that add up to this."""
PERMUTATIONS = 999
THRESHOLDS = Thresholds()

Random = random.Random


@dataclass(frozen=True)
class Row:
    """One setting: percent of repetitions in which each way of deciding said `signal`."""

    setting: str
    pre: int
    control: int
    rate: float
    repetitions: int
    percent: dict[str, float]


def signal_of(pre: float, n1: int, control: float, n2: int, p_value: float | None) -> bool:
    """Whether the verdict on two sums of values is `signal`."""
    between = stats.newcombe_interval(pre, n1, control, n2)
    assert between is not None
    signal = Signal("basename", pre / n1 - control / n2, *between, p_value, None)
    return decide(signal, THRESHOLDS) == "signal"


@cache
def signal_of_table(k1: int, n1: int, k2: int, n2: int) -> bool:
    return signal_of(k1, n1, k2, n2, stats.boschloo(k1, n1, k2, n2))


def exact_share(n1: int, n2: int, rate: float) -> float:
    """The share of `signal` among all tables, weighted by their probability: what simulation estimates."""
    first1, weights1 = binomial(n1, rate)
    first2, weights2 = binomial(n2, rate)
    return fsum(
        a * b
        for k1, a in enumerate(weights1, first1)
        for k2, b in enumerate(weights2, first2)
        if signal_of_table(k1, n1, k2, n2)
    )


def hits(n: int, rate: float) -> Callable[[Random], int]:
    """Draws of how many of n entries are hit at one rate."""
    first, weights = binomial(n, rate)
    cumulative = list(accumulate(weights))
    return lambda rng: first + min(bisect_right(cumulative, rng.random()), len(weights) - 1)


def difficulties(rng: Random, count: int, rate: float) -> list[float]:
    return [rng.betavariate(CONCENTRATION * rate, CONCENTRATION * (1 - rate)) for _ in range(count)]


def answers(rng: Random, difficulty: Sequence[float], samples: int = 1) -> list[float]:
    """Per entry the mean of `samples` hits at its own rate."""
    return [sum(rng.random() < rate for _ in range(samples)) / samples for rate in difficulty]


def one_answer(rng: Random, n1: int, n2: int, rate: float, repetitions: int) -> Row:
    older, newer = hits(n1, rate), hits(n2, rate)
    signals = sum(signal_of_table(older(rng), n1, newer(rng), n2) for _ in range(repetitions))
    percent = {"verdict": 100 * signals / repetitions, "exact": 100 * exact_share(n1, n2, rate)}
    return Row("no effect, one answer", n1, n2, rate, repetitions, percent)


def several_answers(rng: Random, n1: int, n2: int, rate: float, repetitions: int) -> Row:
    """Means over samples, as the verdict takes them, beside the mistake of counting every sample."""
    verdicts = pooled = 0
    for _ in range(repetitions):
        pre = answers(rng, difficulties(rng, n1, rate), SAMPLES)
        control = answers(rng, difficulties(rng, n2, rate), SAMPLES)
        test = stats.permutation_test(pre, control, permutations=PERMUTATIONS)
        verdicts += signal_of(fsum(pre), n1, fsum(control), n2, test.p_value)
        table = (round(SAMPLES * fsum(pre)), SAMPLES * n1, round(SAMPLES * fsum(control)), SAMPLES * n2)
        pooled += (stats.fisher_midp(*table) or 1.0) <= THRESHOLDS.alpha
    percent = {
        "verdict": 100 * verdicts / repetitions,
        "every sample counted, p alone": 100 * pooled / repetitions,
    }
    return Row(f"no effect, {SAMPLES} answers an entry", n1, n2, rate, repetitions, percent)


def drift(rng: Random, n1: int, n2: int, rate: float, repetitions: int) -> Row:
    """Older entries are easier for everyone; the reference answers the same entries."""
    plain = against_reference = 0
    for _ in range(repetitions):
        older, newer = difficulties(rng, n1, rate + DRIFT), difficulties(rng, n2, rate)
        pre, control = answers(rng, older), answers(rng, newer)
        plain += signal_of_table(int(sum(pre)), n1, int(sum(control)), n2)
        pre = [value - known for value, known in zip(pre, answers(rng, older), strict=True)]
        control = [value - known for value, known in zip(control, answers(rng, newer), strict=True)]
        test = stats.permutation_test(pre, control, permutations=PERMUTATIONS)
        value = fsum(pre) / n1 - fsum(control) / n2
        against_reference += (test.p_value or 1.0) <= THRESHOLDS.alpha and value >= THRESHOLDS.min_effect
    percent = {"plain": 100 * plain / repetitions, "with reference": 100 * against_reference / repetitions}
    return Row(f"drift of {100 * DRIFT:.0f} points, no memory", n1, n2, rate, repetitions, percent)


def best_of_ten(rng: Random, n1: int, n2: int, rate: float, repetitions: int) -> Row:
    """The most favourable of ten cutoffs, by its own p and by the max-statistic p."""
    entries = n1 + n2
    ends = [entries - 5 * i for i in range(1, 11)]
    alone = corrected = 0
    for _ in range(repetitions):
        values = answers(rng, [rate] * entries)
        sums = list(accumulate(values))
        tables = [(int(sums[end - 1]), end, int(sums[-1] - sums[end - 1]), entries - end) for end in ends]
        alone += any(signal_of_table(*table) for table in tables)
        p_values = stats.sweep_permutation_test(values, ends, permutations=PERMUTATIONS).p_values
        corrected += any(signal_of(*table, p) for table, p in zip(tables, p_values, strict=True))
    percent = {"its own p": 100 * alone / repetitions, "max-statistic p": 100 * corrected / repetitions}
    return Row("no effect, best of 10 cutoffs", n1, n2, rate, repetitions, percent)


def simulate(seed: int, repetitions: int) -> list[Row]:
    """All rows. Exact tests are remembered by table, so they get a hundred times the repetitions."""
    rng = Random(seed)
    rows = [one_answer(rng, *split, rate, 100 * repetitions) for split in SPLITS for rate in RATES]
    rows += [several_answers(rng, *split, rate, repetitions) for split in SPLITS for rate in SOME_RATES]
    rows += [drift(rng, *split, rate, repetitions) for split in SPLITS for rate in (0.10, 0.30, 0.50)]
    rows += [best_of_ten(rng, *SPLITS[1], rate, repetitions) for rate in (0.10, 0.30, 0.50)]
    return rows


def print_rows(rows: Sequence[Row]) -> None:
    heading = ""
    for row in rows:
        if row.setting != heading:
            heading = row.setting
            print(f"\n{heading} (% `signal` in {row.repetitions:,} repetitions)")
            print(f"{'pre / control':>14}{'rate':>7}" + "".join(f"{name:>32}" for name in row.percent))
        shares = "".join(f"{share:>32.2f}" for share in row.percent.values())
        print(f"{row.pre:>8} / {row.control:<3}{100 * row.rate:>5.0f} %{shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description="False positives of the verdict, simulated.")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the rows there as well")
    given = parser.parse_args()
    rows = simulate(given.seed, given.repetitions)
    print_rows(rows)
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
