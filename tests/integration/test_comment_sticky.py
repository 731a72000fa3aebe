from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bccontam.github.comment import CommentOutcome, marker
from tests.support.fault_github import ACTIONS, Fault, FaultGithub, Request
from tests.support.publishing import GITHUB_CASES, REPORT, noise, publish

pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.mark.skipif(not GITHUB_CASES, reason="the shared cases are not here")
@pytest.mark.parametrize("position", [133, 250, 1, 100, 101], ids=["D035", "250", "1", "100", "101"])
def test_our_comment_is_found_on_any_page(position: int) -> None:
    with FaultGithub() as server:
        noise(server, position - 1)
        ours = server.add(f"{marker('')}\nold")
        noise(server, 250 - position)
        outcome = publish(server)
        assert (server.count("POST"), server.count("PATCH")) == (0, 1)
        assert outcome.action == "updated"
        assert outcome.url.endswith(f"-{ours}")
        assert all(
            request.query["per_page"] == ["100"] for request in server.requests if request.method == "GET"
        )


@pytest.mark.parametrize("linked", [True, False])
def test_pages_are_read_with_and_without_links(linked: bool) -> None:
    with FaultGithub() as server:
        server.linked = linked
        noise(server, 200)
        server.add(f"{marker('')}\nold")
        assert publish(server).action == "updated"


def test_links_to_another_host_are_not_followed() -> None:
    with FaultGithub() as server:
        server.link_url = "https://internal.example.invalid/api/v3"
        noise(server, 130)
        server.add(f"{marker('')}\nold")
        assert publish(server).action == "updated"
        assert {request.host for request in server.requests} == {server.url.removeprefix("http://")}


def test_no_more_than_a_thousand_comments_are_read_and_that_is_said() -> None:
    with FaultGithub() as server:
        noise(server, 1_050)
        server.add(f"{marker('')}\nold")
        outcome = publish(server)
        assert "1,000" in outcome.warning
        listed = [
            request for request in server.requests if request.method == "GET" and "since" not in request.query
        ]
        assert len(listed) == 10


@pytest.mark.parametrize("runs", [1, 3], ids=["D037", "D037-again"])
def test_of_two_comments_the_newest_stays(runs: int) -> None:
    with FaultGithub() as server:
        server.add(f"{marker('')}\nfirst", id=11)
        server.add("between", "octocat", "User")
        server.add(f"{marker('')}\nsecond", id=15)
        outcomes = {publish(server, f"{REPORT} {run}").url for run in range(runs)}
        assert len(outcomes) == 1
        assert outcomes.pop().endswith("-15")
        assert (server.count("POST"), server.count("PATCH")) == (0, runs)
        assert server.bodies == ["between", f"{marker('')}\n{REPORT} {runs - 1}"]


# Whose comment it is.


@pytest.mark.parametrize(
    ("author", "kind", "body"),
    [
        ("coverage-app[bot]", "Bot", f"> {marker('')}"),
        ("coverage-app[bot]", "Bot", f"{marker('')}\nechoed"),
        ("mallory", "User", f"{marker('')}\nforged"),
        (None, "User", f"{marker('')}\nof a deleted account"),
        (ACTIONS, "Bot", f"Quoting {marker('')}"),
        (ACTIONS, "Bot", f"{marker('other')}\nanother report"),
        (ACTIONS, "Bot", None),
    ],
)
def test_a_comment_that_is_not_ours_is_left_alone(author: str | None, kind: str, body: str | None) -> None:
    with FaultGithub() as server:
        server.add(body, author, kind)
        assert publish(server).action == "created"
        assert server.bodies[0] == body
        assert len(server.comments) == 2


@pytest.mark.parametrize("login", ["octocat", "rw-app[bot]"])
def test_what_another_token_wrote_is_edited_by_the_same_token(login: str) -> None:
    with FaultGithub(login=login, knows_itself=True) as server:
        assert publish(server).action == "created"
        assert publish(server, "later").action == "updated"
        assert server.bodies == [f"{marker('')}\nlater"]
        assert server.count("POST") == 1


def test_an_app_that_cannot_tell_who_it_is_still_has_one_comment() -> None:
    with FaultGithub(login="rw-app[bot]", knows_itself=False) as server:
        for run in range(3):
            assert publish(server, f"run {run}").action == "created"
        assert server.bodies == [f"{marker('')}\nrun 2"]


@pytest.mark.parametrize("answer", [{}, {"data": None}, {"errors": [{"message": "no"}]}, [1]])
def test_an_odd_answer_to_who_we_are_is_no_answer(answer: object) -> None:
    fault = Fault("POST", 200, answer, path="/graphql")
    with FaultGithub(fault, login="rw-app[bot]", knows_itself=True) as server:
        server.add(f"{marker('')}\nechoed", "coverage-app[bot]")
        assert publish(server).action == "created"
        assert len(server.comments) == 2
        assert not server.faults


def test_nobody_is_asked_for_when_there_is_nothing_to_tell_apart() -> None:
    with FaultGithub(login="octocat", knows_itself=True) as server:
        noise(server, 3)
        server.add(None, None)
        server.add(f"{marker('')}\nold")
        publish(server)
        assert all("/comments" in request.path for request in server.requests)


def test_several_reports_are_told_apart_by_their_ids() -> None:
    with FaultGithub() as server:
        for identity in ("", "a", "b", "a"):
            publish(server, f"report {identity}", comment_id=identity)
        assert server.bodies == [f"{marker(identity)}\nreport {identity}" for identity in ("", "a", "b")]


# Races.


def in_parallel(server: FaultGithub, count: int) -> list[CommentOutcome]:
    """Publishers that all have looked before the first of them creates."""
    barrier = threading.Barrier(count)
    waiting = [True] * count

    def look_together(request: Request) -> None:
        if request.method == "POST" and waiting:
            waiting.pop()
            barrier.wait(10)

    server.before = look_together
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda number: publish(server, f"report {number}"), range(count)))


@pytest.mark.parametrize("count", [2, 4])
def test_of_runs_that_race_the_later_report_stays(count: int) -> None:
    with FaultGithub() as server:
        outcomes = in_parallel(server, count)
        posted = [request.body["body"] for request in server.requests if request.method == "POST"]
        assert len(posted) == count
        assert len(server.comments) == 1
        assert server.comments[0]["id"] == 10 + count
        (winner,) = [number for number in range(count) if server.bodies == [f"{marker('')}\nreport {number}"]]
        assert outcomes[winner] == CommentOutcome(server.comments[0]["html_url"], "created", "")
        for number, outcome in enumerate(outcomes):
            assert outcome.action in ("created", "skipped")
            assert number == winner or outcome.action == "created" or "comment-id" in outcome.warning


def test_a_run_that_creates_later_wins_over_one_that_has_just_created() -> None:
    """B looks before A has created, and creates after A is done."""
    with FaultGithub() as server:

        def a_first(request: Request) -> None:
            if request.method == "POST":
                server.before = lambda request: None
                assert publish(server, "report A").action == "created"

        server.before = a_first
        assert publish(server, "report B").action == "created"
        assert server.bodies == [f"{marker('')}\nreport B"]


def test_a_run_that_was_overtaken_leaves_the_later_report_alone() -> None:
    """A has created; B creates before A looks again."""
    with FaultGithub() as server:

        def b_meanwhile(request: Request) -> None:
            if request.method == "GET" and server.comments:
                server.before = lambda request: None
                server.add(f"{marker('')}\nreport B")

        server.before = b_meanwhile
        outcome = publish(server, "report A")
        assert outcome.action == "skipped"
        assert "concurrency" in outcome.warning
        assert server.bodies == [f"{marker('')}\nreport B"]


def test_a_report_edited_into_a_comment_that_has_to_go_is_carried_over() -> None:
    """B creates beside A's comment of the same moment, into which C puts its report a little later."""
    with FaultGithub() as server:

        def c_meanwhile(request: Request) -> None:
            if request.method == "GET" and server.comments:
                server.before = lambda request: None
                server.add(f"{marker('')}\nreport C", id=1)

        server.before = c_meanwhile
        assert publish(server, "report B").action == "skipped"
        assert server.bodies == [f"{marker('')}\nreport C"]
        assert server.comments[0]["id"] == 11


def test_a_creation_whose_check_fails_still_counts() -> None:
    with FaultGithub() as server:

        def fail_after_creation(request: Request) -> None:
            if request.method == "POST":
                server.faults += [Fault("GET", 500)] * 9

        server.before = fail_after_creation
        assert publish(server) == CommentOutcome(server.comments[0]["html_url"], "created", "")
