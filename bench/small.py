"""The short rows of the suite: starting up, asking 101 entries by `openai`, reporting on 101 results.

They are rows of `python -m bench`, which says what each must not exceed; this module only measures.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

from bccontam.models.openai import OpenAIModel
from bench.figure import Figure, Growth, figure
from bench.options import Options
from bench.predict import dataset_of_101, naming_command, openai_command, predicted
from bench.probe import CONCURRENCY, COUNT, DELAY, Measured, entries, measure
from bench.process import Ran, bccontam, run_ok
from bench.report import report_command
from bench.server import answering


def starts(options: Options) -> Iterator[Figure | Growth]:
    """A process that only imports, and one that only says its version; the first run warms up."""
    commands = {
        "Python that does nothing": [sys.executable, "-c", "pass"],
        "import bccontam": [sys.executable, "-c", "import bccontam"],
        "bccontam --version": bccontam("--version"),
    }
    for name, command in commands.items():
        runs = [run_ok(command) for _ in range(options.runs + 1)][1:]
        yield figure(f"{name}, wall", "ms", [1e3 * ran.wall for ran in runs], "the whole process")
        yield figure(f"{name}, CPU", "ms", [1e3 * ran.cpu for ran in runs])


def cpu_per_entry(options: Options) -> Iterator[Figure | Growth]:
    """Our processor time, with an instant server in another process; the first run warms up."""
    dataset, note = dataset_of_101(options.folder)
    with answering(0.0) as url:
        runs = [_probe(url, None) for _ in range(options.runs + 1)][1:]
        commands = [_asked(dataset, url, options) for _ in range(options.runs)]
    values = [run.cpu_ms_per_entry for run in runs]
    yield figure("CPU per entry, 101 entries, openai, instant model", "ms", values, note)
    values = [1e3 * ran.cpu / COUNT for ran in commands]
    yield figure("the same, the whole command with its start", "ms", values)


def wall(options: Options) -> Iterator[Figure | Growth]:
    """The model's own time and ours, at concurrency 16."""
    ideal = math.ceil(COUNT / CONCURRENCY) * DELAY
    dataset, note = dataset_of_101(options.folder)
    with answering(DELAY) as url:
        runs = [_asked(dataset, url, options) for _ in range(options.runs)]
        inside = [_probe(url, DELAY) for _ in range(options.runs)]
    name = f"wall, {COUNT} entries, {1e3 * DELAY:.0f} ms model, concurrency {CONCURRENCY}"
    note = f"ideal {ideal:.1f} s; the whole command; {note}"
    yield figure(name, "s", [ran.wall for ran in runs], note)
    yield figure("the same, without the start of the program", "s", [run.seconds for run in inside])


def report(options: Options) -> Iterator[Figure | Growth]:
    """The command on results like those of the real benchmark: its own entries, answered by naming."""
    folder = options.fresh()
    dataset, note = dataset_of_101(options.folder)
    predicted(naming_command(dataset, folder), folder, COUNT, keep=True)
    runs = [run_ok(report_command(folder)) for _ in range(options.runs + 1)][1:]
    yield figure(
        "report on 101 results, wall", "s", [ran.wall for ran in runs], f"{note}, answered by naming"
    )
    yield figure("report on 101 results, CPU", "s", [ran.cpu for ran in runs])
    yield figure("report on 101 results, peak memory", "MB", [ran.peak_mb for ran in runs])


def _asked(dataset: Path, url: str, options: Options) -> Ran:
    """Ask the 101 entries by the command."""
    results = options.fresh()
    return predicted(openai_command(dataset, results, url, CONCURRENCY), results, COUNT)


def _probe(url: str, delay: float | None) -> Measured:
    """Ask the 101 entries in this process."""
    model = OpenAIModel(url, "", "m", temperature=0.0)
    try:
        return measure("run", entries(), model, COUNT, delay)
    finally:
        model.close()
