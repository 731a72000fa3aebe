from __future__ import annotations

import random
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.contamination import (
    HIT,
    Thresholds,
    aggregate,
    compare,
    decide,
    judge,
    measure,
    split_by_cutoff,
)
from bccontam.errors import SettingsError
from bccontam.result import Result
from tests.support.builders import failed, group, hit, make_result, miss

CUTOFF = date(2025, 6, 1)


def test_the_cutoff_day_itself_belongs_to_the_control_group() -> None:
    results = [hit("a", "2025-05-31"), hit("b", "2025-06-01"), hit("c", "2025-06-02")]
    split = split_by_cutoff(results, CUTOFF)
    assert [r.instance_id for r in split.pre] == ["a"]
    assert [r.instance_id for r in split.control] == ["b", "c"]
    assert split.left_out == []


def test_a_datetime_with_an_offset_is_split_by_its_utc_day() -> None:
    split = split_by_cutoff([hit("a", "2025-05-31T23:30:00-05:00")], CUTOFF)
    assert len(split.control) == 1


def test_undated_results_are_in_neither_group() -> None:
    split = split_by_cutoff([hit("a", ""), hit("b", "NaT"), hit("c", "2024-01-01")], "2025-06-01")
    assert [r.instance_id for r in split.left_out] == ["a", "b"]
    assert len(split.pre) == 1


def test_the_guard_takes_out_entries_on_both_sides_of_the_cutoff() -> None:
    days = ["2025-05-24", "2025-05-25", "2025-05-31", "2025-06-01", "2025-06-07", "2025-06-08"]
    split = split_by_cutoff([hit(day, day) for day in days], CUTOFF, guard_days=7)
    assert [r.instance_id for r in split.pre] == ["2025-05-24"]
    assert [r.instance_id for r in split.control] == ["2025-06-08"]
    assert len(split.left_out) == 4


@pytest.mark.parametrize("cutoff", ["2025-13-01", "June", "", "2025/06/01"])
def test_a_cutoff_that_is_no_day_is_named(cutoff: str) -> None:
    with pytest.raises(SettingsError, match="cutoff"):
        split_by_cutoff([], cutoff)


def test_a_negative_guard_is_refused() -> None:
    with pytest.raises(SettingsError, match="guard-days"):
        split_by_cutoff([], CUTOFF, guard_days=-1)


def test_an_empty_group_has_no_rate() -> None:
    empty = aggregate([])
    assert (empty.count, empty.scored, empty.error_count) == (0, 0, 0)
    assert empty.basename_hit_rate is None
    assert empty.mean_exact_recall is None
    assert empty.basename_interval is None


def test_an_empty_control_group_has_no_signal() -> None:
    split = split_by_cutoff([hit("a", "2024-01-01"), miss("b", "2024-02-01")], "2025-01-01")
    signal = compare(split.pre, split.control, HIT["basename"], "basename")
    assert signal.value is None
    assert signal.p_value is None
    verdict = judge(signal, aggregate(split.pre), aggregate(split.control), Thresholds(), divided=True)
    assert verdict.verdict == "inconclusive"
    assert "control group has no scored entry" in verdict.reason


def test_an_error_is_not_a_miss() -> None:
    with_error = aggregate([hit("a"), miss("b"), failed("c")])
    assert (with_error.count, with_error.scored, with_error.error_count) == (3, 2, 1)
    assert with_error.basename_hit_rate == 0.5


@pytest.mark.parametrize(
    ("status", "predicted", "scored"),
    [
        ("ok", ("a.al",), True),
        ("truncated", ("a.al",), True),
        ("truncated", (), False),
        ("unparsed", (), True),
        ("refusal", (), True),
        ("echo", (), True),
        ("empty", (), True),
        ("error", (), False),
    ],
)
def test_which_answers_stand_in_a_rate(status: str, predicted: tuple[str, ...], scored: bool) -> None:
    assert aggregate([make_result(predicted=predicted, status=status)]).scored == int(scored)


def test_an_entry_counts_once_with_the_mean_over_its_samples() -> None:
    samples = [replace(hit("a"), sample=0), replace(miss("a"), sample=1), replace(miss("a"), sample=2)]
    group_of_two = aggregate([*samples, hit("b")])
    assert group_of_two.count == 2
    assert group_of_two.basename_hit_rate == pytest.approx((1 / 3 + 1) / 2)


def test_a_sample_that_failed_does_not_take_the_entry_out() -> None:
    assert aggregate([replace(hit("a"), sample=0), replace(failed("a"), sample=1)]).basename_hit_rate == 1.0


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2", "low", "high", "p"),
    [
        (0, 74, 0, 27, -0.125, 0.049, 1.0),
        (3, 90, 0, 11, -0.226, 0.094, 0.596),
        (20, 74, 3, 27, -0.032, 0.292, 0.049),
        (60, 89, 3, 12, 0.124, 0.608, 0.0030),
    ],
)
def test_the_reference_tables(k1: int, n1: int, k2: int, n2: int, low: float, high: float, p: float) -> None:
    signal = measure([1.0] * k1 + [0.0] * (n1 - k1), [1.0] * k2 + [0.0] * (n2 - k2), "basename")
    assert signal.low == pytest.approx(low, abs=6e-4)
    assert signal.high == pytest.approx(high, abs=6e-4)
    assert signal.p_value == pytest.approx(p, abs=6e-4)


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2", "verdict"),
    [
        (60, 89, 3, 12, "signal"),
        (0, 74, 0, 27, "no-signal"),
        (3, 90, 0, 11, "no-signal"),
        (20, 74, 6, 27, "inconclusive"),
        (5, 5, 0, 1, "inconclusive"),
    ],
)
def test_the_three_verdicts(k1: int, n1: int, k2: int, n2: int, verdict: str) -> None:
    signal = measure([1.0] * k1 + [0.0] * (n1 - k1), [1.0] * k2 + [0.0] * (n2 - k2), "basename")
    assert decide(signal, Thresholds()) == verdict


def test_a_difference_below_the_smallest_that_matters_is_no_signal_however_small_its_p() -> None:
    signal = measure([1.0] * 140 + [0.0] * 2260, [1.0] * 70 + [0.0] * 2330, "basename")
    assert signal.p_value is not None
    assert signal.p_value < 0.001
    assert decide(signal, Thresholds()) == "no-signal"


def test_too_many_errors_make_a_verdict_inconclusive_though_the_rates_differ() -> None:
    pre = group(30, 30, "2024-01-01")
    control = group(0, 10, "2025-07-01") + [failed(f"x{i}", "2025-07-02") for i in range(3)]
    signal = compare(pre, control, HIT["basename"], "basename")
    assert decide(signal, Thresholds()) == "signal"
    found = judge(signal, aggregate(pre), aggregate(control), Thresholds(), divided=True)
    assert found.verdict == "inconclusive"
    assert "3 errors among the 13 entries of the control group" in found.reason


def test_an_inconclusive_verdict_says_what_would_settle_it() -> None:
    pre, control = group(24, 89, "2024-01-01"), group(2, 12, "2025-07-01")
    signal = compare(pre, control, HIT["basename"], "basename")
    found = judge(signal, aggregate(pre), aggregate(control), Thresholds(), divided=True)
    assert found.verdict == "inconclusive"
    assert "With 89 older and 12 control entries only a difference of" in found.next_step
    assert "to find one of 20 add " in found.next_step


def test_no_verdict_says_clean_or_contaminated() -> None:
    for k1, k2 in ((60, 1), (0, 0), (24, 2)):
        pre, control = group(k1, 89, "2024-01-01"), group(k2, 12, "2025-07-01")
        signal = compare(pre, control, HIT["basename"], "basename")
        found = judge(signal, aggregate(pre), aggregate(control), Thresholds(), divided=True)
        assert not {"clean", "contaminated"} & set(f"{found.reason} {found.next_step}".lower().split())


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    kinds = draw(st.lists(st.tuples(st.sampled_from([hit, miss, failed]), st.booleans()), max_size=12))
    return [make(f"e{i}", "2024-01-01" if old else "2026-01-01") for i, (make, old) in enumerate(kinds)]


@given(results())
def test_swapping_the_groups_negates_the_signal_and_mirrors_its_interval(made: list[Result]) -> None:
    split = split_by_cutoff(made, CUTOFF)
    there = compare(split.pre, split.control, HIT["basename"], "basename")
    back = compare(split.control, split.pre, HIT["basename"], "basename")
    if there.value is None or there.low is None or there.high is None:
        assert back.value is None
    else:
        assert back.value == pytest.approx(-there.value)
        assert back.low == pytest.approx(-there.high)
        assert back.high == pytest.approx(-there.low)


@given(results())
def test_adding_an_errored_entry_changes_no_rate(made: list[Result]) -> None:
    before, after = aggregate(made), aggregate([*made, failed("late", "2024-01-01")])
    assert replace(after, count=0, error_count=0) == replace(before, count=0, error_count=0)
    assert after.error_count == before.error_count + 1


@given(results(), st.randoms(use_true_random=False))
def test_the_order_of_results_changes_nothing(made: list[Result], rng: random.Random) -> None:
    shuffled = list(made)
    rng.shuffle(shuffled)
    assert aggregate(shuffled) == aggregate(made)


@given(results())
def test_a_hit_rate_is_at_least_the_mean_recall(made: list[Result]) -> None:
    found = aggregate(made)
    for rate, recall in (
        (found.basename_hit_rate, found.mean_basename_recall),
        (found.suffix_hit_rate, found.mean_suffix_recall),
        (found.exact_hit_rate, found.mean_exact_recall),
    ):
        if rate is not None and recall is not None:
            assert rate >= recall
