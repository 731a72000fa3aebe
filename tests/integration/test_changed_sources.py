from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bccontam.errors import DatasetError
from bccontam.github.changed import ChangedEntries, find_changes
from bccontam.github.objects import ApiObjects
from tests.support.changes import DATASET, TOKEN, Finder, name, rows, statement
from tests.support.fault_github import Fault
from tests.support.git_repo import GitRepo

pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "origin")


@pytest.fixture
def find_git(repo: GitRepo, tmp_path: Path) -> Iterator[Finder]:
    finder = Finder(repo, "git", tmp_path)
    with finder.server:
        yield finder


@pytest.fixture
def find_api(repo: GitRepo, tmp_path: Path) -> Iterator[Finder]:
    finder = Finder(repo, "api", tmp_path / "workspace")
    with finder.server:
        yield finder


# Git's objects in the checkout.


@pytest.fixture
def three(repo: GitRepo) -> tuple[str, str]:
    """Base and head with two commits between them."""
    base = repo.commit({DATASET: rows(1)})
    repo.commit({DATASET: rows(1, 2)})
    return base, repo.commit({DATASET: rows(1, 2, 3)})


ADDED = ChangedEntries(added=(name(2), name(3)))


def test_a_checkout_of_depth_one_falls_back_to_the_api(
    find_api: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path
) -> None:
    workspace = repo.clone(tmp_path / "shallow", three[1], depth=1)
    assert find_api(*three, workspace=workspace) == ADDED
    assert find_api(*three, workspace=workspace, dataset=str(workspace / DATASET)) == ADDED


def test_a_shallow_checkout_without_the_api_says_what_to_do(
    find_api: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path
) -> None:
    find_api.server.faults = [Fault("GET", 403, {"message": f"Resource not accessible, {TOKEN}"})] * 9
    workspace = repo.clone(tmp_path / "shallow", three[1], depth=1)
    with pytest.raises(DatasetError) as caught:
        find_api(*three, workspace=workspace)
    message = str(caught.value)
    assert "fetch-depth: 0" in message
    assert "contents: read" in message
    assert f"lacks commit {three[0][:12]}" in message
    assert TOKEN not in message


def test_two_shallow_commits_are_compared_as_they_are_when_nothing_else_is_left(
    find_api: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path
) -> None:
    workspace = repo.clone(tmp_path / "shallow", *three, depth=1)
    assert find_api(*three, workspace=workspace) == ADDED
    assert not find_api.warnings
    find_api.server.faults = [Fault("GET", 500, times=1)] * 50
    assert find_api(*three, workspace=workspace) == ADDED
    (warning,) = find_api.warnings
    assert "branched off is unknown" in warning


def test_a_checkout_without_file_contents_fetches_nothing(
    find_api: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path
) -> None:
    workspace = repo.clone(tmp_path / "partial", *reversed(three), partial=True)
    before = sorted(path.name for path in (workspace / ".git").rglob("*"))
    assert find_api(*three, workspace=workspace) == ADDED
    assert sorted(path.name for path in (workspace / ".git").rglob("*")) == before


def test_without_git_the_api_is_asked(
    find_api: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_api(*three, workspace=repo.folder) == ADDED


def test_a_checkout_in_a_folder_of_the_workspace(
    find_git: Finder, three: tuple[str, str], tmp_path: Path
) -> None:
    assert find_git(*three, workspace=tmp_path, dataset=f"origin/{DATASET}") == ADDED


def test_a_workspace_behind_a_symbolic_link(
    find_git: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(repo.folder)
    assert find_git(*three, workspace=link) == ADDED
    assert find_git(*three, workspace=link, dataset=str(link / DATASET)) == ADDED


def test_a_repository_around_the_workspace_is_not_taken_for_it(
    find_api: Finder, repo: GitRepo, three: tuple[str, str]
) -> None:
    assert find_api(*three, workspace=repo.folder / "dataset", dataset=DATASET) == ADDED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_checkout_of_another_user(find_git: Finder, repo: GitRepo, three: tuple[str, str]) -> None:
    for path in (repo.folder, *repo.folder.rglob("*")):
        os.chown(path, 1001, 1001)
    refused = subprocess.run(
        ["git", "-C", repo.folder, "log"], capture_output=True, env={"PATH": os.environ["PATH"]}
    )
    assert b"dubious ownership" in refused.stderr
    assert find_git(*three) == ADDED


def test_nothing_of_the_repository_is_run(
    find_git: Finder, repo: GitRepo, three: tuple[str, str], tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(trap, repo.folder / ".git" / "hooks" / hook)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "filter.x.smudge", "core.sshCommand"):
        repo.run("config", key, str(trap))
    (repo.folder / ".git" / "info" / "attributes").write_text("* filter=x\n")
    repo.run("status")
    (tmp_path / "sprung").unlink()  # the trap works
    assert find_git(*three) == ADDED
    assert not (tmp_path / "sprung").exists()


# The API.


def test_many_statements_cost_a_bounded_number_of_requests(
    find_api: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ApiObjects.most_reads == 200
    monkeypatch.setattr(ApiObjects, "most_reads", 20)
    numbers = range(14)
    before = {DATASET: rows(*numbers), **{statement(number): f"Report {number}." for number in numbers}}
    after = {statement(number): f"Report {number}.\nMore." for number in numbers}
    assert find_api.change(before, after).modified == tuple(map(name, numbers))
    assert find_api.blobs == 21
    (warning,) = find_api.warnings
    assert "10 problem statements" in warning


def test_the_head_of_a_fork_is_looked_for_in_the_fork(find_api: Finder, three: tuple[str, str]) -> None:
    find_api.server.faults = [
        Fault("GET", 404, {"message": "Not Found"}, path=f"/repos/acme/widgets/{what}")
        for what in ("compare/", f"git/commits/{three[1]}")
    ]
    assert find_api(*three, head_repository="visitor/widgets") == ADDED
    (warning,) = find_api.warnings
    assert "branched off is unknown" in warning
    assert find_api.server.count("GET", "/repos/visitor/widgets/git/commits/") == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault("GET", 403, {"message": f"Resource not accessible by integration {TOKEN}"}),
        Fault("GET", 404, {"message": "Not Found"}),
        Fault("GET", 502),
        Fault("GET", 200, {"content": 1}),
        Fault("GET", 200, [1]),
        Fault("GET", 200, raw=b"{"),
        Fault("GET", 403, {"message": "API rate limit exceeded"}, {"Retry-After": "3600"}),
    ],
    ids=["403", "404", "502", "odd", "list", "broken", "limit"],
)
@pytest.mark.parametrize("path", ["/compare/", "/git/commits/", "/git/trees/", "/git/blobs/"])
def test_an_api_that_does_not_give_what_is_needed_is_one_sentence(
    find_api: Finder, three: tuple[str, str], path: str, fault: Fault
) -> None:
    find_api.server.faults = [replace(fault, path=path)] * 9
    if path == "/compare/" and fault.status in (200, 404) and fault.raw is None:
        assert find_api(*three) == ADDED
        assert find_api.warnings
        return
    with pytest.raises(DatasetError) as caught:
        find_api(*three)
    message = str(caught.value)
    assert "Cannot tell which entries changed" in message
    assert "fetch-depth: 0" in message
    assert TOKEN not in message
    assert "\n" not in message


def test_a_truncated_tree_is_not_taken_for_the_whole(find_api: Finder, three: tuple[str, str]) -> None:
    find_api.server.faults = [Fault("GET", 200, {"tree": [], "truncated": True}, path="/git/trees/")]
    with pytest.raises(DatasetError, match="folder of this size"):
        find_api(*three)


@pytest.mark.parametrize("repository", ["", "widgets", "acme/widgets/x", "acme/wid gets"])
def test_a_repository_without_a_usable_name_is_not_asked(
    find_api: Finder, three: tuple[str, str], repository: str
) -> None:
    with pytest.raises(DatasetError, match="no usable name"):
        find_changes(find_api.request(*three, repository=repository))
    assert not find_api.server.requests


# Refused before anything is read.


@pytest.mark.parametrize(
    "path", ["../elsewhere.jsonl", "/etc/passwd", "a/../../x.jsonl", ".", "", "a\0b", "**/../../*"]
)
def test_paths_outside_of_the_repository_are_refused(
    find_git: Finder, repo: GitRepo, tmp_path: Path, path: str
) -> None:
    base = repo.commit({DATASET: rows(1)})
    with pytest.raises(DatasetError, match="is not in the repository"):
        find_changes(find_git.request(base, base, dataset=path))
    with pytest.raises(DatasetError, match="is not in the repository"):
        find_changes(find_git.request(base, base, problem_statements=path or ".."))


@pytest.mark.parametrize("sha", ["", "HEAD", "--output=x", "0" * 39, "A" * 40])
def test_what_is_no_commit_is_refused(find_git: Finder, repo: GitRepo, tmp_path: Path, sha: str) -> None:
    for base, head in ((sha, "a" * 40), ("a" * 40, sha)):
        with pytest.raises(DatasetError, match="two commits"):
            find_changes(find_git.request(base, head))
