"""When a question may be asked, and asked again: back-off, `Retry-After`, and one pause for every worker.

A rate limit is the server's word to the run, not to one worker, so all of them wait. Every wait is bounded,
for a question and for the run. This module asks nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from bccontam.models.base import ModelError

_LARGEST_SPREAD = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to try. Waits are in seconds.

    Without a `Retry-After` the waits double from `first_wait` up to `longest_wait`, each up to a fifth more
    or less by chance: 2 + 4 + 8 + 16 + 32 outlasts a limit by the minute. `question_wait` bounds the waits of
    one question, `run_wait` those of the whole run.
    """

    max_tries: int = 6
    first_wait: float = 2.0
    longest_wait: float = 60.0
    question_wait: float = 300.0
    run_wait: float = 3600.0


class Pacer:
    """The pace of a run. `wait(seconds)` sleeps, and returns early when `stopping()` becomes true."""

    def __init__(
        self,
        policy: RetryPolicy,
        workers: int,
        *,
        clock: Callable[[], float],
        wait: Callable[[float], object],
        stopping: Callable[[], bool],
        random: Callable[[], float],
    ) -> None:
        self.policy = policy
        self.exhausted = False
        """The server asks for more patience than the run has: nothing more should be asked."""
        self._workers = workers
        self._clock = clock
        self._wait = wait
        self.stopping = stopping
        self._random = random
        self._lock = threading.Lock()
        self._open_at = clock()
        self._spent = 0.0

    def wait_for_turn(self) -> bool:
        """Wait until the run's pause is over; False when the run is stopping."""
        while not self.stopping():
            with self._lock:
                left = self._open_at - self._clock()
            if left <= 0:
                return True
            # Workers that woke together would meet the limit together.
            self._wait(left + self._random() * min(_LARGEST_SPREAD, left / 10))
        return False

    def wait_after(self, error: ModelError, tries: int, waited: float) -> float | None:
        """Wait as a failed attempt demands; the seconds it cost, or None when this is not asked again.

        `tries` and `waited` are those of the question so far.
        """
        policy = self.policy
        shared = error.kind == "rate-limit" or error.retry_after is not None
        if not error.retryable:
            return None
        seconds = error.retry_after or self._back_off(tries)
        if shared and seconds > policy.question_wait:
            self.exhausted = True
        if (
            tries >= policy.max_tries
            or waited + seconds > policy.question_wait
            or not self._charge(seconds, shared)
        ):
            return None
        if not shared:
            self._wait(seconds)
        return seconds

    def _back_off(self, tries: int) -> float:
        seconds = min(self.policy.first_wait * 2.0 ** min(tries - 1, 60), self.policy.longest_wait)
        return seconds * (0.8 + 0.4 * self._random())

    def _charge(self, seconds: float, shared: bool) -> bool:
        """Take a wait from what the run has left; a shared one becomes everybody's pause."""
        with self._lock:
            now = self._clock()
            until = max(self._open_at, now + seconds) if shared else 0.0
            cost = until - max(self._open_at, now) if shared else seconds / self._workers
            if self._spent + cost > self.policy.run_wait:
                self.exhausted = self.exhausted or shared
                return False
            self._spent += cost
            if shared:
                self._open_at = until
            return True
