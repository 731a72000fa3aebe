"""A chat-completions server on loopback that does what a test tells it, faults included.

It records every request and answers in JSON, or as server-sent events when the request asks for a stream. It
judges nothing: a test compares what it recorded with what was promised.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from tests.support.certificate import self_signed_context

ANSWER = '["src/Sales/SalesHeader.Table.al", "src/Sales/SalesPost.Codeunit.al"]'
LONGEST_HANG = 120.0


@dataclass(frozen=True, slots=True)
class Request:
    """One complete request. Header names are lower-case; `at` is `time.monotonic()` at its end."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float

    @property
    def prompt(self) -> str:
        """The text of the last user message."""
        users = [message for message in self.body.get("messages", []) if message.get("role") == "user"]
        return str(users[-1]["content"]) if users else ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer. Use the functions below to make one.

    `message` and `usage` make a completion (streamed when asked); else `body` is sent as it is. `delay` is in
    seconds, before anything is sent. `ending`: `finish` sends all, `cut` half and closes, `drip` a byte
    every 20 ms for ever, `endless` all of it again and again, `reset` sends a TCP reset in place of an
    answer, `hang` nothing at all.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    message: Mapping[str, Any] | None = None
    finish_reason: str = "stop"
    model: str | None = None
    usage: Mapping[str, Any] | None = None
    delay: float = 0.0
    ending: Literal["finish", "cut", "drip", "endless", "reset", "hang"] = "finish"


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def text(
    content: str | None = ANSWER,
    *,
    delay: float = 0.0,
    finish_reason: str = "stop",
    model: str | None = None,
    usage: Mapping[str, Any] | None = USAGE,
) -> Reply:
    """An answer in words. `model` is the id the server reports (None: the one asked for)."""
    message = {"role": "assistant", "content": content}
    return Reply(message=message, finish_reason=finish_reason, model=model, usage=usage, delay=delay)


def tool_call(name: str, arguments: Mapping[str, Any], *, call_id: str = "call_1") -> Reply:
    """The model asks for a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Reply(message=message, finish_reason="tool_calls", usage=USAGE)


def failure(
    status: int,
    message: str = "no",
    *,
    headers: Mapping[str, str] | None = None,
    delay: float = 0.0,
    **error: Any,
) -> Reply:
    """An error in OpenAI's form; `error` adds fields such as `code`, `type` and `param`."""
    body = json.dumps({"error": {"message": message, **error}}).encode()
    return Reply(status=status, body=body, headers=headers or {}, delay=delay)


def body(content: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Any JSON value, or bytes as they are: an answer without choices, garbage, a huge answer."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Reply(status=status, body=data, headers=headers or {})


def redirect(location: str, status: int = 307) -> Reply:
    """Sends the client elsewhere."""
    return Reply(status=status, headers={"Location": location})


def hang() -> Reply:
    """Nothing is sent until the server stops."""
    return Reply(ending="hang")


def reset() -> Reply:
    """The connection is torn down in place of an answer."""
    return Reply(ending="reset")


def cut(content: str = ANSWER) -> Reply:
    """Half of an answer, then the connection ends."""
    return Reply(message={"role": "assistant", "content": content}, usage=USAGE, ending="cut")


def drip(content: str = ANSWER) -> Reply:
    """An answer a byte at a time that never ends."""
    return Reply(message={"role": "assistant", "content": content}, usage=USAGE, ending="drip")


def endless(content: bytes = b" " * 65_536) -> Reply:
    """An answer of unknown length that goes on as long as the client reads."""
    return Reply(body=content, ending="endless")


Script = Callable[[int, Request], Reply] | Sequence[Reply] | Reply


class ChatServer:
    """Serves on 127.0.0.1 at a free port while its `with` block runs.

    `script` is one reply for all, a list (its last reply repeats), or a function of the running number of the
    question (from 0) and the request. `models` is what `GET /v1/models` lists. With `tls` the certificate
    is self-signed.
    """

    def __init__(
        self, script: Script | None = None, *, models: Sequence[str] = ("test-model",), tls: bool = False
    ) -> None:
        self.script: Script = text() if script is None else script
        self.models = models
        self.closing = threading.Event()
        self.connections: set[socket.socket] = set()
        self.lock = threading.Lock()
        self.most_in_flight = 0
        self._in_flight = 0
        self._requests: list[Request] = []
        self._questions = 0
        self._server = _Server(self)
        if tls:
            self._server.socket = self_signed_context().wrap_socket(self._server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.port: int = self._server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        with self.lock:
            for connection in self.connections:
                _shut(connection)
        self._server.server_close()
        self._thread.join()

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order they were complete."""
        with self.lock:
            return list(self._requests)

    @property
    def questions(self) -> list[Request]:
        """The requests that ask for a completion."""
        return [request for request in self.requests if request.method == "POST"]

    def record(self, request: Request) -> int:
        """Keep a request; the running number of a question, -1 for others."""
        with self.lock:
            self._requests.append(request)
            if request.method != "POST":
                return -1
            self._questions += 1
            return self._questions - 1

    def reply_to(self, number: int, request: Request) -> Reply:
        """What the script says to question `number`."""
        if isinstance(self.script, Reply):
            return self.script
        if callable(self.script):
            return self.script(number, request)
        return self.script[min(number, len(self.script) - 1)]

    def count_in_flight(self, change: int) -> None:
        """Keep the highest number of questions that were in flight at once."""
        with self.lock:
            self._in_flight += change
            self.most_in_flight = max(self.most_in_flight, self._in_flight)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True
    request_queue_size = 128

    def __init__(self, owner: ChatServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = LONGEST_HANG
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.owner.lock:
            self.server.owner.connections.add(self.connection)

    def finish(self) -> None:
        with self.server.owner.lock:
            self.server.owner.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """A test server keeps quiet."""

    def do_GET(self) -> None:
        owner = self.server.owner
        owner.record(self._request(b""))
        if self.path.split("?")[0].endswith("/models"):
            listed = [
                {"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in owner.models
            ]
            self._send(body({"object": "list", "data": listed}))
        else:
            self._send(failure(404, "no such page"))

    def do_POST(self) -> None:
        owner = self.server.owner
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length)
        if len(data) < length:  # the client died in the middle of its request
            self.close_connection = True
            return
        request = self._request(data)
        if not self.path.split("?")[0].endswith("/chat/completions"):
            owner.record(request)
            self._send(failure(404, "no such page"))
            return
        number = owner.record(request)
        owner.count_in_flight(1)
        try:
            reply = owner.reply_to(number, request)
            if reply.delay:
                owner.closing.wait(reply.delay)
            self._answer(reply, number, request)
        finally:
            owner.count_in_flight(-1)

    def _request(self, data: bytes) -> Request:
        try:
            parsed = json.loads(data) if data else {}
        except ValueError:
            parsed = {"not JSON": repr(data)}
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Request(self.command, self.path, headers, parsed, time.monotonic())

    def _answer(self, reply: Reply, number: int, request: Request) -> None:
        if reply.ending == "hang":
            self.server.owner.closing.wait(LONGEST_HANG)
            self.close_connection = True
        elif reply.ending == "reset":
            # With a linger time of zero, closing sends RST instead of FIN.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
            self.close_connection = True
        elif reply.message is None:
            self._send(reply)
        elif request.body.get("stream"):
            self._send(reply, _as_events(reply, number, request.body), "text/event-stream")
        else:
            self._send(reply, _as_json(reply, number, request.body))

    def _send(self, reply: Reply, data: bytes | None = None, content_type: str = "application/json") -> None:
        data = reply.body if data is None else data
        lines = [f"HTTP/1.1 {reply.status} Status"]
        length = "1000000" if reply.ending == "drip" else str(len(data))
        headers = {"Content-Type": content_type, "Content-Length": length, **reply.headers}
        if reply.ending == "endless":
            del headers["Content-Length"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        if reply.ending == "finish":
            self.wfile.write(head + data)
            return
        self.close_connection = True
        if reply.ending == "cut":
            self.wfile.write(head + data[: len(data) // 2])
            return
        self.wfile.write(head)
        while reply.ending == "endless" and not self.server.owner.closing.is_set():
            self.wfile.write(data)
        for position in range(10_000_000):
            if self.server.owner.closing.wait(0.02):
                return
            self.wfile.write(data[position % len(data)].to_bytes())


def _completion(reply: Reply, number: int, asked: Mapping[str, Any], kind: str) -> dict[str, Any]:
    model = asked.get("model") if reply.model is None else reply.model
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 1_760_000_000, "model": model}


def _as_json(reply: Reply, number: int, asked: Mapping[str, Any]) -> bytes:
    completion = _completion(reply, number, asked, "chat.completion")
    completion["choices"] = [{"index": 0, "message": reply.message, "finish_reason": reply.finish_reason}]
    if reply.usage is not None:
        completion["usage"] = reply.usage
    return json.dumps(completion).encode()


def _as_events(reply: Reply, number: int, asked: Mapping[str, Any]) -> bytes:
    """The same completion in pieces: role, content or tool calls, finish reason, usage, `[DONE]`."""
    assert reply.message is not None
    head = _completion(reply, number, asked, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    content = reply.message.get("content")
    if content:
        half = (len(content) + 1) // 2
        deltas += [{"content": piece} for piece in (content[:half], content[half:]) if piece]
    if calls := reply.message.get("tool_calls"):
        deltas.append({"tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]})
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]})
    if reply.usage is not None:
        chunks.append({**head, "choices": [], "usage": reply.usage})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
