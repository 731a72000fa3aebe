from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from bccontam.errors import StoreError
from bccontam.github.comment import (
    COMMENT_BYTES,
    CommentOutcome,
    StoredComment,
    load_stored_comment,
    marker,
    publish_stored_comment,
    store_comment,
    stored_comments,
)
from tests.support.fault_github import Fault, FaultGithub
from tests.support.publishing import FORBIDDEN, REPORT, TOKEN, Waits

pytestmark = pytest.mark.usefixtures("no_proxy")

HEAD = "a" * 40
STORED = StoredComment(7, HEAD, "", REPORT)


def pull(**fields: Any) -> dict[str, Any]:
    return {
        "number": 7,
        "state": "open",
        "head": {"sha": HEAD, "repo": {"full_name": "visitor/widgets"}},
    } | fields


def post(
    server: FaultGithub,
    stored: StoredComment = STORED,
    head_sha: str = HEAD,
    head_repository: str = "visitor/widgets",
    comment_id: str | None = None,
) -> CommentOutcome:
    outcome = publish_stored_comment(
        stored,
        api_url=server.url,
        token=TOKEN,
        repository="acme/widgets",
        head_sha=head_sha,
        head_repository=head_repository,
        comment_id=stored.comment_id if comment_id is None else comment_id,
        patience=Waits().patience,
    )
    assert TOKEN not in repr(outcome)
    return outcome


@pytest.mark.parametrize("comment_id", ["", "nightly", "a.b-c_D"])
@pytest.mark.parametrize("body", [REPORT, "caf\udce9 \N{RAINBOW} \x00", "a" * 200_000, "\x01" * 65_000])
def test_what_is_stored_is_loaded_again(tmp_path: Path, comment_id: str, body: str) -> None:
    path = store_comment(tmp_path / "results", 7, HEAD, comment_id, body)
    assert stored_comments(tmp_path / "results") == [path]
    loaded = load_stored_comment(path)
    assert (loaded.number, loaded.head_sha, loaded.comment_id) == (7, HEAD, comment_id)
    assert loaded.body[:4] == body.encode("utf-8", "backslashreplace").decode()[:4]
    assert len(loaded.body.encode()) <= COMMENT_BYTES


def test_reports_with_different_ids_are_stored_beside_each_other(tmp_path: Path) -> None:
    paths = {store_comment(tmp_path, 7, HEAD, identity, REPORT) for identity in ("", "a", "b")}
    assert set(stored_comments(tmp_path)) == paths
    assert len(paths) == 3


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot write"):
        store_comment(tmp_path / "file", 7, HEAD, "", REPORT)


GOOD = {"number": 7, "head_sha": HEAD, "comment_id": "", "body": REPORT}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"[]",
        b'"text"',
        b" " * 1_000_001,
        b'{"number": ' + b"9" * 5_000 + b"}",
        *(
            json.dumps(GOOD | field).encode()
            for field in (
                {"number": "7"},
                {"number": True},
                {"number": 7.0},
                {"number": 0},
                {"number": -7},
                {"number": 10**9},
                {"number": None},
                {"head_sha": "main"},
                {"head_sha": HEAD + "\n"},
                {"head_sha": HEAD.upper()},
                {"head_sha": 7},
                {"comment_id": "a -->"},
                {"comment_id": "a\n"},
                {"comment_id": "a" * 65},
                {"comment_id": None},
                {"body": ""},
                {"body": " \n"},
                {"body": ["a"]},
                {"body": "a" * 65_001},
                {"body": "\N{EURO SIGN}" * 30_000},
                {"more": 1},
            )
        ),
        *(
            json.dumps({key: value for key, value in GOOD.items() if key != left_out}).encode()
            for left_out in GOOD
        ),
    ],
)
def test_a_forged_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bccontam-comment.json"
    path.write_bytes(json.dumps(GOOD).encode())
    assert load_stored_comment(path) == STORED
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        load_stored_comment(path)
    assert "cannot be posted" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_links_folders_and_pipes_are_not_read(tmp_path: Path) -> None:
    real = store_comment(tmp_path / "real", 7, HEAD, "", REPORT)
    link, folder, pipe = tmp_path / "link", tmp_path / "folder", tmp_path / "pipe"
    link.symlink_to(real)
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (link, folder, pipe, tmp_path / "missing"):
        with pytest.raises(StoreError, match="no regular file"):
            load_stored_comment(path)


def test_a_folder_of_many_files_is_not_posted_without_end(tmp_path: Path) -> None:
    for number in range(50):
        store_comment(tmp_path, 7, HEAD, f"report-{number}", REPORT)
    assert len(stored_comments(tmp_path)) == 20


def test_a_stored_report_is_posted_and_edited() -> None:
    with FaultGithub() as server:
        server.pulls[7] = pull()
        assert post(server).action == "created"
        assert post(server, StoredComment(7, HEAD, "", "later")).action == "updated"
        (body,) = server.bodies
        assert body.startswith(f"{marker('')}\n> [!NOTE]\n> Made by a run of the pull request itself")
        assert body.endswith("\n\nlater")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (pull(state="closed"), "not open"),
        (pull(head={"sha": "b" * 40}), "another commit"),
        (pull(head=None), "another commit"),
        ({}, "not found"),
        ([1], "not open"),
    ],
)
def test_a_report_is_posted_only_where_its_commit_is_the_head(found: Any, words: str) -> None:
    with FaultGithub() as server:
        server.pulls[7] = found
        outcome = post(server)
        assert outcome.action == "skipped"
        assert words in outcome.warning
        assert server.count("POST") == 0


@pytest.mark.parametrize("head_sha", ["", "b" * 40])
def test_a_report_about_another_commit_than_the_events_is_not_even_looked_up(head_sha: str) -> None:
    with FaultGithub() as server:
        server.pulls[7] = pull()
        assert "another commit" in post(server, head_sha=head_sha).warning
        assert not server.requests


def test_the_number_of_an_issue_is_refused() -> None:
    with FaultGithub() as server:
        outcome = post(server)
        assert "PR 7 not found or no access" in outcome.warning
        assert server.count("POST") == 0


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/pulls/"), ("GET", "/comments"), ("POST", "/comments")]
)
def test_a_refusal_is_a_warning(method: str, path: str) -> None:
    with FaultGithub(Fault(method, 403, FORBIDDEN, path=path)) as server:
        server.pulls[7] = pull()
        assert "pull-requests: write" in post(server).warning


def test_what_a_fork_says_does_not_act() -> None:
    body = (
        f"{marker('')}\n{marker('other')}\n@octocat fixes #12 <img src=x> [a](https://e.invalid)\n/approve\n"
    )
    with FaultGithub() as server:
        server.pulls[7] = pull()
        post(server, StoredComment(7, HEAD, "", body))
        (sent,) = server.bodies
        assert sent.count("<!--") == 1
        assert not re.search(r"@octocat|#12|<img|\]\(|://|^/approve", sent, re.MULTILINE)


def test_a_tamed_report_is_still_cut_to_its_size() -> None:
    with FaultGithub() as server:
        server.pulls[7] = pull()
        post(server, StoredComment(7, HEAD, "", "@a " * 20_000))
        (sent,) = server.bodies
        assert len(sent.encode()) <= COMMENT_BYTES


def test_a_fork_cannot_overwrite_a_report_with_another_comment_id() -> None:
    with FaultGithub() as server:
        server.pulls[7] = pull()
        outcome = post(server, StoredComment(7, HEAD, "trusted", REPORT), comment_id="")
        assert outcome.action == "skipped"
        assert "comment-id" in outcome.warning
        assert not server.requests


def test_a_pull_request_of_another_repository_with_the_same_commit_is_refused() -> None:
    with FaultGithub() as server:
        server.pulls[7] = pull()
        assert "another repository" in post(server, head_repository="somebody/widgets").warning
        assert server.count("POST") == 0
