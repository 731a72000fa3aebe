from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bccontam.answer import Prediction
from bccontam.entry import Entry
from bccontam.errors import AskError, DatasetError, StoreError
from bccontam.facts import EntryFacts
from bccontam.models.base import Answer, ErrorKind, Question
from bccontam.probe import ProbeSettings, run_probe
from bccontam.probe.asking import LONGEST_RAW_OUTPUT
from bccontam.probe.pacing import RetryPolicy
from bccontam.prompts import load_prompt
from bccontam.store import ResultStore
from tests.support.probing import GOOD, FakeModel, FakeTime, entries, facts, failing, run, stored

# Failures


@pytest.mark.parametrize(
    "kind", ["bad-request", "bad-response", "tool-request", "timeout", "authentication", "quota", "not-found"]
)
def test_an_error_keeps_its_type_and_message_and_stops_no_other(tmp_path: Path, kind: ErrorKind) -> None:
    def script(question: Question) -> str:
        return failing(kind, "it says why")(question) if question.instance_id == "e-1" else GOOD

    model = FakeModel(script)
    outcome = run(tmp_path, model, entries(4))
    result = stored(tmp_path)["e-1"]
    assert (result.error, result.error_kind, result.status, result.attempts) == (
        "it says why",
        kind,
        "error",
        1,
    )
    assert (result.predicted_files, result.scored, result.model) == ((), False, "fake-1")
    assert (outcome.asked, outcome.errors, len(model.questions)) == (4, 1, 4)


def test_an_unusable_answer_keeps_its_text_and_status(tmp_path: Path) -> None:
    run(tmp_path, FakeModel(lambda question: "It is somewhere in the posting code."), entries(1))
    result = stored(tmp_path)["e-0"]
    assert (result.raw_output, result.predicted_files) == ("It is somewhere in the posting code.", ())
    assert (result.status, result.error) == ("unparsed", None)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_answer_without_text_is_an_error_that_says_how_it_ended(tmp_path: Path, text: str) -> None:
    run(
        tmp_path,
        FakeModel(lambda question: Answer(text, "m", 1.0, finish_reason="content_filter")),
        entries(1),
    )
    result = stored(tmp_path)["e-0"]
    assert (result.status, result.error_kind) == ("error", "bad-response")
    assert "content_filter" in str(result.error)


def test_a_very_long_answer_is_cut_with_a_mark(tmp_path: Path) -> None:
    run(tmp_path, FakeModel(lambda question: "x" * 100_000), entries(1))
    raw = stored(tmp_path)["e-0"].raw_output
    assert raw[:LONGEST_RAW_OUTPUT] == "x" * LONGEST_RAW_OUTPUT
    assert raw[LONGEST_RAW_OUTPUT:] == "\n[cut here: the answer had 100,000 characters]"


def test_a_fault_in_a_backend_is_one_entrys_error_without_its_text(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        if question.instance_id == "e-0":
            raise KeyError("secret-token-1234")
        return GOOD

    outcome = run(tmp_path, FakeModel(script), entries(3))
    result = stored(tmp_path)["e-0"]
    assert (outcome.asked, outcome.errors, result.error_kind) == (3, 1, "internal")
    assert "KeyError at test_probe_failures.py" in str(result.error)
    assert "secret" not in str(result.error)


def test_a_fault_after_the_answer_keeps_the_answer(tmp_path: Path) -> None:
    def broken(entry: Entry, prediction: Prediction) -> EntryFacts:
        raise ZeroDivisionError

    with ResultStore(tmp_path, "run") as store:
        run_probe(entries(1), FakeModel(), store, load_prompt("generic"), ProbeSettings(), facts=broken)
    result = stored(tmp_path)["e-0"]
    assert (result.raw_output, result.error_kind, result.input_tokens) == (GOOD, "internal", 100)


def test_a_broken_dataset_line_ends_the_run_and_keeps_what_was_stored(tmp_path: Path) -> None:
    def stream() -> Iterator[Entry]:
        yield from entries(3)
        raise DatasetError("line 4 is broken")

    with pytest.raises(DatasetError, match="line 4"):
        run(tmp_path, FakeModel(), stream())
    assert len(stored(tmp_path)) == 3


def test_a_store_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    model, prompt = FakeModel(), load_prompt("generic")
    with ResultStore(tmp_path, "run") as store:
        store.close()
        with pytest.raises(StoreError):
            run_probe(entries(50), model, store, prompt, ProbeSettings(concurrency=2), facts=facts)
    assert len(model.questions) <= 2


# Asking again


@pytest.mark.parametrize("kind", ["server", "connection", "rate-limit", "timeout"])
def test_a_passing_failure_is_asked_again_as_often_as_promised(tmp_path: Path, kind: ErrorKind) -> None:
    model = FakeModel(failing(kind, retryable=True))
    with pytest.raises(AskError):
        run(tmp_path, model, entries(1), fake_time=FakeTime(), retry=RetryPolicy(max_tries=4))
    assert len(model.questions) == stored(tmp_path)["e-0"].attempts == 4


def test_the_first_failure_that_is_asked_again_is_told_at_once_and_only_once(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    model = FakeModel(failing("connection", "nobody listens there", retryable=True))
    with pytest.raises(AskError):
        run(
            tmp_path,
            model,
            entries(3),
            concurrency=1,
            fake_time=FakeTime(),
            say=lambda line: told.append((line, len(model.questions))),
        )
    assert told == [("A question failed and is asked again: nobody listens there", 1)]


def test_a_failure_that_is_final_is_not_told_as_one_that_is_asked_again(tmp_path: Path) -> None:
    told: list[str] = []
    assert run(tmp_path, FakeModel(failing("bad-request")), entries(3), say=told.append).errors == 3
    assert told == []


def test_an_answer_after_failures_is_a_good_result(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        return failing("server", retryable=True)(question) if len(model.questions) < 3 else GOOD

    model = FakeModel(script)
    outcome = run(tmp_path, model, entries(1), fake_time=FakeTime())
    assert (outcome.errors, stored(tmp_path)["e-0"].attempts) == (0, 3)


def test_waits_double_without_a_word_from_the_server(tmp_path: Path) -> None:
    times = FakeTime()
    with pytest.raises(AskError):
        run(
            tmp_path,
            FakeModel(failing("server", retryable=True)),
            entries(1),
            fake_time=times,
            retry=RetryPolicy(),
        )
    assert times.waits == [2.0, 4.0, 8.0, 16.0, 32.0]


def test_the_waits_of_one_question_are_bounded(tmp_path: Path) -> None:
    times = FakeTime()
    with pytest.raises(AskError):
        run(
            tmp_path,
            FakeModel(failing("server", retryable=True)),
            entries(1),
            fake_time=times,
            retry=RetryPolicy(max_tries=1000, question_wait=100.0),
        )
    assert 50 < sum(times.waits) <= 100


def test_the_waits_of_a_whole_run_are_bounded(tmp_path: Path) -> None:
    times, model = FakeTime(), FakeModel(failing("server", retryable=True))
    with pytest.raises(AskError):
        run(tmp_path, model, entries(40), fake_time=times, concurrency=1, retry=RetryPolicy(run_wait=200.0))
    assert 100 < sum(times.waits) <= 200
    assert len(stored(tmp_path)) == 40


def test_a_retry_after_is_honoured(tmp_path: Path) -> None:
    times = FakeTime()

    def script(question: Question) -> str:
        asked_at.append(times.now)
        return (
            failing("rate-limit", retryable=True, retry_after=40.0)(question) if len(asked_at) == 1 else GOOD
        )

    asked_at: list[float] = []
    run(tmp_path, FakeModel(script), entries(2), fake_time=times, concurrency=1)
    assert asked_at[1] - asked_at[0] >= 40
    assert asked_at[2] == asked_at[1]


def test_a_limit_that_outlasts_our_patience_ends_the_run_and_says_so(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        if question.instance_id == "e-0":
            return GOOD
        return failing("rate-limit", "come back tomorrow", retryable=True, retry_after=86_400.0)(question)

    model = FakeModel(script)
    outcome = run(tmp_path, model, entries(50), fake_time=FakeTime(), concurrency=1)
    assert (outcome.asked, outcome.not_asked, outcome.stopped_by) == (2, 48, "waiting")
    assert stored(tmp_path)["e-1"].error == "come back tomorrow"
    assert len(model.questions) == 2


# The model cannot be asked at all


@pytest.mark.parametrize("kind", ["authentication", "not-found", "quota", "unavailable", "connection"])
def test_ten_first_failures_alike_stop_the_run_with_that_sentence(tmp_path: Path, kind: ErrorKind) -> None:
    model = FakeModel(failing(kind, "the key is refused"))
    with pytest.raises(AskError, match="the key is refused") as raised:
        run(tmp_path, model, entries(200), concurrency=3)
    assert raised.value.exit_code == 3
    assert 10 <= len(model.questions) <= 12
    assert len(stored(tmp_path)) == len(model.questions)


def test_one_answer_among_the_first_failures_keeps_the_run_going(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        return GOOD if question.instance_id == "e-4" else failing("authentication")(question)

    outcome = run(tmp_path, FakeModel(script), entries(30), concurrency=1)
    assert (outcome.asked, outcome.errors) == (30, 29)


def test_first_failures_of_different_kinds_keep_the_run_going(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        return failing("authentication" if question.instance_id == "e-3" else "bad-request")(question)

    assert run(tmp_path, FakeModel(script), entries(30), concurrency=1).errors == 30


def test_a_small_run_without_one_answer_could_not_ask(tmp_path: Path) -> None:
    with pytest.raises(AskError, match="refused"):
        run(tmp_path, FakeModel(failing("connection", "refused")), entries(3))
    assert len(stored(tmp_path)) == 3


def test_answers_that_are_no_answers_are_not_an_unreachable_model(tmp_path: Path) -> None:
    assert run(tmp_path, FakeModel(failing("bad-response")), entries(3)).errors == 3


def test_one_hopeless_entry_does_not_spoil_a_resumed_run(tmp_path: Path) -> None:
    def script(question: Question) -> str:
        return failing("timeout")(question) if question.instance_id == "e-2" else GOOD

    run(tmp_path, FakeModel(script), entries(3))
    outcome = run(tmp_path, FakeModel(script), entries(3))
    assert (outcome.reused, outcome.errors) == (2, 1)
