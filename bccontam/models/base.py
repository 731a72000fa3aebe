"""What every backend is held to: one question in, one answer or one typed error out.

A backend makes one attempt. Waiting, retrying and pacing belong to `bccontam.probe`, so that a rate
limit slows every worker and not one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

ErrorKind = Literal[
    "authentication",  # 401, 403, no token: asking again cannot help
    "not-found",  # no such model, deployment or URL
    "rate-limit",  # slow down, then ask again
    "quota",  # paid-for requests are used up: asking again cannot help
    "timeout",  # no answer in time
    "connection",  # refused, reset, cut, certificate
    "server",  # 5xx
    "bad-request",  # 4xx that is our request's fault
    "bad-response",  # an answer that is no answer
    "tool-request",  # the model asked for a tool: the condition is broken, never scored
    "unavailable",  # the backend itself cannot run here (no binary, no package)
]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. The model sees `system` and `prompt` and nothing else of this."""

    instance_id: str
    repo: str
    problem_statement: str
    system: str
    prompt: str
    top_k: int
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer. `model` is the id the API returned; `seconds` the wall time of the attempt."""

    text: str
    model: str
    seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """How the context-free condition was enforced; written into every result.

    `tools_sent`: number of tools the request carried (None: not known). `sandbox`: `landlock abi N`, `none`, or
    `no process` (nothing but an HTTP request leaves us). `self_test`: `passed`, `failed: WHAT`, `not needed`
    (no process of its own), or `not run`. `prompt_owner`: whose text stands before our prompt (`ours`, or the
    agent's own, which makes it another experiment).
    """

    tools_sent: int | None
    sandbox: str
    self_test: str
    prompt_owner: str = "ours"


class ModelError(Exception):
    """One failed attempt. The message is scrubbed of credentials and fit for a report.

    `retry_after` is in seconds, as the server asked. `retryable` says whether asking again may help.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status


class Model(Protocol):
    """A backend. `ask` may be called from several threads at once."""

    @property
    def backend(self) -> str:
        """The registry name, such as `openai`."""

    @property
    def model(self) -> str:
        """The model id as asked for; part of the fingerprint."""

    @property
    def condition(self) -> Condition:
        """How the context-free condition is enforced for every answer of this run."""

    def ask(self, question: Question, timeout: float) -> Answer:
        """One attempt, at most `timeout` seconds. Raises ModelError."""

    def close(self) -> None:
        """Release processes and connections; safe to call twice and while questions are in flight."""
