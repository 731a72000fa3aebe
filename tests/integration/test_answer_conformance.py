from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bccontam.answer import parse_prediction
from bccontam.paths import normalize_path
from tests.support.paths import BC_BENCH, LOC_BENCH, SHARED, SWE_BENCH_JSONL, needs_shared, shared_cases

pytestmark = needs_shared

TEN_MB = 10_000_000


def generated(name: str) -> str:
    """The inputs of 10 MB that the cases describe instead of holding them."""
    if name == "B_open_brackets_10mb.txt":
        return "[" * TEN_MB
    if name == "B_valid_array_10mb.txt":
        return json.dumps([f"src/App/m{n:06d}/File{n:06d}.Codeunit.al" for n in range(240_000)])
    if name == "B_one_string_10mb.txt":
        return json.dumps(["a" * TEN_MB + ".al"])
    pytest.fail(f"no generator for {name}: write one")


def answer_of(case: dict[str, Any]) -> tuple[str | None, str | None]:
    """The text and the repository of a case."""
    given = case["input"]
    if isinstance(given, dict) and "file" in given:
        return (SHARED / "cases" / given["file"]).read_bytes().decode(), None
    if isinstance(given, dict):
        return given["answer"], given["repo"]
    made = re.match(r"\(generated: (\S+), (\d+) bytes", given or "")
    if made is None:
        return given, None
    text = generated(made[1])
    assert len(text) == int(made[2])
    return text, None


@pytest.mark.parametrize("case", shared_cases("answers"))
def test_a_reported_answer_reads_as_it_should(case: dict[str, Any]) -> None:
    text, repo = answer_of(case)
    expected = case["expected"]
    prediction = parse_prediction(text, expected["top_k"], repo)
    assert (list(prediction.paths), prediction.status) == (expected["paths"], expected["status"])


def test_every_stored_answer_reads_as_the_independent_implementation_read_it() -> None:
    lines = (SHARED / "conformance" / "scores.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert len(rows) == 606
    differing = [
        row for row in rows if list(parse_prediction(row["raw_output"], 3).paths) != row["predicted_files"]
    ]
    assert differing == []


def gold_paths(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            for name in re.findall(r"^diff --git a/(.*?) b/", row["patch"], re.MULTILINE):
                yield row["repo"], name


@pytest.mark.parametrize(
    "benchmark", [BC_BENCH, SWE_BENCH_JSONL, LOC_BENCH], ids=lambda path: path.parent.name
)
@pytest.mark.parametrize(
    "form",
    [
        '["{}"]',
        "['{}']",
        "- `{}` - the reason",
        '["{}:12"]',
        '["/testbed/{}"]',
        '["https://github.com/{repo}/blob/main/{}"]',
    ],
)
def test_no_real_path_is_harmed_by_cleaning(benchmark: Path, form: str) -> None:
    """One is, by the rule for names written twice: `netbox/netbox/` in netbox-community/netbox is a directory."""
    in_prose = form.startswith("-")
    harmed = []
    for repo, path in set(gold_paths(benchmark)):
        predicted = parse_prediction(form.format(path, repo=repo), 3, repo).paths
        if predicted != (normalize_path(path),) and not (in_prose and "." not in path):
            harmed.append(path)
    assert set(harmed) <= {"netbox/netbox/authentication.py"}
