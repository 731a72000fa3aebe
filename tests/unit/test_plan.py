from __future__ import annotations

from datetime import date

import pytest

from bccontam.plan import PlanRequest, build_plan
from tests.support.builders import make_entry

CUTOFF = date(2025, 6, 1)


def test_entries_are_counted_by_what_can_be_done_with_them() -> None:
    entries = [
        make_entry("a"),
        make_entry("b", problem_statement="Another. ![x](x.png)"),
        make_entry("c", created_at=None, problem_statement="Third."),
        make_entry("d", patch=""),
    ]
    plan = build_plan(entries, PlanRequest())
    assert (plan.entries, plan.scorable, plan.undated, plan.images) == (4, 3, 1, 1)
    assert [identity for identity, _ in plan.unscorable] == ["d"]
    assert plan.given is None


def test_entries_that_repeat_another_are_counted() -> None:
    plan = build_plan(
        [make_entry("a"), make_entry("b"), make_entry("c", problem_statement="Other.")], PlanRequest()
    )
    assert plan.duplicates == 1


def test_groups_are_those_of_the_split_with_its_guard() -> None:
    days = [date(2025, 5, 24), date(2025, 5, 25), date(2025, 6, 1), date(2025, 6, 7), date(2025, 6, 8)]
    entries = [make_entry(f"e{number}", created_at=day) for number, day in enumerate(days)]
    plan = build_plan(entries, PlanRequest(cutoff=CUTOFF, guard_days=7))
    assert plan.given is not None
    assert (plan.given.pre, plan.given.control) == (1, 1)
    unguarded = build_plan(entries, PlanRequest(cutoff=CUTOFF))
    assert unguarded.given is not None
    assert (unguarded.given.pre, unguarded.given.control) == (2, 3)


def test_what_could_be_detected_and_what_is_missing_for_it() -> None:
    entries = [make_entry(f"o{i}", created_at=date(2024, 1, 1)) for i in range(89)]
    entries += [make_entry(f"n{i}", created_at=date(2026, 1, 1)) for i in range(12)]
    plan = build_plan(entries, PlanRequest(cutoff=CUTOFF, control_rate=0.10))
    assert plan.given is not None
    assert plan.given.detectable == pytest.approx(0.34, abs=0.01)
    assert [need.effect for need in plan.needed] == [0.20, 0.10]
    assert plan.needed[0].more_control == 23


def test_an_empty_group_can_detect_nothing() -> None:
    plan = build_plan([make_entry("a", created_at=date(2024, 1, 1))], PlanRequest(cutoff=CUTOFF))
    assert plan.given is not None
    assert plan.given.detectable is None


def test_every_model_of_the_table_has_its_own_groups() -> None:
    plan = build_plan([make_entry("a", created_at=date(2024, 6, 1))], PlanRequest())
    sizes = {size.label: (size.pre, size.control) for size in plan.models}
    assert sizes["gpt-4.1"] == (0, 1)
    assert sizes["gpt-5"] == (1, 0)


@pytest.mark.parametrize(
    ("request_", "questions"),
    [
        (PlanRequest(), 2),
        (PlanRequest(samples=5), 10),
        (PlanRequest(samples=5, max_requests=4), 4),
    ],
)
def test_questions_and_tokens_are_those_a_run_would_ask(request_: PlanRequest, questions: int) -> None:
    entries = [make_entry("a"), make_entry("b", problem_statement="x" * 4000), make_entry("c", patch="")]
    plan = build_plan(entries, request_)
    assert plan.questions == questions
    assert plan.prompt_tokens > 100 * questions


def test_an_empty_dataset_is_an_empty_plan() -> None:
    plan = build_plan([], PlanRequest(cutoff=CUTOFF))
    assert (plan.entries, plan.questions, plan.prompt_tokens) == (0, 0, 0)
    assert plan.first_day == ""
