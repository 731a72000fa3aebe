"""Small datasets for tests: a row, a file, its entries, the sentence it is refused with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bccontam.datasets import DatasetError, load_entries
from bccontam.entry import Entry
from tests.support.paths import shared_cases

GOLD = "src/Sales/Post.Codeunit.al"
PATCH = f"diff --git a/{GOLD} b/{GOLD}\n--- a/{GOLD}\n+++ b/{GOLD}\n@@ -1 +1 @@\n-old\n+new\n"

CASES = {case.id: case.values[0] for case in shared_cases("datasets")}
"""The public reports about datasets by id; empty where they are absent."""


def a_row(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A row in the shape of SWE-bench; a field that is `...` is left out."""
    row = {
        "instance_id": f"acme__Widgets-{number}",
        "repo": "acme/Widgets",
        "base_commit": f"{number:040x}",
        "created_at": "2025-03-01",
        "patch": PATCH,
        "problem_statement": f"Posting order {number} fails.",
    }
    return {name: value for name, value in {**row, **fields}.items() if value is not ...}


def write(file: Path, content: object) -> Path:
    """Bytes and text as they are, a list of rows as JSON lines."""
    if isinstance(content, list):
        content = "".join(f"{json.dumps(row)}\n" for row in content)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else str(content).encode())
    return file


def load(content: object, folder: Path, name: str = "data.jsonl") -> tuple[list[Entry], list[str]]:
    """Entries and warnings of a dataset with this content."""
    warnings: list[str] = []
    return list(load_entries(write(folder / name, content), warn=warnings.append)), warnings


def load_one(folder: Path, **fields: Any) -> Entry:
    """The entry of `a_row` with these fields."""
    (entry,), _ = load([a_row(**fields)], folder)
    return entry


def refusal(content: object, folder: Path, name: str = "data.jsonl") -> str:
    """The one sentence that a dataset with this content is refused with; it names the file."""
    file = write(folder / name, content)
    with pytest.raises(DatasetError) as caught:
        load_entries(file)
    message = str(caught.value)
    assert name in message
    assert "\n" not in message
    assert message.endswith(".")
    return message
