"""What a chat-completions server said: an answer, or a failure of a known kind.

Pure but for the clock that a `Retry-After` date is held against. What a server says is hostile text: it is
read with care, and what goes on into a message is scrubbed and short.
"""

from __future__ import annotations

import base64
import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlsplit

from bccontam.models.base import Answer, ErrorKind, ModelError
from bccontam.models.exchange import Received

_LONGEST_DETAIL = 300
_LONGEST_NAME = 200
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|rk|gsk|xai)-[\w*.\-]{6,}|\b(?:gh[a-z]_|github_pat_)\w{6,}|\beyJ[\w\-]{8,}\.[\w.\-]+"
    r"|(?<=Bearer )\S+",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ]quota|billing_hard_limit|billing_not_active|insufficient[_ ](?:credits?|balance|funds)"
    r"|plan and billing|credit balance is too low",
    re.IGNORECASE,
)

_FAILURES: dict[int, tuple[ErrorKind, bool, str]] = {
    401: ("authentication", False, "refused the key; check api-key"),
    402: ("quota", False, "asks for payment; the paid-for requests are used up"),
    403: ("authentication", False, "does not allow this key to ask this model"),
    404: ("not-found", False, "knows no such model or address; check model and base-url"),
    408: ("timeout", True, "gave up waiting for the request"),
    409: ("server", True, "met a conflict"),
    410: ("not-found", False, "no longer offers this model or address"),
    429: ("rate-limit", True, "limits how often it can be asked"),
}


class Scrub:
    """Makes text from outside fit for a message: no secret in any usual spelling, one line, short."""

    def __init__(self, secrets: Iterable[str]) -> None:
        spellings: set[str] = set()
        for secret in secrets:
            if len(secret) >= 4:
                encoded = base64.b64encode(secret.encode()).decode()
                spellings |= {secret, quote(secret, safe=""), quote(secret), encoded, encoded.rstrip("=")}
                spellings.add(json.dumps(secret)[1:-1])
        self._spellings = sorted(spellings, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for spelling in self._spellings:
            text = text.replace(spelling, "***")
        text = _LOOKS_SECRET.sub("***", text)
        text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _LONGEST_DETAIL]).split())
        return text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + " ..."


def read_answer(received: Received, asked_model: str, seconds: float, host: str, scrub: Scrub) -> Answer:
    """The first choice of a completion; its text is empty where there is no choice or no content.

    Raises ModelError: `tool-request` when the model asked for a tool, `bad-response` for no completion.
    """
    payload = _json(received.body)
    if not isinstance(payload, dict):
        raise ModelError(
            "bad-response", f"{host} sent something that is not a JSON object.", status=received.status
        )
    if payload.get("error") and not payload.get("choices"):
        raise _failure_in_disguise(received, payload["error"], host, scrub)
    choices = payload.get("choices")
    if not isinstance(choices, list) or (choices and not isinstance(choices[0], dict)):
        raise ModelError(
            "bad-response", f"{host} sent JSON that is no chat completion.", status=received.status
        )
    choice = choices[0] if choices else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish_reason = _name(choice.get("finish_reason"))
    asked_for_tool = message.get("tool_calls") or message.get("function_call")
    if asked_for_tool or finish_reason in ("tool_calls", "function_call"):
        raise ModelError("tool-request", "The model asked for a tool although none was offered.")
    usage = payload.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Answer(
        text=_text(message.get("content")) or _text(message.get("refusal")),
        model=_name(payload.get("model")) or asked_model,
        seconds=seconds,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        finish_reason=finish_reason,
    )


def failure_of(received: Received, host: str, scrub: Scrub) -> ModelError:
    """The typed failure of a response whose status is not 2xx."""
    status = received.status
    detail = _detail(_json(received.body))
    if 300 <= status < 400:
        target = _redirect_target(received.headers.get("Location", ""))
        message = (
            f"{host} redirects to {scrub(target)} (HTTP {status}), which is not followed; check base-url."
        )
        return ModelError("not-found", message, status=status)
    kind, retryable, what = _FAILURES.get(status, ("bad-request", False, "refused the request"))
    if status >= 500:
        kind, retryable, what = "server", True, "failed"
    if status == 429 and _NO_MONEY.search(json.dumps(_json(received.body))):
        kind, retryable, what = "quota", False, "says that the paid-for requests are used up"
    message = f"{host} {what} (HTTP {status})" + (f": {scrub(detail)}" if detail else ".")
    retry_after = _retry_after(received.headers) if retryable else None
    return ModelError(kind, message, retryable=retryable, retry_after=retry_after, status=status)


def refused_parameter(received: Received, sent: Mapping[str, Any], adaptable: Iterable[str]) -> str | None:
    """The parameter of `sent` that a 400 (or 422) names, or None."""
    if received.status not in (400, 422):
        return None
    payload = _json(received.body)
    error = payload.get("error") if isinstance(payload, dict) else None
    named = error.get("param") if isinstance(error, dict) else None
    candidates = [name for name in adaptable if name in sent]
    if named in candidates:
        return str(named)
    detail = _detail(payload)
    return next((name for name in candidates if re.search(rf"\b{name}\b", detail)), None)


def _failure_in_disguise(received: Received, error: object, host: str, scrub: Scrub) -> ModelError:
    """An error that came with a good status; its code may tell the status that was meant."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        return failure_of(Received(code, received.headers, received.body), host, scrub)
    detail = scrub(_detail({"error": error}))
    return ModelError(
        "bad-response", f"{host} sent an error in place of an answer: {detail}", status=received.status
    )


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _detail(payload: object) -> str:
    """The server's own words, in the forms OpenAI, Ollama, vLLM and FastAPI use."""
    if isinstance(payload, dict):
        for name in ("error", "message", "detail"):
            value = payload.get(name)
            if isinstance(value, dict | list):
                inner = _detail(value) if isinstance(value, dict) else ""
                return inner or json.dumps(value)
            if isinstance(value, str):
                return value
    return ""


def _redirect_target(location: str) -> str:
    """Where a redirect points, without user, query and fragment: those may hold secrets."""
    try:
        parts = urlsplit(location)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{host}{parts.path}" if parts.scheme else f"{host}{parts.path}" or "nowhere"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from milliseconds, seconds or an HTTP date (held against the server's own clock)."""
    if milliseconds := _seconds(headers.get("retry-after-ms", "")):
        return milliseconds / 1000
    value = headers.get("Retry-After", "").strip()
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    until = _moment(value)
    if until is None:
        return None
    now = _moment(headers.get("Date", ""))
    return max(0.0, until - (time.time() if now is None else now))


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _moment(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None


def _text(content: object) -> str:
    """The text of a message's content, a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        part for part in content if isinstance(part, dict) and part.get("type") in ("text", "output_text")
    ]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _name(value: object) -> str | None:
    return value[:_LONGEST_NAME] if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
