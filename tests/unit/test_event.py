from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bccontam.github.event import Event, read_event
from tests.support.paths import SHARED, shared_cases

BASE, HEAD, QUEUE = "b" * 40, "a" * 40, "c" * 40


def event(name: str, payload: dict[str, Any] | None, **environ: str) -> Event:
    return read_event({"GITHUB_EVENT_NAME": name, "GITHUB_REPOSITORY": "acme/widgets"} | environ, payload)


def pull_request(head: str = "acme/widgets", author: str = "octocat", **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "number": 7,
        "head": {"sha": HEAD, "repo": {"full_name": head}},
        "base": {"sha": BASE, "repo": {"full_name": "acme/widgets"}},
        "user": {"login": author},
    }
    return {"number": 7, "pull_request": body | fields, "repository": {"full_name": "acme/widgets"}}


CASES = [case for case in shared_cases("github") if "event_file" in str(case.values[0]["input"])]


@pytest.mark.parametrize("case", CASES)
def test_public_problems_with_events(case: dict[str, Any]) -> None:
    environ = {name: value for name, value in case["input"].items() if name.startswith("GITHUB_")}
    payload = json.loads((SHARED / "cases" / case["input"]["event_file"]).read_text(encoding="utf-8"))
    found = read_event(environ, payload)
    assert found.number == case["expected"]["pr"]
    if "may_comment" in case["expected"]:
        assert found.may_comment is case["expected"]["may_comment"]
    if "warn" in case["expected"]:
        assert found.warnings


def test_a_pull_request_of_the_repository_may_be_commented() -> None:
    found = event("pull_request", pull_request())
    assert (found.number, found.base_sha, found.head_sha) == (7, BASE, HEAD)
    assert found.may_comment
    assert not found.untrusted


def test_names_of_repositories_differ_in_case_only() -> None:
    assert event("pull_request", pull_request("Acme/Widgets")).may_comment


@pytest.mark.parametrize("head", ["visitor/widgets", None])
def test_a_fork_may_not_comment_and_says_what_a_maintainer_can_do(head: str | None) -> None:
    payload = pull_request()
    payload["pull_request"]["head"]["repo"] = {"full_name": head} if head else None
    found = event("pull_request", payload)
    assert not found.may_comment
    assert "workflow_run" in found.untrusted


@pytest.mark.parametrize(
    ("author", "actor"), [("dependabot[bot]", "octocat"), ("octocat", "dependabot[bot]")]
)
def test_dependabot_is_not_trusted_with_secrets(author: str, actor: str) -> None:
    found = event("pull_request", pull_request(author=author), GITHUB_ACTOR=actor)
    assert "Dependabot" in found.untrusted


@pytest.mark.parametrize(
    "name", ["pull_request", "push", "create", "deployment_status", "pull_request_review"]
)
def test_what_dependabot_starts_has_no_secrets(name: str) -> None:
    payload = pull_request() | {"before": BASE, "after": HEAD}
    assert "Dependabot" in event(name, payload, GITHUB_ACTOR="dependabot[bot]").untrusted
    assert "Dependabot" in event(name, payload | {"sender": {"login": "dependabot[bot]"}}).untrusted
    assert not event(name, payload, GITHUB_ACTOR="octocat").untrusted


@pytest.mark.parametrize("name", ["schedule", "workflow_dispatch", "merge_group", "release", "workflow_run"])
def test_other_events_run_on_the_repositorys_own_terms(name: str) -> None:
    assert not event(name, {}, GITHUB_ACTOR="dependabot[bot]").untrusted


def test_pull_request_target_warns_about_the_forks_head() -> None:
    found = event("pull_request_target", pull_request("visitor/widgets"))
    assert found.may_comment
    assert "never check out the head" in found.warnings[0]


@pytest.mark.parametrize(
    ("ref", "number"),
    [
        (f"refs/heads/gh-readonly-queue/main/pr-7-{QUEUE}", 7),
        (f"refs/heads/gh-readonly-queue/release/pr-99-x/pr-7-{QUEUE}", 7),
        ("refs/heads/gh-readonly-queue/main/pr-7-abc", None),
        (f"refs/heads/gh-readonly-queue/main/pr-0-{QUEUE}", None),
        (f"refs/heads/gh-readonly-queue/main/pr-{'9' * 5_000}-{QUEUE}", None),
        (f"refs/heads/gh-readonly-queue/main/pr-\u0667-{QUEUE}", None),
        (f"refs/heads/gh-readonly-queue/main/pr-7-{QUEUE}-x", None),
        ("refs/heads/main", None),
    ],
)
def test_a_merge_groups_number_is_at_the_end_of_its_ref(ref: str, number: int | None) -> None:
    payload = {"merge_group": {"head_ref": ref, "base_sha": BASE, "head_sha": QUEUE}}
    found = event("merge_group", payload)
    assert found.number == number
    assert (found.base_sha, found.head_sha) == (BASE, QUEUE)
    assert event("merge_group", {}, GITHUB_REF=ref).number == number


def run_of(*pulls: tuple[int, str]) -> dict[str, Any]:
    return {
        "workflow_run": {
            "head_sha": HEAD,
            "pull_requests": [{"number": n, "head": {"sha": s}} for n, s in pulls],
        }
    }


def test_a_workflow_run_belongs_to_the_one_pull_request_with_its_head() -> None:
    assert event("workflow_run", run_of((3, BASE), (7, HEAD))).number == 7
    assert event("workflow_run", run_of((3, HEAD), (7, HEAD))).number is None
    assert event("workflow_run", run_of()).number is None
    assert event("workflow_run", run_of((7, HEAD))).head_sha == HEAD


def test_a_pull_request_of_another_repository_is_not_taken_for_ours() -> None:
    payload = run_of((4, HEAD), (7, HEAD))
    theirs, ours = payload["workflow_run"]["pull_requests"]
    theirs["base"], ours["base"] = {"repo": {"id": 2}}, {"repo": {"id": 1}}
    payload["repository"] = {"id": 1, "full_name": "acme/widgets"}
    assert event("workflow_run", payload).number == 7
    del payload["workflow_run"]["pull_requests"][1]
    assert event("workflow_run", payload).number is None


@pytest.mark.parametrize(
    "name", ["push", "schedule", "workflow_dispatch", "release", "repository_dispatch", "unheard_of"]
)
def test_other_events_have_no_pull_request(name: str) -> None:
    payload = {
        "number": 3,
        "inputs": None,
        "client_payload": {"pull_request": {"number": 99}},
        "release": {"id": 4},
    }
    found = event(name, payload)
    assert found.number is None
    assert not found.may_comment


def test_a_push_knows_its_commits_and_a_deleted_branch_none() -> None:
    assert event("push", {"before": BASE, "after": HEAD}).base_sha == BASE
    assert event("push", {"before": BASE, "after": "0" * 40}).head_sha == ""
    assert event("push", {"before": "0" * 40, "after": HEAD}).base_sha == ""


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        {"pull_request": None},
        {"pull_request": []},
        {"pull_request": {"number": "7"}},
        {"number": True},
    ],
)
def test_a_missing_or_broken_payload_is_no_pull_request(payload: dict[str, Any] | None) -> None:
    found = event("pull_request", payload)
    assert found.number is None
    assert found.base_sha == ""
    assert bool(found.warnings) is (payload is None)


def test_commits_that_are_no_commits_are_not_passed_on() -> None:
    payload = pull_request(base={"sha": "--upload-pack=evil"})
    assert event("pull_request", payload).base_sha == ""


def test_addresses_come_from_the_environment_for_enterprise_servers() -> None:
    found = event(
        "push",
        {},
        GITHUB_API_URL="https://ghe.example.invalid/api/v3/",
        GITHUB_SERVER_URL="https://ghe.example.invalid",
        GITHUB_RUN_ID="12",
    )
    assert found.api_url == "https://ghe.example.invalid/api/v3"
    assert found.run_url == "https://ghe.example.invalid/acme/widgets/actions/runs/12"


def test_every_event_file_is_read() -> None:
    folder = SHARED / "cases" / "events"
    if folder.is_dir():
        for path in Path(folder).iterdir():
            read_event({"GITHUB_EVENT_NAME": "pull_request"}, json.loads(path.read_text(encoding="utf-8")))
