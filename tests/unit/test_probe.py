from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bccontam.entry import Entry
from bccontam.models.base import ModelError, Question
from bccontam.probe import ProbeSettings, Progress
from bccontam.prompts import Prompt, load_prompt
from bccontam.settings import make_settings
from bccontam.store import load_results
from tests.support.builders import make_entry
from tests.support.probing import GOOD, FakeModel, entries, lines, run, stored

# What is asked and stored


def test_every_entry_is_asked_once_and_stored(tmp_path: Path) -> None:
    model = FakeModel()
    outcome = run(tmp_path, model, entries(25), concurrency=4)
    assert (outcome.asked, outcome.errors, outcome.not_asked, outcome.stopped_by) == (25, 0, 0, "")
    assert sorted(question.instance_id for question in model.questions) == sorted(stored(tmp_path))
    assert len(stored(tmp_path)) == lines(tmp_path) == 25


def test_a_result_holds_what_is_needed_to_score_and_audit_it_again(tmp_path: Path) -> None:
    entry = make_entry("e", area="sales", problem_statement="See ![shot](a.png) here.")
    run(tmp_path, FakeModel(), [entry])
    result = stored(tmp_path)["e"]
    assert (result.model, result.requested_model, result.backend) == ("fake-1-2025", "fake-1", "openai")
    assert (result.gold_files, result.predicted_files) == (("src/Sales/Post.Codeunit.al",),) * 2
    assert result.score.exact_hit
    assert (result.raw_output, result.status, result.error, result.error_kind) == (GOOD, "ok", None, None)
    assert (result.created_at, result.area, result.repo) == ("2025-03-01", "sales", "acme/widgets")
    assert (result.input_tokens, result.output_tokens, result.seconds, result.attempts) == (100, 20, 0.25, 1)
    assert (result.statement_chars, result.images, result.finish_reason) == (24, 1, "stop")
    assert (result.leakage, result.copied, result.naming_files) == ("none", True, ("Post.Codeunit.al",))
    assert result.prompt == load_prompt("generic").version


def test_a_result_says_how_the_condition_was_enforced(tmp_path: Path) -> None:
    run(tmp_path, FakeModel(), entries(1))
    result = stored(tmp_path)["e-0"]
    held = (result.tools_sent, result.sandbox, result.self_test, result.prompt_owner)
    assert held == (0, "landlock abi 7", "passed", "agent")


def test_the_model_is_given_the_rendered_prompt(tmp_path: Path) -> None:
    model, entry = FakeModel(), make_entry(problem_statement="Only this.")
    run(tmp_path, model, [entry], top_k=2)
    rendered = load_prompt("generic").render(entry, 2)
    assert (model.questions[0].system, model.questions[0].prompt) == (rendered.system, rendered.user)
    assert (model.questions[0].top_k, model.questions[0].sample) == (2, 0)


def test_an_undated_entry_has_an_empty_date(tmp_path: Path) -> None:
    run(tmp_path, FakeModel(), [make_entry("e", created_at=None)])
    assert stored(tmp_path)["e"].created_at == ""


def test_each_sample_of_an_entry_is_a_question_of_its_own(tmp_path: Path) -> None:
    model = FakeModel()
    outcome = run(tmp_path, model, entries(2), samples=3)
    results = list(load_results(tmp_path))
    assert outcome.asked == len({result.fingerprint for result in results}) == 6
    assert sorted((r.instance_id, r.sample) for r in results) == [
        (f"e-{n}", sample) for n in range(2) for sample in range(3)
    ]


def test_two_entries_with_the_same_report_each_get_a_result(tmp_path: Path) -> None:
    twins = [make_entry("first"), make_entry("second")]
    assert run(tmp_path, FakeModel(), twins).asked == 2
    assert set(stored(tmp_path)) == {"first", "second"}


def test_an_unscorable_entry_is_not_asked_and_is_named_with_its_reason(tmp_path: Path) -> None:
    model = FakeModel()
    outcome = run(tmp_path, model, [make_entry("no-gold", patch=""), make_entry("fine")])
    assert [question.instance_id for question in model.questions] == ["fine"]
    assert [(name, reason[:7]) for name, reason in outcome.unscorable] == [("no-gold", "no gold")]


def test_an_entry_that_a_template_fails_on_does_not_stop_the_others(tmp_path: Path) -> None:
    body = "{{ problem_statement }}{% if repo == 'bad/repo' %}{{ typo }}{% endif %}"
    source = f"{{% block user %}}{body}{{% endblock %}}"
    outcome = run(
        tmp_path,
        FakeModel(),
        [make_entry("a", repo="bad/repo"), make_entry("b")],
        prompt=Prompt("mine", source),
    )
    assert [name for name, _ in outcome.unscorable] == ["a"]
    assert set(stored(tmp_path)) == {"b"}


def test_tokens_and_seconds_are_summed(tmp_path: Path) -> None:
    outcome = run(tmp_path, FakeModel(), entries(3))
    assert (outcome.input_tokens, outcome.output_tokens, outcome.model_seconds) == (300, 60, 0.75)


# Order and bounds


def test_questions_in_flight_are_bounded_by_the_concurrency(tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=20)

    def script(question: Question) -> str:
        together.wait()
        return GOOD

    model = FakeModel(script)
    run(tmp_path, model, entries(12), concurrency=3)
    assert model.most_in_flight == 3


def test_a_result_is_on_disk_before_its_worker_asks_again(tmp_path: Path) -> None:
    on_disk: list[int] = []

    def script(question: Question) -> str:
        on_disk.append(lines(tmp_path))
        return GOOD

    run(tmp_path, FakeModel(script), entries(5), concurrency=1)
    assert on_disk == [0, 1, 2, 3, 4]


def test_entries_are_read_only_as_they_are_needed(tmp_path: Path) -> None:
    read = 0
    ahead: list[int] = []

    def stream() -> Iterator[Entry]:
        nonlocal read
        for entry in entries(300):
            read += 1
            yield entry

    def script(question: Question) -> str:
        ahead.append(read - lines(tmp_path))
        return GOOD

    run(tmp_path, FakeModel(script), stream(), concurrency=3)
    assert read == 300
    assert max(ahead) <= 3


def test_a_cap_stops_asking_and_the_rest_is_counted(tmp_path: Path) -> None:
    outcome = run(tmp_path, FakeModel(), [*entries(10), make_entry("u", patch="")], max_requests=4, samples=2)
    assert (outcome.asked, outcome.not_asked, outcome.stopped_by, outcome.exit_code) == (
        4,
        16,
        "max-requests",
        0,
    )
    assert len(outcome.unscorable) == 1


def test_a_cap_that_is_just_enough_stops_nothing(tmp_path: Path) -> None:
    outcome = run(tmp_path, FakeModel(), entries(4), max_requests=4)
    assert (outcome.asked, outcome.not_asked, outcome.stopped_by) == (4, 0, "")


# Resuming


def test_a_stored_answer_is_not_asked_again(tmp_path: Path) -> None:
    run(tmp_path, FakeModel(), entries(6), max_requests=4)
    model = FakeModel()
    outcome = run(tmp_path, model, entries(6))
    assert (outcome.asked, outcome.reused, len(model.questions)) == (2, 4, 2)
    assert lines(tmp_path) == len(stored(tmp_path)) == 6


def test_an_error_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        if question.instance_id == "e-1":
            raise ModelError("bad-response", "garbage")
        return GOOD

    run(tmp_path, FakeModel(script), entries(3))
    model = FakeModel()
    outcome = run(tmp_path, model, entries(3))
    assert [question.instance_id for question in model.questions] == ["e-1"]
    assert outcome.reused == 2
    assert all(result.error is None for result in stored(tmp_path).values())


@pytest.mark.parametrize(
    "change",
    [
        {"top_k": 2},
        {"sampling": {"temperature": 1.0}},
        {"prompt": Prompt("p", "{% block user %}{{ problem_statement }}{% endblock %}")},
    ],
    ids=["top-k", "sampling", "prompt"],
)
def test_another_question_is_asked_even_where_the_entry_has_an_answer(
    tmp_path: Path, change: dict[str, object]
) -> None:
    run(tmp_path, FakeModel(), entries(2))
    assert run(tmp_path, FakeModel(), entries(2), **change).asked == 2  # type: ignore[arg-type]


def test_another_model_is_another_question(tmp_path: Path) -> None:
    run(tmp_path, FakeModel(), entries(2))
    other = FakeModel()
    other.model = "fake-2"
    assert run(tmp_path, other, entries(2)).asked == 2


# Progress and settings


def test_progress_reaches_the_total(tmp_path: Path) -> None:
    seen: list[Progress] = []
    asked = [*entries(5), make_entry("unscorable", patch="")]
    run(tmp_path, FakeModel(), asked, progress=seen.append, total=12, samples=2)
    last = seen[-1]
    assert (last.done, last.asked, last.errors, last.total, last.seconds_left) == (12, 10, 0, 12, 0.0)
    assert last.rate > 0


def test_the_time_left_follows_from_the_rate() -> None:
    progress = Progress(done=30, asked=20, errors=0, seconds=10.0, total=50)
    assert (progress.rate, progress.seconds_left) == (2.0, 10.0)
    assert replace(progress, total=None).seconds_left is None
    assert replace(progress, asked=0).seconds_left is None


@pytest.mark.parametrize(("samples", "temperature"), [("1", 0.0), ("5", 1.0)])
def test_several_samples_are_not_asked_for_equal_answers(samples: str, temperature: float) -> None:
    given = {
        "mode": "predict",
        "backend": "openai",
        "model": "m",
        "base-url": "http://h/v1",
        "samples": samples,
    }
    assert ProbeSettings.from_settings(make_settings(given)).sampling == {"temperature": temperature}


def test_an_answer_in_a_schema_is_another_experiment() -> None:
    given = {
        "mode": "predict",
        "backend": "openai",
        "model": "m",
        "base-url": "http://h/v1",
        "json-schema": "true",
    }
    sampling = ProbeSettings.from_settings(make_settings(given)).sampling
    assert sampling == {"temperature": 0.0, "json_schema": True}


def test_settings_carry_over() -> None:
    given = {
        "mode": "predict",
        "backend": "copilot",
        "model": "m",
        "top-k": "5",
        "concurrency": "7",
        "timeout": "9",
        "max-requests": "11",
    }
    chosen = ProbeSettings.from_settings(make_settings(given))
    assert (chosen.top_k, chosen.concurrency, chosen.timeout, chosen.max_requests) == (5, 7, 9, 11)
    assert (chosen.samples, chosen.sampling) == (1, {})
