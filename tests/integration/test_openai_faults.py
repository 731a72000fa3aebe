"""Every fault of a chat-completions server, in a run of four entries: one meets it, three must not notice."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bccontam.answer import Prediction
from bccontam.entry import Entry
from bccontam.errors import AskError
from bccontam.facts import EntryFacts
from bccontam.models.openai import OpenAIModel
from bccontam.probe import ProbeOutcome, ProbeSettings, run_probe
from bccontam.probe.pacing import RetryPolicy
from bccontam.prompts import load_prompt
from bccontam.result import Result
from bccontam.store import ResultStore, load_results
from tests.support import chat_server as chat
from tests.support.builders import make_entry
from tests.support.chat_server import ChatServer, Reply, Request

KEY = "sk-test-4f9a0c7d1e"
TRIES = 3
QUICK = RetryPolicy(max_tries=TRIES, first_wait=0.001, longest_wait=0.01)
ENTRIES = [make_entry(f"e-{number}", problem_statement=f"Report {number}.") for number in range(4)]
FAULTY = "e-1"
GUARD = 30.0
"""Seconds that no run here may take; a hang is what it is there to catch."""


def facts(entry: Entry, prediction: Prediction) -> EntryFacts:
    return EntryFacts("none", False, (), None)


def asks_about(request: Request, identity: str) -> bool:
    return f"Report {identity.removeprefix('e-')}." in request.prompt


def ask(
    folder: Path,
    url: str,
    entries: list[Entry] = ENTRIES,
    *,
    timeout: float = 10.0,
    retry: RetryPolicy = QUICK,
) -> tuple[ProbeOutcome, dict[str, Result]]:
    model = OpenAIModel(url, KEY, "test-model", temperature=0.0)
    settings = ProbeSettings(concurrency=2, timeout=timeout, retry=retry)
    started = time.monotonic()
    try:
        with ResultStore(folder, "run") as store:
            outcome = run_probe(entries, model, store, load_prompt("generic"), settings, facts=facts)
    finally:
        model.close()
        assert time.monotonic() - started < GUARD
    return outcome, {result.instance_id: result for result in load_results(folder)}


@dataclass(frozen=True)
class Fault:
    reply: Reply
    kind: str
    requests: int
    says: str
    timeout: float = 10.0


NOT_AGAIN = {
    "401": Fault(chat.failure(401, "Incorrect API key provided"), "authentication", 1, "Incorrect API key"),
    "403": Fault(chat.failure(403, "Not for you"), "authentication", 1, "HTTP 403"),
    "404": Fault(chat.failure(404, "The model does not exist"), "not-found", 1, "does not exist"),
    "402": Fault(chat.failure(402, "Insufficient balance"), "quota", 1, "used up"),
    "429-quota": Fault(
        chat.failure(429, "You exceeded your quota", code="insufficient_quota"), "quota", 1, "used up"
    ),
    "400": Fault(chat.failure(400, "This prompt is too long"), "bad-request", 1, "too long"),
    "hang": Fault(chat.hang(), "timeout", 1, "in time", timeout=1.0),
    "drip": Fault(chat.drip("x"), "timeout", 1, "in time", timeout=1.0),
    "garbage": Fault(chat.body(b"\xff\x00<html>{"), "bad-response", 1, "not a JSON object"),
    "json-that-is-no-answer": Fault(chat.body({"hello": 1}), "bad-response", 1, "no chat completion"),
    "deeply-nested": Fault(chat.body(b"[" * 200_000), "bad-response", 1, "not a JSON object"),
    "10-megabytes": Fault(chat.body(b" " * 10_000_000), "bad-response", 1, "more than 4,000,000 bytes"),
    "announces-10-megabytes": Fault(
        chat.body(b"{", headers={"Content-Length": "10000000"}),
        "bad-response",
        1,
        "more than 4,000,000 bytes",
    ),
    "endless": Fault(chat.endless(), "bad-response", 1, "more than 4,000,000 bytes"),
    "no-choices": Fault(chat.body({"choices": []}), "bad-response", 1, "without any text"),
    "null-content": Fault(
        chat.text(None, finish_reason="content_filter"), "bad-response", 1, "content_filter"
    ),
    "redirect": Fault(chat.redirect("https://other.example/v1"), "not-found", 1, "https://other.example/v1"),
    "tool-request": Fault(chat.tool_call("view", {"path": "/"}), "tool-request", 1, "asked for a tool"),
}
AGAIN = {
    "408": Fault(chat.failure(408), "timeout", TRIES, "HTTP 408"),
    "409": Fault(chat.failure(409), "server", TRIES, "HTTP 409"),
    "429": Fault(chat.failure(429, "Slow down"), "rate-limit", TRIES, "Slow down"),
    "429-retry-after": Fault(
        chat.failure(429, "Slow down", headers={"Retry-After": "0.01"}), "rate-limit", TRIES, "Slow down"
    ),
    "500": Fault(chat.failure(500, "boom"), "server", TRIES, "boom"),
    "503-html": Fault(chat.body(b"<html>busy</html>", status=503), "server", TRIES, "HTTP 503"),
    "reset": Fault(chat.reset(), "connection", TRIES, "reset by peer"),
    "cut": Fault(chat.cut(), "connection", TRIES, "broke off"),
    "error-in-a-200": Fault(
        chat.body({"error": {"code": 502, "message": "upstream"}}), "server", TRIES, "upstream"
    ),
}
FAULTS = NOT_AGAIN | AGAIN


@pytest.mark.parametrize("name", FAULTS)
def test_one_entry_meets_the_fault_and_the_others_do_not_notice(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]

    def script(number: int, request: Request) -> Reply:
        return fault.reply if asks_about(request, FAULTY) else chat.text()

    with ChatServer(script) as server:
        outcome, results = ask(tmp_path, server.url, timeout=fault.timeout)
        asked = [request for request in server.questions if asks_about(request, FAULTY)]
    failed = results.pop(FAULTY)
    assert (failed.error_kind, failed.attempts, len(asked)) == (fault.kind, fault.requests, fault.requests)
    assert fault.says in str(failed.error)
    assert len(results) == 3
    assert all(result.error is None and result.predicted_files for result in results.values())
    assert (outcome.asked, outcome.errors, outcome.not_asked) == (4, 1, 0)
    assert len(server.questions) == 3 + fault.requests


@pytest.mark.parametrize("name", AGAIN)
def test_a_fault_that_passes_costs_requests_and_nothing_else(tmp_path: Path, name: str) -> None:
    met: list[int] = []

    def script(number: int, request: Request) -> Reply:
        if asks_about(request, FAULTY) and len(met) < TRIES - 1:
            met.append(number)
            return FAULTS[name].reply
        return chat.text()

    with ChatServer(script) as server:
        outcome, results = ask(tmp_path, server.url)
    assert outcome.errors == 0
    assert results[FAULTY].attempts == TRIES
    assert len(server.questions) == 4 + TRIES - 1


def test_no_question_is_asked_before_the_time_the_server_named(tmp_path: Path) -> None:
    replies = [chat.failure(429, headers={"Retry-After": "0.4"}), chat.text()]
    with ChatServer(replies) as server:
        outcome, _ = ask(tmp_path, server.url)
    limited, *later = [request.at for request in server.questions]
    # One question of the other worker may have been under way when the limit was met.
    assert sum(at < limited + 0.4 for at in later) <= 1
    assert outcome.errors == 0


def test_a_limit_for_a_day_ends_the_run_at_once_and_loses_nothing(tmp_path: Path) -> None:
    def script(number: int, request: Request) -> Reply:
        return chat.text() if number < 2 else chat.failure(429, headers={"Retry-After": "86400"})

    entries = [make_entry(f"e-{number}", problem_statement=f"Report {number}.") for number in range(60)]
    with ChatServer(script) as server:
        outcome, results = ask(tmp_path, server.url, entries)
        assert len(server.questions) <= 4
    assert outcome.stopped_by == "waiting"
    assert outcome.asked + outcome.not_asked == 60
    assert sum(result.error is None for result in results.values()) == 2


def test_a_wrong_key_is_found_out_after_ten_questions(tmp_path: Path) -> None:
    entries = [make_entry(f"e-{number}", problem_statement=f"Report {number}.") for number in range(60)]
    with ChatServer(chat.failure(401, f"Incorrect API key provided: {KEY}")) as server:
        with pytest.raises(AskError, match="Incorrect API key") as raised:
            ask(tmp_path, server.url, entries)
        assert 10 <= len(server.questions) <= 11
    assert KEY not in str(raised.value)


def test_a_certificate_that_nobody_vouches_for_is_not_asked_twice(tmp_path: Path) -> None:
    with ChatServer(tls=True) as server:
        with pytest.raises(AskError, match="certificate"):
            ask(tmp_path, server.url)
        assert server.requests == []
    results = list(load_results(tmp_path))
    assert len(results) == 4
    assert all((r.error_kind, r.attempts) == ("connection", 1) for r in results)


def test_a_server_that_is_not_there_is_an_error_of_each_entry(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(AskError, match="Connection refused"):
        ask(tmp_path, f"http://127.0.0.1:{port}/v1")
    assert [(r.error_kind, r.attempts) for r in load_results(tmp_path)] == [("connection", TRIES)] * 4


def test_a_redirect_to_another_host_is_not_followed_with_the_key(tmp_path: Path) -> None:
    with (
        ChatServer() as other,
        ChatServer(chat.redirect(f"{other.url}/chat/completions?key={KEY}")) as server,
    ):
        with pytest.raises(AskError, match=f"127.0.0.1:{other.port}/v1/chat/completions"):
            ask(tmp_path, server.url)
        assert other.requests == []
        assert len(server.questions) == 4


def test_a_server_that_drips_its_headers_is_left_in_time(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_drip_headers, args=(listener,))
        thread.start()
        with pytest.raises(AskError, match="in time"):
            ask(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}/v1", ENTRIES[:1], timeout=1.0)
        thread.join(GUARD)
        assert not thread.is_alive()


def _drip_headers(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while True:
                connection.sendall(b"a")
                time.sleep(0.02)
        except OSError:
            return


@pytest.mark.parametrize("name", FAULTS)
def test_the_key_is_in_no_stored_byte(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    reply = fault.reply
    if reply.message is None and reply.body.startswith(b'{"error"'):
        reply = replace(reply, body=reply.body.replace(b'"message": "', f'"message": "{KEY} '.encode()))
    with ChatServer(reply) as server:
        with suppress(AskError):
            ask(tmp_path, server.url, ENTRIES[:1], timeout=min(fault.timeout, 5.0))
        assert server.questions
        assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in server.questions)
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
