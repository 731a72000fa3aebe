from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.entry import Entry, is_missing_date, parse_created_at
from tests.support.paths import shared_cases

DAY = date(2025, 3, 1)
PATCH = (
    "diff --git a/src/Post.al b/src/Post.al\n--- a/src/Post.al\n+++ b/src/Post.al\n@@ -1 +1 @@\n-old\n+new\n"
)

DATE_CASES = [
    case
    for case in shared_cases("datasets")
    if isinstance(case.values[0]["input"], dict) and set(case.values[0]["input"]) == {"created_at"}
]


def an_entry(statement: str = "Posting fails.", patch: str = PATCH, **fields: Any) -> Entry:
    return Entry(
        instance_id="acme__Widgets-1",
        repo="acme/Widgets",
        created_at=DAY,
        problem_statement=statement,
        patch=patch,
        **fields,
    )


@pytest.mark.parametrize("case", DATE_CASES)
def test_a_date_from_a_public_report_is_read_as_it_was_meant(case: dict[str, Any]) -> None:
    value, expected = case["input"]["created_at"], case["expected"]

    found = parse_created_at(value)

    assert (found.isoformat() if found else None) == expected["date"]
    if "status" in expected:
        assert is_missing_date(value) == (expected["status"] == "undated")


@pytest.mark.parametrize(
    "value",
    [
        "2025-03-01",
        " 2025-03-01\r\n",
        "2025-3-1",
        "2025/03/01",
        "20250301",
        20250301,
        20250301.0,
        "2025-W09-6",
        "2025W096",
        "2025-03-01Z",
        "2025-03-01T08:00",
        "2025-03-01t08:00:00z",
        "2025-03-01 08:00:00",
        "2025-03-01 8:00",
        "2025-03-01T08:00:00,5Z",
        "2025-03-01T08:00:00.123456789Z",
        "2025-03-01T08:00:00.1234567890123456789+00:00",
        "2025-03-01 08:00:00 UTC",
        "2025-03-01 08:00:00 +0000 UTC",
        "2025-03-01T00:00:00-00:00",
        "20250301T080000Z",
        "20250301080000",
        202503010800,
        "2025-02-28T24:00:00",
        "2025-03-01T23:59:60Z",
        "2025-02-28T22:30:00-05:00",
        "2025-02-28T23:30-01",
        "2025-03-02T01:00:00+0530",
        "2025-03-02T01:00:00+05:30",
        1740823200,
        1740823200.75,
        "1740823200",
        "1740823200.0",
        "1.7408232e+09",
        1740823200000,
        "1740823200000",
        1740823200000000,
        1740823200000000000,
        DAY,
        datetime(2025, 3, 1, 8),
        datetime(2025, 3, 1, 8, tzinfo=UTC),
        datetime(2025, 2, 28, 23, tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_every_form_of_a_day_is_that_day_in_utc(value: object) -> None:
    assert parse_created_at(value) == DAY


@pytest.mark.parametrize("value", [None, "", " \n", "NaT", "nan", "NULL", "None", "TBD", "n/a", float("nan")])
def test_a_placeholder_is_a_missing_date(value: object) -> None:
    assert parse_created_at(value) is None
    assert is_missing_date(value)


@pytest.mark.parametrize("value", ["0000-00-00", "0000-00-00 00:00:00"])
def test_a_date_of_zeros_is_a_missing_date(value: str) -> None:
    assert parse_created_at(value) is None
    assert is_missing_date(value)


@pytest.mark.parametrize(
    "value",
    [
        "8/4/2026",
        "8/4/2026 12:00:00 AM",
        "01.03.2025",
        "01-03-2025",
        "20255-03-01",
        "2025-02-30",
        "2025-13-01",
        "2025-03-01T25:00:00",
        "2025-03-01T24:00:01",
        "2025-03-01T08:61:00",
        "2025-03-01T08:00:00+25:00",
        "2025-03-01T08:00:00+05:75",
        "2025-03/01",
        "2025-03",
        "2025-W09",
        "2025-W60-1",
        "2025",
        "yesterday",
        "2025-03-01 and then some",
        "２０２５-０３-０１",
        "٢٠٢٥-٠٣-٠١",
        "9999-12-31T23:00:00-05:00",
        "0001-01-01T00:00:00+05:00",
        "2025-03-01" + " " * 5_000 + "08:00",
        "9" * 10_000,
        0,
        -1740823200,
        2025,
        20251301,
        10**5_000,
        float("inf"),
        1e300,
        True,
        False,
        b"2025-03-01",
        ["2025-03-01"],
        {"$date": "2025-03-01"},
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_ambiguous_or_impossible_is_undated_and_not_merely_missing(value: object) -> None:
    assert parse_created_at(value) is None
    assert not is_missing_date(value)


def test_the_missing_time_of_pandas_is_undated() -> None:
    pandas = pytest.importorskip("pandas")

    assert parse_created_at(pandas.NaT) is None
    assert is_missing_date(pandas.NaT)
    assert parse_created_at(pandas.Timestamp("2025-02-28 23:30", tz="US/Eastern")) == DAY


@given(st.dates())
def test_an_iso_date_is_itself(day: date) -> None:
    assert parse_created_at(day.isoformat()) == day
    assert parse_created_at(day) == day


@given(st.dates())
def test_an_iso_week_date_is_its_day(day: date) -> None:
    year, week, weekday = day.isocalendar()
    if 1 <= year <= 9999:
        assert parse_created_at(f"{year:04}-W{week:02}-{weekday}") == day


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
    st.sampled_from(["T", " "]),
)
def test_a_time_with_an_offset_agrees_with_the_standard_library(
    moment: datetime, minutes: int, sep: str
) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))

    assert parse_created_at(aware.isoformat(sep)) == aware.astimezone(UTC).date()
    assert parse_created_at(aware) == aware.astimezone(UTC).date()
    assert parse_created_at(moment.isoformat(sep)) == moment.date()


@given(st.dates(date(1990, 1, 1), date(2099, 12, 31)), st.times(), st.sampled_from([1, 10**3, 10**6, 10**9]))
def test_an_epoch_in_any_unit_is_its_day(day: date, clock: time, unit: int) -> None:
    seconds = int(datetime.combine(day, clock, UTC).timestamp())

    assert parse_created_at(seconds * unit) == day
    assert parse_created_at(str(seconds * unit)) == day


@given(st.dates(date(1000, 1, 1)))
def test_a_basic_date_is_never_taken_for_an_epoch(day: date) -> None:
    assert parse_created_at(day.strftime("%Y%m%d")) == day
    assert parse_created_at(int(day.strftime("%Y%m%d"))) == day


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.text(alphabet="0123456789-/:TZW+. ", max_size=30),
        st.binary(),
        st.lists(st.text()),
    )
)
@settings(max_examples=200)
def test_parsing_never_raises(value: object) -> None:
    found = parse_created_at(value)

    assert found is None or isinstance(found, date)


def test_an_entry_with_a_patch_and_words_can_be_scored() -> None:
    entry = an_entry()

    assert entry.unscorable == ""
    assert [file.path for file in entry.gold_files] == ["src/Post.al"]


@pytest.mark.parametrize("patch", ["", " \n", "\n\n"])
def test_an_empty_patch_has_no_gold(patch: str) -> None:
    assert an_entry(patch=patch).unscorable.startswith("no gold")


def test_a_patch_that_is_no_diff_makes_its_entry_unscorable() -> None:
    assert an_entry(patch="see the attachment").unscorable


def test_a_patch_with_a_nul_is_invalid() -> None:
    assert an_entry(patch=PATCH.replace("old", "o\0ld")).unscorable.startswith("invalid patch")


def test_the_patch_is_named_before_the_statement() -> None:
    assert an_entry("", patch="").unscorable.startswith("no gold")
    assert an_entry("a\0b", patch=PATCH.replace("old", "\0")).unscorable.startswith("invalid patch")


def test_the_reasons_of_the_reader_are_kept() -> None:
    assert an_entry(statement_problem="missing statement: x").unscorable == "missing statement: x"
    assert (
        an_entry(patch_problem="invalid patch: it is not text").unscorable == "invalid patch: it is not text"
    )


@pytest.mark.parametrize("statement", ["", " \r\n\t", "\ufeff", "---\n", "* \n* \n", "\u200b\u00a0"])
def test_a_statement_without_a_letter_or_digit_is_none(statement: str) -> None:
    assert an_entry(statement).unscorable.startswith("no problem statement")


def test_a_statement_with_a_nul_is_invalid() -> None:
    assert an_entry("a\0b").unscorable.startswith("invalid problem statement")


@pytest.mark.parametrize(
    "statement",
    [
        "![](./a.png)\n",
        "\ufeff![Error message](./a%20(1).png 'a title')\n\n![b][shot]\n\n[shot]: ./b.png",
        '<p><img src="a.png" alt="what one sees"></p>',
        "[![thumbnail](small.png)](large.png)",
    ],
)
def test_a_statement_of_images_holds_no_text(statement: str) -> None:
    assert an_entry(statement).unscorable.startswith("image only")


@pytest.mark.parametrize(
    "statement", ["Broken: ![](./a.png)", "![](a.png)\n见图", "[a link](a.png)", "<b>Total</b>"]
)
def test_words_beside_an_image_are_a_statement(statement: str) -> None:
    assert an_entry(statement).unscorable == ""


def test_images_are_counted_and_links_are_not() -> None:
    statement = "![](a.png) [no](b.png) ![c][ref] <IMG src=d> ![e] (f)\n\n[ref]: c.png"

    assert an_entry(statement).images == 3


@pytest.mark.parametrize(
    "piece", ["![](", "![a]", "<img", "[", "![", "](", "![]((", "[a]:", "<", "![](((((a)"]
)
def test_hostile_markup_is_looked_at_in_linear_time(piece: str) -> None:
    # Quadratic patterns would keep this test for minutes, where these take milliseconds.
    entry = an_entry(piece * (400_000 // len(piece)) + "\n", patch="")

    assert entry.images >= 0
    assert entry._why_no_statement() in (
        "",
        "image only: its problem statement holds no text",
        "no problem statement: it is missing or empty",
    )
