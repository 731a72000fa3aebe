"""Rows with the field names of SWE-bench and its kin, which BC-Bench shares.

BC-Bench adds `metadata.area` and leaves `problem_statement` out: that is in its folder.
Source: princeton-nlp/SWE-bench and microsoft/BC-Bench, their rows.
"""

from __future__ import annotations

from typing import Any

from bccontam.datasets.layout import Fields

FIELDS: tuple[str, ...] = ("instance_id", "repo", "created_at", "patch", "problem_statement", "metadata")


def matches(row: dict[str, Any]) -> bool:
    """Whether this is a row of this layout: whatever has an id or a patch under these names."""
    return "instance_id" in row or "patch" in row


def fields(row: dict[str, Any]) -> Fields:
    """What the row says, nothing of it trusted yet."""
    metadata = row.get("metadata")
    return Fields(
        instance_id=row.get("instance_id"),
        repo=row.get("repo"),
        created_at=row.get("created_at"),
        patch=row.get("patch"),
        problem_statement=row.get("problem_statement"),
        area=metadata.get("area") if isinstance(metadata, dict) else None,
    )
