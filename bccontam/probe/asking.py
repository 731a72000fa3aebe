"""One question from its entry to its result: render, ask as often as it takes, parse, score.

A failure becomes a result too, with its type and a sentence; only a stopped run leaves a question without
one. Who asks which question when, and where results go, is decided in `bccontam.probe`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bccontam.answer import Prediction, parse_prediction
from bccontam.entry import Entry
from bccontam.models.base import Answer, Model, ModelError, Question
from bccontam.probe.pacing import Pacer
from bccontam.result import Result, fingerprint
from bccontam.score import score_prediction

if TYPE_CHECKING:
    from bccontam.facts import EntryFacts
    from bccontam.prompts import Prompt

LONGEST_RAW_OUTPUT = 65_536
"""Characters of an answer that are stored; a mark says how many more there were."""

Facts = Callable[[Entry, Prediction], "EntryFacts"]

_NO_ANSWER = Prediction((), "error")


def sampling_text(sampling: Mapping[str, object]) -> str:
    """What shapes answers beside the prompt, as results carry it: `temperature 0, seed 7`; empty for none."""
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in sampling.items()
    )


@dataclass(frozen=True, slots=True)
class Task:
    """One question about one entry, and its identity."""

    entry: Entry
    question: Question
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no usable answer: a type and a sentence without secrets."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Turns entries into questions and questions into results, with one model and one prompt."""

    model: Model
    prompt: Prompt
    top_k: int
    samples: int
    timeout: float
    sampling: Mapping[str, object]
    facts: Facts
    pacer: Pacer
    on_first_retry: Callable[[str], None]

    def tasks(self, entry: Entry) -> Iterator[Task]:
        """The questions about an entry, one for each sample. Raises PromptError."""
        rendered = self.prompt.render(entry, self.top_k)
        for sample in range(self.samples):
            question = Question(
                instance_id=entry.instance_id,
                repo=entry.repo,
                problem_statement=entry.problem_statement,
                system=rendered.system,
                prompt=rendered.user,
                top_k=self.top_k,
                sample=sample,
            )
            identity = fingerprint(
                instance_id=entry.instance_id,
                system=rendered.system,
                prompt=rendered.user,
                prompt_version=self.prompt.version,
                backend=self.model.backend,
                model=self.model.model,
                top_k=self.top_k,
                sampling=dict(self.sampling),
                sample=sample,
            )
            yield Task(entry, question, identity)

    def result_of(self, task: Task) -> Result | None:
        """Ask and score; None when the run stopped before there was an answer or a final failure."""
        waited = 0.0
        tries = 0
        while self.pacer.wait_for_turn():
            tries += 1
            try:
                answer = self.model.ask(task.question, self.timeout)
            except ModelError as error:
                if self.pacer.stopping():
                    return None
                if error.retryable:
                    self.on_first_retry(f"A question failed and is asked again: {error}")
                seconds = self.pacer.wait_after(error, tries, waited)
                if seconds is None:
                    return self._result(task, tries, failure=Failure(error.kind, str(error)))
                waited += seconds
            except Exception as error:  # noqa: BLE001 - one entry's failure never stops the others
                return self._result(task, tries, failure=_own_fault(error))
            else:
                return self._scored(task, tries, answer)
        return None

    def _scored(self, task: Task, tries: int, answer: Answer) -> Result:
        try:
            prediction = parse_prediction(answer.text, self.top_k, task.entry.repo)
            failure = None
            if prediction.status == "error":
                failure = Failure("bad-response", _no_text(answer))
            return self._result(task, tries, answer=answer, prediction=prediction, failure=failure)
        except Exception as error:  # noqa: BLE001 - what was paid for is kept
            return self._result(task, tries, answer=answer, failure=_own_fault(error))

    def _result(
        self,
        task: Task,
        tries: int,
        *,
        answer: Answer | None = None,
        prediction: Prediction = _NO_ANSWER,
        failure: Failure | None = None,
    ) -> Result:
        entry, condition = task.entry, self.model.condition
        gold = entry.gold_files
        gold_paths = tuple(file.path for file in gold)
        facts = self.facts(entry, prediction) if failure is None else None
        return Result(
            instance_id=entry.instance_id,
            model=answer.model if answer else self.model.model,
            created_at=entry.created_at.isoformat() if entry.created_at else "",
            area=entry.area,
            top_k=self.top_k,
            gold_files=gold_paths,
            predicted_files=prediction.paths,
            score=score_prediction(prediction.paths, gold_paths),
            raw_output=_cut(answer.text) if answer else "",
            error=failure.message if failure else None,
            repo=entry.repo,
            status=prediction.status,
            sample=task.question.sample,
            fingerprint=task.fingerprint,
            backend=self.model.backend,
            requested_model=self.model.model,
            prompt=self.prompt.version,
            sampling=sampling_text(self.sampling),
            gold=gold,
            leakage=facts.leakage if facts else None,
            copied=facts.copied if facts else None,
            naming_files=facts.naming_files if facts else None,
            listed_files=facts.listed_files if facts else None,
            statement_chars=len(entry.problem_statement),
            statement_cut=entry.statement_cut,
            images=entry.images,
            tools_sent=condition.tools_sent,
            sandbox=condition.sandbox,
            self_test=condition.self_test,
            prompt_owner=condition.prompt_owner,
            error_kind=failure.kind if failure else None,
            input_tokens=answer.input_tokens if answer else None,
            output_tokens=answer.output_tokens if answer else None,
            seconds=answer.seconds if answer else None,
            attempts=tries,
            finish_reason=answer.finish_reason if answer else None,
        )


def _cut(text: str) -> str:
    if len(text) <= LONGEST_RAW_OUTPUT:
        return text
    return f"{text[:LONGEST_RAW_OUTPUT]}\n[cut here: the answer had {len(text):,} characters]"


def _no_text(answer: Answer) -> str:
    reason = f" (finish reason: {answer.finish_reason})" if answer.finish_reason else ""
    return f"The model answered without any text{reason}."


def _own_fault(error: Exception) -> Failure:
    """Where our own code failed. The text of the exception stays out: it may hold anything."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return Failure("internal", f"A fault of bccontam: {type(error).__name__}{where}; please report it.")
