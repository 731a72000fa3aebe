"""Rows of Multi-SWE-bench: `org`, `repo`, `number`, `fix_patch`, `resolved_issues`.

The problem statement is made of the resolved issues alone: title, body and hints of the pull request
describe the fix. Source: the record format of multi-swe-bench/multi-swe-bench.
"""

from __future__ import annotations

from typing import Any

from bccontam.datasets.layout import Fields
from bccontam.datasets.text import as_text

FIELDS: tuple[str, ...] = (
    "instance_id",
    "org",
    "repo",
    "number",
    "created_at",
    "fix_patch",
    "resolved_issues",
)


def matches(row: dict[str, Any]) -> bool:
    """Whether this is a row of this layout: the patch has a name of its own."""
    return "fix_patch" in row and "patch" not in row


def fields(row: dict[str, Any]) -> Fields:
    """What the row says, nothing of it trusted yet; the id is `org__repo-number`, as upstream writes it."""
    org, repo, number = (row.get(name) for name in ("org", "repo", "number"))
    named = org and repo and isinstance(number, str | int)
    return Fields(
        instance_id=row.get("instance_id") or (f"{org}__{repo}-{number}" if named else None),
        repo=f"{org}/{repo}" if org and repo else repo,
        created_at=row.get("created_at"),
        patch=row.get("fix_patch"),
        problem_statement=_statement(row.get("resolved_issues")),
    )


def _statement(issues: object) -> str:
    """Title and body of every issue, with a blank line between any two of them."""
    parts: list[str] = []
    for issue in issues if isinstance(issues, list) else []:
        if isinstance(issue, dict):
            parts += [as_text(issue.get(name)) or "" for name in ("title", "body")]
    return "\n\n".join(part for part in parts if part.strip())
