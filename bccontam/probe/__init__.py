"""Ask a model about every entry: a dataset, a model and a store joined into one run.

Concurrency, retry, resume, budget and stopping are decided here; scoring, storage and the asking itself are
others' work. Every answer is on disk before its worker asks the next question.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Literal

from bccontam.answer import parse_prediction
from bccontam.entry import Entry
from bccontam.errors import AskError, PromptError
from bccontam.models.base import Model
from bccontam.probe.asking import Asker, Facts, Task, sampling_text
from bccontam.probe.pacing import Pacer, RetryPolicy
from bccontam.result import Result

if TYPE_CHECKING:
    from bccontam.prompts import Prompt
    from bccontam.settings import Settings
    from bccontam.store import ResultStore

GRACE = 3.0
"""Seconds for what is in flight when a run is stopped; a runner gives 7.5 before it insists."""

_ALIKE_TO_STOP = 10
_HOPELESS = frozenset({"authentication", "not-found", "quota", "unavailable"})
_NOBODY_THERE = _HOPELESS | {"connection"}
_OUT_OF_REACH = _NOBODY_THERE | {"rate-limit", "timeout", "server"}
_POLL = 0.1
_LAST_WAIT = 5.0
_COUNTING = 1.0

StoppedBy = Literal["", "max-requests", "waiting", "signal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """How to ask. `timeout` is in seconds for one answer; `max_requests` 0 means no cap.

    `sampling` is what shapes an answer beside the prompt (such as the temperature); it is part of the
    fingerprint. With more than one sample an entry it must not ask for equal answers.
    """

    top_k: int = 3
    samples: int = 1
    concurrency: int = 4
    timeout: float = 300.0
    max_requests: int = 0
    sampling: Mapping[str, object] = field(default_factory=dict)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    grace: float = GRACE

    @property
    def sampling_text(self) -> str:
        """`sampling` as results carry it, such as `temperature 0`."""
        return sampling_text(self.sampling)

    @classmethod
    def from_settings(cls, settings: Settings) -> ProbeSettings:
        """The part of the inputs that a probe needs."""
        from bccontam.models.openai import temperature_for

        sampling: dict[str, object] = {}
        if settings.backend == "openai":
            sampling["temperature"] = temperature_for(settings.samples)
            if settings.json_schema:
                sampling["json_schema"] = True
        return cls(
            top_k=settings.top_k,
            samples=settings.samples,
            concurrency=settings.concurrency,
            timeout=settings.timeout,
            max_requests=settings.max_requests,
            sampling=sampling,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `done` counts questions answered, reused or unscorable; `seconds` since its start."""

    done: int
    asked: int
    errors: int
    seconds: float
    total: int | None

    @property
    def rate(self) -> float:
        """Questions answered in a second."""
        return self.asked / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at this rate, or None when that cannot be said."""
        if self.total is None or not self.rate:
            return None
        return max(0, self.total - self.done) / self.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOutcome:
    """What a run did. `asked` questions have a new result, `errors` of them without a usable answer.

    `not_asked` are the questions left over by what `stopped_by` names; `waiting`: the server asked for longer
    pauses than a run takes. `seconds` is the run's wall time, `model_seconds` the sum over its answers.
    """

    asked: int
    reused: int
    errors: int
    not_asked: int
    unscorable: tuple[tuple[str, str], ...]
    input_tokens: int
    output_tokens: int
    model_seconds: float
    seconds: float
    stopped_by: StoppedBy = ""
    signal: int | None = None

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal that stopped the run (130, 143), else 0."""
        return 128 + self.signal if self.signal else 0


class StopRequest:
    """Whether somebody wants the run to stop. Receiving a signal only notes it: that is safe at any time."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.insisted = False

    def receive(self, number: int, frame: FrameType | None = None) -> None:
        """Note a signal; a second one means that there is no time to wait for anything."""
        self.insisted = self.signal is not None
        self.signal = self.signal or number


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Ctrl-C and SIGTERM become a request to stop while the block runs (in the main thread)."""
    stop = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def run_probe(
    entries: Iterable[Entry],
    model: Model,
    store: ResultStore,
    prompt: Prompt,
    settings: ProbeSettings,
    *,
    facts: Facts,
    progress: Callable[[Progress], None] | None = None,
    say: Callable[[str], None] | None = None,
    stop: StopRequest | None = None,
    total: int | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], object] | None = None,
    chance: Callable[[], float] = random.random,
) -> ProbeOutcome:
    """Ask about every entry that has no good stored answer, and store each answer as it comes.

    An entry's failure is its own: it is stored as an error and asked again by the next run. `progress` is
    called from the calling thread, now and then and at the end; with `total` (questions) it knows the time
    left. `say` gets one line when a question has to be asked again for the first time, so that nobody waits in
    the dark. `clock`, `wait` and `chance` stand in for time, sleep and jitter in tests.

    Raises AskError when the first questions all fail alike, though they were asked again where that helps, or when
    patience ends without one answer; StoreError when a result cannot be written; DatasetError from `entries`.
    Whatever is raised, results stored before are kept.
    """
    stop = stop or StopRequest()
    halt = threading.Event()
    pacer = Pacer(
        settings.retry,
        settings.concurrency,
        clock=clock,
        wait=wait or halt.wait,
        stopping=halt.is_set,
        random=chance,
    )
    asker = Asker(
        model=model,
        prompt=prompt,
        top_k=settings.top_k,
        samples=settings.samples,
        timeout=settings.timeout,
        sampling=settings.sampling,
        facts=facts,
        pacer=pacer,
        on_first_retry=_once(say),
    )
    run = _Run(entries, asker, store, settings, halt)
    threads = [threading.Thread(target=run.work, daemon=True) for _ in range(settings.concurrency)]
    try:
        for thread in threads:
            thread.start()
        parse_prediction(
            "[]"
        )  # while the first answers are on their way: what reads them takes 30 ms to import
        run.watch(threads, stop, progress, total)
    finally:
        run.end(threads)
    return run.outcome(stop)


def _once(say: Callable[[str], None] | None) -> Callable[[str], None]:
    """`say`, but for the first line only, from whichever worker it comes."""
    lines = iter([say] if say else [])

    def first(line: str) -> None:
        for speak in lines:
            speak(line)

    return first


class _Run:
    """The state that the workers of one run share; `lock` guards all of it."""

    def __init__(
        self,
        entries: Iterable[Entry],
        asker: Asker,
        store: ResultStore,
        settings: ProbeSettings,
        halt: threading.Event,
    ) -> None:
        self.asker = asker
        self.store = store
        self.settings = settings
        self.halt = halt
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.failure: BaseException | None = None
        self.taken = self.asked = self.reused = self.errors = 0
        self.input_tokens = self.output_tokens = 0
        self.model_seconds = 0.0
        self.unscorable: list[tuple[str, str]] = []
        self.kinds: set[str | None] = set()
        self.last_error = ""
        self._entries = iter(entries)
        self._tasks = self._open_tasks()

    def _open_tasks(self) -> Iterator[Task]:
        """Questions without a good stored answer, read from the stream of entries as they are needed."""
        for entry in self._entries:
            reason = entry.unscorable
            tasks: list[Task] = []
            if not reason:
                try:
                    tasks = list(self.asker.tasks(entry))
                except PromptError as error:
                    reason = str(error)
            if reason:
                self.unscorable.append((entry.instance_id, reason))
            for task in tasks:
                if task.fingerprint in self.store.completed:
                    self.reused += 1
                else:
                    yield task

    def work(self) -> None:
        """What one worker does: take a question, answer it, store the answer, and again."""
        try:
            while (task := self._next_task()) is not None:
                result = self.asker.result_of(task)
                if result is not None:
                    self.store.append(result)
                    self._count(result)
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            with self.lock:
                self.failure = self.failure or error
            self.halt.set()

    def _next_task(self) -> Task | None:
        with self.lock:
            if self.halt.is_set() or self.asker.pacer.exhausted:
                return None
            if self.settings.max_requests and self.taken >= self.settings.max_requests:
                return None
            task = next(self._tasks, None)
            self.taken += task is not None
            return task

    def _count(self, result: Result) -> None:
        with self.lock:
            self.asked += 1
            self.errors += result.error is not None
            self.input_tokens += result.input_tokens or 0
            self.output_tokens += result.output_tokens or 0
            self.model_seconds += result.seconds or 0.0
            self.kinds.add(result.error_kind)
            self.last_error = result.error or self.last_error
            alike = len(self.kinds) == 1 and result.error_kind in _NOBODY_THERE
            if self.asked == _ALIKE_TO_STOP and alike:
                self.failure = self.failure or AskError(
                    f"Stopped after the first {self.asked} questions failed alike: {self.last_error}"
                )
                self.halt.set()

    def watch(
        self,
        threads: Sequence[threading.Thread],
        stop: StopRequest,
        progress: Callable[[Progress], None] | None,
        total: int | None,
    ) -> None:
        """Wait for the workers; when the run is to stop, no longer than the grace for what is in flight."""
        deadline = None
        shown = -1
        while alive := [thread for thread in threads if thread.is_alive()]:
            alive[0].join(_POLL)
            current = self._progress(total)
            if progress and current.done > shown:
                shown = current.done
                progress(current)
            if stop.signal is not None:
                self.halt.set()
            if self.halt.is_set():
                deadline = deadline or time.monotonic() + self.settings.grace
                if stop.insisted or time.monotonic() >= deadline:
                    break
        if progress:
            progress(self._progress(total))

    def end(self, threads: Sequence[threading.Thread]) -> None:
        """Cut what is still in flight; a worker that cannot be cut is left behind."""
        if any(thread.is_alive() for thread in threads):
            self.halt.set()
            self.asker.model.close()
            deadline = time.monotonic() + _LAST_WAIT
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))

    def _progress(self, total: int | None) -> Progress:
        done = self.asked + self.reused + len(self.unscorable) * self.settings.samples
        return Progress(done, self.asked, self.errors, time.monotonic() - self.started, total)

    def outcome(self, stop: StopRequest) -> ProbeOutcome:
        """The sum of the run. Raises what made it fail."""
        with self.lock:
            if self.failure is not None:
                raise self.failure
            interrupted = stop.signal is not None
            seconds = time.monotonic() - self.started
            not_asked = self.taken - self.asked + self._count_left(interrupted)
            if not interrupted and not self.reused and self.asked and self.kinds <= _OUT_OF_REACH:
                raise AskError(f"The model could not be asked; no question was answered: {self.last_error}")
            stopped_by: StoppedBy = ""
            if interrupted:
                stopped_by = "signal"
            elif not_asked:
                stopped_by = "waiting" if self.asker.pacer.exhausted else "max-requests"
            return ProbeOutcome(
                asked=self.asked,
                reused=self.reused,
                errors=self.errors,
                not_asked=not_asked,
                unscorable=tuple(self.unscorable),
                input_tokens=self.input_tokens,
                output_tokens=self.output_tokens,
                model_seconds=self.model_seconds,
                seconds=seconds,
                stopped_by=stopped_by,
                signal=stop.signal,
            )

    def _count_left(self, interrupted: bool) -> int:
        """Questions that were never taken; after an interruption there is no time to look at each of them."""
        deadline = time.monotonic() + _COUNTING
        left = 0
        for _ in self._tasks:
            left += 1
            if interrupted and time.monotonic() > deadline:
                return left + self.settings.samples * sum(1 for _ in self._entries)
        return left
