"""GitHub's API on loopback for what no emulator does: faults, rate limits, races, a GHES prefix, a proxy.

It keeps comments and carries out what is asked; a test puts faults in front of that. With a git repository it
serves its commits, trees and blobs. It judges nothing: a test looks at `requests` and `comments`.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

ACTIONS = "github-actions[bot]"
_START = datetime(2025, 3, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Request:
    """One recorded request; `host` is where it was meant to go, which differs when we are the proxy."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any
    host: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The next request of this method, below a path that holds `path`, gets this answer instead of its own.

    `carried_out`: the work is done all the same, as behind a gateway that gives up too early. `times`: how often.
    `raw`: bytes in place of JSON. `hang_up`: the connection ends without an answer.
    """

    method: str
    status: int = 502
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    carried_out: bool = False
    times: int = 1
    raw: bytes | None = None
    hang_up: bool = False


class FaultGithub:
    """Serves `acme/widgets` on 127.0.0.1 while its `with` block runs. `url` is its GITHUB_API_URL.

    `login` is the author of what is created; `knows_itself` is whether GET /user and GraphQL tell it. `before` is
    called with each request before its answer. `clock` gives each change its own second.
    """

    def __init__(
        self,
        *faults: Fault,
        prefix: str = "",
        login: str = ACTIONS,
        knows_itself: bool = False,
        repository: Path | None = None,
    ) -> None:
        self.faults = [fault for fault in faults for _ in range(fault.times)]
        self.prefix = prefix
        self.login = login
        self.knows_itself = knows_itself
        self.repository = repository
        self.comments: list[dict[str, Any]] = []
        self.pulls: dict[int, dict[str, Any]] = {}
        self.requests: list[Request] = []
        self.before: Callable[[Request], None] = lambda request: None
        self.linked = True
        """Whether lists have a Link header, with addresses of `link_url`."""
        self.lock = threading.RLock()
        self._ticks = 0
        self._git_program = shutil.which("git") or "git"
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{prefix}"
        self.link_url = self.url
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add(self, body: str | None, login: str | None = ACTIONS, kind: str = "Bot", **fields: Any) -> int:
        """Put a comment there; its id. `login` None: a deleted account."""
        with self.lock:
            number: int = fields.pop("id", max((comment["id"] for comment in self.comments), default=10) + 1)
            now = self._now()
            self.comments.append(
                {
                    "id": number,
                    "user": None if login is None else {"login": login, "type": kind},
                    "body": body,
                    "html_url": f"https://github.example.invalid/acme/widgets/pull/7#issuecomment-{number}",
                    "created_at": now,
                    "updated_at": now,
                    **fields,
                }
            )
            return number

    def _now(self) -> str:
        self._ticks += 1
        return f"{_START + timedelta(seconds=self._ticks):%Y-%m-%dT%H:%M:%SZ}"

    def count(self, method: str, path: str = "/comments") -> int:
        """Requests of a method below a path that holds `path`."""
        return sum(request.method == method and path in request.path for request in self.requests)

    @property
    def bodies(self) -> list[str]:
        """What the comments say."""
        return [comment["body"] for comment in self.comments]

    def take_fault(self, request: Request) -> Fault | None:
        """The fault that is due for a request; it is used up."""
        with self.lock:
            for fault in self.faults:
                if fault.method == request.method and fault.path in request.path:
                    self.faults.remove(fault)
                    return fault
        return None

    def answer(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        """Status, JSON and headers of a request that is carried out."""
        path = request.path.removeprefix(self.prefix)
        if path.endswith("/graphql"):
            return self._graphql()
        if path == "/user":
            return self._user()
        if found := re.fullmatch(r"/repos/acme/widgets/issues/comments/(\d+)", path):
            return self._one_comment(request, int(found[1]))
        if re.fullmatch(r"/repos/acme/widgets/issues/7/comments", path):
            return self._all_comments(request)
        if found := re.fullmatch(r"/repos/acme/widgets/pulls/(\d+)", path):
            pull = self.pulls.get(int(found[1]))
            return (200, pull, {}) if pull else _missing()
        if self.repository is not None and (found := re.match(r"/repos/(acme|visitor)/widgets/", path)):
            return self._git(path.removeprefix(found[0]), request.query)
        return _missing()

    def _graphql(self) -> tuple[int, Any, dict[str, str]]:
        if not self.knows_itself:
            return _missing()
        return 200, {"data": {"viewer": {"login": self.login}}}, {}

    def _user(self) -> tuple[int, Any, dict[str, str]]:
        if self.knows_itself and not self.login.endswith("[bot]"):
            return 200, {"login": self.login}, {}
        return 403, {"message": "Resource not accessible by integration"}, {}

    def _all_comments(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        with self.lock:
            if request.method == "POST":
                number = self.add(request.body["body"], self.login, "Bot" if "[" in self.login else "User")
                return 201, next(comment for comment in self.comments if comment["id"] == number), {}
            since = request.query.get("since", [""])[0]
            found = [dict(comment) for comment in self.comments if comment["updated_at"] >= since]
        size = int(request.query.get("per_page", ["30"])[0])
        page = int(request.query.get("page", ["1"])[0])
        headers = {}
        if self.linked and page * size < len(found):
            address = f"{self.link_url}/repos/acme/widgets/issues/7/comments"
            following = f"per_page={size}&page={page + 1}" + (f"&since={since}" if since else "")
            headers["Link"] = f'<{address}?{following}>; rel="next", <{address}>; rel="last"'
        return 200, found[(page - 1) * size : page * size], headers

    def _one_comment(self, request: Request, number: int) -> tuple[int, Any, dict[str, str]]:
        with self.lock:
            comment = next((comment for comment in self.comments if comment["id"] == number), None)
            if comment is None:
                return _missing()
            if request.method == "DELETE":
                self.comments.remove(comment)
                return 204, None, {}
            comment |= {"body": request.body["body"], "updated_at": self._now()}
            return 200, dict(comment), {}

    def _git(self, path: str, query: Mapping[str, list[str]]) -> tuple[int, Any, dict[str, str]]:
        """Compare, trees and blobs of the repository, as the REST API gives them."""
        try:
            if path.startswith("compare/"):
                base, _, head = path.removeprefix("compare/").partition("...")
                return (
                    200,
                    {"merge_base_commit": {"sha": self._run("merge-base", base, head).decode().strip()}},
                    {},
                )
            if path.startswith("git/commits/"):
                sha = path.removeprefix("git/commits/")
                return (
                    200,
                    {"sha": sha, "tree": {"sha": self._run("rev-parse", f"{sha}^{{tree}}").decode().strip()}},
                    {},
                )
            if path.startswith("git/trees/"):
                return 200, self._tree(path.removeprefix("git/trees/"), "recursive" in query), {}
            if path.startswith("git/blobs/"):
                sha = path.removeprefix("git/blobs/")
                content = base64.encodebytes(self._run("cat-file", "blob", sha)).decode()
                return 200, {"sha": sha, "encoding": "base64", "content": content}, {}
        except subprocess.CalledProcessError:
            pass
        return _missing()

    def _tree(self, sha: str, recursive: bool) -> dict[str, Any]:
        flags = ["-r", "-t"] if recursive else []
        lines = self._run("ls-tree", "-z", "-l", *flags, f"{sha}^{{tree}}").decode().split("\0")
        entries = []
        for line in filter(None, lines):
            about, _, name = line.partition("\t")
            mode, kind, identity, _ = about.split()
            entries.append({"path": name, "mode": mode, "type": kind, "sha": identity})
        return {"sha": sha, "tree": entries, "truncated": False}

    def _run(self, *words: str) -> bytes:
        assert self.repository is not None
        command = [self._git_program, *words]
        return subprocess.run(command, cwd=self.repository, check=True, capture_output=True).stdout


def _missing() -> tuple[int, Any, dict[str, str]]:
    return 404, {"message": "Not Found"}, {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: FaultGithub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def log_request(self, *args: object) -> None:
        """Not to standard error."""

    def _serve(self) -> None:
        owner = self.server.owner
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(
            method=self.command,
            path=parts.path,
            query=parse_qs(parts.query),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(raw) if raw else None,
            host=parts.netloc or self.headers.get("Host", ""),
        )
        with owner.lock:
            owner.requests.append(request)
        owner.before(request)
        fault = owner.take_fault(request)
        if fault is None:
            self._send(*owner.answer(request))
            return
        if fault.carried_out:
            owner.answer(request)
        if fault.hang_up:
            self.close_connection = True
            return
        self._send(fault.status, fault.body, dict(fault.headers), fault.raw)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _send(self, status: int, body: Any, headers: dict[str, str], raw: bytes | None = None) -> None:
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
