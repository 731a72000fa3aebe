"""What the Copilot CLI reports, judged; and where its binary and its server are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.errors import AskError
from bccontam.models import copilot_common
from bccontam.models.base import ModelError
from bccontam.models.chat_reply import Scrub
from bccontam.models.copilot_common import find_cli, header_pairs, sendable
from bccontam.models.copilot_events import Transcript, error_from_text

DATE = "<current_datetime>2026-12-01T12:12:37.780+00:00</current_datetime>\n\n"
Events = list[tuple[str, dict[str, Any]]]

# As CLI 1.0.102 reported them, shortened.
GOOD: Events = [
    ("session.start", {"copilotVersion": "1.0.102"}),
    ("user.message", {"content": "Which files?", "transformedContent": f"{DATE}Which files?"}),
    ("system.message", {"content": "You name files.", "role": "system"}),
    ("assistant.turn_start", {"turnId": "0"}),
    ("model.call_start", {"turnId": "0", "model": "m"}),
    (
        "assistant.usage",
        {"model": "m", "inputTokens": 11, "outputTokens": 7, "finishReason": "stop", "availableToolCount": 0},
    ),
    ("unknown", {"kind": "model_call_success", "responseChunk": {"model": "m-2026-01-01"}}),
    ("assistant.message", {"model": "m", "content": '["a.al"]', "toolRequests": []}),
    ("assistant.turn_end", {"turnId": "0"}),
    ("session.idle", {"mode": "interactive"}),
]


def read(events: Events, system: str | None = "You name files.") -> Transcript:
    transcript = Transcript(system, "Which files?", Scrub(["secret"]))
    for kind, data in events:
        transcript.add(kind, data)
    return transcript


def error_of(events: Events) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read(events).answer(1.0)
    return caught.value


def changed(kind: str, **fields: Any) -> Events:
    return [(name, {**data, **fields} if name == kind else data) for name, data in GOOD]


def test_an_answer_holds_text_returned_model_usage_and_seconds() -> None:
    answer = read(GOOD).answer(1.5)
    assert (answer.text, answer.model, answer.seconds) == ('["a.al"]', "m-2026-01-01", 1.5)
    assert (answer.input_tokens, answer.output_tokens, answer.finish_reason) == (11, 7, "stop")


def test_only_the_last_event_settles_a_good_answer() -> None:
    assert not read(GOOD[:-1]).settled
    assert read(GOOD).settled


@pytest.mark.parametrize(
    "event",
    [
        ("assistant.message", {"content": "", "toolRequests": [{"name": "view", "toolCallId": "c"}]}),
        ("tool.execution_start", {"toolName": "view"}),
        ("external_tool.requested", {"toolName": "view"}),
        ("permission.requested", {"name": "view"}),
        ("subagent.started", {"name": "view"}),
    ],
)
def test_a_tool_request_outranks_an_answer_and_any_error(event: tuple[str, dict[str, Any]]) -> None:
    for events in (
        [*GOOD[:-1], event, GOOD[-1]],
        [event, *GOOD],
        [("session.error", {"statusCode": 500}), event],
    ):
        error = error_of(events)
        assert (error.kind, error.retryable) == ("tool-request", False)
        assert "(view)" in str(error)


def test_the_name_of_a_tool_is_shown_only_when_it_is_a_word() -> None:
    events: Events = [("tool.execution_start", {"toolName": "::add-mask::x\n<b>"})]
    assert "(unnamed)" in str(error_of(events))


def test_tools_that_were_offered_are_as_bad_as_tools_that_were_asked_for() -> None:
    assert error_of(changed("assistant.usage", availableToolCount=17)).kind == "tool-request"


def test_a_system_prompt_that_is_not_ours_is_an_error_where_ours_was_promised() -> None:
    events = changed("system.message", content="You name files.\nWork in secretorg/secretrepo.")
    assert "system prompt" in str(error_of(events))
    assert read(events, system=None).answer(1.0).text == '["a.al"]'


@pytest.mark.parametrize(
    "sent", ["Which files?", f"{DATE}Which files?\n", f"{DATE}Which files?"], ids=["bare", "newline", "date"]
)
def test_the_date_may_stand_before_our_prompt(sent: str) -> None:
    assert read(changed("user.message", transformedContent=sent)).answer(1.0).text == '["a.al"]'


@pytest.mark.parametrize("sent", [f"{DATE}<files>a.al</files>\nWhich files?", f"{DATE}Which files? a.al"])
def test_nothing_else_may_stand_around_our_prompt(sent: str) -> None:
    assert "not ours" in str(error_of(changed("user.message", transformedContent=sent)))


@pytest.mark.parametrize(
    ("data", "kind", "retryable"),
    [
        ({"statusCode": 429, "errorType": "rate_limit"}, "rate-limit", True),
        (
            {"statusCode": 429, "errorType": "rate_limit", "errorCode": "user_weekly_rate_limited"},
            "quota",
            False,
        ),
        ({"statusCode": 429, "providerErrorType": "insufficient_quota"}, "quota", False),
        ({"statusCode": 402}, "quota", False),
        ({"errorType": "quota"}, "quota", False),
        ({"statusCode": 401}, "authentication", False),
        ({"statusCode": 403, "errorType": "query"}, "authentication", False),
        ({"errorType": "authorization"}, "authentication", False),
        ({"statusCode": 404}, "not-found", False),
        ({"statusCode": 400}, "bad-request", False),
        ({"errorType": "context_limit"}, "bad-request", False),
        ({"statusCode": 502}, "server", True),
        ({"statusCode": 408}, "timeout", True),
        ({"errorType": "query", "message": "No response was returned."}, "bad-response", False),
        ({"errorType": "query", "message": "No GitHub OAuth token or key provided"}, "authentication", False),
        ({"errorType": "query", "message": "something new"}, "bad-response", False),
        ({}, "bad-response", False),
    ],
)
def test_a_session_error_is_typed(data: dict[str, Any], kind: str, retryable: bool) -> None:
    error = error_of([("session.error", data), ("session.idle", {})])
    assert (error.kind, error.retryable, error.status) == (kind, retryable, data.get("statusCode"))


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_failed_call_settles_before_the_cli_tries_again(status: int) -> None:
    transcript = read([("model.call_failure", {"statusCode": status, "errorMessage": '{"message":"later"}'})])
    assert transcript.settled
    with pytest.raises(ModelError, match=f"answered {status}: later"):
        transcript.answer(1.0)


@pytest.mark.parametrize(
    "data",
    [{"statusCode": 401}, {"statusCode": 400}, {"failureKind": "transport", "transport": "websocket"}, {}],
)
def test_a_failed_call_that_the_cli_mends_or_explains_does_not_settle(data: dict[str, Any]) -> None:
    assert not read([("model.call_failure", data)]).settled


def test_a_broken_connection_is_typed() -> None:
    message = '"Failed native model HTTP request: error sending request for url (http://x): closed"'
    data = {"failureKind": "transport", "transport": "http", "errorMessage": message}
    assert error_of([("model.call_failure", data)]).kind == "connection"


def test_a_message_is_one_short_line_without_credentials() -> None:
    error = error_of([("session.error", {"message": "secret\n::error::x\x1b[31m " + "y" * 999})])
    assert str(error).startswith("*** ::error::x [31m yyy")
    assert len(str(error)) <= 304


def test_a_continued_answer_has_the_finish_reason_length() -> None:
    again: Events = [("assistant.turn_start", {}), ("assistant.message", {"content": '.al"]'})]
    assert read([*GOOD[:-1], *again, GOOD[-1]]).answer(1.0).finish_reason == "length"


def test_the_clis_own_sentence_for_a_filtered_answer_is_no_answer() -> None:
    text = "The model returned no content because the response was blocked by content filtering."
    answer = read(changed("assistant.message", content=text)).answer(1.0)
    assert (answer.text, answer.finish_reason) == ("", "content_filter")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 600) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
KINDS = st.sampled_from(
    sorted({kind for kind, _ in GOOD} | {"session.error", "model.call_failure", "tool.x"})
)
FIELDS = sorted({name for _, data in GOOD for name in data} | {"statusCode", "errorType", "message", "usage"})


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(KINDS, st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4)), max_size=6))
def test_events_of_an_unexpected_form_never_raise_but_a_model_error(events: Events) -> None:
    transcript = read(events)
    try:
        text, message = transcript.answer(1.0).text, ""
    except ModelError as error:
        text, message = "", str(error)
    assert isinstance(text, str)
    assert "\n" not in message


def test_no_output_at_all_is_no_answer() -> None:
    assert error_of([]).kind == "bad-response"
    transcript = read([])
    transcript.fail_by_text("Error: No authentication information found.")
    with pytest.raises(ModelError) as caught:
        transcript.answer(1.0)
    assert caught.value.kind == "authentication"


def test_a_text_that_tells_nothing_has_the_kind_it_is_given() -> None:
    assert error_from_text("what?", "unavailable", str).kind == "unavailable"


@pytest.mark.parametrize("given_by", ["argument", "variable"])
def test_a_named_cli_that_is_no_binary_is_an_error_that_names_it(tmp_path: Path, given_by: str) -> None:
    script = tmp_path / "copilot"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    with pytest.raises(AskError, match=f"^{script} is no native Copilot CLI binary.*npm install"):
        find_cli(*((script, {}) if given_by == "argument" else (None, {"COPILOT_CLI_PATH": str(script)})))


def test_a_missing_cli_is_one_sentence_on_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copilot_common, "_PLACES", ())
    with pytest.raises(AskError, match=r"^The Copilot CLI was not found: install it with .*\.$") as caught:
        find_cli(None, {"PATH": "/nowhere"})
    assert caught.value.exit_code == 3


def test_a_cli_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copilot_common, "_PLACES", ())
    binary = tmp_path / "copilot"
    binary.write_bytes(b"\x7fELF")
    binary.chmod(0o755)
    assert find_cli(None, {"PATH": str(tmp_path)}) == binary


@pytest.mark.parametrize(
    ("environ", "ports"),
    [
        ({}, [443]),
        ({"HTTPS_PROXY": "http://user:pass@proxy:3128"}, [443, 3128]),
        ({"https_proxy": "proxy"}, [80, 443]),
        ({"COPILOT_PROVIDER_BASE_URL": "http://localhost:11434/v1"}, [443, 11434]),
        ({"COPILOT_PROVIDER_BASE_URL": "http://localhost:11434/v1", "COPILOT_OFFLINE": "true"}, [11434]),
        ({"COPILOT_PROVIDER_BASE_URL": "https://host/v1", "COPILOT_OFFLINE": "true"}, [443]),
        ({"NO_PROXY": "host:99"}, [443]),
    ],
)
def test_the_ports_are_those_of_the_server_and_the_proxies(environ: dict[str, str], ports: list[int]) -> None:
    assert copilot_common._ports(environ) == ports


def test_headers_are_read_one_a_line() -> None:
    assert dict(header_pairs("X-Key: a:b\nnonsense\\nX-Tenant: t\n: x")) == {"X-Key": "a:b", "X-Tenant": "t"}


def test_what_utf_8_cannot_carry_is_replaced() -> None:
    assert sendable("ä\ud800") == "ä?"
