from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from bccontam.models.base import ModelError, Question
from bccontam.probe import StopRequest, stop_on_signals
from bccontam.probe.pacing import RetryPolicy
from tests.support.probing import GOOD, FakeModel, entries, lines, run, stored


def test_a_stop_lets_what_is_in_flight_end_and_asks_no_more(tmp_path: Path) -> None:
    stop = StopRequest()

    def script(question: Question) -> str:
        if question.instance_id == "e-5":
            stop.receive(signal.SIGINT)
            time.sleep(0.3)
        return GOOD

    outcome = run(tmp_path, FakeModel(script), entries(2_000), stop=stop, concurrency=1, grace=20.0)
    assert (outcome.exit_code, outcome.stopped_by, outcome.asked) == (130, "signal", 6)
    assert outcome.not_asked == 2_000 - 6
    assert len(stored(tmp_path)) == 6


@pytest.mark.parametrize(("signals", "grace"), [(1, 0.0), (2, 600.0)], ids=["after-the-grace", "insisting"])
def test_what_does_not_end_is_cut_and_counts_as_not_asked(tmp_path: Path, signals: int, grace: float) -> None:
    stop = StopRequest()

    def script(question: Question) -> str:
        for _ in range(signals):
            stop.receive(signal.SIGTERM)
        assert model.closed.wait(30)
        raise ModelError("connection", "cut")

    model = FakeModel(script)
    outcome = run(tmp_path, model, entries(8), stop=stop, grace=grace)
    assert model.closed.is_set()
    assert (outcome.exit_code, outcome.asked, outcome.not_asked) == (143, 0, 8)
    assert lines(tmp_path) == 0


def test_a_stop_ends_a_wait(tmp_path: Path) -> None:
    stop = StopRequest()

    def script(question: Question) -> str:
        stop.receive(signal.SIGTERM)
        raise ModelError("rate-limit", "slow", retryable=True, retry_after=200.0)

    outcome = run(tmp_path, FakeModel(script), entries(3), stop=stop, retry=RetryPolicy(), grace=60.0)
    assert (outcome.asked, outcome.not_asked) == (0, 3)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_are_requests_while_the_block_runs(tmp_path: Path, number: signal.Signals, code: int) -> None:
    before = signal.getsignal(number)
    with stop_on_signals() as stop:
        signal.raise_signal(number)
        assert stop.signal == number
        assert run(tmp_path, FakeModel(), entries(3), stop=stop).exit_code == code
    assert signal.getsignal(number) is before


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def elsewhere() -> None:
        with stop_on_signals() as stop:
            seen.append((signal.getsignal(signal.SIGINT), stop.signal))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [(before, None)]
