from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.contamination import HIT, aggregate, compare, split_by_cutoff
from bccontam.report.data import Request, build_report, missing_shards
from bccontam.report.shape import Change, Report
from bccontam.result import Result, RunRecord
from tests.support.builders import failed, group, hit, make_result, miss
from tests.support.reports import failing, fresh, old

CUTOFF = date(2025, 6, 1)
OLD, NEW = "2024-01-01", "2026-01-01"
SIGNAL = [*group(60, 89, OLD), *group(3, 12, NEW)]


def report_on(results: list[Result], **fields: object) -> Report:
    return build_report(results, Request(**({"cutoff": CUTOFF} | fields)))  # type: ignore[arg-type]


def test_the_numbers_are_those_of_the_public_functions() -> None:
    report = report_on(SIGNAL)
    split = split_by_cutoff(SIGNAL, CUTOFF)
    assert report.groups.all == aggregate(SIGNAL)
    assert report.groups.pre == aggregate(split.pre)
    assert report.groups.control == aggregate(split.control)
    for signal in report.signals:
        assert signal == compare(split.pre, split.control, HIT[signal.metric], signal.metric)
        assert getattr(report.deltas, signal.metric) == signal.value
    assert report.signal == report.signals[0]
    assert report.verdict == "signal"


def test_without_a_cutoff_there_is_a_baseline_and_nothing_to_compare() -> None:
    report = report_on(SIGNAL, cutoff=None)
    assert report.verdict == "inconclusive"
    assert report.groups.all.scored == 101
    assert report.groups.pre.count == report.groups.control.count == 0
    assert report.signal.value is None
    assert [*report.sensitivity, *report.comparability, *report.cautions] == []
    assert {row.group for row in report.entries} == {""}


def test_an_empty_control_group_has_no_signal_and_no_rows() -> None:
    report = report_on(group(3, 9, OLD))
    assert report.verdict == "inconclusive"
    assert report.signal.value is None
    assert report.deltas.basename is None
    assert report.familiarity is None
    assert report.sensitivity == []


def test_undated_entries_are_in_neither_group_and_listed() -> None:
    report = report_on([*SIGNAL, hit("u2", ""), hit("u1", "soon")])
    assert report.undated == ["u1", "u2"]
    assert report.groups.all.count == 103
    assert report.groups.pre.count + report.groups.control.count == 101
    assert [row.created_at for row in report.entries[-2:]] == ["", ""]


def test_entries_within_the_guard_are_counted_and_in_no_group() -> None:
    report = report_on([hit("a", "2025-05-20"), hit("b", OLD), miss("c", NEW)], guard_days=30)
    assert report.left_out == 1
    assert [(row.instance_id, row.group) for row in report.entries] == [
        ("b", "pre"),
        ("a", ""),
        ("c", "control"),
    ]


def test_entries_of_another_benchmark_are_the_control_group_and_in_the_table() -> None:
    report = report_on(group(30, 40, OLD), cutoff=None, control=group(2, 30, OLD, prefix="other"))
    assert report.verdict == "signal"
    assert (report.groups.pre.scored, report.groups.control.scored, report.groups.all.scored) == (40, 30, 70)
    assert [row.group for row in report.entries].count("control") == 30
    assert report.floors[0].entries == 0
    assert report.cutoff.source == "another benchmark's results"
    assert report.sweep == []
    assert sum(row.entries for row in report.comparability) == 70


def test_an_entry_with_several_answers_is_one_row_that_names_each_status() -> None:
    samples = [
        hit("a", OLD),
        replace(miss("a", OLD), copied=True),
        failed("a", OLD),
        replace(hit("a", OLD), sample=3),
    ]
    [row] = report_on(samples).entries
    assert row.status == "ok 3, error 1"
    assert row.basename_hit == pytest.approx(2 / 3)
    assert row.copied
    assert report_on(samples).subject.samples == 4


def test_several_answers_of_an_entry_from_elsewhere_are_samples() -> None:
    results = [make_result("a", OLD, fingerprint="") for _ in range(5)]
    assert report_on(results).subject.samples == 5


def test_rows_carry_paths_only_when_answers_are_revealed() -> None:
    results = [hit("a", OLD), replace(miss("a", OLD), sample=1)]
    [hidden] = report_on(results).entries
    [shown] = report_on(results, reveal_answers=True).entries
    assert hidden.gold_files is hidden.predicted_files is None
    assert shown.gold_files == ["src/a.Table.al"]
    assert shown.predicted_files == ["src/a.Table.al", "src/Other.Page.al"]


def test_an_error_is_no_miss_in_a_row() -> None:
    [row] = report_on([failed("a", OLD)]).entries
    assert row.status == "error"
    assert row.basename_hit is row.exact_hit is None


@pytest.mark.parametrize(
    ("shards", "missing"),
    [
        ([], []),
        (["1/1"], []),
        (["1/3", "2/3", "3/3"], []),
        (["1/3", "3/3"], ["2/3"]),
        (["1/1", "1/3"], []),
        (["2/4"], ["1/4", "3/4", "4/4"]),
    ],
)
def test_a_shard_without_a_record_is_missing(shards: list[str], missing: list[str]) -> None:
    assert missing_shards(RunRecord(shard=shard) for shard in shards) == missing


def test_a_missing_shard_makes_the_verdict_inconclusive_and_is_named() -> None:
    report = build_report(SIGNAL, Request(cutoff=CUTOFF), [RunRecord(shard="1/2")])
    assert report.verdict == "inconclusive"
    assert report.reason == "The results of shard 2/2 are missing."
    report = build_report(SIGNAL, Request(cutoff=CUTOFF), [RunRecord(shard="1/3")])
    assert report.reason == "The results of shards 2/3 and 3/3 are missing."


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1 question was not asked."), (2, "2 questions were not asked.")]
)
def test_questions_that_were_not_asked_are_said_and_leave_the_verdict(number: int, said: str) -> None:
    report = build_report(SIGNAL, Request(cutoff=CUTOFF), [RunRecord(not_asked=number)])
    assert report.verdict == "signal"
    assert report.reason.endswith(said)
    assert report.usage.not_asked == number


def test_the_base_branch_is_judged_by_the_same_rules() -> None:
    report = report_on(SIGNAL, baseline=SIGNAL[:95])
    assert report.before is not None
    assert (report.before.pre, report.before.control) == (89, 6)
    assert report.before.signal == report_on(SIGNAL[:95]).signal
    assert report_on(SIGNAL).before is None


def test_changed_entries_are_taken_out_to_see_what_they_do() -> None:
    changes = [Change(SIGNAL[0].instance_id, "modified"), Change(SIGNAL[-1].instance_id, "added")]
    effect = report_on(SIGNAL, changes=[*changes, Change("gone", "removed")]).contribution
    assert effect is not None
    assert (effect.pre, effect.control) == (1, 1)
    assert effect.without == report_on(SIGNAL[1:-1]).signal
    assert report_on(SIGNAL).contribution is None
    assert report_on(SIGNAL, cutoff=None, changes=changes).contribution is None


def test_without_all_of_a_group_there_is_no_signal_left_to_compare_with() -> None:
    changes = [Change(result.instance_id, "added") for result in SIGNAL[89:]]
    effect = report_on(SIGNAL, changes=changes).contribution
    assert effect is not None
    assert effect.without.value is None


def test_each_sensitivity_row_has_its_own_verdict() -> None:
    report = report_on([*old(52, 89), *fresh(5, 37)])
    assert len(report.sensitivity) == 10
    assert all(check.verdict == "signal" for check in report.sensitivity)
    assert report.cautions == []


def test_a_signal_that_a_row_does_not_share_is_a_caution() -> None:
    results = [replace(result, leakage="path") for result in group(60, 89, OLD)] + group(3, 12, NEW)
    report = report_on(results)
    assert report.verdict == "signal"
    assert report.cautions == ["It does not hold in 1 of 10 sensitivity rows: statement leaks nothing."]


def test_a_row_with_a_signal_is_a_caution_where_there_is_none() -> None:
    first_old = [make_result(f"o{i}", OLD, predicted=("g.al", "x.al"), gold=("g.al",)) for i in range(60)]
    later_new = [make_result(f"n{i}", NEW, predicted=("x.al", "g.al"), gold=("g.al",)) for i in range(60)]
    report = report_on([*first_old, *later_new])
    assert report.verdict == "no-signal"
    assert report.cautions == ["It is a signal in 1 of 10 sensitivity rows: first path only (hit@1)."]


def test_other_experiments_are_named_by_what_differs() -> None:
    control = [replace(result, prompt="generic@2", top_k=1) for result in group(2, 30, NEW, prefix="x")]
    report = report_on(group(30, 40, OLD), cutoff=None, control=control, baseline=control[:3])
    assert report.cautions[0].startswith(
        "The control results are another experiment: prompt and top-k differ,"
    )
    assert report.cautions[1].startswith("The base branch's results are another experiment")


def test_answers_under_several_model_ids_are_a_caution_that_names_none() -> None:
    report = report_on([*SIGNAL, replace(hit("z", OLD), model="*evil*")])
    assert "The API answered under 2 model ids; the rates pool them." in report.cautions


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"sandbox": "none"}, "1 answer came from a process without a sandbox"),
        ({"self_test": "failed: read the dataset"}, "1 answer came from a sandbox whose self-test failed"),
        ({"tools_sent": 17}, "1 answer came from a request that carried tools"),
    ],
)
def test_a_condition_that_was_not_enforced_is_a_caution(fields: dict[str, object], said: str) -> None:
    results = [*SIGNAL, hit("z", OLD, **fields)]
    assert any(caution.startswith(said) for caution in report_on(results).cautions)
    enforced = [replace(r, sandbox="landlock abi 7", self_test="passed", tools_sent=0) for r in SIGNAL]
    assert report_on(enforced).cautions == report_on(SIGNAL).cautions


def test_how_it_was_enforced_is_counted_the_commonest_first() -> None:
    results = [
        hit("a", OLD, sandbox="none"),
        hit("b", OLD, sandbox="landlock abi 7"),
        hit("c", OLD, sandbox="none"),
    ]
    report = report_on(results)
    assert report.enforcement.sandbox == [("none", 2), ("landlock abi 7", 1)]
    assert report.enforcement.tools_sent == [("not recorded", 3)]


def test_too_many_errors_in_one_group_are_told_apart_from_misses() -> None:
    report = report_on([*old(52, 89), *failing(fresh(5, 37), 4)])
    assert report.verdict == "inconclusive"
    assert report.groups.control.error_count == 10
    assert report.groups.control.basename_hit_rate == pytest.approx(4 / 27)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_results_changes_nothing(rng: object) -> None:
    results = [*old(9, 20), *fresh(2, 12), failed("f", OLD), hit("u", "")]
    shuffled = list(results)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    request = {"reveal_answers": True, "reference": results, "baseline": results[:9]}
    assert report_on(shuffled, **request) == report_on(results, **request)


def test_no_results_at_all_are_a_report_too() -> None:
    report = report_on([])
    assert report.verdict == "inconclusive"
    assert report.groups.all.basename_hit_rate is None
    assert [*report.entries, *report.months, *report.sweep] == []
