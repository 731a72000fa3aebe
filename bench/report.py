"""Time and memory of a report on many stored results: makes them, reports on them, says what each stage took.

    python -m bench.report [--entries 100000] [--samples 1] [--keep FOLDER]

The same numbers give the same results. The command and the stages run in processes of their own, so that peak
memory is theirs. It asserts nothing: the limits stand in the output.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from bccontam.answer import Status
from bccontam.gold import GoldFile, Kind
from bccontam.result import Result
from bccontam.score import score_prediction
from bccontam.store import SUFFIX, load_results, to_json_line
from bench.process import bccontam, own_peak_mb, run_ok
from tests.support.paths import ROOT

LIMITS = {101: (0.4, 0), 100_000: (10.0, 400)}
"""Seconds and MB of the whole command, by the number of entries."""

CUTOFF = date(2025, 6, 1)
FIRST_DAY = date(2023, 6, 1)
DAYS = 1_000
AREAS = ("sales", "purchasing", "finance", "warehouse", "jobs", "service")
KINDS: tuple[Kind, ...] = ("modified", "added", "renamed")
STATUSES: tuple[Status, ...] = ("unparsed", "refusal", "echo", "empty", "truncated", "error")


def results(entries: int, samples: int) -> Iterator[Result]:
    """Made-up results: guessable names, half again as many hits before the cutoff, a few of every mishap."""
    dice = random.Random(entries)
    for number in range(entries):
        repo = f"acme/project{number % 40}"
        day = FIRST_DAY + timedelta(days=dice.randrange(DAYS))
        folder = f"src/Layers/W1/BaseApp/{dice.choice(AREAS)}/{dice.randrange(200)}"
        kinds = dice.choices(KINDS, (88, 8, 4), k=dice.choice((1, 1, 1, 2, 3)))
        gold = []
        for part, kind in enumerate(kinds):
            old = f"{folder}/Old{part}.al" if kind == "renamed" else None
            gold.append(GoldFile(f"{folder}/Object{number}Part{part}.Codeunit.al", old, kind))
        paths = tuple(file.path for file in gold)
        leakage = dice.choices(("path", "basename", "object-name", "none"), (1, 1, 28, 70))[0]
        rate = 0.30 if day < CUTOFF else 0.20
        for sample in range(samples):
            status: Status = dice.choice(STATUSES) if dice.random() < 0.06 else "ok"
            predicted = [f"{folder}/Guess{number}.{kind}.al" for kind in ("Page", "Table", "Codeunit")]
            if dice.random() < rate:
                right = dice.choice(paths)
                predicted[dice.randrange(3)] = right if dice.random() < 0.5 else f"app/{right}"
            if status in ("unparsed", "refusal", "echo", "empty", "error"):
                predicted = []
            yield Result(
                instance_id=f"acme__project{number % 40}-{number}",
                model="model-2026-01-01",
                requested_model="model",
                created_at=day.isoformat(),
                area=dice.choice(AREAS),
                gold_files=paths,
                gold=tuple(gold),
                predicted_files=tuple(predicted),
                score=score_prediction(predicted, paths),
                raw_output="\n".join(predicted) or "I cannot tell.",
                error="timeout: no answer within 300 s" if status == "error" else None,
                error_kind="timeout" if status == "error" else None,
                status=status,
                repo=repo,
                sample=sample,
                fingerprint=f"{number:060x}{sample:04x}",
                backend="openai",
                prompt="al@1",
                sampling="temperature=0",
                leakage=leakage,
                copied=leakage == "path" and dice.random() < 0.5,
                naming_files=(f"{folder}/Object{number}.Codeunit.al", paths[0])[: dice.choice((1, 1, 1, 2))],
                statement_chars=dice.randrange(200, 6_000),
                tools_sent=0,
                sandbox="landlock abi 7",
                self_test="passed",
                prompt_owner="ours alone",
                input_tokens=dice.randrange(300, 2_000),
                output_tokens=dice.randrange(20, 90),
                seconds=dice.random() * 4,
                finish_reason="stop",
            )


def stages(folder: Path) -> None:
    """Every stage in this process, with its seconds and the peak so far."""
    from pydantic import TypeAdapter

    from bccontam.report.data import Request, build_report
    from bccontam.report.html import render_page
    from bccontam.report.render import COMMENT_BYTES, SUMMARY_BYTES, render_report
    from bccontam.report.shape import Report

    started = time.perf_counter()

    def say(stage: str, size: int) -> None:
        nonlocal started
        now = time.perf_counter()
        print(f"  {stage:<22}{now - started:7.2f} s   {size:>12,}   peak {own_peak_mb():5.0f} MB")
        started = time.perf_counter()

    loaded = list(load_results(folder))
    say("load", len(loaded))
    report = build_report(loaded, Request(cutoff=CUTOFF))
    say("build", len(report.entries))
    loaded.clear()
    say("full Markdown", len(render_report(report).encode()))
    say("job summary", len(render_report(report, limit=SUMMARY_BYTES).encode()))
    say("comment", len(render_report(report, limit=COMMENT_BYTES).encode()))
    say("page", len(render_page(report).encode()))
    say("JSON", len(TypeAdapter(Report).dump_json(report, indent=2)))


def store(folder: Path, entries: int, samples: int = 1) -> Path:
    """The results in one file of `folder`."""
    file = folder / f"made{SUFFIX}"
    with file.open("wb") as out:
        out.writelines(map(to_json_line, results(entries, samples)))
    return file


def report_command(folder: Path) -> list[str]:
    """The report on the results in `folder` as Markdown and as JSON, which go there too."""
    words = ["--cutoff", CUTOFF.isoformat(), "--json", str(folder / "report.json")]
    return bccontam("report", "--results-dir", folder, *words)


def command(folder: Path, entries: int) -> None:
    """`bccontam report` as a user runs it, with its start; the first run warms the disk."""
    for _ in range(2):
        ran = run_ok(report_command(folder))
        print(f"  bccontam report --json  {ran.wall:6.2f} s                peak {ran.peak_mb:5.0f} MB")
    seconds, megabytes = LIMITS.get(entries, (0, 0))
    if seconds:
        print(
            f"  limits                  {seconds:6.2f} s"
            + (f"                     {megabytes} MB" if megabytes else "")
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="make the results in this folder and keep them")
    parser.add_argument("--stages", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stages:
        stages(options.stages)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        file = store(folder, options.entries, options.samples)
        print(
            f"{options.entries:,} entries, {options.samples} answers each, {file.stat().st_size / 1e6:.0f} MB stored"
        )
        command(folder, options.entries)
        sys.stdout.flush()
        words = [sys.executable, "-m", "bench.report", "--stages", str(folder)]
        subprocess.run(words, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
