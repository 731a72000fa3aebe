"""Permutation tests, held against full enumeration and plain shuffles."""

from __future__ import annotations

import math
import random
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam import stats
from bccontam.stats.resampling import _outwards

VALUES = st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=1, max_size=12)


def p_of(test: stats.Significance) -> float:
    assert test.p_value is not None
    return test.p_value


def assert_estimates(p: float, exact: float) -> None:
    """A p from 9,999 shuffles lies within five standard errors of the exact one."""
    assert abs(p - exact) < 5 * math.sqrt(exact * (1 - exact) / stats.PERMUTATIONS) + 2e-4


def enumerated(pre: list[float], control: list[float]) -> list[float]:
    """Sums of the older group under every assignment of the labels."""
    return [math.fsum(chosen) for chosen in combinations([*pre, *control], len(pre))]


def share(sums: list[float], observed: float) -> float:
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize(
    ("pre", "control"),
    [
        ([1.0, 0.8, 0.4, 1.0, 0.6], [0.0, 0.2, 0.4, 0.6]),
        ([0.2, 0.4, 0.2], [0.0, 0.6, 0.4, 1.0]),
        ([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
        ([1.0], [0.0, 0.5]),
        ([1.0, 0.0, -1.0, 1.0, 1.0], [-1.0, 0.0, 0.0, -1.0]),
    ],
)
def test_p_is_that_of_all_assignments_of_the_labels(pre: list[float], control: list[float]) -> None:
    exact = share(enumerated(pre, control), math.fsum(pre))
    assert_estimates(p_of(stats.permutation_test(pre, control)), exact)


@pytest.mark.parametrize(
    "table", [(20, 74, 3, 27), (3, 12, 20, 89), (300, 900, 40, 200), (31_000, 90_000, 3_300, 10_000)]
)
def test_on_zeros_and_ones_p_is_the_hypergeometric_tail(table: tuple[int, int, int, int]) -> None:
    k1, n1, k2, n2 = table
    test = stats.permutation_test([1.0] * k1 + [0.0] * (n1 - k1), [1.0] * k2 + [0.0] * (n2 - k2))
    assert_estimates(p_of(test), stats.fisher(*table) or -1)


def test_counts_of_many_fractional_values_follow_plain_shuffles() -> None:
    rng = random.Random(5)
    values = [rng.randint(0, 5) / 5 for _ in range(60)]
    pre, control = values[:40], values[40:]
    observed, shuffles, reached = math.fsum(pre), 4000, 0
    for _ in range(shuffles):
        rng.shuffle(values)
        reached += math.fsum(values[:40]) >= observed - 1e-9
    by_shuffles = (reached + 1) / (shuffles + 1)
    assert abs(p_of(stats.permutation_test(pre, control)) - by_shuffles) < 0.04


def test_hypergeometric_masses_are_exact() -> None:
    for population, marked, sample in [
        (1, 0, 1),
        (9, 4, 5),
        (10, 10, 3),
        (60, 7, 50),
        (101, 12, 89),
        (400, 200, 200),
    ]:
        masses = dict(_outwards(population, marked, sample))
        for k, mass in masses.items():
            ways = math.comb(marked, k) * math.comb(population - marked, sample - k)
            assert mass == pytest.approx(ways / math.comb(population, sample), rel=1e-10)
        assert math.fsum(masses.values()) == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("strata", [["a", "a", "b", "b", "b", "c", "a"], ["x"] * 7, list("ababcab")])
def test_stratified_p_is_that_of_all_assignments_within_strata(strata: list[str]) -> None:
    values = [1.0, 0.0, 0.6, 1.0, 0.2, 1.0, 0.0]
    older = [True, False, True, True, False, True, False]
    sums = [0.0]
    for name in sorted(set(strata)):
        members = [i for i, label in enumerate(strata) if label == name]
        count = sum(older[i] for i in members)
        parts = [sum(values[i] for i in chosen) for chosen in combinations(members, count)]
        sums = [before + part for before in sums for part in parts]
    exact = share(sums, sum(value for value, old in zip(values, older, strict=True) if old))
    test = stats.stratified_permutation_test(zip(strata, values, older, strict=True))
    assert_estimates(p_of(test), exact)


def test_strata_remove_a_difference_that_lies_between_them() -> None:
    easy = [("easy", 1.0, True)] * 40 + [("easy", 1.0, False)] * 2
    hard = [("hard", 0.0, True)] * 5 + [("hard", 0.0, False)] * 30
    assert p_of(stats.permutation_test([1.0] * 40 + [0.0] * 5, [1.0] * 2 + [0.0] * 30)) < 0.001
    assert p_of(stats.stratified_permutation_test(easy + hard)) == 1


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1, 3, 5]),
        ([0.5, 1.0, 0.0, 1.0, 0.5, 0.0, 0.5], [2, 3, 6]),
        ([0.0, 0.2, 1.0, 0.4, 0.2, 0.6], [4, 2]),
        ([1.0, 1.0, 1.0, 0.0, 0.0], [3]),
    ],
)
def test_sweep_p_is_that_of_the_greatest_signal_over_all_orders(values: list[float], ends: list[int]) -> None:
    def signals(order: tuple[float, ...]) -> list[float]:
        return [standardised(order, end) for end in ends]

    greatest = [max(signals(order)) for order in permutations(values)]
    test = stats.sweep_permutation_test(values, ends)
    for p, observed in zip(test.p_values, signals(tuple(values)), strict=True):
        assert_estimates(p, share(greatest, observed))


def standardised(values: tuple[float, ...], end: int) -> float:
    pre, control = values[:end], values[end:]
    difference = sum(pre) / len(pre) - sum(control) / len(control)
    return difference / math.sqrt(1 / len(pre) + 1 / len(control)) / math.sqrt(len(values))


def test_one_cutoff_swept_is_the_plain_test() -> None:
    values = [1.0, 0.0, 1.0, 0.4, 0.2, 1.0, 0.0, 0.0, 0.2, 0.0, 0.0]
    plain = p_of(stats.permutation_test(values[:6], values[6:]))
    assert abs(stats.sweep_permutation_test(values, [6]).p_values[0] - plain) < 0.02


def test_trying_more_cutoffs_costs_p() -> None:
    values = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    alone = stats.sweep_permutation_test(values, [7]).p_values[0]
    among = stats.sweep_permutation_test(values, [2, 4, 7, 10, 13]).p_values[2]
    assert alone < among


@given(VALUES, VALUES, st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_the_order_of_entries_never_changes_p(
    pre: list[float], control: list[float], rng: random.Random
) -> None:
    rows = [(str(i % 2), value, i < len(pre)) for i, value in enumerate([*pre, *control])]
    values, ends = [*pre, *control], [len(pre)]
    before = (
        stats.permutation_test(pre, control, permutations=999),
        stats.stratified_permutation_test(rows, permutations=999),
        stats.sweep_permutation_test(values, ends, permutations=999),
    )
    rng.shuffle(pre)
    rng.shuffle(control)
    rng.shuffle(rows)
    after = (
        stats.permutation_test(pre, control, permutations=999),
        stats.stratified_permutation_test(rows, permutations=999),
        stats.sweep_permutation_test([*pre, *control], ends, permutations=999),
    )
    assert before == after


def test_the_seed_alone_decides_p_and_is_named() -> None:
    pre, control = [1.0, 0.4, 0.0, 1.0, 0.6, 0.8], [0.0, 0.2, 0.4, 0.0]
    random.seed(1)
    first = stats.permutation_test(pre, control, seed=7)
    random.seed(2)
    assert stats.permutation_test(pre, control, seed=7) == first
    assert first.method == "permutation test, B = 9,999, seed 7"
    ps = {p_of(stats.permutation_test(pre, control, seed=seed)) for seed in range(5)}
    assert len(ps) > 1


def test_p_is_never_zero_and_is_one_when_nothing_varies() -> None:
    assert p_of(stats.permutation_test([1.0] * 300, [0.0] * 300)) == 1 / (stats.PERMUTATIONS + 1)
    assert p_of(stats.permutation_test([0.5] * 9, [0.5] * 3)) == 1
    assert stats.sweep_permutation_test([0.5] * 9, [3, 6]).p_values == [1, 1]


def test_a_comparison_without_a_counterpart_is_undefined() -> None:
    assert stats.permutation_test([], [0.5]) == (None, None)
    assert stats.permutation_test([0.5], []) == (None, None)
    assert stats.stratified_permutation_test([]) == (None, None)
    assert stats.stratified_permutation_test([("a", 1.0, True), ("b", 0.0, False)]) == (None, None)
    assert stats.sweep_permutation_test([1.0, 0.0], []).p_values == []


@pytest.mark.parametrize("end", [0, 3, -1, 4])
def test_a_cutoff_that_empties_a_group_is_refused(end: int) -> None:
    with pytest.raises(ValueError, match="both groups need entries"):
        stats.sweep_permutation_test([1.0, 0.0, 0.5], [1, end])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        stats.permutation_test([value], [0.0])
    with pytest.raises(ValueError, match="finite"):
        stats.sweep_permutation_test([value, 0.0], [1])


def test_a_huge_comparison_says_that_it_shuffled_less() -> None:
    rows = [(str(i // 4), float(i % 3 == 0), i % 2 == 0) for i in range(5000)]
    test = stats.stratified_permutation_test(rows)
    assert test.method == "permutation test within strata, B = 999, seed 2026"
    values = [i % 3 / 2 for i in range(2000)]
    assert stats.sweep_permutation_test(values, [1000]).method.endswith("B = 999, seed 2026")
    assert stats.sweep_permutation_test([v // 1 for v in values], [1000]).method.endswith(
        "B = 9,999, seed 2026"
    )
