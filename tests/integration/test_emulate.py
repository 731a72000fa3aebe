"""The comment and the changed entries against a GitHub that we did not write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from github import InputGitTreeElement

from bccontam.github.changed import ChangedEntries, ChangeRequest, find_changes
from bccontam.github.comment import (
    CommentOutcome,
    CommentTarget,
    load_stored_comment,
    marker,
    publish_comment,
    publish_stored_comment,
    store_comment,
)
from tests.support.datasets import a_row
from tests.support.emulate import BINARY, Emulator, emulator
from tests.support.real import need_real

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("no_proxy")]

DATASET = "dataset/bench.jsonl"
NAMES = count(1)
WRITE = {"pull_requests": "write", "contents": "read"}


def rows(*numbers: int, **fields: Any) -> str:
    return "".join(f"{json.dumps(a_row(number, **fields))}\n" for number in numbers)


def name(number: int) -> str:
    return f"acme__Widgets-{number}"


@pytest.fixture(scope="module")
def github() -> Iterator[Emulator]:
    need_real(BINARY.is_file(), "The GitHub emulator")
    with emulator() as running, running.github("visitor") as visitor:
        running.repository("octocat/widgets").create_file(DATASET, "a dataset", rows(1), branch="main")
        visitor.get_repo("octocat/widgets").create_fork()
        yield running


@dataclass(frozen=True)
class Topic:
    """A pull request, and the commits it is between."""

    pull: PullRequest
    base: str
    head: str

    @property
    def number(self) -> int:
        return self.pull.number

    @property
    def reports(self) -> list[str]:
        """Comments of ours."""
        return [
            found.body for found in self.pull.get_issue_comments() if found.body.startswith("<!-- bccontam")
        ]


def commit(repository: Repository, parent: str, files: Mapping[str, str]) -> str:
    """Files on top of a commit, in a new one; its id."""
    below = repository.get_git_commit(parent)
    elements = [InputGitTreeElement(path, "100644", "blob", content) for path, content in files.items()]
    return repository.create_git_commit(
        "change", repository.create_git_tree(elements, below.tree), [below]
    ).sha


def main_of(repository: Repository) -> str:
    return repository.get_branch("main").commit.sha


def open_pull(
    github: Emulator, files: Mapping[str, str], base_files: Mapping[str, str] | None = None
) -> Topic:
    """A pull request of a new branch, onto a branch of its own that holds `base_files`."""
    number = next(NAMES)
    repository = github.repository("octocat/widgets")
    base = commit(repository, main_of(repository), base_files or {"x.txt": str(number)})
    head = commit(repository, base, files)
    for branch, sha in ((f"base-{number}", base), (f"topic-{number}", head)):
        repository.create_git_ref(f"refs/heads/{branch}", sha)
    pull = repository.create_pull(
        title=f"topic {number}", body="", base=f"base-{number}", head=f"topic-{number}"
    )
    return Topic(pull, base, head)


def open_fork(github: Emulator, files: Mapping[str, str]) -> Topic:
    """A pull request out of the visitor's fork, onto main; the emulator's forks begin with a commit of their own."""
    number = next(NAMES)
    repository = github.repository("octocat/widgets")
    with github.github("visitor") as visitor:
        fork = visitor.get_repo("visitor/widgets")
        head = commit(fork, main_of(fork), files)
        fork.create_git_ref(f"refs/heads/topic-{number}", head)
        pull = visitor.get_repo("octocat/widgets").create_pull(
            title=f"fork {number}", body="", base="main", head=f"visitor:topic-{number}"
        )
    return Topic(repository.get_pull(pull.number), main_of(repository), head)


def publish(
    github: Emulator,
    token: str,
    number: int,
    body: str,
    comment_id: str = "",
    repository: str = "octocat/widgets",
) -> CommentOutcome:
    outcome = publish_comment(CommentTarget(github.url, token, repository, number, comment_id), body)
    assert token not in repr(outcome)
    return outcome


def changes(github: Emulator, topic: Topic, folder: Path, **fields: Any) -> tuple[ChangedEntries, list[str]]:
    warnings: list[str] = []
    values: dict[str, Any] = {
        "workspace": folder,
        "dataset": DATASET,
        "problem_statements": "",
        "base_sha": topic.base,
        "head_sha": topic.head,
        "api_url": github.url,
        "token": github.app_token({"contents": "read"}),
        "repository": "octocat/widgets",
    }
    return find_changes(ChangeRequest(**values | fields), warn=warnings.append), warnings


def test_one_comment_among_35_others_is_created_and_edited_in_place(github: Emulator) -> None:
    topic = open_pull(github, {"a.txt": "a"})
    for number in range(35):
        topic.pull.create_issue_comment(f"comment {number}")
    token = github.token()
    first = publish(github, token, topic.number, "first")
    assert (first.action, first.warning) == ("created", "")
    for number in range(35):
        topic.pull.create_issue_comment(f"more {number}")
    second = publish(github, token, topic.number, "second")
    assert second == CommentOutcome(first.url, "updated", "")
    assert f"/pull/{topic.number}#" in first.url or f"/issues/{topic.number}#" in first.url
    assert topic.reports == [f"{marker('')}\nsecond"]
    assert topic.pull.get_issue_comments().totalCount == 71


def test_a_comment_on_the_second_page_is_found(github: Emulator) -> None:
    topic = open_pull(github, {"a.txt": "a"})
    for number in range(120):
        topic.pull.create_issue_comment(f"comment {number}")
    publish(github, github.token(), topic.number, "first")
    assert publish(github, github.token(), topic.number, "second").action == "updated"
    assert topic.reports == [f"{marker('')}\nsecond"]


def test_reports_with_different_ids_stand_beside_each_other(github: Emulator) -> None:
    topic = open_pull(github, {"a.txt": "a"})
    for comment_id in ("", "a", "b", "a"):
        publish(github, github.token(), topic.number, f"report {comment_id}", comment_id)
    assert topic.reports == [f"{marker(identity)}\nreport {identity}" for identity in ("", "a", "b")]


def test_an_app_has_one_comment_beside_that_of_a_person(github: Emulator) -> None:
    topic = open_pull(github, {"a.txt": "a"})
    with github.github("visitor") as visitor:
        pull = visitor.get_repo("octocat/widgets").get_pull(topic.number)
        pull.create_issue_comment(f"{marker('')}\nforged")
    token = github.app_token(WRITE)
    for run in range(3):
        assert not publish(github, token, topic.number, f"run {run}").warning
    assert topic.reports == [f"{marker('')}\nforged", f"{marker('')}\nrun 2"]
    assert [found.user.login for found in topic.pull.get_issue_comments()] == ["visitor", "rw-app[bot]"]


def test_a_token_that_may_only_read_costs_one_warning(github: Emulator) -> None:
    topic = open_pull(github, {"a.txt": "a"})
    token = github.app_token({"pull_requests": "read", "contents": "read"})
    outcome = publish(github, token, topic.number, "report")
    assert outcome.action == "skipped"
    assert "403" in outcome.warning
    assert "pull-requests: write" in outcome.warning
    assert not topic.reports


@pytest.mark.parametrize(("number", "repository"), [(99_999, "octocat/widgets"), (1, "octocat/nothing")])
def test_a_pull_request_that_is_not_there(github: Emulator, number: int, repository: str) -> None:
    outcome = publish(github, github.token(), number, "report", repository=repository)
    assert f"PR {number} not found or no access" in outcome.warning


def test_two_jobs_at_once_leave_one_comment(github: Emulator) -> None:
    topic = open_pull(github, {"a.txt": "a"})
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(
            pool.map(lambda run: publish(github, github.token(), topic.number, f"run {run}"), range(4))
        )
    assert len(topic.reports) == 1
    assert all(outcome.url or outcome.action == "skipped" for outcome in outcomes)


def test_the_pair_for_forks(github: Emulator, tmp_path: Path) -> None:
    topic = open_fork(github, {"b.txt": "b"})
    assert topic.pull.head.repo.full_name == "visitor/widgets"
    stored = load_stored_comment(
        store_comment(tmp_path, topic.number, topic.pull.head.sha, "", "by @visitor, see #1")
    )
    where: dict[str, Any] = {
        "api_url": github.url,
        "token": github.app_token(WRITE),
        "repository": "octocat/widgets",
        "head_repository": "visitor/widgets",
        "comment_id": "",
    }
    assert publish_stored_comment(stored, head_sha="b" * 40, **where).action == "skipped"
    assert not topic.reports
    assert publish_stored_comment(stored, head_sha=topic.pull.head.sha, **where).action == "created"
    (report,) = topic.reports
    assert "@visitor" not in report
    topic.pull.edit(state="closed")
    assert "not open" in publish_stored_comment(stored, head_sha=topic.pull.head.sha, **where).warning


def test_changed_entries_through_the_api(github: Emulator, tmp_path: Path) -> None:
    readme = "dataset/problemstatement/{}/README.md"
    before = {
        DATASET: rows(1, 2, 3, 4),
        **{readme.format(name(number)): f"Report {number}." for number in (1, 2, 3, 4)},
    }
    after = {
        DATASET: rows(9, 1) + rows(2, created_at="2024-01-01") + rows(4),
        readme.format(name(4)): "Report 4, edited.",
        readme.format(name(9)): "Report 9.",
    }
    topic = open_pull(github, after, base_files=before)
    repository = github.repository("octocat/widgets")
    moved = commit(repository, topic.base, {DATASET: rows(1, 2, 3, 4, 5), readme.format(name(1)): "On main."})
    found, warnings = changes(github, topic, tmp_path, base_sha=moved)
    assert found == ChangedEntries(added=(name(9),), modified=(name(2), name(4)), removed=(name(3),))
    assert not warnings


def test_a_dataset_of_more_than_a_megabyte(github: Emulator, tmp_path: Path) -> None:
    many = [a_row(number, problem_statement=f"Report {number}. " + "word " * 800) for number in range(300)]
    before = "".join(f"{json.dumps(row)}\n" for row in many)
    many[299]["problem_statement"] += "and more"
    after = "".join(f"{json.dumps(row)}\n" for row in many)
    assert len(before) > 1_100_000
    topic = open_pull(github, {DATASET: after}, base_files={DATASET: before})
    assert changes(github, topic, tmp_path)[0] == ChangedEntries(modified=(name(299),))


def test_changed_entries_of_a_fork(github: Emulator, tmp_path: Path) -> None:
    topic = open_fork(github, {DATASET: rows(1, 2)})
    found, warnings = changes(
        github, topic, tmp_path, token=github.token(), head_repository="visitor/widgets"
    )
    assert found == ChangedEntries(added=(name(2),))
    assert "branched off is unknown" in "".join(warnings)
