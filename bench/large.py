"""The long rows of the suite: 21,000 entries read and scored, 100,000 results reported, costs as work grows.

They are rows of `python -m bench`. Every figure is that of a real command in a process of its own, on made-up
data of a real shape; where the data comes from is in `bench.datasets` and `bench.report`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.datasets import write
from bench.figure import Figure, Growth, figure
from bench.options import Options
from bench.predict import naming_command, predicted
from bench.process import Ran, run_ok
from bench.report import report_command, store

ENTRIES = 21_000
BYTES = 300_000_000
RESULTS = 100_000
SAMPLES = 5
SIZES = (1_000, 3_162, 10_000, 31_623, 100_000)
ROW_BYTES = 3_000
"""Of a row in the growth table; the 21,000 rows are of SWE-bench's own size."""


def predict(options: Options) -> Iterator[Figure | Growth]:
    """21,000 entries of SWE-bench shape."""
    dataset = options.folder / "swe-bench-shape.jsonl"
    write(dataset, ENTRIES, BYTES // ENTRIES)
    note = f"{dataset.stat().st_size / 1e6:,.0f} MB; results are stored"
    runs = [_predicted(dataset, options, ENTRIES) for _ in range(options.long_runs)]
    dataset.unlink()
    name = f"{ENTRIES:,} entries of SWE-bench shape by naming"
    yield figure(f"{name}, wall", "s", [ran.wall for ran in runs], note)
    yield figure(f"{name}, CPU", "s", [ran.cpu for ran in runs])
    yield figure(f"{name}, peak memory", "MB", [ran.peak_mb for ran in runs])


def report(options: Options) -> Iterator[Figure | Growth]:
    """100,000 results, one answer an entry and five: the latter's headline is a permutation test."""
    for samples in (1, SAMPLES):
        folder = options.fresh()
        folder.mkdir()
        store(folder, RESULTS // samples, samples)
        runs = [run_ok(report_command(folder)) for _ in range(options.long_runs)]
        shutil.rmtree(folder)
        name = f"report on {RESULTS:,} results, {samples} an entry"
        yield figure(f"{name}, wall", "s", [ran.wall for ran in runs])
        yield figure(f"{name}, CPU", "s", [ran.cpu for ran in runs])
        yield figure(f"{name}, peak memory", "MB", [ran.peak_mb for ran in runs])


def growth(options: Options) -> Iterator[Figure | Growth]:
    """Time and memory at five sizes, and the exponents."""
    for what, cost in (("predict by naming", _predict_cost), ("report", _report_cost)):
        table = _table(what, cost, options)
        yield table
        wall, cpu, memory = table.exponents
        for unit, exponent in (("wall", wall), ("CPU", cpu), ("peak memory", memory)):
            name = f"{what}, {SIZES[0]:,} to {SIZES[-1]:,} entries: growth of {unit}"
            yield figure(name, "exponent", [exponent])


Cost = Callable[[int, Options, int], list[Ran]]


def _table(what: str, cost: Cost, options: Options) -> Growth:
    """Medians: three runs of what is short, one of what is long."""
    rows = [cost(size, options, min(options.runs, 3 if size <= 10_000 else 1)) for size in SIZES]
    return Growth(
        what,
        SIZES,
        tuple(median(ran.wall for ran in runs) for runs in rows),
        tuple(median(ran.cpu for ran in runs) for runs in rows),
        tuple(median(ran.peak_mb for ran in runs) for runs in rows),
    )


def _predict_cost(size: int, options: Options, runs: int) -> list[Ran]:
    dataset = options.folder / f"{size}.jsonl"
    write(dataset, size, ROW_BYTES)
    found = [_predicted(dataset, options, size) for _ in range(runs)]
    dataset.unlink()
    return found


def _report_cost(size: int, options: Options, runs: int) -> list[Ran]:
    folder = options.fresh()
    folder.mkdir()
    store(folder, size)
    found = [run_ok(report_command(folder)) for _ in range(runs)]
    shutil.rmtree(folder)
    return found


def _predicted(dataset: Path, options: Options, entries: int) -> Ran:
    results = options.fresh()
    return predicted(naming_command(dataset, results, "generic"), results, entries)
