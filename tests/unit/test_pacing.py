from __future__ import annotations

import pytest

from bccontam.models.base import ModelError
from bccontam.probe.pacing import Pacer, RetryPolicy


class FakeTime:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 50.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def make_pacer(
    times: FakeTime, *, workers: int = 4, chance: float = 0.5, stopping: bool = False, **policy: float
) -> Pacer:
    return Pacer(
        RetryPolicy(**policy),  # type: ignore[arg-type]
        workers,
        clock=times.clock,
        wait=times.wait,
        stopping=lambda: stopping,
        random=lambda: chance,
    )


def limit(retry_after: float | None = None) -> ModelError:
    return ModelError("rate-limit", "slow", retryable=True, retry_after=retry_after)


def test_nobody_waits_without_a_reason() -> None:
    times = FakeTime()
    assert make_pacer(times).wait_for_turn()
    assert times.waits == []


def test_one_workers_rate_limit_pauses_every_worker() -> None:
    times = FakeTime()
    pacer = make_pacer(times, chance=0.0)
    assert pacer.wait_after(limit(30.0), 1, 0.0) == 30.0
    assert times.waits == []
    assert pacer.wait_for_turn()
    assert times.waits == [30.0]
    assert pacer.wait_for_turn()
    assert times.waits == [30.0]


def test_a_server_that_names_a_time_with_a_500_pauses_every_worker_too() -> None:
    times = FakeTime()
    pacer = make_pacer(times, chance=0.0)
    pacer.wait_after(ModelError("server", "busy", retryable=True, retry_after=7.0), 1, 0.0)
    pacer.wait_for_turn()
    assert times.waits == [7.0]


def test_one_workers_broken_connection_is_its_own() -> None:
    times = FakeTime()
    pacer = make_pacer(times)
    assert pacer.wait_after(ModelError("connection", "reset", retryable=True), 1, 0.0) == 2.0
    assert times.waits == [2.0]
    pacer.wait_for_turn()
    assert times.waits == [2.0]


def test_a_shorter_limit_does_not_end_a_longer_pause() -> None:
    times = FakeTime()
    pacer = make_pacer(times, chance=0.0)
    pacer.wait_after(limit(30.0), 1, 0.0)
    pacer.wait_after(limit(5.0), 1, 0.0)
    pacer.wait_for_turn()
    assert times.now == 80.0


def test_workers_do_not_wake_in_step() -> None:
    early, late = FakeTime(), FakeTime()
    for times, chance in ((early, 0.0), (late, 0.9)):
        pacer = make_pacer(times, chance=chance)
        pacer.wait_after(limit(30.0), 1, 0.0)
        pacer.wait_for_turn()
    assert early.now == 80.0
    assert 80.0 < late.now <= 81.0


def test_waits_vary_by_chance_but_never_by_more_than_a_fifth() -> None:
    error = ModelError("server", "boom", retryable=True)
    waits = [make_pacer(FakeTime(), chance=chance).wait_after(error, 3, 0.0) for chance in (0.0, 0.5, 1.0)]
    assert waits == pytest.approx([6.4, 8.0, 9.6])


def test_waits_grow_no_longer_than_the_longest() -> None:
    pacer = make_pacer(FakeTime(), max_tries=10_000, longest_wait=60.0)
    assert pacer.wait_after(ModelError("server", "boom", retryable=True), 5_000, 0.0) == 60.0


def test_a_server_that_names_no_time_at_all_is_not_asked_again_at_once() -> None:
    times = FakeTime()
    pacer = make_pacer(times)
    assert pacer.wait_after(limit(0.0), 2, 0.0) == 4.0
    pacer.wait_for_turn()
    assert times.now >= 54.0


@pytest.mark.parametrize(
    ("error", "tries", "waited"),
    [
        (ModelError("authentication", "no"), 1, 0.0),
        (limit(), 6, 0.0),
        (limit(30.0), 2, 280.0),
        (limit(301.0), 1, 0.0),
    ],
    ids=["cannot-help", "tries-used-up", "waits-used-up", "longer-than-we-wait"],
)
def test_there_is_no_other_attempt_when(error: ModelError, tries: int, waited: float) -> None:
    times = FakeTime()
    assert make_pacer(times).wait_after(error, tries, waited) is None
    assert times.waits == []


def test_a_demand_longer_than_we_wait_exhausts_the_run() -> None:
    pacer = make_pacer(FakeTime())
    pacer.wait_after(limit(280.0), 1, 100.0)
    assert not pacer.exhausted
    pacer.wait_after(limit(301.0), 1, 0.0)
    assert pacer.exhausted


def test_pauses_that_add_up_to_more_than_the_runs_patience_exhaust_it() -> None:
    times = FakeTime()
    pacer = make_pacer(times, run_wait=100.0)
    for _ in range(3):
        assert pacer.wait_after(limit(30.0), 1, 0.0) == 30.0
        pacer.wait_for_turn()
    assert pacer.wait_after(limit(30.0), 1, 0.0) is None
    assert pacer.exhausted


def test_a_pause_shared_by_workers_is_counted_once() -> None:
    pacer = make_pacer(FakeTime(), run_wait=100.0)
    assert [pacer.wait_after(limit(60.0), 1, 0.0) for _ in range(16)] == [60.0] * 16


def test_failures_of_single_questions_use_up_retries_but_end_no_run() -> None:
    pacer = make_pacer(FakeTime(), workers=1, run_wait=3.0)
    error = ModelError("server", "boom", retryable=True)
    assert pacer.wait_after(error, 1, 0.0) == 2.0
    assert pacer.wait_after(error, 1, 0.0) is None
    assert not pacer.exhausted


def test_a_stopping_run_has_no_turn() -> None:
    assert not make_pacer(FakeTime(), stopping=True).wait_for_turn()
