"""What gold files cost: megabytes of patch a second, and the memory of one large patch.

Run it as `python -m bench.gold`. It takes the patches of the real benchmarks where they are here, else
invented ones, and reads them again and again until a set of 21,000 entries would be through.
"""

from __future__ import annotations

import json
import time
import tracemalloc

from bccontam.gold import extract_gold_files
from tests.support.paths import BC_BENCH, LOC_BENCH, SWE_BENCH_JSONL

ENTRIES = 21_000
LARGE = 10_000_000
SECTION = (
    "diff --git a/src/File{0}.Table.al b/src/File{0}.Table.al\nindex 1111111..2222222 100644\n"
    "--- a/src/File{0}.Table.al\n+++ b/src/File{0}.Table.al\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
)


def patches() -> list[str]:
    """The patches of every benchmark that is here."""
    found = []
    for path in (BC_BENCH, SWE_BENCH_JSONL, LOC_BENCH):
        if path.is_file():
            with path.open(encoding="utf-8", newline="\n") as rows:
                found += [json.loads(row)["patch"] for row in rows]
    return found or [SECTION.format(number) for number in range(1000)]


def main() -> None:
    sample = patches()
    start = time.process_time()
    size = files = 0
    for number in range(ENTRIES):
        patch = sample[number % len(sample)]
        size += len(patch)
        files += len(extract_gold_files(patch))
    seconds = time.process_time() - start
    print(
        f"{ENTRIES} patches, {size / 1e6:.0f} MB, {files} files: {seconds:.2f} s, {size / 1e6 / seconds:.0f} MB/s"
    )

    large = "".join(SECTION.format(number) for number in range(LARGE // len(SECTION)))
    tracemalloc.start()
    count = len(extract_gold_files(large))
    peak = tracemalloc.get_traced_memory()[1]
    print(f"one patch of {len(large) / 1e6:.0f} MB, {count} files: {peak / 1e6:.0f} MB at its peak")


if __name__ == "__main__":
    main()
