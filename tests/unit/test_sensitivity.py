from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from bccontam.contamination import HIT, Split, split_by_cutoff
from bccontam.gold import GoldFile
from bccontam.result import Result
from bccontam.sensitivity import (
    Row,
    comparability,
    difference_in_differences,
    floors,
    leakage_table,
    repository_rates,
    sensitivity_rows,
    sweep,
)
from tests.support.builders import failed, group, hit, make_result, miss

OLD, NEW, CUTOFF = "2024-01-01", "2026-01-01", "2025-06-01"


def rows_of(*results: Result) -> dict[str, Row]:
    return {row.name: row for row in sensitivity_rows(split_by_cutoff(results, CUTOFF), "basename")}


def test_every_row_of_the_definition_is_there_in_its_order() -> None:
    names = list(rows_of(hit("a", OLD), miss("b", NEW)))
    assert names == [
        "statement leaks nothing",
        "one gold file",
        "gold that existed before the fix",
        "first path only (hit@1)",
        "suffix metric",
        "exact metric",
        "unusable answers as hits",
        "unusable answers left out",
        "shuffled within area",
        "gold on both sides left out",
    ]


def test_leaking_entries_are_left_out_of_the_first_row() -> None:
    row = rows_of(
        hit("a", OLD, leakage="path"), hit("b", OLD), miss("c", NEW, leakage="basename"), miss("d", NEW)
    )["statement leaks nothing"]
    assert (row.pre, row.control) == (1, 1)


def test_results_without_a_leakage_grade_are_counted_in_a_note() -> None:
    row = rows_of(hit("a", OLD, leakage=None), miss("b", NEW, leakage=None))["statement leaks nothing"]
    assert (row.pre, row.control) == (0, 0)
    assert row.signal.value is None
    assert "2 results" in row.note


def test_entries_with_several_gold_files_are_left_out_of_the_one_file_row() -> None:
    two = make_result("a", OLD, predicted=("x.al",), gold=("x.al", "y.al"))
    row = rows_of(two, hit("b", OLD), miss("c", NEW))["one gold file"]
    assert (row.pre, row.control) == (1, 1)


def test_a_file_that_the_fix_adds_cannot_be_recalled() -> None:
    added = replace(hit("a", OLD), gold=(GoldFile("src/a.Table.al", None, "added"),))
    mixed = make_result("b", OLD, predicted=("new.al",), gold=("new.al", "old.al"))
    mixed = replace(mixed, gold=(GoldFile("new.al", None, "added"), GoldFile("old.al", None, "modified")))
    row = rows_of(added, mixed, miss("c", NEW))["gold that existed before the fix"]
    assert (row.pre, row.control) == (1, 1)
    assert row.signal.value == 0.0


def test_a_renamed_file_is_looked_for_under_its_old_name() -> None:
    renamed = make_result("a", OLD, predicted=("src/Before.al",), gold=("src/After.al",))
    renamed = replace(renamed, gold=(GoldFile("src/After.al", "src/Before.al", "renamed"),))
    assert not renamed.score.basename_hit
    assert rows_of(renamed, miss("b", NEW))["gold that existed before the fix"].signal.value == 1.0


def test_only_the_first_path_counts_in_hit_at_1() -> None:
    second = make_result("a", OLD, predicted=("other.al", "gold.al"), gold=("gold.al",))
    row = rows_of(second, miss("b", NEW))["first path only (hit@1)"]
    assert row.signal.value == 0.0


@pytest.mark.parametrize("status", ["unparsed", "refusal", "echo", "empty"])
def test_unusable_answers_are_counted_as_hits_then_left_out(status: str) -> None:
    unusable = make_result("a", OLD, status=status)
    rows = rows_of(unusable, miss("b", OLD), miss("c", NEW))
    assert rows["unusable answers as hits"].signal.value == 0.5
    assert rows["unusable answers left out"].pre == 1


def test_an_error_is_in_no_row() -> None:
    rows = rows_of(failed("a", OLD), hit("b", OLD), miss("c", NEW))
    assert {row.pre for row in rows.values()} == {1}


def test_shuffling_within_areas_says_how_many_entries_have_a_counterpart() -> None:
    row = rows_of(hit("a", OLD, area="Sales"), hit("b", OLD, area="stock"), miss("c", NEW, area="sales "))[
        "shuffled within area"
    ]
    assert "2 of 3 entries" in row.note
    assert row.signal.method is not None
    assert "strata" in row.signal.method


def test_an_area_that_explains_everything_takes_the_evidence_away() -> None:
    old = [hit(f"o{i}", OLD, area="easy") for i in range(10)] + [miss("oh", OLD, area="hard")]
    new = [hit("ne", NEW, area="easy")] + [miss(f"n{i}", NEW, area="hard") for i in range(10)]
    row = rows_of(*old, *new)["shuffled within area"]
    assert row.signal.p_value is not None
    assert row.signal.p_value > 0.9


def test_gold_that_occurs_on_both_sides_is_left_out() -> None:
    shared_old = make_result("a", OLD, predicted=("same.al",), gold=("same.al",))
    shared_new = make_result("b", NEW, predicted=("same.al",), gold=("same.al", "own.al"))
    row = rows_of(shared_old, shared_new, hit("c", OLD))["gold on both sides left out"]
    assert (row.pre, row.control) == (1, 1)
    assert row.signal.value == 1.0


def test_a_leakage_table_holds_every_grade_and_the_filtered_rate() -> None:
    table = leakage_table([hit("a", leakage="path"), hit("b"), miss("c")], "basename")
    assert [(row.grade, row.entries, row.hit_rate) for row in table] == [
        ("path", 1, 1.0),
        ("basename", 0, None),
        ("object-name", 0, None),
        ("none", 2, 0.5),
    ]
    assert leakage_table([hit("a", leakage=None)], "basename") == []


def test_the_floor_and_the_lift_over_it_are_on_the_same_entries() -> None:
    named = hit("a", naming_files=("src/a.Table.al",))
    unnamed = miss("b", naming_files=("x.al",))
    unknown = hit("c")
    [floor] = floors([("all", [named, unnamed, unknown])], "basename")
    assert (floor.entries, floor.model_rate, floor.naming_rate, floor.lift) == (2, 0.5, 0.5, 0.0)
    assert floor.listed_rate is None


def test_a_group_without_a_stored_floor_has_none() -> None:
    [floor] = floors([("all", [hit("a")])], "basename")
    assert (floor.entries, floor.naming_rate, floor.lift) == (0, None, None)


def test_a_reference_that_drifts_alike_takes_the_difference_away() -> None:
    results = group(9, 10, OLD) + group(1, 10, NEW)
    split = split_by_cutoff(results, CUTOFF)
    alike = difference_in_differences(split, results, "basename")
    assert alike.value == 0.0
    assert alike.p_value is not None
    assert alike.p_value > 0.5
    ignorant = [replace(result, predicted_files=()) for result in results]
    ignorant = [replace(r, score=replace(r.score, basename_hit=False)) for r in ignorant]
    differs = difference_in_differences(split, ignorant, "basename")
    assert differs.value == pytest.approx(0.8)
    assert differs.p_value is not None
    assert differs.p_value < 0.01


def test_only_entries_that_both_answered_are_paired() -> None:
    split = split_by_cutoff([hit("a", OLD), hit("b", OLD), miss("c", NEW)], CUTOFF)
    paired = difference_in_differences(split, [miss("a", OLD), failed("b", OLD)], "basename")
    assert (paired.pre, paired.control, paired.value) == (1, 0, None)


def test_a_sweep_tries_every_month_with_enough_entries_on_both_sides() -> None:
    days = [date(2024, 1, 15) + timedelta(days=30 * i) for i in range(12)]
    results = [
        (hit if number < 6 else miss)(f"e{number}-{i}", day.isoformat())
        for number, day in enumerate(days)
        for i in range(3)
    ]
    points = sweep(results, "basename")
    assert all(point.pre >= 5 and point.control >= 5 for point in points)
    best = max(points, key=lambda point: point.value)
    assert best.p_value < 0.01
    assert best.pre == 18
    assert all(point.cutoff.day == 1 for point in points)


def test_a_sweep_over_too_few_entries_is_empty() -> None:
    assert sweep([hit("a", OLD), miss("b", NEW)], "basename") == []
    assert sweep([hit("a", "")], "basename") == []


def test_what_differs_between_groups_is_counted_per_entry() -> None:
    first = make_result("a", OLD, gold=("x.al", "y.al"), statement_chars=100, repo="acme/w", leakage="path")
    again = replace(first, sample=1)
    [row] = comparability([("pre", [first, again])])
    assert (row.entries, row.files_per_patch, row.leaking, row.statement_chars, row.repositories) == (
        1,
        2.0,
        1.0,
        100.0,
        1,
    )


def test_repositories_are_listed_with_their_size_the_largest_first() -> None:
    results = [hit("a", repo="acme/b"), hit("b", repo="acme/a"), miss("c", repo="acme/a")]
    assert repository_rates(results, "basename") == [("acme/a", 2, 0.5), ("acme/b", 1, 1.0)]


def test_the_order_of_results_changes_no_row() -> None:
    results = group(7, 10, OLD) + group(2, 9, NEW)
    split = split_by_cutoff(results, CUTOFF)
    turned = Split(split.pre[::-1], split.control[::-1], [])
    assert sensitivity_rows(split, "basename") == sensitivity_rows(turned, "basename")
    assert sweep(results, "basename", 1) == sweep(results[::-1], "basename", 1)
    assert HIT["basename"](results[0]) == 1.0
