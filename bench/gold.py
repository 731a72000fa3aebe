"""What gold files cost: processor time of 21,000 patches read in four ways, and the memory of one large patch.

Run it as `python -m bench.gold [--runs 3]`. It takes the patches of the real benchmarks where they are here,
else invented ones, and reads them again and again until a set of 21,000 entries would be through. The ways
beside ours are unidiff alone: they are here for their time, not for their answers. How many patches they read
otherwise than we do stands beside it, of the real ones and, where they are here, of a collection of hard ones.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Iterable
from statistics import median

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from bccontam.errors import PatchError
from bccontam.gold import extract_gold_files
from tests.support.paths import BC_BENCH, LOC_BENCH, SWE_BENCH_JSONL, shared_cases

ENTRIES = 21_000
LARGE = 10_000_000
SECTION = (
    "diff --git a/src/File{0}.Table.al b/src/File{0}.Table.al\nindex 1111111..2222222 100644\n"
    "--- a/src/File{0}.Table.al\n+++ b/src/File{0}.Table.al\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
)
Read = Callable[[str], list[str]]


def patches() -> list[str]:
    """The patches of every benchmark that is here."""
    found = []
    for path in (BC_BENCH, SWE_BENCH_JSONL, LOC_BENCH):
        if path.is_file():
            with path.open(encoding="utf-8", newline="\n") as rows:
                found += [json.loads(row)["patch"] for row in rows]
    return found or [SECTION.format(number) for number in range(1000)]


def ours(patch: str) -> list[str]:
    """The header reader, with unidiff's metadata_only to count the hunks: what the program does."""
    return [file.path for file in extract_gold_files(patch, lambda _: None)]


def whole(patch: str) -> list[str]:
    """unidiff alone, every line of every hunk an object."""
    return [file.path for file in PatchSet(patch)]


def metadata(patch: str) -> list[str]:
    """unidiff alone, metadata_only: hunk lines are counted and dropped."""
    return [file.path for file in PatchSet(patch, metadata_only=True)]


def headers(patch: str) -> list[str]:
    """unidiff given only the lines that can be headers. Content such as `--- a/x` would pass for one."""
    marks = ("diff --git ", "--- ", "+++ ", "rename ", "new file", "deleted file")
    lines = [line for line in patch.split("\n") if line.startswith(marks)]
    return [file.path for file in PatchSet("\n".join(lines), metadata_only=True)]


WAYS: dict[str, Read] = {
    "our header reader, hunks counted by unidiff": ours,
    "unidiff alone": whole,
    "unidiff alone, metadata_only": metadata,
    "unidiff given header lines only": headers,
}


def hard_patches() -> list[str]:
    """Patches that some tool is known to read wrongly: quoted names, content like headers, other formats."""
    rows = [case.values[0] for case in shared_cases("diffs")]
    return [row["input"] for row in rows if isinstance(row.get("input"), str)]


def seconds(read: Read, sample: list[str], count: int = ENTRIES) -> float:
    """Processor time of reading `count` patches."""
    start = time.process_time()
    for number in range(count):
        _tried(read, sample[number % len(sample)])
    return time.process_time() - start


def other_answers(read: Read, sample: Iterable[str]) -> int:
    """Patches in which this way finds other paths than ours, or an error in their place."""
    return sum(_tried(read, patch) != _tried(ours, patch) for patch in sample)


def _tried(read: Read, patch: str) -> list[str] | None:
    try:
        return read(patch)
    except (PatchError, UnidiffParseError, ValueError):
        return None


def main() -> None:
    """Print a line a way, then the memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    sample, hard = patches(), hard_patches()
    size = sum(len(sample[number % len(sample)]) for number in range(ENTRIES)) / 1e6
    print(
        f"{ENTRIES:,} patches, {size:.0f} MB, of {len(sample):,} different ones; processor time, {runs} runs"
    )
    for name, read in WAYS.items():
        times = [seconds(read, sample) for _ in range(runs)]
        print(
            f"{name:44} {median(times):6.2f} s ({min(times):.2f}–{max(times):.2f}), "
            f"{size / median(times):5.0f} MB/s; read otherwise: {other_answers(read, sample)} of them, "
            f"{other_answers(read, hard)} of {len(hard)} hard ones"
        )
    large = "".join(SECTION.format(number) for number in range(LARGE // len(SECTION)))
    tracemalloc.start()
    count = len(extract_gold_files(large))
    peak = tracemalloc.get_traced_memory()[1]
    print(f"one patch of {len(large) / 1e6:.0f} MB, {count:,} files: {peak / 1e6:.0f} MB at its peak")


if __name__ == "__main__":
    main()
