"""Reads what the Copilot CLI reports about one question, and judges it: an answer, or one typed error.

Both Copilot backends feed a `Transcript`, from JSON lines or from the SDK; the event names and fields are
those of the CLI's `session-events.schema.json` (1.0.102). Nothing is started and nothing is asked here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from bccontam.models.base import Answer, ErrorKind, ModelError

# Any of these says that the model, or the CLI on its behalf, reached for more than the prompt.
_TOOL_EVENTS = (
    "tool.",
    "external_tool.",
    "permission.",
    "subagent.",
    "skill.",
    "user_input.",
    "elicitation.",
)
# What the CLI writes in place of an answer that the server held back.
_FILTERED = "The model returned no content because the response was blocked by content filtering."
_RETRYABLE: frozenset[ErrorKind] = frozenset({"rate-limit", "server", "connection"})
_BY_STATUS: dict[int, ErrorKind] = {
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "not-found",
    407: "connection",
    408: "timeout",
    409: "server",
    425: "server",
    429: "rate-limit",
}
_PACE = (408, 409, 425, 429)  # and 5xx: worth another try, some time later
_BY_TYPE: dict[str, ErrorKind] = {
    "authentication": "authentication",
    "authorization": "authentication",
    "policy": "authentication",
    "quota": "quota",
    "rate_limit": "rate-limit",
    "context_limit": "bad-request",
}
_BY_TEXT: tuple[tuple[str, ErrorKind], ...] = (
    (r"No response was returned|not valid JSON", "bad-response"),
    (r"network fetch failed|error sending request|dns error|ENOTFOUND|ECONN", "connection"),
    (r"authenticat|OAuth token|access tokens? .*not supported|\bnot logged in\b", "authentication"),
    (r"rate.?limit", "rate-limit"),
    (r"quota|out of credits", "quota"),
    (r"model\b.{0,80}\b(not found|not available|not supported|unknown)", "not-found"),
    (r"prompt budget|context window|too (long|large)", "bad-request"),
    (r"connect|network|timed out|response body", "connection"),
)
_DATE = re.compile(r"\A\s*<current_datetime>[^<>]{1,60}</current_datetime>")
_SPENT = re.compile(r"insufficient_quota|quota|weekly|monthly|credit")


class Transcript:
    """The events of one question, as they come.

    `settled` turns true when waiting for more can change nothing. That is early: a failed request settles
    when trying again is a matter of pace, because the CLI would retry by itself, up to a minute and unseen.
    `system` (None: the CLI's own) and `prompt` are what may be sent, and are compared with what was. `scrub`
    makes a text from outside fit for a message.
    """

    def __init__(self, system: str | None, prompt: str, scrub: Callable[[str], str]) -> None:
        self._system_text = system
        self._prompt = prompt
        self._scrub = scrub
        self._error: ModelError | None = None
        self._text: str | None = None
        self._models: dict[str, str] = {}
        self._finish_reasons: list[str] = []
        self._turns = 0
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None
        self.settled = False

    def add(self, kind: str, data: Mapping[str, Any]) -> None:
        """One event. Never raises: a field of an unexpected form counts as missing."""
        if kind.startswith(_TOOL_EVENTS):
            self._tool_request(_first_name(data))
        elif kind == "assistant.turn_start":
            self._turns += 1
        elif kind == "assistant.message":
            self._message(data)
        elif kind == "assistant.usage":
            self._usage(data)
        elif kind == "session.usage_record" and isinstance(data.get("usage"), Mapping):
            self._usage(data["usage"])
        elif kind == "system.message":
            self._check_system(data.get("content"))
        elif kind == "user.message":
            self._check_prompt(data.get("transformedContent"))
        elif kind == "model.call_failure":
            self._call_failure(data)
        elif kind == "session.error":
            self._fail(_failure(data.get("statusCode"), data.get("errorType"), data.get("message"), data))
        elif kind in ("session.idle", "result"):
            self.settled = True
        elif data.get("kind") == "model_call_success":
            # Not in the schema, and the only place where the id that the server returned is told.
            chunk = data.get("responseChunk")
            self._name("returned", chunk.get("model") if isinstance(chunk, Mapping) else None)

    @property
    def failed(self) -> bool:
        """Whether an error stands."""
        return self._error is not None

    def fail(self, kind: ErrorKind, message: str) -> None:
        """An error from outside: the process ended, the time is up. The first error stands."""
        self._fail(ModelError(kind, message, retryable=kind in _RETRYABLE))

    def fail_by_text(self, text: str) -> None:
        """The CLI ended without an event that says why: judge what it wrote to standard error."""
        text = text or "The Copilot CLI ended without an answer."
        self._fail(error_from_text(text, "bad-response", self._scrub))

    def answer(self, seconds: float) -> Answer:
        """The answer, or ModelError.

        A reply that the CLI let the model continue over several turns has the finish reason `length`; its
        text is the last piece.
        """
        if self._error:
            raise self._error
        if self._text is None:
            raise ModelError("bad-response", "The Copilot CLI reported no answer.")
        text, finish_reason = self._text, self._finish_reasons[-1] if self._finish_reasons else None
        if text.strip() == _FILTERED:
            text, finish_reason = "", "content_filter"
        elif self._turns > 1 or "length" in self._finish_reasons:
            finish_reason = "length"
        ids = [self._models[source] for source in ("returned", "used", "message") if source in self._models]
        return Answer(
            text=text,
            model=ids[0] if ids else "",
            seconds=seconds,
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
            finish_reason=finish_reason,
        )

    def _fail(self, error: ModelError) -> None:
        self.settled = True
        if self._error is None:
            message = self._scrub(str(error))
            self._error = ModelError(
                error.kind, message, retryable=error.retryable, retry_after=None, status=error.status
            )

    def _tool_request(self, name: str) -> None:
        """Outranks any other error: the condition is broken."""
        self.settled = True
        if self._error is None or self._error.kind != "tool-request":
            self._error = ModelError(
                "tool-request", f"The model asked for a tool ({name}), so it did not answer context-free."
            )

    def _message(self, data: Mapping[str, Any]) -> None:
        if data.get("toolRequests"):
            self._tool_request(_first_name(data))
        elif isinstance(data.get("content"), str):
            self._text = data["content"]
            self._name("message", data.get("model"))

    def _name(self, source: str, model: object) -> None:
        if isinstance(model, str) and model:
            self._models[source] = self._scrub(model)

    def _usage(self, data: Mapping[str, Any]) -> None:
        self._name("used", data.get("model"))
        self._input_tokens = _sum(self._input_tokens, data.get("inputTokens"))
        self._output_tokens = _sum(self._output_tokens, data.get("outputTokens"))
        if isinstance(data.get("finishReason"), str):
            self._finish_reasons.append(data["finishReason"])
        tools = data.get("availableToolCount")
        if isinstance(tools, int) and tools > 0:
            self._tool_request(f"{tools} were offered")

    def _check_system(self, sent: object) -> None:
        if (
            self._system_text is not None
            and isinstance(sent, str)
            and sent.split() != self._system_text.split()
        ):
            self.fail("bad-request", "The system prompt that was sent is not ours: the CLI changed it.")

    def _check_prompt(self, sent: object) -> None:
        """Nothing but the time of day may stand before our prompt."""
        if isinstance(sent, str) and _DATE.sub("", sent, count=1).split() != self._prompt.split():
            self.fail("bad-request", "The prompt that was sent is not ours: the CLI changed it.")

    def _call_failure(self, data: Mapping[str, Any]) -> None:
        status = data.get("statusCode")
        pace = status in _PACE or (isinstance(status, int) and status >= 500)
        broken = status is None and data.get("failureKind") == "transport"
        if (pace or broken) and data.get("transport") != "websocket":
            self._fail(_failure(status, None, data.get("errorMessage"), data))


def error_from_text(text: str, otherwise: ErrorKind, scrub: Callable[[str], str]) -> ModelError:
    """A typed error from what the CLI or the SDK wrote; of the kind `otherwise` when nothing tells."""
    kind = _kind_of_text(text) or otherwise
    return ModelError(kind, scrub(text), retryable=kind in _RETRYABLE)


def _failure(status: object, error_type: object, message: object, data: Mapping[str, Any]) -> ModelError:
    text = _plain(message)
    code = f"{data.get('errorCode') or ''} {data.get('providerErrorType') or ''} {error_type or ''}"
    kind = _kind(status, str(error_type or ""), code, text)
    number = status if isinstance(status, int) else None
    if number is not None:
        text = f"The model's server answered {number}: {text}"
    return ModelError(kind, text, retryable=kind in _RETRYABLE or number == 408, status=number)


def _kind(status: object, error_type: str, code: str, text: str) -> ErrorKind:
    if isinstance(status, int):
        kind = _BY_STATUS.get(status, "server" if status >= 500 else "bad-request")
    elif error_type in _BY_TYPE:
        kind = _BY_TYPE[error_type]
    else:
        kind = _kind_of_text(text) or "bad-response"
    return "quota" if kind == "rate-limit" and _SPENT.search(code.lower()) else kind


def _kind_of_text(text: str) -> ErrorKind | None:
    return next((kind for pattern, kind in _BY_TEXT if re.search(pattern, text, re.IGNORECASE)), None)


def _plain(message: object) -> str:
    """The sentence in a message, which may be a JSON text of the server's error object."""
    try:
        parsed = json.loads(message) if isinstance(message, str) else message
    except ValueError:
        parsed = message
    if isinstance(parsed, Mapping):
        parsed = parsed.get("message")
    return parsed if isinstance(parsed, str) and parsed else "no reason given"


def _first_name(data: Mapping[str, Any]) -> str:
    """The name of the tool, if it is a plain word: it is the model's text."""
    requests = data.get("toolRequests")
    first = requests[0] if isinstance(requests, list) and requests else data
    name = (first.get("name") or first.get("toolName")) if isinstance(first, Mapping) else None
    return name if isinstance(name, str) and re.fullmatch(r"[\w.-]{1,60}", name, re.ASCII) else "unnamed"


def _sum(so_far: int | None, more: object) -> int | None:
    return (so_far or 0) + more if isinstance(more, int) else so_far
