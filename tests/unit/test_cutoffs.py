"""The cutoff table: finds exactly the models it knows, in every spelling, and guesses none."""

from __future__ import annotations

from datetime import date

import pytest

from bccontam.cutoffs import all_cutoffs, lookup_cutoff

KNOWN = {
    "gpt-4o": date(2023, 9, 30),
    "gpt-4.1": date(2024, 4, 30),
    "o3": date(2024, 5, 31),
    "gpt-5": date(2024, 9, 30),
    "gpt-5.1": date(2024, 9, 30),
    "gpt-5.2": date(2025, 8, 31),
    "gpt-5.3": date(2025, 8, 31),
    "gpt-5.4": date(2025, 8, 31),
    "gpt-5.5": date(2025, 12, 1),
    "claude-haiku-4.5": date(2025, 2, 28),
    "claude-opus-4.5": date(2025, 3, 31),
    "claude-opus-4.6": date(2025, 5, 31),
    "claude-opus-4.7": date(2026, 1, 31),
    "claude-sonnet-4.5": date(2025, 7, 31),
    "claude-sonnet-4.6": date(2025, 8, 31),
    "claude-sonnet-5": date(2026, 1, 31),
}


@pytest.mark.parametrize(("model", "day"), KNOWN.items())
def test_a_catalogued_model_has_its_day_and_its_source(model: str, day: date) -> None:
    cutoff = lookup_cutoff(model)
    assert cutoff is not None
    assert (cutoff.model, cutoff.day) == (model, day)
    assert (cutoff.source, cutoff.retrieved) == ("models.dev catalogue", date(2026, 7, 2))


def test_a_month_means_its_last_day() -> None:
    cutoff = lookup_cutoff("gpt-4o")
    assert cutoff is not None
    assert (cutoff.day, cutoff.precision) == (date(2023, 9, 30), "month")


def test_a_day_stays_that_day() -> None:
    cutoff = lookup_cutoff("gpt-5.5")
    assert cutoff is not None
    assert (cutoff.day, cutoff.precision) == (date(2025, 12, 1), "day")


@pytest.mark.parametrize(
    ("spelling", "model"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("openai:gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        (" gpt-4o ", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-4o-2024-11-20", "gpt-4o"),
        ("github/gpt-4-1", "gpt-4.1"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("o3-2025-04-16", "o3"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5-2-2025-12-11", "gpt-5.2"),
        ("claude-opus-4-5", "claude-opus-4.5"),
        ("claude-opus-4-5-20251101", "claude-opus-4.5"),
        ("claude-opus-4-5@20251101", "claude-opus-4.5"),
        ("anthropic/claude-opus-4.5", "claude-opus-4.5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4.5"),
        ("Claude Sonnet 4.5", "claude-sonnet-4.5"),
        ("claude-sonnet-5", "claude-sonnet-5"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct"),
    ],
)
def test_a_spelling_of_a_known_model_is_that_model(spelling: str, model: str) -> None:
    cutoff = lookup_cutoff(spelling)
    assert cutoff is not None
    assert cutoff.model == model


@pytest.mark.parametrize(
    "model",
    [
        "",
        "/",
        "openai/",
        "gpt",
        "gpt-4",
        "gpt-4o-mini",
        "gpt-4o-mini-2024-07-18",
        "chatgpt-4o-latest",
        "gpt-4.1-mini",
        "gpt-4-1106-preview",
        "gpt-4-0613",
        "o3-mini",
        "gpt-5-mini",
        "gpt-5-codex",
        "gpt-5.10",
        "gpt-5.6",
        "gpt-50",
        "my-gpt-5",
        "claude-opus-4",
        "claude-opus-4-20250514",
        "claude-opus-4.5-thinking",
        "claude-sonnet-4",
        "claude-haiku-5",
        "ft:gpt-4o-2024-08-06:acme::abc123",
        "acme/gpt-5",
        "gpt-4o:acme",
        "openai/acme/gpt-5",
        "gpt-4o-2024-13-45",
        "naming",
    ],
)
def test_a_model_that_is_not_in_the_table_borrows_no_date(model: str) -> None:
    assert lookup_cutoff(model) is None


def test_every_row_says_where_and_when_it_was_read() -> None:
    rows = all_cutoffs()
    assert {row.model for row in rows} >= KNOWN.keys()
    assert all(row.source and row.retrieved > row.day for row in rows)


def test_the_table_is_listed_from_the_earliest_cutoff_on_and_finds_itself() -> None:
    rows = all_cutoffs()
    assert [row.day for row in rows] == sorted(row.day for row in rows)
    assert all(lookup_cutoff(row.model) == row for row in rows)
