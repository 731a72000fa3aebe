"""GitHub's REST API through PyGithub: one place for tokens, retries, rate limits, paging and what can go wrong.

Answers are plain JSON, so that nothing is fetched behind the caller's back and no URL out of an answer is
followed to another server. It knows nothing of comments or datasets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

from bccontam.github.log import printable

if TYPE_CHECKING:
    from github import GithubRetry
    from github.Requester import Requester

RATE_LIMIT_SECONDS = 60.0
"""Most seconds that the rate limits of one client cost, all its requests together."""

PAGE = 100
"""Items on a page; the most that GitHub gives."""

_UNSTATED_WAIT = 55.0
"""Seconds to wait for a rate limit that does not say when it ends: about the minute GitHub asks for."""

_REPEATABLE = frozenset({"GET", "HEAD", "PATCH", "PUT", "DELETE"})
"""Sending these twice changes nothing; a POST would make a second comment."""

_LIMITED = re.compile(
    r"rate limit|abuse detection|retry your request again later|wait a few minutes", re.IGNORECASE
)
_NEXT_PAGE = re.compile(r'<([^<>]*)>\s*;[^,]*\brel="?next\b')
_LONGEST_MESSAGE = 200

Kind = Literal["refused", "rate-limit", "server", "network", "answer", "address"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client waits: `timeout` seconds for an answer, `rate_limit` seconds for rate limits in all,
    `backoff` as the factor between tries of a failing server. `sleep` and `now` are for tests."""

    timeout: int = 15
    rate_limit: float = RATE_LIMIT_SECONDS
    backoff: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time


class ApiError(Exception):
    """A request that did not succeed: `status` (0: no answer), `kind`, and the server's message made safe."""

    def __init__(self, kind: Kind, status: int, message: str) -> None:
        super().__init__(f"{status or kind}: {message}" if message else f"{status or kind}")
        self.kind = kind
        self.status = status
        self.message = message

    @property
    def is_missing(self) -> bool:
        """Whether there is nothing at that address (any more)."""
        return self.status in (404, 410)

    @property
    def may_be_done(self) -> bool:
        """Whether the server may have done what was asked although no success was heard of."""
        return self.kind in ("server", "network", "answer")


class Client:
    """A connection to one API server; use it in a `with` block. Its methods raise ApiError and nothing else.

    `api_url` is GITHUB_API_URL, such as https://api.github.com or https://HOST/api/v3. An empty token reads
    what is public. Proxies and certificates come from the environment, as `requests` reads it.
    """

    def __init__(self, api_url: str, token: str, patience: Patience | None = None) -> None:
        from github import Auth, Github

        self._patience = patience or Patience()
        self._token = token.strip()
        self._limit_left = self._patience.rate_limit
        self._limit_wait = 1.0
        self.api_url = api_url.rstrip("/")
        parts = urlsplit(self.api_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ApiError("address", 0, "GITHUB_API_URL is no address of the form https://host/path")
        self._github = Github(
            auth=Auth.Token(self._token) if self._token else None,
            base_url=self.api_url,
            timeout=self._patience.timeout,
            retry=_retry(self._patience.backoff),
            per_page=PAGE,
            seconds_between_requests=None,
            seconds_between_writes=None,
        )
        self._requester: Requester = self._github.requester

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._github.close()

    def get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> Any:
        """The JSON at a path below the base URL."""
        return self._send("GET", path, parameters)[1]

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer to a POST, which is sent once; `ApiError.may_be_done` says that it may have worked."""
        return self._send("POST", path, None, body)[1]

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer to a PATCH."""
        return self._send("PATCH", path, None, body)[1]

    def delete(self, path: str) -> None:
        """Delete what is at a path."""
        self._send("DELETE", path)

    def pause(self) -> None:
        """Give a server that has just failed a moment."""
        self._patience.sleep(self._patience.backoff)

    def viewer(self) -> str:
        """The login that GraphQL knows this token by: it answers installation tokens too, which REST does not."""
        found = self._call(lambda: self._requester.graphql_query("query { viewer { login } }", {}))[1]
        try:
            return str(found["data"]["viewer"]["login"])
        except (KeyError, TypeError):
            raise ApiError("answer", 0, "a login was expected") from None

    def pages(
        self, path: str, parameters: Mapping[str, str | int] | None = None
    ) -> Iterator[list[dict[str, Any]]]:
        """The pages of a list, each read when it is asked for."""
        number, asked = 1, path
        wanted: Mapping[str, str | int] | None = {"per_page": PAGE, **(parameters or {})}
        while True:
            headers, found = self._send("GET", asked, wanted)
            if not isinstance(found, list):
                raise ApiError("answer", 0, "a list was expected")
            yield [item for item in found if isinstance(item, dict)]
            link = headers.get("link", "")
            following = _NEXT_PAGE.search(link)
            if not following and (link or len(found) < PAGE):
                return
            number += 1
            # The server's own address of the next page, unless it names another server (a proxy's, localhost).
            if following and following[1].startswith(f"{self.api_url}/"):
                asked, wanted = following[1], None
            else:
                asked, wanted = path, {"per_page": PAGE, **(parameters or {}), "page": number}

    def _send(
        self,
        verb: str,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Any], Any]:
        def send() -> tuple[dict[str, Any], Any]:
            return self._requester.requestJsonAndCheck(
                verb, path, parameters=dict(parameters or {}), input=dict(body) if body is not None else None
            )

        return self._call(send)

    def _call(self, send: Callable[[], tuple[dict[str, Any], Any]]) -> tuple[dict[str, Any], Any]:
        """Send, and once more after each rate limit that ends soon enough.

        A request that meets a rate limit has not been carried out, so any kind of it may be sent again.
        """
        from github import GithubException
        from requests import RequestException

        while True:
            try:
                return send()
            except GithubException as error:
                headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
                told = self._message(error)
                seconds = _rate_limit_wait(error.status, headers, told, self._patience.now())
                if seconds is None:
                    raise ApiError(
                        "server" if error.status >= 500 else "refused", error.status, told
                    ) from None
                seconds = max(seconds, self._limit_wait)
                if seconds > self._limit_left:
                    raise ApiError("rate-limit", error.status, told) from None
                self._limit_left -= seconds
                self._limit_wait *= 2  # a limit that should have ended is not asked again and again
                self._patience.sleep(seconds)
            except RequestException as error:
                # Its text may hold a proxy's password or, for a broken token, the token: the type says enough.
                raise ApiError("network", 0, type(error).__name__) from None
            except (AssertionError, RuntimeError):
                reason = "the server refers to another address than GITHUB_API_URL, and the token is not sent there"
                raise ApiError("address", 0, reason) from None
            except Exception as error:  # noqa: BLE001 - PyGithub stumbles over answers it does not expect
                raise ApiError("answer", 0, f"unreadable, {type(error).__name__}") from None

    def _message(self, error: Exception) -> str:
        data = getattr(error, "data", None)
        message = data.get("message") if isinstance(data, dict) else None
        if not isinstance(message, str):
            return ""
        if self._token:
            message = message.replace(self._token, "***")
        return printable(message)[:_LONGEST_MESSAGE]


def _retry(backoff: float) -> GithubRetry:
    """Retries of what failed on the way or at the server (5xx), for requests that may be repeated.

    PyGithub's default would repeat a POST, would not repeat a PATCH, and would wait an hour for a rate limit;
    those are left to the client, which has one purse of seconds for all of them.
    """
    from github import GithubRetry

    class Retry(GithubRetry):
        def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
            return status_code >= 500 and super().is_retry(method, status_code)

    return Retry(
        total=2,
        other=0,
        allowed_methods=_REPEATABLE,
        backoff_factor=backoff,
        respect_retry_after_header=False,
        raise_on_status=False,
    )


def _rate_limit_wait(status: int, headers: Mapping[str, str], message: str, now: float) -> float | None:
    """Seconds until a rate limit ends, as GitHub documents its headers; None when there is no rate limit."""
    if status not in (403, 429):
        return None
    if "retry-after" in headers:
        return _retry_after(headers["retry-after"], now)
    used_up = headers.get("x-ratelimit-remaining") == "0"
    reset = headers.get("x-ratelimit-reset", "")
    if used_up and re.fullmatch(r"[0-9]{1,12}", reset, re.ASCII):
        return int(reset) - now + 1  # it ends somewhere within that second
    return _UNSTATED_WAIT if used_up or status == 429 or _LIMITED.search(message) else None


def _retry_after(value: str, now: float) -> float:
    if re.fullmatch(r"[0-9]{1,9}", value.strip(), re.ASCII):
        return float(value)
    try:
        end = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return _UNSTATED_WAIT
    return (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp() - now


def moment(value: object) -> datetime | None:
    """A time as GitHub writes it, such as 2025-03-01T10:00:00Z; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
