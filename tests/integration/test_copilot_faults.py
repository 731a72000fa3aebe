"""The real Copilot CLI and SDK when something goes wrong: each failure has its type, and nothing is left behind."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bccontam.errors import AskError
from bccontam.models.base import Model, Question
from tests.support import chat_server
from tests.support.chat_server import ChatServer, Reply
from tests.support.copilot import (
    BACKENDS,
    FENCED,
    KEY,
    QUESTION,
    TOKEN,
    Make,
    error_of,
    make_model,
    model_maker,
    running,
    wait_until,
)
from tests.support.real import real_copilot_cli

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def cli() -> Path:
    return real_copilot_cli()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(cli: Path) -> Iterator[Make]:
    with model_maker(cli) as make:
        yield make


@pytest.fixture(scope="module", params=BACKENDS)
def standing(request: pytest.FixtureRequest, cli: Path) -> Iterator[tuple[ChatServer, Model]]:
    """One fenced model of each backend for many tests, and its server, whose script they set."""
    with ChatServer() as server:
        model = make_model(request.param, server, cli_path=cli)
        yield server, model
        model.close()


@pytest.mark.parametrize(
    ("reply", "kind", "retryable", "status"),
    [
        (chat_server.failure(429, "slow down", headers={"Retry-After": "30"}), "rate-limit", True, 429),
        (chat_server.failure(429, "spent", code="insufficient_quota"), "quota", False, 429),
        (chat_server.failure(401, "who are you"), "authentication", False, 401),
        (chat_server.failure(403, "not you"), "authentication", False, 403),
        (chat_server.failure(404, "no such model"), "not-found", False, 404),
        (chat_server.failure(400, f"no: {KEY}"), "bad-request", False, 400),
        (chat_server.failure(500, "broken"), "server", True, 500),
        (chat_server.failure(503, "busy"), "server", True, 503),
        (chat_server.cut(), "connection", True, None),
        (chat_server.reset(), "connection", True, None),
        (chat_server.body(b"garbage"), "bad-response", False, None),
        (chat_server.text(""), "bad-response", False, None),
    ],
    ids=lambda value: str(value) if isinstance(value, str | int) else "",
)
def test_every_failure_has_its_type_and_is_not_retried(
    standing: tuple[ChatServer, Model], reply: Reply, kind: str, retryable: bool, status: int | None
) -> None:
    server, model = standing
    server.script, before = reply, len(server.questions)
    error = error_of(model)
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status), str(error)
    assert KEY not in str(error)
    # The CLI itself asks three times when a key is refused, in case it was being renewed.
    assert len(server.questions) - before == (3 if status == 401 else 1)


def test_an_answer_that_was_cut_at_the_limit_says_so(standing: tuple[ChatServer, Model]) -> None:
    server, model = standing
    server.script = chat_server.text('["a', finish_reason="length")
    assert model.ask(QUESTION, 60).finish_reason == "length"


def test_a_filtered_answer_is_not_taken_for_words_of_the_model(standing: tuple[ChatServer, Model]) -> None:
    server, model = standing
    server.script = chat_server.text("", finish_reason="content_filter")
    answer = model.ask(QUESTION, 60)
    assert (answer.text, answer.finish_reason) == ("", "content_filter")


def test_a_big_answer_arrives_whole(standing: tuple[ChatServer, Model]) -> None:
    server, model = standing
    server.script = chat_server.text("ä" * 2_000_000)
    assert model.ask(QUESTION, 60).text == "ä" * 2_000_000


@pytest.mark.parametrize(
    "prompt", ["one\r\ntwo\r\n", "\ud800 lone", "/help", "@/etc/passwd", "a\x00b\u2028c"]
)
def test_a_prompt_is_sent_as_it_is(standing: tuple[ChatServer, Model], prompt: str) -> None:
    server, model = standing
    server.script = chat_server.text()
    model.ask(Question("id", "repo", "", QUESTION.system, prompt, 3), 60)
    assert server.questions[-1].prompt.endswith(prompt.replace("\ud800", "?").strip())


def test_the_next_question_is_asked_after_a_timeout(standing: tuple[ChatServer, Model]) -> None:
    server, model = standing
    server.script = chat_server.hang()
    assert error_of(model, timeout=3).kind == "timeout"
    server.script = chat_server.text()
    assert model.ask(QUESTION, 60).text == chat_server.ANSWER


@pytest.mark.parametrize(
    ("how", "reply"),
    [(FENCED, chat_server.hang()), (FENCED, chat_server.drip()), ("off", chat_server.hang())],
    ids=["fenced, hang", "fenced, drip", "off, hang"],
)
def test_a_timeout_ends_the_question_and_leaves_nothing_running(
    make: Make, backend: str, how: str, reply: Reply
) -> None:
    with ChatServer(reply) as server:
        model = make(backend, server, isolation=how)
        error = error_of(model, timeout=3)
        assert (error.kind, error.retryable) == ("timeout", False)
        if backend == "copilot-cli":
            assert running(server) == []
        model.close()
        assert running(server) == []


def test_a_killed_process_fails_its_question_only(make: Make, backend: str) -> None:
    with ChatServer([chat_server.hang(), chat_server.text()]) as server:
        model = make(backend, server)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(error_of, model)
            wait_until(lambda: len(server.questions) == 1)
            for pid in running(server):
                os.kill(pid, signal.SIGKILL)
            error = asked.result(20)
        assert error.kind in ("connection", "bad-response")
        assert model.ask(QUESTION, 60).text == chat_server.ANSWER


def test_closing_ends_questions_in_flight(make: Make, backend: str) -> None:
    with ChatServer(chat_server.hang()) as server:
        model = make(backend, server)
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(error_of, model) for _ in range(2)]
            wait_until(lambda: len(server.questions) == 2)
            model.close()
            assert [future.result(20).kind for future in asked] == ["connection"] * 2
        wait_until(lambda: running(server) == [], 5)
        model.close()
        assert error_of(model).kind == "connection"


def test_no_credential_is_found_in_what_is_left(
    make: Make, backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    with ChatServer(chat_server.failure(400, f"bad key {KEY} or {TOKEN}")) as server:
        error = error_of(make(backend, server, token=TOKEN))
    assert re.search(r"bad key \*+ or \*+$", str(error))
    assert KEY not in caplog.text
    assert "ghs_" not in caplog.text


def test_a_proxy_that_is_no_address_is_named(make: Make, backend: str) -> None:
    with ChatServer() as server, pytest.raises(AskError, match="no address with a valid port"):
        make(backend, server, {"HTTPS_PROXY": "http://proxy:port"})


def test_a_binary_that_does_not_start_is_an_error_in_one_sentence(
    tmp_path: Path, backend: str, make: Make
) -> None:
    broken = tmp_path / "copilot"
    broken.write_bytes(b"\x7fELF" + bytes(100))
    broken.chmod(0o755)
    with ChatServer() as server, pytest.raises(AskError, match="does not start"):
        make(backend, server, cli_path=broken)
