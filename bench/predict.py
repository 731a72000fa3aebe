"""`bccontam predict` as the suite runs it: the commands, the entries, and the check that every one was answered.

A run that leaves an entry without an answer is no measurement, so it is an error here.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from bccontam.store import SUFFIX
from bench.probe import COUNT, made_up
from bench.process import CommandError, Ran, bccontam, run_ok
from tests.support.paths import BC_BENCH


def dataset_of_101(folder: Path) -> tuple[Path, str]:
    """The real benchmark, else made-up entries in `folder`; and what to say of it."""
    if BC_BENCH.is_file():
        return BC_BENCH, "real entries"
    file = folder / "made-up.jsonl"
    rows = (
        {
            "instance_id": entry.instance_id,
            "repo": entry.repo,
            "created_at": str(entry.created_at),
            "problem_statement": entry.problem_statement,
            "patch": entry.patch,
        }
        for entry in made_up(COUNT)
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file, "made-up entries (the real benchmark is not here)"


def naming_command(dataset: Path, results: Path, prompt: str = "al") -> list[str]:
    """Read, gold, leakage, score by naming, and store."""
    words = ["--backend", "naming", "--prompt", prompt]
    return bccontam("predict", "--dataset", dataset, *words, "--results-dir", results)


def openai_command(dataset: Path, results: Path, url: str, concurrency: int = 16) -> list[str]:
    """Ask a chat-completions server."""
    words = ["--backend", "openai", "--base-url", url, "--api-key", "sk-bench", "--model", "bench"]
    words += ["--concurrency", str(concurrency), "--results-dir", str(results)]
    return bccontam("predict", "--dataset", dataset, *words)


def copilot_command(
    backend: str, dataset: Path, results: Path, *, model: str, entries: int, concurrency: int
) -> list[str]:
    """Ask the Copilot CLI about the first entries."""
    words = ["--backend", backend, "--model", model, "--concurrency", str(concurrency)]
    words += ["--max-requests", str(entries), "--results-dir", str(results)]
    return bccontam("predict", "--dataset", dataset, *words)


def predicted(
    command: list[str],
    results: Path,
    entries: int,
    env: Mapping[str, str] | None = None,
    *,
    keep: bool = False,
) -> Ran:
    """One run into the new folder `results`, removed again unless `keep`.

    Raises CommandError when an entry was left without an answer.
    """
    ran = run_ok(command, env=env)
    found = sum(answered(file) for file in results.glob(f"*{SUFFIX}"))
    if not keep:
        shutil.rmtree(results, ignore_errors=True)
    if found != entries:
        raise CommandError(f"{found:,} of {entries:,} entries were answered")
    return ran


def answered(file: Path) -> int:
    """Stored results that are no error."""
    with file.open("rb") as stream:
        return sum(b'"status":"error"' not in line for line in stream)
