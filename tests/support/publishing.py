"""Publishing a comment against the fault server: short waits, one call, other people's comments."""

from __future__ import annotations

from typing import Any

from bccontam.github.client import Patience
from bccontam.github.comment import CommentOutcome, CommentTarget, publish_comment
from tests.support.fault_github import FaultGithub
from tests.support.paths import shared_cases

TOKEN = "ghs_hushHushHushHushHushHushHushHush0123"
REPORT = "## Report\n\nsignal 12 points"
FORBIDDEN = {"message": "Resource not accessible by integration"}

GITHUB_CASES = {case.id: case.values[0] for case in shared_cases("github")}
"""The public reports about GitHub by id; empty where they are absent."""


class Waits(list[float]):
    """The seconds that would have been waited."""

    @property
    def patience(self) -> Patience:
        """Patience that only writes down."""
        return Patience(timeout=5, backoff=0, sleep=self.append)

    @property
    def limits(self) -> list[float]:
        """Those for rate limits."""
        return [seconds for seconds in self if seconds]


def publish(
    server: FaultGithub, body: str = REPORT, *, waits: Waits | None = None, **target: Any
) -> CommentOutcome:
    """Publish on pull request 7; `target` has other fields of the target. The token must not come out."""
    where: dict[str, Any] = {
        "api_url": server.url,
        "token": TOKEN,
        "repository": "acme/widgets",
        "number": 7,
    } | target
    waits = Waits() if waits is None else waits
    outcome = publish_comment(CommentTarget(**where), body, patience=waits.patience)
    assert TOKEN not in repr(outcome)
    assert TOKEN not in repr(CommentTarget(**where))
    return outcome


def noise(server: FaultGithub, count: int) -> None:
    """Comments of other people."""
    for number in range(count):
        server.add(f"comment {number}", f"person-{number % 5}", "User")
