"""Asking what changed between two commits of a small repository, from a checkout or through the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bccontam.github.changed import ChangedEntries, ChangeRequest, find_changes
from bccontam.github.client import Patience
from tests.support.datasets import a_row
from tests.support.fault_github import FaultGithub
from tests.support.git_repo import GitRepo

DATASET = "dataset/bench.jsonl"
TOKEN = "ghs_hushHushHushHushHushHushHushHush0123"
QUICK = Patience(timeout=5, backoff=0, sleep=lambda seconds: None)

Files = Mapping[str, str | bytes | None]


def rows(*numbers: int, **fields: Any) -> str:
    """JSON lines of numbered entries."""
    return "".join(f"{json.dumps(a_row(number, **fields))}\n" for number in numbers)


def name(number: int) -> str:
    """The id of a numbered entry."""
    return f"acme__Widgets-{number}"


def statement(number: int, folder: str = "dataset/problemstatement") -> str:
    """The path of its problem statement."""
    return f"{folder}/{name(number)}/README.md"


class Finder:
    """Asks from a full checkout (`git`), or with nothing checked out (`api`), and checks who was asked."""

    def __init__(self, repo: GitRepo, source: str, folder: Path) -> None:
        self.repo = repo
        self.source = source
        self.folder = folder
        self.warnings: list[str] = []
        self.server = FaultGithub(prefix="/api/v3", repository=repo.folder)

    def request(self, base: str, head: str, **fields: Any) -> ChangeRequest:
        if self.source == "git":
            workspace = self.repo.folder
        else:
            workspace = self.folder
            workspace.mkdir(exist_ok=True)
        request = ChangeRequest(
            workspace=workspace,
            dataset=DATASET,
            problem_statements="",
            base_sha=base,
            head_sha=head,
            api_url=self.server.url,
            token=TOKEN,
            repository="acme/widgets",
        )
        return replace(request, **fields)

    def __call__(self, base: str, head: str, **fields: Any) -> ChangedEntries:
        return self.find(self.request(base, head, **fields))

    def find(self, request: ChangeRequest) -> ChangedEntries:
        try:
            found = find_changes(request, warn=self.warnings.append, patience=QUICK)
        finally:
            assert TOKEN not in repr(request)
            assert not any(TOKEN in warning for warning in self.warnings)
        asked = bool(self.server.requests)
        assert asked is (self.source == "api")
        return found

    def change(self, before: Files, after: Files, **fields: Any) -> ChangedEntries:
        base = self.repo.commit(before)
        return self(base, self.repo.commit(after), **fields)

    @property
    def blobs(self) -> int:
        return self.server.count("GET", "/git/blobs/")
