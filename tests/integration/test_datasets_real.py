"""The three real benchmarks, read from their own files."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bccontam.datasets import load_entries
from bccontam.entry import Entry
from tests.support.paths import BC_BENCH, LOC_BENCH, SWE_BENCH_JSONL, SWE_BENCH_PARQUET, needs_shared

pytestmark = needs_shared


def load(path: Path, problem_statements: Path | None = None) -> list[Entry]:
    """The entries of a benchmark that reads without a single warning."""
    warnings: list[str] = []
    entries = list(load_entries(path, problem_statements, warn=warnings.append))
    assert warnings == []
    return entries


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


@pytest.mark.parametrize(
    ("path", "count"),
    [(BC_BENCH, 101), (SWE_BENCH_JSONL, 500), (SWE_BENCH_PARQUET, 500), (LOC_BENCH, 560)],
    ids=["bc-bench", "swe-bench-jsonl", "swe-bench-parquet", "loc-bench"],
)
def test_every_entry_of_a_real_benchmark_can_be_scored(path: Path, count: int) -> None:
    entries = load(path)

    assert len({entry.instance_id for entry in entries}) == len(entries) == count
    assert [entry.unscorable for entry in entries if entry.unscorable] == []
    assert all(entry.repo and entry.patch and entry.problem_statement for entry in entries)
    assert not any(entry.statement_cut for entry in entries)


def test_bc_bench_rows_keep_their_id_repository_area_and_patch() -> None:
    for entry, row in zip(load(BC_BENCH), rows(BC_BENCH), strict=True):
        assert (entry.instance_id, entry.repo, entry.patch) == (row["instance_id"], row["repo"], row["patch"])
        assert entry.area == row["metadata"]["area"]
    assert Counter(entry.repo for entry in load(BC_BENCH)) == {
        "microsoftInternal/NAV": 97,
        "microsoft/BCApps": 4,
    }


def test_bc_bench_statements_are_the_readmes_of_its_folder() -> None:
    folder = BC_BENCH.parent / "problemstatement"

    for entry in load(BC_BENCH):
        raw = (folder / entry.instance_id / "README.md").read_bytes()
        assert entry.problem_statement == raw.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")


def test_bc_bench_has_97_dates_and_4_times_that_are_utc_days() -> None:
    forms: Counter[str] = Counter()
    for entry, row in zip(load(BC_BENCH), rows(BC_BENCH), strict=True):
        text = row["created_at"]
        forms["time" if "T" in text else "date"] += 1
        moment = datetime.fromisoformat(text)
        assert entry.created_at == (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    assert forms == {"date": 97, "time": 4}


def test_bc_bench_counts_its_images() -> None:
    counts = [
        (entry.images, row["metadata"]["image_count"])
        for entry, row in zip(load(BC_BENCH), rows(BC_BENCH), strict=True)
    ]

    # Upstream counts the files in the folder; one entry has a picture that its text never shows.
    assert sum(ours != theirs for ours, theirs in counts) == 1
    assert sum(ours for ours, _ in counts) == sum(theirs for _, theirs in counts) - 1


def test_bc_bench_without_its_folder_is_listed_as_unscorable(tmp_path: Path) -> None:
    shutil.copy(BC_BENCH, tmp_path / "bcbench.jsonl")

    entries = load(tmp_path / "bcbench.jsonl")
    elsewhere = load(tmp_path / "bcbench.jsonl", BC_BENCH.parent / "problemstatement")

    assert {entry.unscorable for entry in entries} == {
        "no problem statement: its row has none, and there is no folder of statements"
    }
    assert elsewhere == load(BC_BENCH)


def test_parquet_and_json_lines_of_swe_bench_verified_give_the_same_entries() -> None:
    assert load(SWE_BENCH_PARQUET) == load(SWE_BENCH_JSONL)


def test_swe_bench_statements_and_patches_are_those_of_the_rows() -> None:
    for entry, row in zip(load(SWE_BENCH_JSONL), rows(SWE_BENCH_JSONL), strict=True):
        assert entry.problem_statement == row["problem_statement"]
        assert entry.patch == row["patch"]
        assert entry.created_at == date.fromisoformat(row["created_at"][:10])
        assert entry.area is None


def test_swe_bench_verified_was_created_from_2013_to_2023() -> None:
    days = [entry.created_at for entry in load(SWE_BENCH_JSONL) if entry.created_at]

    assert len(days) == 500
    assert (min(days).year, max(days).year) == (2013, 2023)


def test_loc_bench_has_no_dates_and_says_nothing_about_it() -> None:
    assert {entry.created_at for entry in load(LOC_BENCH)} == {None}


def test_a_benchmark_as_an_array_or_by_id_gives_the_same_entries(tmp_path: Path) -> None:
    whole = rows(LOC_BENCH)
    (tmp_path / "array.json").write_text(json.dumps(whole, indent=1), encoding="utf-8")
    (tmp_path / "by-id.json").write_text(
        json.dumps({row["instance_id"]: row for row in whole}), encoding="utf-8"
    )

    assert load(tmp_path / "array.json") == load(tmp_path / "by-id.json") == load(LOC_BENCH)
