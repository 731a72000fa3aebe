"""Many runners without GitHub: a generated benchmark asked in shards, each a process of its own, and once as a whole.

`python -m bench.shards [--entries 21000] [--shards 32] [--jobs 2] [--keep FOLDER]`: against one chat-completions
server on loopback whose model has memorised the older entries. One shard is terminated on its way and run again alone.
It compares the two reports digit by digit and says what a report without one of the shards says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bccontam.store import SUFFIX
from bench.datasets import rows
from bench.process import bccontam
from bench.server import serve, serving
from tests.support.chat_server import Reply, Request, text
from tests.support.paths import ROOT

CUTOFF = "2021-01-01"
_NUMBER = re.compile(r"Report (\d+)\.")


def write_benchmark(file: Path, entries: int, row_bytes: int) -> None:
    """Generated rows whose statement tells the model which entry it is asked about."""
    with file.open("w", encoding="utf-8") as stream:
        for number, row in enumerate(rows(entries, row_bytes)):
            row["problem_statement"] = f"Report {number}. {row['problem_statement']}"
            stream.write(json.dumps(row) + "\n")


def memory(_: int, request: Request) -> Reply:
    """Knows 45 of 100 entries before the cutoff and 30 of 100 after it, always the same ones."""
    found = _NUMBER.search(request.prompt)
    assert found is not None
    number = int(found[1])
    old = 2013 + number % 12 < int(CUTOFF[:4])
    known = hashlib.sha256(found[1].encode()).digest()[0] * 100 < (45 if old else 30) * 256
    name = f"module_{number}_0.py" if known else f"other_{number}.py"
    return text(json.dumps([f"src/{name}"]))


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run(bccontam(*words), cwd=ROOT, capture_output=True, text=True, check=False)


class Experiment:
    """One benchmark and one model, with the folders of results below `folder`."""

    def __init__(self, folder: Path, dataset: Path, url: str, shards: int) -> None:
        self.folder = folder
        self.shards = shards
        self._words: list[str | Path] = [
            "predict",
            "--dataset",
            dataset,
            "--backend",
            "openai",
            "--base-url",
            url,
        ]
        self._words += [
            "--model",
            "memory",
            "--api-key",
            "sk-bench",
            "--prompt",
            "generic",
            "--concurrency",
            "8",
        ]

    def shard_words(self, index: int) -> list[str | Path]:
        """The command of a shard; its results are a folder of their own, as an artifact is."""
        place = self.folder / "artifacts" / f"{index}-of-{self.shards}"
        return [*self._words, "--shard", f"{index}/{self.shards}", "--results-dir", place]

    def predict_shard(self, index: int) -> float:
        """Seconds of one shard."""
        start = time.perf_counter()
        done = run(*self.shard_words(index))
        assert done.returncode == 0, done.stderr
        return time.perf_counter() - start

    def terminate_shard(self, index: int) -> int:
        """Start a shard, end it when it has stored some answers; how many are kept."""
        place = self.folder / "artifacts" / f"{index}-of-{self.shards}"
        process = subprocess.Popen(bccontam(*self.shard_words(index)), cwd=ROOT, stderr=subprocess.DEVNULL)
        while stored(place) < 20 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        process.wait()
        return stored(place)

    def predict_whole(self) -> float:
        """Seconds of the same questions in one run."""
        start = time.perf_counter()
        done = run(*self._words, "--results-dir", self.folder / "whole")
        assert done.returncode == 0, done.stderr
        return time.perf_counter() - start

    def report(self, results: Path) -> tuple[dict[str, Any], float]:
        """The report's numbers, and the seconds it took."""
        start = time.perf_counter()
        done = run(
            "report",
            "--results-dir",
            results,
            "--cutoff",
            CUTOFF,
            "--output",
            self.folder / "report.md",
            "--json",
            "-",
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), time.perf_counter() - start


def stored(place: Path) -> int:
    """Lines in the result files of a folder."""
    return sum(file.read_bytes().count(b"\n") for file in place.glob(f"*{SUFFIX}"))


def numbers(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what no two runs can share: how long the answers took."""
    return {**report, "usage": {**report["usage"], "seconds": None}}


def measure(folder: Path, entries: int, shards: int, jobs: int, row_bytes: int) -> None:
    """The whole comparison."""
    dataset = folder / "benchmark.jsonl"
    write_benchmark(dataset, entries, row_bytes)
    print(f"{entries:,} entries, {dataset.stat().st_size / 1e6:,.0f} MB; {shards} shards, {jobs} at a time")
    with serving("bench.shards", "--serve") as url:
        experiment = Experiment(folder, dataset, url, shards)
        kept = experiment.terminate_shard(2)
        start = time.perf_counter()
        with ThreadPoolExecutor(jobs) as pool:
            times = list(pool.map(experiment.predict_shard, range(1, shards + 1)))
        together = time.perf_counter() - start
        alone = experiment.predict_whole()
    sizes = [stored(place) for place in (folder / "artifacts").iterdir()]
    print(f"shard 2 was terminated with {kept} answers stored and run again alone")
    print(
        f"shards: {together:.1f} s together, {max(times):.1f} s the slowest; {min(sizes)} to {max(sizes)} entries"
    )
    print(f"one run: {alone:.1f} s")
    sharded, seconds = experiment.report(folder / "artifacts")
    whole, _ = experiment.report(folder / "whole")
    print(f"report on {sharded['groups']['all']['count']:,} results: {seconds:.1f} s")
    print(f"verdict {sharded['verdict']}, signal {sharded['signal']}")
    print(f"the same to the last digit: {numbers(sharded) == numbers(whole)}")
    (folder / "artifacts" / f"3-of-{shards}").rename(folder / "lost")
    incomplete, _ = experiment.report(folder / "artifacts")
    print(
        f"without shard 3: {incomplete['verdict']}, missing {incomplete['missing_shards']}: {incomplete['reason']}"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=21_000)
    parser.add_argument("--shards", type=int, default=32)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="shards at a time")
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it there")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(memory)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        measure(folder, given.entries, given.shards, given.jobs, given.megabytes * 1_000_000 // given.entries)


if __name__ == "__main__":
    main()
