from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.wording import DASH, count, interval, listing, p_value, points, rate

UNIT = st.floats(0, 1)
DIFFERENCE = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0.0 %"),
        (0.235, "23.5 %"),
        (1.0, "100.0 %"),
        (0.00001, "0.0 %"),
        (2 / 3, "66.7 %"),
        (None, DASH),
    ],
)
def test_a_rate_has_one_decimal(value: float | None, said: str) -> None:
    assert rate(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.173, "+17.3 pts"),
        (-0.026, "−2.6 pts"),
        (0.0, "0.0 pts"),
        (-0.0, "0.0 pts"),
        (-0.0004, "0.0 pts"),
        (0.0004, "0.0 pts"),
        (1.0, "+100.0 pts"),
        (None, DASH),
    ],
)
def test_a_difference_has_its_sign_unless_it_is_nothing(value: float | None, said: str) -> None:
    assert points(value) == said


def test_an_interval_is_in_percent_with_real_minus_signs() -> None:
    assert interval(0.031, 0.292) == "[3.1, 29.2]"
    assert interval(-0.125, -0.0001) == "[−12.5, 0.0]"
    assert interval(None, 0.1) == interval(0.1, None) == DASH


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.049, "p = .049"),
        (0.0030, "p = .003"),
        (0.0009999, "p < .001"),
        (0.001, "p = .001"),
        (0.5, "p = .500"),
        (0.9994, "p = .999"),
        (0.9996, "p > .999"),
        (1.0, "p = 1"),
        (None, DASH),
    ],
)
def test_a_p_value_has_three_digits_and_no_zero_in_front(value: float | None, said: str) -> None:
    assert p_value(value) == said


def test_a_p_value_beside_the_usual_level_shows_on_which_side_it_is() -> None:
    assert p_value(0.0496) == "p = .0496"
    assert p_value(0.0504) == "p = .0504"
    assert p_value(0.0494) == "p = .049"


def test_a_count_agrees_with_its_noun() -> None:
    assert count(1, "entry", "entries") == "1 entry"
    assert count(0, "day") == "0 days"
    assert count(12_345, "entry", "entries") == "12,345 entries"


def test_a_list_is_read_as_a_sentence_and_cut_by_number() -> None:
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b"]) == "a and b"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing([str(n) for n in range(1_003)], 2) == "0, 1 and 1,001 more"


@given(UNIT)
def test_a_rate_reads_back_as_what_it_was(value: float) -> None:
    assert float(rate(value).removesuffix(" %")) == pytest.approx(100 * value, abs=0.0501)


@given(DIFFERENCE)
def test_a_difference_reads_back_as_what_it_was(value: float) -> None:
    said = points(value)
    assert re.fullmatch(r"[+−]?\d{1,3}\.\d pts", said)
    assert not re.match(r"[+−]0\.0 ", said)
    assert float(said.removesuffix(" pts").replace("−", "-")) == pytest.approx(100 * value, abs=0.0501)


@given(UNIT)
def test_a_p_value_never_says_less_than_nothing_or_more_than_one(value: float) -> None:
    assert re.fullmatch(r"p = \.\d{3,4}|p < \.001|p > \.999|p = 1", p_value(value))
