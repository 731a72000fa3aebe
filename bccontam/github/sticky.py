"""One comment of ours on a pull request: found by its first line and its author, edited in place, never two.

GitHub has no "create unless it is there". So a failed creation is followed by a look before the next, and a
successful one too: of two runs that created at the same time the later comment stays, whoever looks. It says
nothing to people; `bccontam.github.comment` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote

from bccontam.github.client import ApiError, Client, moment

MOST_COMMENTS = 1_000
"""Comments of a pull request that are looked at, from the oldest."""

ACTIONS_LOGIN = "github-actions[bot]"
"""The author of what is posted with a job's own token."""

_TRIES = 3
_LOOK_BACK = timedelta(hours=1)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

Action = Literal["created", "updated", "overtaken"]


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. `author` is empty for a deleted account, `url` when the server gave none."""

    id: int
    author: str
    is_bot: bool
    body: str
    url: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a report: `overtaken` when another run posted a later one meanwhile."""

    comment: Comment
    action: Action


class Thread:
    """The comments of one pull request that begin with one marker. Methods raise ApiError."""

    def __init__(self, client: Client, repository: str, number: int, marker: str) -> None:
        self._client = client
        self._repository = f"/repos/{quote(repository)}"
        self._comments = f"{self._repository}/issues/{number}/comments"
        self._marker = marker
        self._authors = {ACTIONS_LOGIN}
        self._asked_who = False
        self.capped = False
        """Whether as many comments were looked at as ever are; there may be more."""
        self.left_over: ApiError | None = None
        """Why an older comment of ours could not be removed."""

    def publish(self, body: str) -> Posted:
        """Edit our comment, or create it when there is none; duplicates are removed."""
        failure: ApiError | None = None
        maybe_created = False
        tries = 0
        while True:
            marked = self._marked()
            ours = self._ours(marked)
            mine = [comment for comment in ours if maybe_created and _same(comment.body, body)]
            if mine:
                return self._settle(max(mine, key=_by_id), ours)
            if failure is not None and tries >= _TRIES:
                raise failure
            tries += 1
            try:
                if ours:
                    return self._update(ours, body)
                created = self._create(body)
            except ApiError as error:
                if not (error.is_missing if ours else error.may_be_done):
                    raise
                if ours and maybe_created:
                    return Posted(max(ours, key=_by_id), "created")  # listed, but not yet found by itself
                # What was to be edited is gone, or a creation may have worked: look again.
                maybe_created = maybe_created or not ours
                failure = error
                self._client.pause()
            else:
                return self._settle(created, [*self._same_author(marked, created), *self._recent(created)])

    def _marked(self, since: datetime | None = None) -> list[Comment]:
        """All comments that begin with the marker, of any author."""
        parameters = {"since": f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"} if since else None
        found: dict[int, Comment] = {}
        seen: set[int] = set()
        for page in self._client.pages(self._comments, parameters):
            known = len(seen)
            for comment in filter(None, map(_comment, page)):
                seen.add(comment.id)
                if comment.body.startswith(self._marker):
                    found[comment.id] = comment
            if len(seen) == known:
                break  # a server that gives the same page again
            if len(seen) >= MOST_COMMENTS:
                self.capped = True
                break
        return list(found.values())

    def _ours(self, marked: Iterable[Comment]) -> list[Comment]:
        """Those that this token's owner, or an earlier run with a job's own token, has written."""
        strangers = [comment for comment in marked if comment.author and not self._is_known(comment)]
        if strangers and not self._asked_who:
            self._asked_who = True
            self._learn_own_login(any(comment.is_bot for comment in strangers))
        return [comment for comment in marked if self._is_known(comment)]

    def _is_known(self, comment: Comment) -> bool:
        return comment.author.casefold() in self._authors

    def _learn_own_login(self, maybe_app: bool) -> None:
        """Who are we? REST tells a person's token and refuses an app's, which GraphQL answers."""
        try:
            self._know(self._client.get("/user"))
        except ApiError as error:
            if error.kind == "rate-limit":
                raise
            if maybe_app and error.kind == "refused":
                self._learn_app_login()

    def _learn_app_login(self) -> None:
        try:
            self._know({"login": self._client.viewer()})
        except ApiError as error:
            if error.kind == "rate-limit":
                raise

    def _know(self, user: Any) -> None:
        login = user.get("login") if isinstance(user, dict) else None
        if isinstance(login, str) and login:
            self._authors.add(login.casefold())

    def _same_author(self, marked: Iterable[Comment], created: Comment) -> list[Comment]:
        """Earlier comments of the author that our creation turned out to have."""
        if created.author:
            self._authors.add(created.author.casefold())
        return [comment for comment in marked if self._is_known(comment)]

    def _create(self, body: str) -> Comment:
        made = _comment(self._client.post(self._comments, {"body": body}))
        if made is None:
            raise ApiError("answer", 0, "no comment came back")
        return replace(made, body=body)

    def _update(self, ours: list[Comment], body: str) -> Posted:
        newest = max(ours, key=_by_id)
        self._edit(newest, body)
        self._remove(comment for comment in ours if comment.id != newest.id)
        return Posted(newest, "updated")

    def _recent(self, created: Comment) -> list[Comment]:
        """Our comments of about the time of a creation, by another run maybe."""
        try:
            since = created.updated_at - _LOOK_BACK if created.updated_at > _LONG_AGO else None
            return self._ours(self._marked(since))
        except ApiError:
            return []  # what had to be done is done

    def _settle(self, mine: Comment, others: Iterable[Comment]) -> Posted:
        """After a creation: let one comment stay, the newest, and have it hold the latest report.

        Everybody who looks removes all but the newest, so nobody removes what another relies on.
        """
        found = {comment.id: comment for comment in [mine, *others]}
        newest = max(found.values(), key=_by_id)
        latest = max(found.values(), key=lambda comment: (comment.updated_at, comment.id))
        try:
            if not _same(latest.body, newest.body):
                self._edit(newest, latest.body)  # a run that looked earlier has edited one that goes now
            self._remove(comment for comment in found.values() if comment.id != newest.id)
        except ApiError as error:
            self.left_over = error
        return Posted(newest, "created" if _same(latest.body, mine.body) else "overtaken")

    def _edit(self, comment: Comment, body: str) -> Any:
        return self._client.patch(f"{self._repository}/issues/comments/{comment.id}", {"body": body})

    def _remove(self, comments: Iterable[Comment]) -> None:
        for comment in comments:
            try:
                self._client.delete(f"{self._repository}/issues/comments/{comment.id}")
            except ApiError as error:
                if not error.is_missing:
                    self.left_over = error


def _by_id(comment: Comment) -> int:
    return comment.id


def _same(left: str, right: str) -> bool:
    """Whether two bodies are equal but for what a server may do to white space."""
    return left.replace("\r\n", "\n").strip() == right.replace("\r\n", "\n").strip()


def _comment(data: Any) -> Comment | None:
    """A comment out of an answer; None when it has no id. Only what is in the payload is looked at."""
    if not isinstance(data, dict) or not isinstance(data.get("id"), int):
        return None
    user = data["user"] if isinstance(data.get("user"), dict) else {}
    login, body, url = user.get("login"), data.get("body"), data.get("html_url")
    return Comment(
        id=data["id"],
        author=login if isinstance(login, str) else "",
        is_bot=user.get("type") == "Bot",
        body=body if isinstance(body, str) else "",
        url=url if isinstance(url, str) else "",
        updated_at=moment(data.get("updated_at")) or _LONG_AGO,
    )
