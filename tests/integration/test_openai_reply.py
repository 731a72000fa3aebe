"""What the `openai` backend understands, what it keeps to itself, and how it ends."""

from __future__ import annotations

import base64
import json
import threading
import time
from typing import Any

import pytest

from bccontam.models.base import ModelError
from bccontam.models.openai import OpenAIModel
from tests.support import chat_server as chat
from tests.support.chat_server import ChatServer
from tests.support.openai_backend import KEY, QUESTION, ask, failure, model_at

# What is understood


def test_the_model_id_of_the_answer_is_kept_and_tokens_are_counted() -> None:
    with ChatServer(chat.text(model="test-model-2026-01-01", finish_reason="length")) as server:
        answer = ask(server.url)
    assert (answer.model, answer.input_tokens, answer.output_tokens) == ("test-model-2026-01-01", 100, 20)
    assert (answer.text, answer.finish_reason) == (chat.ANSWER, "length")
    assert answer.seconds > 0


def test_an_answer_without_id_and_usage_is_an_answer() -> None:
    with ChatServer(chat.text(model="", usage=None)) as server:
        answer = ask(server.url)
    assert (answer.model, answer.input_tokens, answer.output_tokens) == ("test-model", None, None)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]},
            "ab",
        ),
        ({"content": None, "refusal": "I cannot help."}, "I cannot help."),
        ({"content": 7}, ""),
        ({}, ""),
        (None, ""),
        ({"content": "x", "tool_calls": []}, "x"),
    ],
)
def test_content_in_its_forms(message: object, text: str) -> None:
    with ChatServer(chat.body({"choices": [{"message": message}]})) as server:
        assert ask(server.url).text == text


@pytest.mark.parametrize("choices", [None, "x", [None], {"0": 1}])
def test_choices_that_are_none_are_a_bad_response(choices: object) -> None:
    with ChatServer(chat.body({"choices": choices})) as server:
        assert failure(server.url).kind == "bad-response"


@pytest.mark.parametrize(
    "usage", ["x", {"prompt_tokens": "7", "completion_tokens": -1}, {"prompt_tokens": True}]
)
def test_a_usage_that_is_none_counts_no_tokens(usage: Any) -> None:
    with ChatServer(chat.text(usage=usage)) as server:
        answer = ask(server.url)
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": "x", "function_call": {"name": "f"}}},
        {"message": {"content": "x"}, "finish_reason": "tool_calls"},
    ],
)
def test_a_wish_for_a_tool_in_any_form_is_a_tool_request(choice: object) -> None:
    with ChatServer(chat.body({"choices": [choice]})) as server:
        assert failure(server.url).kind == "tool-request"


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "no luck"}},
        {"error": "no luck"},
        {"message": "no luck"},
        {"detail": "no luck"},
        {"detail": [{"msg": "no luck"}]},
    ],
    ids=["openai", "ollama", "vllm", "fastapi", "fastapi-validation"],
)
def test_a_servers_own_words_are_passed_on(error: object) -> None:
    with ChatServer(chat.body(error, status=403)) as server:
        assert "no luck" in str(failure(server.url))


def test_a_message_of_a_server_is_one_short_line() -> None:
    with ChatServer(chat.failure(500, "a\nb\x1b[31m\u2028c " + "long " * 10_000)) as server:
        message = str(failure(server.url))
    assert len(message) < 500
    assert message.isprintable()


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"retry-after-ms": "2500", "Retry-After": "3"}, 2.5),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_a_retry_after_in_its_forms(sent: dict[str, str], seconds: float | None) -> None:
    with ChatServer(chat.failure(429, headers=sent)) as server:
        assert failure(server.url).retry_after == seconds


@pytest.mark.parametrize(
    "error",
    [
        {"code": "insufficient_quota"},
        {"type": "insufficient_quota", "code": None},
        {"code": "billing_hard_limit_reached"},
        {"message": "You exceeded your current quota, please check your plan and billing details."},
    ],
)
def test_a_429_about_money_is_not_one_about_speed(error: dict[str, Any]) -> None:
    with ChatServer(chat.body({"error": error}, status=429)) as server:
        raised = failure(server.url)
    assert (raised.kind, raised.retryable) == ("quota", False)


@pytest.mark.parametrize(
    "message", ["Rate limit reached for requests", "Quota exceeded for requests per minute"]
)
def test_a_429_about_speed_is_not_one_about_money(message: str) -> None:
    with ChatServer(chat.failure(429, message, code="rate_limit_exceeded")) as server:
        assert failure(server.url).kind == "rate-limit"


# What is kept to itself, and how it ends


@pytest.mark.parametrize(
    "echo", [KEY, base64.b64encode(KEY.encode()).decode(), "sk-te**********7d1e", "Bearer abcdef"]
)
def test_a_key_that_a_server_repeats_is_masked(echo: str) -> None:
    with ChatServer(
        chat.failure(401, f"Incorrect API key provided: {echo}. Find yours at example.com.")
    ) as server:
        message = str(failure(server.url))
    assert echo.removeprefix("Bearer ") not in message
    assert "Incorrect API key provided: " in message


@pytest.mark.parametrize("echo", ["k+y/w=rd{}", "k%2By%2Fw%3Drd%7B%7D", "k%2By/w%3Drd%7B%7D"])
def test_a_key_is_masked_in_every_spelling(echo: str) -> None:
    with ChatServer(chat.failure(401, f"unknown key <{echo}>")) as server:
        assert "unknown key <***>" in str(failure(server.url, "k+y/w=rd{}"))


def test_the_user_of_a_base_url_is_in_no_message() -> None:
    with ChatServer(chat.failure(401, "me:s3cret is unknown")) as server:
        message = str(failure(f"http://me:s3cret@127.0.0.1:{server.port}/v1", ""))
    assert "s3cret" not in message


def test_a_redirect_is_named_without_its_secrets() -> None:
    with ChatServer(chat.redirect(f"https://me:s3cret@other.example/v2?token={KEY}#frag")) as server:
        message = str(failure(server.url))
    assert "https://other.example/v2 " in message
    assert "s3cret" not in message
    assert KEY not in message
    assert "?" not in message


def test_closing_cuts_what_is_in_flight_and_ends_all_asking() -> None:
    with ChatServer(chat.hang()) as server:
        model = OpenAIModel(server.url, KEY, "m")
        errors: list[ModelError] = []

        def hang() -> None:
            try:
                model.ask(QUESTION, 100.0)
            except ModelError as error:
                errors.append(error)

        threads = [threading.Thread(target=hang) for _ in range(3)]
        for thread in threads:
            thread.start()
        while len(server.questions) < 3:
            time.sleep(0.01)
        model.close()
        for thread in threads:
            thread.join(20.0)
        model.close()
        with pytest.raises(ModelError, match="closed"):
            model.ask(QUESTION, 1.0)
    assert [error.kind for error in errors] == ["connection"] * 3


def test_a_connection_is_used_again() -> None:
    with ChatServer() as server, model_at(server.url) as model:
        for _ in range(5):
            model.ask(QUESTION, 20.0)
        assert len(server.connections) == 1


def test_an_answer_after_one_that_was_cut_short_is_whole() -> None:
    with (
        ChatServer([chat.body(b" " * 10_000_000), chat.hang(), chat.text()]) as server,
        model_at(server.url) as model,
    ):
        for _ in range(2):
            with pytest.raises(ModelError):
                model.ask(QUESTION, 0.5)
        assert model.ask(QUESTION, 20.0).text == chat.ANSWER


def test_a_compressed_answer_that_is_none_is_a_bad_response() -> None:
    reply = chat.body(json.dumps({"choices": []}).encode(), headers={"Content-Encoding": "gzip"})
    with ChatServer(reply) as server:
        assert failure(server.url).kind == "bad-response"
