"""Intervals, exact tests and power, held against their definitions and the reference values of the design."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam import stats
from bccontam.stats.exact import binomial, rejection_bounds

Table = tuple[int, int, int, int]

REFERENCE = [
    ((0, 74, 0, 27), "1", "1", (-0.125, 0.049)),
    ((3, 90, 0, 11), "0.705", "0.596", (-0.226, 0.094)),
    ((20, 74, 3, 27), "0.0733", "0.0491", (-0.032, 0.292)),
    ((60, 89, 3, 12), "0.00627", "0.00302", (0.124, 0.608)),
]

DETECTABLE = {
    (90, 5): (43, 50, 53, 55, 52, 45),
    (89, 12): (25, 31, 34, 37, 38, 35),
    (74, 27): (17, 20, 23, 26, 28, 27),
    (64, 37): (14, 18, 21, 25, 26, 25),
    (50, 50): (13, 18, 20, 23, 25, 25),
    (200, 100): (7, 10, 12, 14, 15, 16),
}
RATES = (0.01, 0.05, 0.10, 0.20, 0.30, 0.50)


@st.composite
def groups(draw: st.DrawFn, largest: int = 40) -> tuple[int, int]:
    n = draw(st.integers(1, largest))
    return draw(st.integers(0, n)), n


@st.composite
def tables(draw: st.DrawFn, largest: int = 40) -> Table:
    return (*draw(groups(largest)), *draw(groups(largest)))


def small_tables(largest: int) -> list[Table]:
    sizes = range(1, largest + 1)
    return [(k1, n1, k2, n2) for n1 in sizes for n2 in sizes for k1 in range(n1 + 1) for k2 in range(n2 + 1)]


def exact_fisher(k1: int, n1: int, k2: int, n2: int) -> Fraction:
    hits = k1 + k2
    ways = sum(math.comb(n1, k) * math.comb(n2, hits - k) for k in range(k1, min(hits, n1) + 1))
    return Fraction(ways, math.comb(n1 + n2, hits))


@pytest.mark.parametrize(("table", "fisher", "boschloo", "interval"), REFERENCE)
def test_the_reference_table_of_the_design_is_met(
    table: Table, fisher: str, boschloo: str, interval: tuple[float, float]
) -> None:
    assert f"{stats.fisher(*table):.3g}" == fisher
    assert f"{stats.boschloo(*table):.3g}" == boschloo
    # The bounds were rounded to four decimals and then to three: .09347 stands there as .094.
    assert stats.newcombe_interval(*table) == pytest.approx(interval, abs=5.5e-4)


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (0, 0, 3, 7), (3, 7, 0, 0)])
def test_an_empty_group_leaves_every_comparison_undefined(table: Table) -> None:
    assert stats.newcombe_interval(*table) is None
    assert stats.fisher(*table) is None
    assert stats.fisher_midp(*table) is None
    assert stats.boschloo(*table) is None
    assert stats.minimum_detectable_effect(table[1], table[3], 0.3) is None
    assert stats.power(table[1], table[3], 0.5, 0.3) is None


def test_an_empty_group_has_no_interval_and_no_test() -> None:
    assert stats.wilson_interval(0, 0) is None
    assert stats.control_needed(0, 0.2, 0.3) is None
    assert stats.difference_test([], [1.0]) == (None, None)
    assert stats.difference_test([1.0], []) == (None, None)


@pytest.mark.parametrize("k", [-1, 8, math.nan, math.inf])
def test_hits_outside_the_group_are_refused(k: float) -> None:
    with pytest.raises(ValueError, match=r"hits must lie|whole number"):
        stats.wilson_interval(k, 7)
    with pytest.raises(ValueError, match=r"hits must lie|whole number"):
        stats.newcombe_interval(3, 7, k, 7)
    for test in (stats.fisher, stats.fisher_midp, stats.boschloo):
        with pytest.raises(ValueError, match=r"hits must lie|whole number"):
            test(3, 7, k, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [-1, 2.5, math.nan])
def test_a_size_that_is_no_size_is_refused(n: float) -> None:
    with pytest.raises(ValueError, match="the size of a group"):
        stats.wilson_interval(0, n)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the size of a group"):
        stats.boschloo(0, 3, 0, n)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the size of a group"):
        stats.minimum_detectable_effect(n, 3, 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_a_rate_that_is_no_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        stats.minimum_detectable_effect(20, 20, rate)
    with pytest.raises(ValueError, match="is no rate"):
        stats.power(20, 20, 0.5, rate)
    with pytest.raises(ValueError, match="is no rate"):
        stats.control_needed(20, rate, 0.5)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.05, math.nan])
def test_a_level_outside_zero_and_one_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="is no level"):
        stats.power(20, 20, 0.5, 0.3, alpha=level)
    with pytest.raises(ValueError, match="is no level"):
        stats.minimum_detectable_effect(20, 20, 0.3, power=level)
    with pytest.raises(ValueError, match="is no confidence"):
        stats.wilson_interval(3, 7, confidence=level)


@pytest.mark.parametrize("value", [-0.5, 1.5, math.nan])
def test_a_value_outside_zero_and_one_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="is no value of an entry"):
        stats.difference_test([1.0, value], [0.0])


def test_intervals_touch_the_ends_exactly() -> None:
    low, high = stats.wilson_interval(0, 27) or (-1, -1)
    assert low == 0.0
    assert 0 < high < 1
    low, high = stats.wilson_interval(27, 27) or (-1, -1)
    assert high == 1.0
    assert 0 < low < 1
    assert (stats.newcombe_interval(5, 5, 0, 5) or (-2, -2))[1] == 1.0


@given(st.integers(1, 300), st.floats(0, 1), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
@settings(max_examples=150, deadline=None)
def test_wilson_holds_the_rate_and_stays_between_zero_and_one(n: int, rate: float, confidence: float) -> None:
    k = rate * n
    low, high = stats.wilson_interval(k, n, confidence) or (2.0, -1.0)
    assert 0 <= low <= k / n <= high <= 1
    wider = stats.wilson_interval(k, n, 0.9999) or (2.0, -1.0)
    assert wider[0] <= low + 1e-12
    assert high <= wider[1] + 1e-12


@given(tables(200))
@settings(max_examples=200, deadline=None)
def test_swapping_the_groups_mirrors_the_interval(table: Table) -> None:
    k1, n1, k2, n2 = table
    low, high = stats.newcombe_interval(k1, n1, k2, n2) or (2.0, -2.0)
    assert (-high, -low) == stats.newcombe_interval(k2, n2, k1, n1)
    assert -1 <= low <= k1 / n1 - k2 / n2 <= high <= 1


@given(tables())
@settings(max_examples=150, deadline=None)
def test_every_p_lies_above_zero_and_at_most_at_one(table: Table) -> None:
    fisher, midp, boschloo = stats.fisher(*table), stats.fisher_midp(*table), stats.boschloo(*table)
    assert fisher is not None
    assert midp is not None
    assert boschloo is not None
    assert 0 < midp <= fisher <= 1
    assert 0 < boschloo <= fisher


@given(tables(25))
@settings(max_examples=150, deadline=None)
def test_more_older_hits_or_fewer_control_hits_never_raise_p(table: Table) -> None:
    k1, n1, k2, n2 = table
    for test in (stats.fisher, stats.boschloo):
        p = test(k1, n1, k2, n2) or 0.0
        if k1 < n1:
            assert (test(k1 + 1, n1, k2, n2) or 2.0) <= p * (1 + 1e-9)
        if k2 > 0:
            assert (test(k1, n1, k2 - 1, n2) or 2.0) <= p * (1 + 1e-9)


@given(tables(30))
@settings(max_examples=100, deadline=None)
def test_counting_misses_instead_of_hits_is_the_same_test(table: Table) -> None:
    k1, n1, k2, n2 = table
    mirrored = (n2 - k2, n2, n1 - k1, n1)
    assert stats.fisher(*table) == pytest.approx(stats.fisher(*mirrored), rel=1e-12)
    assert stats.boschloo(*table) == pytest.approx(stats.boschloo(*mirrored), rel=1e-6)


def test_fisher_is_the_exact_fraction_on_every_small_table() -> None:
    for table in small_tables(7):
        assert stats.fisher(*table) == pytest.approx(float(exact_fisher(*table)), rel=1e-13)


def test_boschloo_follows_its_definition_with_ties_decided_exactly() -> None:
    for n1, n2 in [(1, 1), (2, 2), (3, 3), (4, 4), (4, 2), (2, 5), (5, 3)]:
        ordered = {(a, b): exact_fisher(a, n1, b, n2) for a in range(n1 + 1) for b in range(n2 + 1)}
        chances = [chances_at(n1, n2, step / 2000) for step in range(2001)]
        for table, observed in ordered.items():
            region = [other for other, fisher in ordered.items() if fisher <= observed]
            largest = max(sum(chance[other] for other in region) for chance in chances)
            assert stats.boschloo(table[0], n1, table[1], n2) == pytest.approx(largest, abs=1e-6)


def chances_at(n1: int, n2: int, rate: float) -> dict[tuple[int, int], float]:
    def chance(k: int, n: int) -> float:
        return math.comb(n, k) * rate**k * (1 - rate) ** (n - k)

    return {(a, b): chance(a, n1) * chance(b, n2) for a in range(n1 + 1) for b in range(n2 + 1)}


@pytest.mark.parametrize(("n1", "n2"), [(25, 7), (7, 25), (89, 12), (60, 60), (300, 40), (500, 200)])
def test_for_the_most_extreme_table_boschloo_is_its_own_largest_chance(n1: int, n2: int) -> None:
    rate = n1 / (n1 + n2)
    largest = rate**n1 * (1 - rate) ** n2
    assert stats.boschloo(n1, n1, 0, n2) == pytest.approx(largest, rel=1e-6)


def test_the_exact_tests_reach_far_tails_and_large_groups() -> None:
    assert 0 < (stats.fisher(500, 500, 0, 500) or 0) < 1e-290
    assert 0 < (stats.boschloo(500, 500, 0, 500) or 0) < 1e-290
    assert 0 < (stats.fisher(40_000, 50_000, 0, 50_000) or 0) < 1e-300
    assert stats.fisher(0, 50_000, 40_000, 50_000) == 1
    assert stats.boschloo(0, 500, 500, 500) == 1
    assert stats.fisher_midp(0, 74, 0, 27) == 0.5
    assert (stats.boschloo(1500, 3000, 1400, 3000) or 1) == pytest.approx(0.00501, abs=2e-4)


@pytest.mark.parametrize(
    ("n1", "n2", "alpha"), [(12, 7, 0.05), (9, 9, 0.05), (20, 3, 0.2), (1, 1, 0.3), (2, 1, 0.01)]
)
def test_power_adds_up_the_tables_that_boschloo_rejects(n1: int, n2: int, alpha: float) -> None:
    rejected = [
        (k1, k2)
        for k1 in range(n1 + 1)
        for k2 in range(n2 + 1)
        if (stats.boschloo(k1, n1, k2, n2) or 1) <= alpha
    ]
    bounds = rejection_bounds(n1, n2, alpha)
    assert rejected == [(k1, k2) for k1 in range(n1 + 1) for k2 in range(bounds[k1] + 1)]
    for p1, p2 in [(0.0, 0.0), (0.3, 0.3), (0.8, 0.2), (1.0, 0.0), (1.0, 1.0)]:
        expected = sum(_chance(k1, n1, p1) * _chance(k2, n2, p2) for k1, k2 in rejected)
        assert stats.power(n1, n2, p1, p2, alpha) == pytest.approx(expected, abs=1e-12)


def _chance(k: int, n: int, rate: float) -> float:
    return math.comb(n, k) * rate**k * (1 - rate) ** (n - k)


@pytest.mark.parametrize(("n1", "n2"), [*DETECTABLE, (500, 500), (501, 40), (3000, 2000)])
def test_without_a_difference_the_test_keeps_its_level(n1: int, n2: int) -> None:
    # Fisher's mid-p, the test above 500 entries a side, is not exact: it may exceed the level by a little.
    allowed = 0.05 + 1e-9 if max(n1, n2) <= 500 else 0.0525
    for rate in (0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        assert (stats.power(n1, n2, rate, rate) or 0.0) <= allowed


@pytest.mark.parametrize(("n1", "n2"), list(DETECTABLE))
def test_the_detectable_effects_of_the_design_are_met_within_a_point(n1: int, n2: int) -> None:
    for rate, points in zip(RATES, DETECTABLE[n1, n2], strict=True):
        effect = stats.minimum_detectable_effect(n1, n2, rate)
        assert effect is not None
        assert abs(100 * effect - points) <= 1


@given(groups(60), groups(60), st.floats(0, 0.9))
@settings(max_examples=60, deadline=None)
def test_the_detectable_effect_is_where_power_reaches_its_target(
    first: tuple[int, int], second: tuple[int, int], rate: float
) -> None:
    n1, n2 = first[1], second[1]
    effect = stats.minimum_detectable_effect(n1, n2, rate)
    if effect is None:
        assert (stats.power(n1, n2, 1.0, rate) or 0.0) < 0.8
    else:
        assert (stats.power(n1, n2, rate + effect, rate) or 0.0) >= 0.8
        assert (stats.power(n1, n2, max(rate, rate + effect - 2e-6), rate) or 0.0) < 0.8


def test_an_effect_that_no_number_of_entries_can_show_is_undefined() -> None:
    assert stats.minimum_detectable_effect(89, 12, 1.0) is None
    assert stats.minimum_detectable_effect(89, 1, 0.5) is None
    assert stats.control_needed(5, 0.1, 0.3) is None
    assert stats.control_needed(500, 0.2, 0.9) is None


@pytest.mark.parametrize(
    ("n1", "effect", "rate"), [(89, 0.2, 0.1), (64, 0.38, 0.3), (300, 0.15, 0.05), (89, 0.1, 0.1)]
)
def test_the_control_entries_needed_detect_the_effect_and_one_less_does_not(
    n1: int, effect: float, rate: float
) -> None:
    needed = stats.control_needed(n1, effect, rate)
    assert needed is not None
    assert (stats.power(n1, needed, rate + effect, rate) or 0.0) >= 0.8
    assert (stats.power(n1, needed - 1, rate + effect, rate) or 0.0) < 0.8


def test_more_control_entries_detect_less_and_more_older_ones_hardly_help() -> None:
    few = stats.minimum_detectable_effect(89, 12, 0.3) or 0.0
    more_older = stats.minimum_detectable_effect(400, 12, 0.3) or 0.0
    more_control = stats.minimum_detectable_effect(89, 48, 0.3) or 0.0
    assert few - more_older < 0.02
    assert few - more_control > 0.1


def test_large_groups_have_a_detectable_effect_too() -> None:
    assert stats.minimum_detectable_effect(50_000, 50_000, 0.2) == pytest.approx(0.0063, abs=2e-4)
    assert stats.minimum_detectable_effect(5000, 12, 0.3) == pytest.approx(0.36, abs=0.02)


def test_the_test_follows_the_values_and_the_sizes() -> None:
    whole = stats.difference_test([1.0] * 20 + [0.0] * 54, [1.0] * 3 + [0.0] * 24)
    assert whole == (stats.boschloo(20, 74, 3, 27), "Boschloo's exact test")
    large = stats.difference_test([1.0] * 60 + [0.0] * 441, [1.0] * 3 + [0.0] * 24)
    assert large == (stats.fisher_midp(60, 501, 3, 27), "Fisher's exact test with mid-p")
    fractions = stats.difference_test([1.0, 0.4, 0.0, 1.0], [0.0, 0.2])
    assert fractions == stats.permutation_test([1.0, 0.4, 0.0, 1.0], [0.0, 0.2])
    assert fractions.method == "permutation test, B = 9,999, seed 2026"


@given(st.integers(1, 400), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_the_binomial_distribution_has_its_mean_and_sums_to_one(n: int, rate: float) -> None:
    first, weights = binomial(n, rate)
    assert math.fsum(weights) == pytest.approx(1, rel=1e-12)
    mean = math.fsum(k * weight for k, weight in enumerate(weights, first))
    assert mean == pytest.approx(n * rate, rel=1e-9, abs=1e-9)
