"""What happened on GitHub and what may be done about it, from the runner's environment and the event payload.

Pure: no file is read and nobody is asked. The payload decides and nothing is guessed: a wrong pull request is
worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PULL_REQUEST_EVENTS = ("pull_request", "pull_request_target")

_QUEUE_REF = re.compile(r"/pr-([0-9]{1,10})-[0-9a-f]{40}$")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_COMMIT = re.compile("0+")
_DEPENDABOT = "dependabot[bot]"
_DEPENDABOTS_OWN = ("push", "create", "deployment", "deployment_status")
"""Events besides pull requests that GitHub runs for Dependabot as for a fork (its page on Dependabot and Actions)."""

FORK = (
    "The pull request comes from a fork, so GitHub gives this run a read-only token and no secrets: nothing can be "
    "asked or posted here. A maintainer can post the stored report from a `workflow_run` job, or push the branch to "
    "this repository."
)
DEPENDABOT = (
    "This run is Dependabot's, so GitHub gives it a read-only token and no Actions secrets: nothing can be asked or "
    "posted here. A maintainer can run the workflow again by hand after the merge."
)
TARGET = (
    "pull_request_target runs with a token that can write: never check out the head of a fork in it, or its dataset "
    "and templates are read with your rights."
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `number` is the pull request's, None without one; `base_sha` and `head_sha` are empty when
    unknown. `untrusted` says why a run has neither secrets nor a writable token, empty when it may have both.
    """

    name: str
    repository: str
    number: int | None
    base_sha: str
    head_sha: str
    head_repository: str
    untrusted: str
    warnings: tuple[str, ...]
    api_url: str
    server_url: str
    run_url: str

    @property
    def is_pull_request(self) -> bool:
        """Whether the event is a pull request's own."""
        return self.name in PULL_REQUEST_EVENTS

    @property
    def may_comment(self) -> bool:
        """Whether there is a pull request and a token that can be expected to write to it."""
        return self.number is not None and not self.untrusted


def read_event(environ: Mapping[str, str], payload: Mapping[str, Any] | None) -> Event:
    """The event of this run. `payload` None: there was none, or it could not be read."""
    name = environ.get("GITHUB_EVENT_NAME", "")
    body = payload if isinstance(payload, Mapping) else {}
    repository = environ.get("GITHUB_REPOSITORY", "") or _text(body, "repository", "full_name")
    head_repository = _text(body, "pull_request", "head", "repo", "full_name")
    if name == "workflow_run":
        head_repository = _text(body, "workflow_run", "head_repository", "full_name")
    base, head = _commits(name, body)
    server = environ.get("GITHUB_SERVER_URL", "").rstrip("/") or "https://github.com"
    run = environ.get("GITHUB_RUN_ID", "")
    warnings = []
    if payload is None and name:
        warnings.append("The event's payload could not be read, so no pull request is known.")
    if name == "pull_request_target":
        warnings.append(TARGET)
    return Event(
        name=name,
        repository=repository,
        number=_number(name, body, environ),
        base_sha=base,
        head_sha=head,
        head_repository=head_repository,
        untrusted=_untrusted(name, body, environ, repository, head_repository),
        warnings=tuple(warnings),
        api_url=environ.get("GITHUB_API_URL", "").rstrip("/") or "https://api.github.com",
        server_url=server,
        run_url=f"{server}/{repository}/actions/runs/{run}" if run and repository else "",
    )


def _number(name: str, body: Mapping[str, Any], environ: Mapping[str, str]) -> int | None:
    if name.startswith("pull_request"):
        return _positive(_at(body, "pull_request", "number")) or _positive(_at(body, "number"))
    if name == "issue_comment":
        return _positive(_at(body, "issue", "number")) if _at(body, "issue", "pull_request") else None
    if name == "merge_group":
        ref = _text(body, "merge_group", "head_ref") or environ.get("GITHUB_REF", "")
        found = _QUEUE_REF.search(ref)
        return _positive(int(found[1])) if found else None
    if name == "workflow_run":
        return _number_of_run(body)
    return None


def _number_of_run(body: Mapping[str, Any]) -> int | None:
    """The one pull request whose head is the commit that the run was about; forks have none in the payload."""
    head = _text(body, "workflow_run", "head_sha")
    listed = _at(body, "workflow_run", "pull_requests")
    matching = [
        _positive(_at(item, "number"))
        for item in (listed if isinstance(listed, list) else [])
        if head and _text(item, "head", "sha") == head and _is_in(_at(body, "repository", "id"), item)
    ]
    return matching[0] if len(matching) == 1 else None


def _is_in(repository: Any, pull: Any) -> bool:
    """Whether a listed pull request may be this repository's: a fork's own have the same commits and other numbers."""
    base = _at(pull, "base", "repo", "id")
    return base is None or repository is None or base == repository


def _commits(name: str, body: Mapping[str, Any]) -> tuple[str, str]:
    """Base and head commit to compare, empty where there is none."""
    if name.startswith("pull_request"):
        return _sha(body, "pull_request", "base", "sha"), _sha(body, "pull_request", "head", "sha")
    if name == "merge_group":
        return _sha(body, "merge_group", "base_sha"), _sha(body, "merge_group", "head_sha")
    if name == "push":
        return _sha(body, "before"), _sha(body, "after")
    if name == "workflow_run":
        return "", _sha(body, "workflow_run", "head_sha")
    return "", ""


def _untrusted(
    name: str, body: Mapping[str, Any], environ: Mapping[str, str], repository: str, head_repository: str
) -> str:
    who = (environ.get("GITHUB_ACTOR", ""), _text(body, "sender", "login"))
    if name in _DEPENDABOTS_OWN and _DEPENDABOT in who:
        return DEPENDABOT
    if name != "pull_request" and not name.startswith("pull_request_review"):
        return ""  # every other event runs on the base repository's own terms
    if _DEPENDABOT in (*who, _text(body, "pull_request", "user", "login")):
        return DEPENDABOT
    # A fork that was deleted meanwhile has no repository any more.
    head_is_known = _at(body, "pull_request", "head") is not None
    is_fork = head_is_known and head_repository.casefold() != repository.casefold()
    return FORK if is_fork else ""


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _text(body: Mapping[str, Any], *keys: str) -> str:
    value = _at(body, *keys)
    return value if isinstance(value, str) else ""


def _sha(body: Mapping[str, Any], *keys: str) -> str:
    value = _text(body, *keys)
    return value if _SHA.fullmatch(value) and not _NO_COMMIT.fullmatch(value) else ""


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
