"""A model that answers from a script, a clock that only waiting moves, and a run of both into a store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from bccontam.answer import Prediction
from bccontam.entry import Entry
from bccontam.facts import EntryFacts
from bccontam.models.base import Answer, Condition, ErrorKind, ModelError, Question
from bccontam.probe import ProbeOutcome, ProbeSettings, Progress, StopRequest, run_probe
from bccontam.probe.pacing import RetryPolicy
from bccontam.prompts import Prompt, load_prompt
from bccontam.result import Result
from bccontam.store import ResultStore, load_results
from tests.support.builders import make_entry

GOOD = '["src/Sales/Post.Codeunit.al"]'
QUICK = RetryPolicy(max_tries=3, first_wait=0.001, longest_wait=0.002)


class FakeModel:
    """Answers as `script` says and remembers every question."""

    backend = "openai"
    model = "fake-1"
    condition = Condition(tools_sent=0, sandbox="landlock abi 7", self_test="passed", prompt_owner="agent")

    def __init__(self, script: Callable[[Question], str | Answer] = lambda question: GOOD) -> None:
        self.script = script
        self.questions: list[Question] = []
        self.closed = threading.Event()
        self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()

    def ask(self, question: Question, timeout: float) -> Answer:
        with self.lock:
            self.questions.append(question)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self.script(question)
        finally:
            with self.lock:
                self.in_flight -= 1
        return answer if isinstance(answer, Answer) else Answer(answer, "fake-1-2025", 0.25, 100, 20, "stop")

    def close(self) -> None:
        self.closed.set()


class FakeTime:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def failing(kind: ErrorKind, message: str = "no", **details: bool | float) -> Callable[[Question], str]:
    def script(question: Question) -> str:
        raise ModelError(kind, message, **details)  # type: ignore[arg-type]

    return script


def facts(entry: Entry, prediction: Prediction) -> EntryFacts:
    return EntryFacts("none", bool(prediction.paths), ("Post.Codeunit.al",), None)


def entries(count: int) -> list[Entry]:
    return [make_entry(f"e-{number}", problem_statement=f"Report {number}.") for number in range(count)]


def run(
    folder: Path,
    model: FakeModel,
    asked: Iterable[Entry],
    *,
    stop: StopRequest | None = None,
    progress: Callable[[Progress], None] | None = None,
    say: Callable[[str], None] | None = None,
    total: int | None = None,
    fake_time: FakeTime | None = None,
    prompt: Prompt | None = None,
    **settings: object,
) -> ProbeOutcome:
    chosen = ProbeSettings(**({"retry": QUICK, "concurrency": 2} | settings))  # type: ignore[arg-type]
    times = {"clock": fake_time.clock, "wait": fake_time.wait} if fake_time else {}
    with ResultStore(folder, "run") as store:
        return run_probe(
            asked,
            model,
            store,
            prompt or load_prompt("generic"),
            chosen,
            facts=facts,
            stop=stop,
            progress=progress,
            say=say,
            total=total,
            chance=lambda: 0.5,
            **times,  # type: ignore[arg-type]
        )


def stored(folder: Path) -> dict[str, Result]:
    return {result.instance_id: result for result in load_results(folder)}


def lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))
