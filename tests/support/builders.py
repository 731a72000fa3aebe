"""Small values for tests, each with the fields that matter to it named at the call."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from bccontam.entry import Entry
from bccontam.gold import GoldFile
from bccontam.result import Result
from bccontam.score import score_prediction


def make_patch(*paths: str) -> str:
    """A patch that changes one line in each path."""
    return "".join(
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-old\n+new\n"
        for path in paths
    )


def make_entry(identity: str = "acme__widgets-1", *paths: str, **fields: Any) -> Entry:
    """A scorable entry; `paths` are its gold files."""
    values: dict[str, Any] = {
        "repo": "acme/widgets",
        "created_at": date(2025, 3, 1),
        "problem_statement": "Posting fails.",
        "patch": make_patch(*(paths or ("src/Sales/Post.Codeunit.al",))),
    }
    return Entry(instance_id=identity, **(values | fields))


def make_result(
    identity: str = "acme__widgets-1",
    created_at: str = "2025-03-01",
    *,
    predicted: tuple[str, ...] = (),
    gold: tuple[str, ...] = ("src/Sales/Post.Codeunit.al",),
    **fields: Any,
) -> Result:
    """A result whose score follows from its paths."""
    result = Result(
        instance_id=identity,
        model="m",
        created_at=created_at,
        gold_files=gold,
        predicted_files=predicted,
        score=score_prediction(predicted, gold),
        gold=tuple(GoldFile(path, None, "modified") for path in gold),
        fingerprint=f"{identity}/{fields.get('sample', 0)}",
        backend="replay",
        requested_model="m",
        prompt="al@1",
        leakage="none",
    )
    return replace(result, **fields)


def hit(identity: str, created_at: str = "2025-03-01", **fields: Any) -> Result:
    """A result that names its gold file."""
    gold = (f"src/{identity}.Table.al",)
    return make_result(identity, created_at, predicted=gold, gold=gold, **fields)


def miss(identity: str, created_at: str = "2025-03-01", **fields: Any) -> Result:
    """A result that names another file."""
    return make_result(
        identity, created_at, predicted=("src/Other.Page.al",), gold=(f"src/{identity}.Table.al",), **fields
    )


def failed(identity: str, created_at: str = "2025-03-01", **fields: Any) -> Result:
    """A result with an error."""
    return make_result(identity, created_at, **{"error": "timeout: no answer", "status": "error"} | fields)


def group(hits: int, entries: int, created_at: str, prefix: str = "e") -> list[Result]:
    """`entries` results of one day, the first `hits` of them hits."""
    made = [hit if number < hits else miss for number in range(entries)]
    return [make(f"{prefix}{created_at}-{number}", created_at) for number, make in enumerate(made)]
