"""What the `openai` backend sends, and with which credentials."""

from __future__ import annotations

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bccontam.errors import SettingsError
from bccontam.models.base import ModelError, Question
from bccontam.models.openai import MAX_TOKENS, OpenAIModel
from tests.support import chat_server as chat
from tests.support.chat_server import ChatServer, Reply, Request
from tests.support.openai_backend import KEY, QUESTION, ask, failure, model_at

# What is sent


def test_the_request_holds_our_messages_and_nothing_else() -> None:
    with ChatServer() as server:
        ask(server.url, temperature=0.0)
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.body == {
        "model": "test-model",
        "messages": [
            {"role": "system", "content": "You are terse."},
            {"role": "user", "content": "Which files?"},
        ],
        "max_tokens": MAX_TOKENS,
        "temperature": 0.0,
    }


def test_without_a_system_text_there_is_no_system_message() -> None:
    with ChatServer() as server:
        ask(server.url, question=Question("e", "r", "s", "", "Which files?", 3))
    assert server.questions[0].body["messages"] == [{"role": "user", "content": "Which files?"}]
    assert "temperature" not in server.questions[0].body


def test_any_text_arrives_as_it_is() -> None:
    text = 'Größe\u2028\x00 "quoted" \\ 💡 \ud800'
    with ChatServer() as server:
        ask(server.url, question=Question("e", "r", "s", "", text, 3))
    assert server.questions[0].prompt == text


def test_no_cookie_ties_two_questions_together() -> None:
    reply = chat.text()
    with_cookie = Reply(message=reply.message, headers={"Set-Cookie": "session=1; Path=/"})
    with ChatServer(with_cookie) as server, model_at(server.url) as model:
        model.ask(QUESTION, 20.0)
        model.ask(QUESTION, 20.0)
    assert all("cookie" not in request.headers for request in server.requests)


def test_a_schema_asks_for_a_list_of_at_most_top_k_files() -> None:
    with ChatServer() as server:
        ask(server.url, json_schema=True)
    wanted = server.questions[0].body["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["schema"]["properties"]["files"] == {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 3,
    }


@pytest.mark.parametrize("suffix", ["", "/", "/chat/completions", "/chat/completions/"])
def test_a_base_url_may_be_given_with_or_without_its_end(suffix: str) -> None:
    with ChatServer() as server:
        ask(server.url + suffix)
    assert server.questions[0].path == "/v1/chat/completions"


# Who we are


def headers(key: str, path: str = "/v1", user: str = "") -> dict[str, str]:
    with ChatServer() as server:
        ask(f"http://{user}127.0.0.1:{server.port}{path}", key)
    return server.questions[0].headers


def test_a_key_is_sent_as_bearer() -> None:
    sent = headers(KEY)
    assert sent["authorization"] == f"Bearer {KEY}"
    assert "api-key" not in sent


def test_azures_path_gets_the_key_as_azure_wants_it() -> None:
    assert headers(KEY, "/openai/v1")["api-key"] == KEY


@pytest.mark.parametrize("host", ["res.openai.azure.com", "res.services.ai.azure.com"])
def test_azures_own_hosts_get_the_key_in_their_header_alone(host: str) -> None:
    from requests import Request as HttpRequest

    with model_at(f"https://{host}/openai/v1") as model:
        prepared = model._server.authorize(HttpRequest("POST", "https://unused.example").prepare())
    assert prepared.headers["api-key"] == KEY
    assert "Authorization" not in prepared.headers


def test_without_a_key_nothing_is_sent_even_where_netrc_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    assert "authorization" not in headers("")
    assert headers(KEY)["authorization"] == f"Bearer {KEY}"


def test_a_user_in_the_base_url_is_sent_as_basic() -> None:
    expected = base64.b64encode(b"me:p@ss").decode()
    assert headers("", user="me:p%40ss@")["authorization"] == f"Basic {expected}"


def test_blanks_around_a_key_are_no_part_of_it() -> None:
    assert headers(f" {KEY}\n")["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "nul\0"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(SettingsError, match="api-key") as raised:
        OpenAIModel("http://127.0.0.1/v1", key, "m")
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000/v1",
        "ftp://h/v1",
        "file:///etc/passwd",
        "http://",
        "http://h:port/v1",
        "http://h:99999/v1",
        "http://[::1/v1",
        "http://u:secret@h/v1?x=1",
        "http://h/v1#x",
        "http:///v1",
        "http://:80/v1",
    ],
)
def test_a_base_url_that_is_none_is_refused_unseen(url: str) -> None:
    with pytest.raises(SettingsError, match="base-url") as raised:
        OpenAIModel(url, "", "m")
    assert "secret" not in str(raised.value)


def test_a_user_and_a_key_together_are_refused() -> None:
    with pytest.raises(SettingsError, match="only one"):
        OpenAIModel("http://me:secret@h/v1", KEY, "m")


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        answer = ask("http://models.example/v1")
    assert answer.text == chat.ANSWER
    assert proxy.questions[0].path == "http://models.example/v1/chat/completions"


def test_the_credentials_of_a_proxy_are_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:proxypass@127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    error = failure("https://models.example/v1")
    assert error.kind == "connection"
    assert "proxy" in str(error)
    assert "proxypass" not in str(error)


# What a server refuses by name


def refusing(refused: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Callable[[int, Request], Reply]:
    def script(number: int, request: Request) -> Reply:
        error = refused(request.body)
        return chat.text() if error is None else chat.body({"error": error}, status=400)

    return script


def reasoning_model(body: dict[str, Any]) -> dict[str, Any] | None:
    if "max_tokens" in body:
        message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        return {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}
    if body.get("temperature", 1) != 1:
        message = "Unsupported value: 'temperature' does not support 0 with this model."
        return {"message": message, "param": "temperature", "code": "unsupported_value"}
    return None


def small_model(body: dict[str, Any]) -> dict[str, Any] | None:
    if "max_tokens" in body:
        message = "'max_tokens' or 'max_completion_tokens' is too large: 16000. The maximum context is 4096."
        return {"message": message, "param": None}
    return None


def plain_model(body: dict[str, Any]) -> dict[str, Any] | None:
    return (
        {"message": "response_format of type json_schema is unknown"} if "response_format" in body else None
    )


@pytest.mark.parametrize(
    ("refused", "kept", "resent"),
    [
        (reasoning_model, {"max_completion_tokens", "response_format"}, 2),
        (small_model, {"temperature", "response_format"}, 1),
        (plain_model, {"temperature", "max_tokens"}, 1),
    ],
)
def test_a_refused_parameter_is_adapted_resent_and_remembered(
    refused: Callable[[dict[str, Any]], dict[str, Any] | None], kept: set[str], resent: int
) -> None:
    with (
        ChatServer(refusing(refused)) as server,
        model_at(server.url, temperature=0.0, json_schema=True) as model,
    ):
        for _ in range(3):
            assert model.ask(QUESTION, 20.0).text == chat.ANSWER
        assert len(server.questions) == 3 + resent
        assert set(server.questions[-1].body) - {"model", "messages"} == kept


def test_a_server_that_goes_on_refusing_is_asked_no_more_than_there_are_parameters() -> None:
    named = "max_tokens max_completion_tokens temperature response_format"
    with (
        ChatServer(chat.failure(400, named)) as server,
        model_at(server.url, temperature=0.0, json_schema=True) as model,
    ):
        for requests in (5, 6):
            with pytest.raises(ModelError, match="HTTP 400"):
                model.ask(QUESTION, 20.0)
            assert len(server.questions) == requests


def test_a_400_about_something_else_is_not_resent() -> None:
    with ChatServer(chat.failure(400, "This model's maximum context length is 10 tokens")) as server:
        assert failure(server.url).kind == "bad-request"
        assert len(server.questions) == 1


def test_many_workers_learn_a_refusal_together() -> None:
    with ChatServer(refusing(reasoning_model)) as server, model_at(server.url, temperature=0.0) as model:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: model.ask(QUESTION, 20.0).text, range(40)))
        assert answers == [chat.ANSWER] * 40
        assert len(server.questions) <= 40 + 2 * 8
