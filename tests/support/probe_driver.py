"""A run of numbered entries against a chat-completions server, as a program that can be killed.

`python -m tests.support.probe_driver URL FOLDER COUNT CONCURRENCY`: asks what is not yet stored in FOLDER,
prints one JSON object of what it did and exits as a front door would.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bccontam.answer import Prediction
from bccontam.entry import Entry
from bccontam.facts import EntryFacts
from bccontam.models.openai import OpenAIModel
from bccontam.probe import ProbeSettings, run_probe, stop_on_signals
from bccontam.prompts import load_prompt
from bccontam.store import ResultStore
from tests.support.builders import make_entry


def report_of(number: int) -> str:
    """The problem statement of entry `e-NUMBER`, by which a server can tell what it was asked about."""
    return f"Report number {number}, no more."


def _entries(count: int) -> Iterator[Entry]:
    for number in range(count):
        yield make_entry(f"e-{number}", problem_statement=report_of(number))


def _no_facts(entry: Entry, prediction: Prediction) -> EntryFacts:
    return EntryFacts("none", False, (), None)


def main(url: str, folder: str, count: int, concurrency: int) -> int:
    """Run and return the exit code."""
    model = OpenAIModel(url, "sk-test", "test-model", temperature=0.0)
    settings = ProbeSettings(concurrency=concurrency, timeout=60.0)
    with ResultStore(Path(folder), "run") as store, stop_on_signals() as stop:
        outcome = run_probe(
            _entries(count), model, store, load_prompt("generic"), settings, facts=_no_facts, stop=stop
        )
    model.close()
    counts = {"asked": outcome.asked, "reused": outcome.reused, "not_asked": outcome.not_asked}
    print(json.dumps(counts))
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
