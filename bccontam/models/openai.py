"""Any server that speaks chat completions: OpenAI, Azure's `/openai/v1`, Ollama, vLLM, llama.cpp.

The reference backend: the request holds our messages and nothing else, no tool and no history. It makes one
attempt and gives one answer or one typed failure; when to ask again is not decided here.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from base64 import b64encode
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from bccontam.errors import SettingsError
from bccontam.models.base import Answer, Condition, ModelError, Question
from bccontam.models.chat_reply import Scrub, failure_of, read_answer, refused_parameter
from bccontam.models.exchange import LARGEST_ANSWER, ExpiredError, Line, Received, TooLargeError

if TYPE_CHECKING:
    from requests import PreparedRequest

MAX_TOKENS = 16_000
"""Bound on an answer's tokens, reasoning included, so that a model that rambles comes to an end."""

_ADAPTABLE = ("max_tokens", "max_completion_tokens", "temperature", "response_format")
_AZURE_HOSTS = (".azure.com", ".azure.us", ".azure.cn")
_PATH = "/chat/completions"


def temperature_for(samples: int) -> float:
    """0 for one answer an entry; 1, the APIs' default, for several: equal answers would tell nothing new."""
    return 0.0 if samples == 1 else 1.0


class OpenAIModel:
    """A chat-completions server at `base_url` (with its `/v1`); `api_key` is empty where none is needed.

    `temperature` None leaves the server's default. `json_schema` asks for an object with a list `files` of at
    most top-k strings; small local models need it. A parameter that the server refuses by name is adapted,
    resent, and left so for the run: `max_tokens` becomes `max_completion_tokens`, any other is left out.
    Raises SettingsError for a base URL or key that cannot be used, without repeating it.
    """

    backend = "openai"
    condition = Condition(tools_sent=0, sandbox="no process", self_test="not needed", prompt_owner="ours")

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        temperature: float | None = None,
        json_schema: bool = False,
        max_tokens: int | None = MAX_TOKENS,
    ) -> None:
        self.model = model
        self._server = _Server(base_url, api_key)
        self._temperature = temperature
        self._json_schema = json_schema
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._adapted: dict[str, str | None] = {}
        self._idle: list[Line] = []
        self._lines: list[Line] = []
        self._closed = False

    def ask(self, question: Question, timeout: float) -> Answer:
        """One attempt, at most `timeout` seconds with whatever must be resent. Raises ModelError."""
        started = time.monotonic()
        line = self._take_line()
        try:
            while True:
                body = self._body(question)
                received = self._exchange(line, body, timeout - (time.monotonic() - started))
                refused = refused_parameter(received, body, _ADAPTABLE)
                if refused is None:
                    break
                self._adapt(refused, received)
        finally:
            self._give_back(line)
        host, scrub = self._server.host, self._server.scrub
        if not 200 <= received.status < 300:
            raise failure_of(received, host, scrub)
        return read_answer(received, self.model, time.monotonic() - started, host, scrub)

    def close(self) -> None:
        """Cut what is in flight and release every connection."""
        with self._lock:
            self._closed = True
            lines, self._lines, self._idle = self._lines, [], []
        for line in lines:
            line.close()

    def _body(self, question: Question) -> dict[str, Any]:
        messages = [{"role": "system", "content": question.system}] if question.system else []
        messages.append({"role": "user", "content": question.prompt})
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        wanted = {
            "max_tokens": self._max_tokens,
            "temperature": self._temperature,
            "response_format": _files_schema(question.top_k) if self._json_schema else None,
        }
        with self._lock:
            adapted = dict(self._adapted)
        for name, value in wanted.items():
            current: str | None = name
            while current in adapted:
                current = adapted[current]
            if value is not None and current is not None:
                body[current] = value
        return body

    def _adapt(self, refused: str, received: Received) -> None:
        """Remember for the run how a refused parameter is sent from now on."""
        renamed = refused == "max_tokens" and b"max_completion_tokens" in received.body
        too_large = b"too large" in received.body or b"maximum context" in received.body
        with self._lock:
            self._adapted.setdefault(refused, "max_completion_tokens" if renamed and not too_large else None)

    def _exchange(self, line: Line, body: dict[str, Any], left: float) -> Received:
        host = self._server.host
        try:
            if left <= 0:
                raise ExpiredError
            return line.post(json.dumps(body).encode(), left)
        except ExpiredError:
            if self._closed:
                raise ModelError("connection", "The run was stopped while this was being asked.") from None
            raise _no_answer_in_time(host) from None
        except TooLargeError:
            message = f"{host} sent an answer of more than {LARGEST_ANSWER:,} bytes; the rest was not read."
            raise ModelError("bad-response", message) from None
        except (OSError, ValueError) as error:
            raise _connection_failure(error, host) from None

    def _take_line(self) -> Line:
        with self._lock:
            if self._closed:
                raise ModelError("connection", "The model was closed; nothing more is asked.")
            if self._idle:
                return self._idle.pop()
            line = Line(self._server.url, self._server.authorize)
            self._lines.append(line)
            return line

    def _give_back(self, line: Line) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(line)


class _Server:
    """Where the server is and how it knows us; keeps the secrets and the scrubbing of them together."""

    def __init__(self, base_url: str, api_key: str) -> None:
        try:
            parts = urlsplit(base_url.strip())
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or parts.query or parts.fragment:
            raise SettingsError("base-url: not an address of a server; use one such as https://host/v1.")
        self._key = api_key.strip()
        if not all("!" <= character <= "~" for character in self._key):
            raise SettingsError("api-key: holds blanks or characters that no key has; give it again.")
        user, _, self.host = parts.netloc.rpartition("@")
        if user and self._key:
            raise SettingsError(
                "base-url: holds a user name while api-key is given too; give only one of them."
            )
        self._basic = b64encode(unquote(user).encode()).decode() if user else ""
        self.scrub = Scrub([self._key, user, unquote(user), unquote(user.partition(":")[2]), self._basic])
        path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
        self.url = urlunsplit((parts.scheme, self.host, path, "", ""))
        # On a host that is not Azure's own, the path of its API may be a gateway's or somebody else's.
        azure = (parts.hostname or "").endswith(_AZURE_HOSTS)
        entra_token = self._key.startswith("eyJ") and self._key.count(".") == 2
        self._as_api_key = azure or parts.path.rstrip("/").removesuffix(_PATH).endswith("/openai/v1")
        self._as_bearer = not azure or entra_token

    def authorize(self, request: PreparedRequest) -> PreparedRequest:
        """Put the credentials on a request."""
        if self._basic:
            request.headers["Authorization"] = f"Basic {self._basic}"
        if self._key and self._as_bearer:
            request.headers["Authorization"] = f"Bearer {self._key}"
        if self._key and self._as_api_key:
            request.headers["api-key"] = self._key
        return request


def _files_schema(top_k: int) -> dict[str, Any]:
    files = {"type": "array", "items": {"type": "string"}, "maxItems": top_k}
    schema = {
        "type": "object",
        "properties": {"files": files},
        "required": ["files"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "files", "strict": True, "schema": schema}}


def _connection_failure(error: Exception, host: str) -> ModelError:
    """The failure behind an exception of `requests`, whose own text may hold the credentials of a proxy."""
    from requests import ConnectionError as NoConnection
    from requests import ReadTimeout
    from requests.exceptions import ChunkedEncodingError, ContentDecodingError, ProxyError

    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    reason = getattr(cause, "verify_message", "") or getattr(cause, "strerror", None) or type(cause).__name__
    if isinstance(error, ReadTimeout):
        return _no_answer_in_time(host)
    if isinstance(error, ContentDecodingError):
        return ModelError("bad-response", f"{host} sent an answer that cannot be decoded.")
    if isinstance(error, ChunkedEncodingError):
        return ModelError("connection", f"The answer of {host} broke off: {reason}.", retryable=True)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return ModelError(
            "connection", f"The certificate of {host} is not trusted: {reason}; check base-url."
        )
    refused = isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError)
    passing = isinstance(error, NoConnection) and not refused
    through = " through the proxy of the environment" if isinstance(error, ProxyError) else ""
    return ModelError("connection", f"The connection to {host}{through} failed: {reason}.", retryable=passing)


def _no_answer_in_time(host: str) -> ModelError:
    return ModelError("timeout", f"{host} gave no complete answer in time; see the input timeout.")
