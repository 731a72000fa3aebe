"""Time and memory of reading a large benchmark: makes one, reads it, extracts its gold, says what it took.

    python -m bench.datasets [--entries 21000] [--megabytes 300] [--format jsonl|json|parquet] [--keep FOLDER]

The rows have the shape of SWE-bench rows; the same numbers give the same file. Reading runs in a process of
its own, so that its peak memory is its own. It asserts nothing: the limit stands in the output.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.process import own_peak_mb
from tests.support.paths import ROOT

LIMIT_MB = 300
WORDS = (
    "total",
    "posted",
    "order",
    "wrong",
    "when",
    "page",
    "rounding",
    "report",
    "line",
    "amount",
    "value",
    "fails",
)


def rows(entries: int, row_bytes: int) -> Iterator[dict[str, Any]]:
    """Rows of about `row_bytes` bytes: a statement, a patch of one to three files, and what is not read."""
    dice = random.Random(entries)
    for number in range(entries):
        files = [
            f"src/package{dice.randrange(500)}/module_{number}_{part}.py"
            for part in range(dice.randint(1, 3))
        ]
        row = {
            "repo": f"acme/project{number % 40}",
            "instance_id": f"acme__project{number % 40}-{number}",
            "base_commit": f"{number:040x}",
            "patch": "".join(_file_diff(path, row_bytes // 16, dice) for path in files),
            "test_patch": _file_diff(f"tests/test_{number}.py", row_bytes // 4, dice),
            "problem_statement": _prose(row_bytes // 6, dice),
            "hints_text": _prose(row_bytes // 8, dice),
            "created_at": f"{2013 + number % 12}-{1 + number % 12:02}-{1 + number % 28:02}T08:00:00Z",
            "version": "1.0",
        }
        tests = [
            f"tests/test_{number}.py::test_{case}" for case in range(max(0, row_bytes - _size(row)) // 32)
        ]
        yield {**row, "FAIL_TO_PASS": json.dumps(tests[:1]), "PASS_TO_PASS": json.dumps(tests[1:])}


def _size(row: dict[str, Any]) -> int:
    return sum(map(len, row.values()))


def _prose(size: int, dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=size // 6)) + "\n"


def _file_diff(path: str, size: int, dice: random.Random) -> str:
    lines = [f" {_prose(60, dice)}" for _ in range(size // 60)]
    count = len(lines) + 1
    head = f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -1,{count} +1,{count} @@\n{''.join(lines)}-old\n+new\n"


def write(file: Path, entries: int, row_bytes: int) -> None:
    """The benchmark as JSON lines, a JSON array or Parquet, by the suffix of the file."""
    if file.suffix == ".parquet":
        return _write_parquet(file, entries, row_bytes)
    opening, comma, closing = ("[", ",\n", "]\n") if file.suffix == ".json" else ("", "\n", "\n")
    with file.open("w", encoding="utf-8") as stream:
        stream.write(opening)
        for number, row in enumerate(rows(entries, row_bytes)):
            stream.write((comma if number else "") + json.dumps(row))
        stream.write(closing)
    return None


def _write_parquet(file: Path, entries: int, row_bytes: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    batch: list[dict[str, Any]] = []
    schema = pa.Table.from_pylist(list(rows(1, row_bytes))).schema
    with pq.ParquetWriter(file, schema) as writer:
        for row in rows(entries, row_bytes):
            batch.append(row)
            if len(batch) == 1000:
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                batch.clear()
        if batch:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))


def read(file: Path) -> dict[str, float]:
    """Read every entry and its gold files; seconds of CPU and peak memory of this process in MB."""
    from bccontam.datasets import load_entries

    before = own_peak_mb()
    start = time.process_time()
    stream = load_entries(file)
    checked = time.process_time()
    entries = gold = 0
    without_gold = 0.0
    last = time.process_time()
    for entry in stream:
        without_gold += time.process_time() - last
        entries += 1
        gold += len(entry.gold_files)
        last = time.process_time()
    end = time.process_time()
    return {
        "entries": entries,
        "gold files": gold,
        "check s": checked - start,
        "read s": without_gold,
        "gold s": end - checked - without_gold,
        "peak MB": own_peak_mb(),
        "peak MB before": before,
    }


def main() -> None:
    """Make, read, report."""
    parser = argparse.ArgumentParser(description="Time and memory of reading a large benchmark.")
    parser.add_argument("--entries", type=int, default=21_000)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--format", choices=("jsonl", "json", "parquet"), default="jsonl")
    parser.add_argument("--read", type=Path, help="only read this file, and print the figures as JSON")
    parser.add_argument("--keep", type=Path, help="make the file in this folder and leave it there")
    given = parser.parse_args()
    if given.read:
        print(json.dumps(read(given.read)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        file = (given.keep or Path(scratch)) / f"bench-{given.entries}.{given.format}"
        if not file.exists():
            write(file, given.entries, given.megabytes * 1_000_000 // given.entries)
        command = [sys.executable, "-m", "bench.datasets", "--read", str(file.resolve())]
        figures = json.loads(
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        )
        print(
            f"{file.name}: {file.stat().st_size / 1e6:,.0f} MB on disk; memory must stay under {LIMIT_MB} MB"
        )
        for name, value in figures.items():
            print(f"  {name:15} {value:12,.1f}")


if __name__ == "__main__":
    main()
