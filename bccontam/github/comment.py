"""The report as one comment on a pull request, and as a file that a trusted job posts later.

Publishing never fails a run: whatever goes wrong becomes one sentence of warning that says what to do. How one
comment stays one is in `bccontam.github.sticky`; what the report says is made elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from bccontam.errors import StoreError
from bccontam.github.client import ApiError, Client, Patience
from bccontam.github.sticky import MOST_COMMENTS, Posted, Thread
from bccontam.github.untrusted import tame

COMMENT_BYTES = 65_000
"""Most bytes of a comment that is ever sent, in UTF-8: less than every limit GitHub names or has."""

_CUT = "\n\n*(cut here: a comment holds no more; the whole report is in the job summary)*\n"
_MARKER = re.compile(r"<(?=!--\s*bccontam)", re.IGNORECASE)
_OWN_FIRST_LINE = re.compile(r"<!-- bccontam(?::[^\s>]*)? -->[ \t]*\n?")
_JOINER = "\u2060"

_COMMENT_ID = re.compile(r"[A-Za-z0-9_.-]{0,64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_STORED = "bccontam-comment"
_MOST_STORED_BYTES = 1_000_000
_MOST_STORED = 20
_LARGEST_NUMBER = 10**9

_STORED_NOTE = (
    "> [!NOTE]\n> Made by a run of the pull request itself, which can change what it says: links, mentions and "
    "most HTML are taken out.\n\n"
)

_ELSEWHERE = "the report is in the job summary"


@dataclass(frozen=True, slots=True)
class CommentTarget:
    """Where a report goes. `api_url` is GITHUB_API_URL, `repository` OWNER/NAME, `number` the pull request's;
    `comment_id` tells several reports apart and has letters, digits, dots, dashes and underscores."""

    api_url: str
    token: str
    repository: str
    number: int
    comment_id: str = ""

    def __repr__(self) -> str:
        return f"CommentTarget({self.repository}#{self.number}, {self.comment_id!r})"


@dataclass(frozen=True, slots=True)
class CommentOutcome:
    """What became of it: the comment's address (empty when there is none) and a sentence of warning, or none."""

    url: str
    action: Literal["created", "updated", "skipped"]
    warning: str


def publish_comment(target: CommentTarget, body: str, *, patience: Patience | None = None) -> CommentOutcome:
    """Post a report, or edit the one that is there. Never raises for what GitHub or the network does.

    `body` is Markdown without a marker; it is cut at COMMENT_BYTES. `patience` shortens the waits in tests.
    """
    if not target.token.strip():
        return _skipped(target.number, "there is no token; give the step `github-token`")
    if not _REPOSITORY.fullmatch(target.repository) or not _COMMENT_ID.fullmatch(target.comment_id):
        return _skipped(target.number, "its repository or comment-id has characters that no name can have")
    text = comment_text(body, target.comment_id)
    try:
        with Client(target.api_url, target.token, patience) as client:
            thread = Thread(client, target.repository, target.number, marker(target.comment_id))
            return _outcome(thread.publish(text), thread)
    except ApiError as error:
        return _skipped(target.number, _why_not(error, target))


def marker(comment_id: str) -> str:
    """The first line of a comment, by which it is found again; GitHub does not show it."""
    return f"<!-- bccontam:{comment_id} -->" if comment_id else "<!-- bccontam -->"


def comment_text(body: str, comment_id: str) -> str:
    """What is sent: the marker, and a body in which no other marker stands, at most COMMENT_BYTES of UTF-8."""
    body = _MARKER.sub(f"<{_JOINER}", _OWN_FIRST_LINE.sub("", body, count=1))
    return fit(f"{marker(comment_id)}\n{body}", COMMENT_BYTES)


def fit(text: str, limit: int) -> str:
    """The text, or as many of its lines as take up at most `limit` bytes together with a mark for the cut.

    A single line that fills the limit is cut between two characters. Lone surrogates become escapes.
    """
    raw = text.encode("utf-8", "backslashreplace")
    if len(raw) <= limit:
        return raw.decode()
    kept = raw[: limit - len(_CUT.encode())].decode("utf-8", "ignore")
    line_end = kept.rfind("\n")
    return (kept[:line_end] if line_end > len(kept) // 2 else kept) + _CUT


def _outcome(posted: Posted, thread: Thread) -> CommentOutcome:
    warnings = []
    if posted.action == "overtaken":
        warnings.append(
            "Another job posted its report under the same comment-id meanwhile, and the later one stands: "
            "give each job its own `comment-id`, or put them into one `concurrency` group."
        )
    elif thread.capped and posted.action == "created":
        warnings.append(
            f"The pull request has {MOST_COMMENTS:,} comments or more; only the oldest {MOST_COMMENTS:,} were "
            "looked at, so an earlier report may stand below them."
        )
    if thread.left_over is not None:
        warnings.append(f"An older report of ours could not be removed ({thread.left_over}).")
    action = "skipped" if posted.action == "overtaken" else posted.action
    return CommentOutcome(posted.comment.url, action, " ".join(warnings))


def _skipped(number: int, reason: str) -> CommentOutcome:
    return CommentOutcome("", "skipped", f"No comment on PR {number}: {reason}; {_ELSEWHERE}.")


def _why_not(error: ApiError, target: CommentTarget) -> str:
    """Why there is no comment and what to do, as part of a sentence."""
    answer = str(error)
    if error.kind == "rate-limit":
        return f"a rate limit of GitHub ({answer}) lasts too long to wait for; run the step again later"
    if error.kind == "network":
        return f"GitHub at GITHUB_API_URL could not be reached ({answer}); check the address, proxy and certificate"
    if error.kind in ("address", "answer"):
        return f"GitHub at GITHUB_API_URL did not answer as its API does ({error.message})"
    if error.kind == "server":
        return f"GitHub failed ({answer}), also when asked again"
    if "locked" in error.message.casefold():
        return f"its conversation is locked ({answer}); unlock it to get reports there"
    if "archived" in error.message.casefold():
        return f"the repository is archived and cannot be written to ({answer})"
    return _REFUSALS.get(error.status, "GitHub refused it ({answer})").format(
        answer=answer, number=target.number, repository=target.repository
    )


_REFUSALS = {
    401: "GitHub does not accept the token ({answer}); check `github-token`",
    403: (
        "GitHub refused it ({answer}): the job needs `permissions: pull-requests: write`, unless the pull request "
        "is from a fork or by Dependabot, where the token is read-only and a `workflow_run` job has to post, or a "
        "rate limit was hit, which GitHub may answer alike"
    ),
    404: (
        "PR {number} not found or no access to it in {repository} ({answer}): the job needs "
        "`permissions: pull-requests: write`, and the number must be a pull request's"
    ),
    410: "the pull request or its comments are gone ({answer})",
    422: "GitHub does not take what it says ({answer})",
}


@dataclass(frozen=True, slots=True)
class StoredComment:
    """A report that a run without a writable token left for one that has it. All of it may be forged."""

    number: int
    head_sha: str
    comment_id: str
    body: str


def store_comment(folder: Path, number: int, head_sha: str, comment_id: str, body: str) -> Path:
    """Leave a report as JSON in a folder, for `publish_stored_comment` in a `workflow_run` job.

    Raises StoreError when it cannot be written.
    """
    stored = StoredComment(number, head_sha, comment_id, fit(body, COMMENT_BYTES))
    path = folder / f"{_STORED}{'.' if comment_id else ''}{comment_id}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{json.dumps(asdict(stored))}\n", encoding="ascii")
    except OSError as error:
        raise StoreError(
            f"Cannot write {path}: {error.strerror}; choose another place for results."
        ) from error
    return path


def stored_comments(folder: Path) -> list[Path]:
    """The stored reports of a folder, at most 20 of them, in the order of their names."""
    return sorted(folder.glob(f"{_STORED}*.json"))[:_MOST_STORED]


def load_stored_comment(path: Path) -> StoredComment:
    """A stored report, its form checked: it comes out of an artifact that a fork's run has made.

    Raises StoreError for anything but a small regular file with exactly the fields of StoredComment.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise StoreError(_bad(path, "it is no regular file"))
        with path.open("rb") as file:
            raw = file.read(_MOST_STORED_BYTES + 1)
    except OSError as error:
        raise StoreError(_bad(path, f"it cannot be read ({error.strerror})")) from None
    if len(raw) > _MOST_STORED_BYTES:
        raise StoreError(_bad(path, f"it is larger than {_MOST_STORED_BYTES:,} bytes"))
    try:
        data = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise StoreError(_bad(path, "it is no JSON")) from None
    problem = next(_problems(data), "")
    if problem:
        raise StoreError(_bad(path, problem))
    return StoredComment(**data)


def _bad(path: Path, reason: str) -> str:
    return f"The stored comment {path} cannot be posted: {reason}."


def _problems(data: Any) -> Iterator[str]:
    if not isinstance(data, dict) or set(data) != {"number", "head_sha", "comment_id", "body"}:
        yield "it must be an object of number, head_sha, comment_id and body"
        return
    number, body = data["number"], data["body"]
    if type(number) is not int or not 0 < number < _LARGEST_NUMBER:
        yield "its number is no number of a pull request"
    if not isinstance(data["head_sha"], str) or not _SHA.fullmatch(data["head_sha"]):
        yield "its head_sha is no commit"
    if not isinstance(data["comment_id"], str) or not _COMMENT_ID.fullmatch(data["comment_id"]):
        yield "its comment_id has characters other than letters, digits, dots, dashes and underscores"
    if not isinstance(body, str) or not body.strip():
        yield "its body is no text"
    elif len(body.encode("utf-8", "backslashreplace")) > COMMENT_BYTES:
        yield f"its body is longer than {COMMENT_BYTES:,} bytes"


def publish_stored_comment(
    stored: StoredComment,
    *,
    api_url: str,
    token: str,
    repository: str,
    head_sha: str,
    head_repository: str,
    comment_id: str,
    patience: Patience | None = None,
) -> CommentOutcome:
    """Post a stored report from a `workflow_run` job. Never raises for what GitHub or the network does.

    `head_sha` and `head_repository` are the event's, which GitHub vouches for; the number and the comment id
    are the artifact's own claims. So the report is posted only on an open pull request of this repository
    whose head is that commit of that repository, only under the `comment_id` that the posting step was given,
    and its Markdown is tamed first: a fork decides what it says, not what it does or whom it overwrites.
    """
    target = CommentTarget(api_url, token, repository, stored.number, stored.comment_id)
    if stored.comment_id != comment_id:
        return _skipped(stored.number, "the stored report has another comment-id than the step that posts it")
    if not head_sha or stored.head_sha != head_sha:
        return _skipped(stored.number, "the stored report is about another commit than the run it comes from")
    if not _REPOSITORY.fullmatch(repository):
        return _skipped(stored.number, "the repository has no usable name")
    try:
        with Client(api_url, token, patience) as client:
            pull = client.get(f"/repos/{quote(repository)}/pulls/{stored.number}")
    except ApiError as error:
        return _skipped(stored.number, _why_not(error, target))
    problem = _why_not_there(pull, head_sha, head_repository)
    if problem:
        return _skipped(stored.number, problem)
    return publish_comment(target, _STORED_NOTE + tame(stored.body), patience=patience)


def _why_not_there(pull: Any, head_sha: str, head_repository: str) -> str:
    """Why a stored report must not be posted on this pull request; empty when it may."""
    if not isinstance(pull, dict) or pull.get("state") != "open":
        return "it is not open"
    head = pull.get("head")
    if not isinstance(head, dict) or head.get("sha") != head_sha:
        return "its head is another commit than the one the stored report is about"
    repository = head.get("repo")
    name = repository.get("full_name") if isinstance(repository, dict) else None
    if not isinstance(name, str) or name.casefold() != head_repository.casefold():
        return "its head is in another repository than the run that stored the report"
    return ""
