"""How much a run adds to the model's own time, and how much processor time an entry costs us.

`python -m bench.probe [--json] [--many]`: the 101 real entries where they are at hand, else generated ones,
against a chat-completions server in a process of its own. Nothing here decides whether a figure is good enough.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bccontam.datasets import load_entries
from bccontam.entry import Entry
from bccontam.facts import FactFinder
from bccontam.models.base import Answer, Condition, Model, Question
from bccontam.models.openai import OpenAIModel
from bccontam.probe import ProbeSettings, run_probe
from bccontam.prompts import load_prompt
from bccontam.store import ResultStore
from bench.process import own_peak_mb
from bench.server import answering
from tests.support.builders import make_entry
from tests.support.chat_server import ANSWER
from tests.support.paths import BC_BENCH

COUNT = 101
CONCURRENCY = 16
DELAY = 0.2


@dataclass(frozen=True, slots=True)
class Measured:
    """One run. Seconds are of wall time, milliseconds of our own processor time for an entry."""

    name: str
    entries: int
    seconds: float
    ideal_seconds: float | None
    cpu_ms_per_entry: float
    grown_mb: float

    @property
    def ratio(self) -> float | None:
        """Wall time in units of the ideal."""
        return None if self.ideal_seconds is None else self.seconds / self.ideal_seconds


class InstantModel:
    """A model in our own process that takes no time."""

    backend = "openai"
    model = "instant"
    condition = Condition(0, "no process", "not needed")

    def ask(self, question: Question, timeout: float) -> Answer:
        """Always the same answer."""
        return Answer(ANSWER, self.model, 0.0)

    def close(self) -> None:
        """Nothing to release."""


def entries() -> Iterator[Entry]:
    """The benchmark's own entries, or as many made-up ones."""
    if BC_BENCH.is_file():
        yield from load_entries(BC_BENCH)
    else:
        yield from made_up(COUNT)


def made_up(count: int) -> Iterator[Entry]:
    """Entries of some 2,000 characters each, made one at a time."""
    for number in range(count):
        yield make_entry(
            f"e-{number}", problem_statement=f"Report {number}. " + "Posting fails at times. " * 80
        )


def measure(
    name: str, asked: Iterable[Entry], model: Model, count: int, delay: float | None = None
) -> Measured:
    """Ask about every entry once, into a store on disk."""
    settings = ProbeSettings(concurrency=CONCURRENCY)
    prompt, facts = load_prompt("al"), FactFinder(settings.top_k)
    memory = own_peak_mb()
    with tempfile.TemporaryDirectory() as folder, ResultStore(Path(folder), "bench") as store:
        cpu, wall = time.process_time(), time.perf_counter()
        outcome = run_probe(asked, model, store, prompt, settings, facts=facts)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    assert (outcome.asked, outcome.errors) == (count, 0)
    grown = own_peak_mb() - memory
    ideal = None if delay is None else math.ceil(count / CONCURRENCY) * delay
    return Measured(name, count, wall, ideal, 1000 * cpu / count, grown)


def measure_all(many: bool) -> list[Measured]:
    """Each figure; `many` adds 21,000 entries, which take a minute or two."""
    rows = []
    for name, delay in (("warming up", 0.0), (f"{DELAY:g} s a question", DELAY), ("instant server", 0.0)):
        with answering(delay) as url:
            model = OpenAIModel(url, "", "m", temperature=0.0)
            rows.append(measure(name, entries(), model, COUNT, delay or None))
            model.close()
    if many:
        rows.append(measure("21,000 entries", made_up(21_000), InstantModel(), 21_000))
    return rows


def show(rows: Iterable[Measured]) -> None:
    """A table on standard output."""
    print(
        f"{'run':<18} {'entries':>8} {'wall s':>8} {'ideal s':>8} {'ratio':>6} {'own CPU ms/entry':>17} {'grown MB':>9}"
    )
    for row in rows:
        ideal = "-" if row.ideal_seconds is None else f"{row.ideal_seconds:.2f}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
        print(
            f"{row.name:<18} {row.entries:>8,} {row.seconds:>8.2f} {ideal:>8} {ratio:>6} "
            f"{row.cpu_ms_per_entry:>17.2f} {row.grown_mb:>9.1f}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--many", action="store_true", help="also measure 21,000 entries")
    chosen = parser.parse_args()
    rows = measure_all(chosen.many)
    if chosen.json:
        print(json.dumps([asdict(row) | {"ratio": row.ratio} for row in rows], indent=2))
    else:
        show(rows)


if __name__ == "__main__":
    main()
