"""Another command-line program against ours, over the same entries in turn, with a model on loopback.

    python -m bench.compare --peer 'COMMAND {instance_id}' [--ours 'COMMAND {instance_id}'] [--dataset FILE]
        [--entries N] [--rounds R] [--delay SECONDS] [--timeout SECONDS] [--json FILE]

For each entry both commands run, one after the other, and who goes first changes with the round: A B A B,
then B A B A. Both are given the entry as `{instance_id}`, the server as `{base_url}` and in OPENAI_BASE_URL with
OPENAI_API_KEY, the dataset as `{dataset}`, and a new folder as `{folder}`. No shell is involved. A command that
ends with another status than 0 is counted and shown, never timed. Without --ours that is `bccontam predict`
on the one entry.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from bccontam.datasets import load_entries
from bccontam.errors import BccontamError
from bccontam.wording import count
from bench.machine import this_machine
from bench.predict import dataset_of_101
from bench.process import Ran, run_timed
from bench.server import answering
from bench.table import as_text, number

KEY = "sk-bench"
PLACE = "{instance_id}"
OURS = (
    f"{shlex.quote(sys.executable)} -m bccontam predict --dataset {{dataset}} --entries {{instance_id}} "
    f"--backend openai --base-url {{base_url}} --api-key {KEY} --model bench --results-dir {{folder}}"
)
MEASURES = (("wall", "s"), ("cpu", "s"), ("peak_mb", "MB"))


@dataclass(frozen=True, slots=True)
class Command:
    """One side: its name, and its words with places in braces."""

    name: str
    words: tuple[str, ...]

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """The words with every `{name}` of `values` put in; other braces stay."""
        return [_filled(word, values) for word in self.words]


@dataclass
class Side:
    """What one side took: a run for every (round, entry) that ended well, and why others did not."""

    command: Command
    runs: dict[tuple[int, str], Ran] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def parse_command(name: str, text: str) -> Command:
    """The words of a command line. Raises ValueError, one sentence."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"--{name}: the command cannot be split into words: {error}.") from error
    if not any(PLACE in word for word in words):
        raise ValueError(f"--{name}: put {PLACE} where the command takes the entry's id.")
    if PLACE in words[0]:
        raise ValueError(f"--{name}: start the command with a program, not with {PLACE}.")
    program = shutil.which(words[0])
    if program is None:
        raise ValueError(f"--{name}: there is no program {words[0]!r} that could be started.")
    return Command(name, (str(Path(program).absolute()), *words[1:]))


def turns(entries: Sequence[str], rounds: int) -> Iterator[tuple[int, str, int]]:
    """Round, entry and side (0: ours, 1: the peer) in the order they run."""
    for number_ in range(rounds):
        for entry in entries:
            for side in (0, 1) if number_ % 2 == 0 else (1, 0):
                yield number_, entry, side


def compare(
    ours: Command,
    peer: Command,
    entries: Sequence[str],
    values: Mapping[str, str],
    *,
    rounds: int,
    timeout: float,
) -> tuple[Side, Side]:
    """Run both over the entries. Raises OSError when a command cannot be started."""
    sides = (Side(ours), Side(peer))
    server = {"OPENAI_BASE_URL": values["base_url"], "OPENAI_API_KEY": KEY}
    for turn, entry, which in turns(entries, rounds):
        side = sides[which]
        with tempfile.TemporaryDirectory() as folder:
            given = {**values, "instance_id": entry, "folder": str(Path(folder) / "results")}
            ran = run_timed(
                side.command.filled(given), env={**os.environ, **server}, cwd=Path.cwd(), timeout=timeout
            )
        if ran.failure:
            side.failures.append(ran.failure)
        else:
            side.runs[turn, entry] = ran
    return sides


def summary(ours: Side, peer: Side) -> dict[str, Any]:
    """Medians of both, and the ratio ours/peer of the pairs in which both ended well: median, lowest, highest."""
    both = [turn for turn in ours.runs if turn in peer.runs]
    found: dict[str, Any] = {"pairs": len(both)}
    for name, unit in MEASURES:
        row: dict[str, Any] = {"unit": unit}
        for side in (ours, peer):
            values = [getattr(ran, name) for ran in side.runs.values()]
            row[side.command.name] = median(values) if values else None
        ratios = [getattr(ours.runs[turn], name) / max(getattr(peer.runs[turn], name), 1e-9) for turn in both]
        row["ratio"] = [median(ratios), min(ratios), max(ratios)] if ratios else None
        found[name] = row
    for side in (ours, peer):
        found[f"{side.command.name} failures"] = side.failures
    return found


def show(found: Mapping[str, Any]) -> str:
    """The summary as a table and a line for each side that failed."""
    rows = []
    for name, unit in MEASURES:
        row = found[name]
        values = [
            f"{number(row[side])} {unit}" if row[side] is not None else "-" for side in ("ours", "peer")
        ]
        ratio = "{} ({}–{})".format(*map(number, row["ratio"])) if row["ratio"] else "-"
        rows.append((name.replace("_mb", " memory"), *values, ratio))
    text = as_text(("median", "ours", "peer", f"ours/peer, {found['pairs']} pairs"), rows)
    for side in ("ours", "peer"):
        failures = found[f"{side} failures"]
        if failures:
            text += f"\n{side} failed {count(len(failures), 'time')}, first with: {failures[0]}"
    return text


def _filled(word: str, values: Mapping[str, str]) -> str:
    """Every place is filled once: a value that looks like a place stays as it is."""
    for name, value in values.items():
        before, place, after = word.partition("{" + name + "}")
        if place:
            return _filled(before, values) + value + _filled(after, values)
    return word


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line; exits with 2 and one sentence when the comparison cannot start."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--peer", required=True, metavar="COMMAND", help="the other program")
    parser.add_argument("--ours", default=OURS, metavar="COMMAND", help="in place of `bccontam predict`")
    parser.add_argument("--dataset", type=Path, help="entries to take, in its order (the real 101)")
    parser.add_argument("--entries", type=int, default=10, help="how many entries (10)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each (3)")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that the model takes (0)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one command (120)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args(words)
    try:
        ours, peer = parse_command("ours", given.ours), parse_command("peer", given.peer)
        if min(given.entries, given.rounds, given.timeout) <= 0:
            raise ValueError("--entries, --rounds and --timeout: use numbers above zero.")
        with tempfile.TemporaryDirectory() as folder, answering(given.delay) as url:
            dataset = (given.dataset or dataset_of_101(Path(folder))[0]).resolve()
            asked = [entry.instance_id for entry in islice(load_entries(dataset), given.entries)]
            values = {"base_url": url, "dataset": str(dataset)}
            machine = this_machine()
            found = summary(*compare(ours, peer, asked, values, rounds=given.rounds, timeout=given.timeout))
        size = f"{count(len(asked), 'entry', 'entries')}, {count(given.rounds, 'round')}"
        print(f"{machine.sentence}\n{size}, model {given.delay:g} s\n")
        print(show(found))
        if given.json:
            document = {"machine": machine.sentence, "entries": asked, "rounds": given.rounds, **found}
            given.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    except (OSError, ValueError, BccontamError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
