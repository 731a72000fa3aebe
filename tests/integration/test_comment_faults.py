from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from bccontam.github.comment import CommentOutcome, marker
from tests.support.fault_github import Fault, FaultGithub, Request
from tests.support.publishing import FORBIDDEN, GITHUB_CASES, REPORT, Waits, publish

pytestmark = pytest.mark.usefixtures("no_proxy")


SECONDARY = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
}
PRIMARY = {"message": "API rate limit exceeded for installation ID 1."}


SCRIPTED = [
    pytest.param(case, id=identity)
    for identity, case in GITHUB_CASES.items()
    if isinstance(case["input"].get("responses"), list)
    and not any(isinstance(response[2], str) for response in case["input"]["responses"])
    and identity != "D044"
]


def scripted(case: dict[str, Any]) -> Iterator[Fault]:
    for method, status, body, *headers in case["input"]["responses"]:
        values = dict(headers[0]) if headers else {}
        for name, value in values.items():
            if str(value).startswith("now+"):
                values[name] = str(int(time.time()) + int(value[4:]))
        yield Fault(method.split()[0], status, body, values)


@pytest.mark.parametrize("case", SCRIPTED)
def test_public_problems_with_answers(case: dict[str, Any]) -> None:
    expected, waits = case["expected"], Waits()
    with FaultGithub(*scripted(case)) as server:
        outcome = publish(server, waits=waits)
        assert server.count("POST") == expected.get("posts", server.count("POST"))
        assert server.count("PATCH") == expected.get("patches", server.count("PATCH"))
        if "final_comments" in expected:
            assert (outcome.action, outcome.warning) == ("created", "")
        if "extra_requests" in expected:
            assert not [request.path for request in server.requests if "/comments" not in request.path]
        for word in {
            "D022": ("pull-requests: write", "fork"),
            "D034": ("pull-requests: write", "rate limit"),
        }.get(case["id"], ()):
            assert word in outcome.warning
        if case["id"] in ("D024", "D025"):
            assert expected["warning"] in outcome.warning
        if "seconds" in expected:
            assert sum(waits) < 60
        if expected.get("exit") == 0 and expected.get("posts") in (0, 1) and not outcome.url:
            assert outcome.action == "skipped"
            assert outcome.warning.endswith("the report is in the job summary.")


# Faults.


def test_a_creation_behind_a_broken_gateway_is_not_repeated() -> None:
    with FaultGithub(Fault("POST", carried_out=True)) as server:
        outcome = publish(server)
        assert outcome.action == "created"
        assert outcome.url
        assert server.count("POST") == 1
        assert len(server.comments) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", 502),
        Fault("POST", 500, raw=b"<html>Unicorn!</html>"),
        Fault("POST", 504, raw=b""),
        Fault("POST", hang_up=True),
        Fault("POST", hang_up=True, carried_out=True),
        Fault("POST", 201, raw=b"{", carried_out=True),
        Fault("POST", 201, raw=b"[]", carried_out=True),
    ],
    ids=["502", "500-html", "504-empty", "hang-up", "hang-up-done", "201-broken", "201-list"],
)
def test_a_failed_creation_leaves_one_comment(fault: Fault) -> None:
    with FaultGithub(fault) as server:
        assert publish(server).action == "created"
        assert server.bodies == [f"{marker('')}\n{REPORT}"]


def test_a_last_creation_that_seemed_to_fail_is_found() -> None:
    with FaultGithub(Fault("POST", times=2), Fault("POST", carried_out=True)) as server:
        assert publish(server).action == "created"
        assert (server.count("POST"), len(server.comments)) == (3, 1)


def test_creation_is_given_up_after_a_few_tries() -> None:
    with FaultGithub(Fault("POST", 502, times=50)) as server:
        outcome = publish(server)
        assert outcome.action == "skipped"
        assert "502" in outcome.warning
        assert server.count("POST") == 3


@pytest.mark.parametrize("carried_out", [True, False])
@pytest.mark.parametrize("fault", [Fault("PATCH", 502, times=2), Fault("PATCH", hang_up=True)])
def test_an_edit_is_repeated(fault: Fault, carried_out: bool) -> None:
    with FaultGithub(fault) as server:
        server.add(f"{marker('')}\nold")
        assert publish(server).action == "updated"
        assert server.bodies == [f"{marker('')}\n{REPORT}"]


def test_a_server_that_stays_down_costs_one_warning() -> None:
    with FaultGithub(Fault("GET", 503, times=100)) as server:
        outcome = publish(server)
        assert outcome == CommentOutcome("", "skipped", outcome.warning)
        assert "503" in outcome.warning
        assert outcome.warning.count(". ") == 0


@pytest.mark.parametrize("status", [404, 410])
def test_a_comment_that_vanished_before_its_edit_is_created_again(status: int) -> None:
    with FaultGithub(Fault("PATCH", status)) as server:
        server.add(f"{marker('')}\nold")

        def delete_first(request: Request) -> None:
            if request.method == "PATCH":
                server.comments.clear()

        server.before = delete_first
        assert publish(server).action == "created"
        assert server.bodies == [f"{marker('')}\n{REPORT}"]


REFUSALS = [
    ("GET", 401, {"message": "Bad credentials"}, "github-token"),
    ("GET", 403, FORBIDDEN, "pull-requests: write"),
    ("GET", 404, {"message": "Not Found"}, "PR 7 not found or no access"),
    ("GET", 410, {"message": "This issue was deleted"}, "gone"),
    ("GET", 301, {"message": "Moved"}, "did not answer"),
    ("GET", 200, {"not": "a list"}, "did not answer"),
    ("POST", 403, FORBIDDEN, "fork"),
    ("POST", 403, {"message": "Unable to create comment because issue is locked."}, "locked"),
    ("POST", 403, {"message": "Repository was archived so is read-only."}, "archived"),
    ("POST", 404, {"message": "Not Found"}, "PR 7 not found or no access"),
    ("POST", 410, {"message": "Issues are disabled for this repo"}, "gone"),
    (
        "POST",
        422,
        {"message": "Validation Failed: body is too long (maximum is 65536 characters)"},
        "too long",
    ),
    ("POST", 418, {"message": "teapot"}, "418"),
    ("POST", 403, {"message": None}, "pull-requests: write"),
    ("POST", 403, {"message": ["odd"]}, "did not answer"),
    ("POST", 403, [], "pull-requests: write"),
]


@pytest.mark.parametrize(("method", "status", "body", "words"), REFUSALS)
def test_a_refusal_is_one_sentence_that_says_what_to_do(
    method: str, status: int, body: Any, words: str
) -> None:
    with FaultGithub(Fault(method, status, body, times=9)) as server:
        outcome = publish(server)
        assert words in outcome.warning
        assert (outcome.url, outcome.action) == ("", "skipped")
        assert outcome.warning.endswith("; the report is in the job summary.")
        assert "\n" not in outcome.warning
        assert not server.comments


@pytest.mark.parametrize(("status", "words"), [(403, "pull-requests: write"), (422, "422")])
def test_a_refused_edit_creates_nothing(status: int, words: str) -> None:
    with FaultGithub(Fault("PATCH", status, FORBIDDEN)) as server:
        server.add(f"{marker('')}\nold")
        assert words in publish(server).warning
        assert (server.count("PATCH"), server.count("POST")) == (1, 0)


def test_a_duplicate_that_cannot_be_removed_is_mentioned() -> None:
    with FaultGithub(Fault("DELETE", 403, FORBIDDEN)) as server:
        server.add(f"{marker('')}\none")
        server.add(f"{marker('')}\ntwo")
        outcome = publish(server)
        assert outcome.action == "updated"
        assert "could not be removed (403: Resource" in outcome.warning


# Rate limits.

EACH_STEP = ["GET", "POST", "PATCH"]


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("method", EACH_STEP)
def test_a_short_rate_limit_is_waited_for(method: str, status: int) -> None:
    waits = Waits()
    with FaultGithub(Fault(method, status, SECONDARY, {"Retry-After": "3"})) as server:
        if method == "PATCH":
            server.add(f"{marker('')}\nold")
        outcome = publish(server, waits=waits)
        assert not outcome.warning
        assert waits.limits == [3.0]
        assert server.bodies == [f"{marker('')}\n{REPORT}"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "3600"},
        {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4000000000"},
    ],
)
@pytest.mark.parametrize("method", EACH_STEP)
def test_a_long_rate_limit_is_not_waited_for(method: str, headers: dict[str, str]) -> None:
    waits = Waits()
    with FaultGithub(Fault(method, 403, PRIMARY, headers, times=9)) as server:
        server.add(f"{marker('')}\nold" if method == "PATCH" else "hello")
        outcome = publish(server, waits=waits)
        assert "rate limit" in outcome.warning
        assert not waits.limits
        assert server.count(method) == 1


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (SECONDARY, {}),
        (SECONDARY, {"Retry-After": "20"}),
        (SECONDARY, {"Retry-After": "soon"}),
        ({"message": "You have triggered an abuse detection mechanism."}, {}),
        (PRIMARY, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}),
        (FORBIDDEN, {"X-RateLimit-Remaining": "0"}),
    ],
)
@pytest.mark.parametrize("method", EACH_STEP)
def test_rate_limits_cost_a_minute_at_most_in_all(
    method: str, body: dict[str, str], headers: dict[str, str]
) -> None:
    waits = Waits()
    with FaultGithub(Fault(method, 403, body, headers, times=200)) as server:
        server.add(f"{marker('')}\nold" if method == "PATCH" else "hello")
        outcome = publish(server, waits=waits)
        assert "rate limit" in outcome.warning
        assert 0 < sum(waits) <= 60
        assert server.count(method) <= 7


def test_limits_of_different_requests_share_one_minute() -> None:
    waits = Waits()
    faults = [Fault(method, 429, SECONDARY, {"Retry-After": "25"}) for method in ("GET", "POST", "POST")]
    with FaultGithub(*faults) as server:
        assert "rate limit" in publish(server, waits=waits).warning
        assert waits.limits == [25.0, 25.0]
