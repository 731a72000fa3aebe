"""Runs a command to its end and says what it took: wall time, processor time, peak memory, exit status.

Processor time and memory come from `wait4`, so they are those of this child and of the children it waited for;
the peak is that of the largest single process. A command that takes too long is killed with its process group.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT

LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True, slots=True)
class Ran:
    """Seconds of wall and processor time, MB (10^6 bytes) at the peak. `code` is negative for a signal."""

    code: int
    wall: float
    cpu: float
    peak_mb: float
    stderr: str
    timed_out: bool = False

    @property
    def failure(self) -> str:
        """Why it is no success, in one line; empty when it is one."""
        if self.timed_out:
            return "took too long and was ended"
        if self.code == 0:
            return ""
        first = next((line.strip() for line in self.stderr.split("\n") if line.strip()), "")
        return f"exit {self.code}" + (f": {first[:200]}" if first else "")


class CommandError(Exception):
    """A command of the benchmark itself did not end with 0."""


def run_timed(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    stdin: Path = Path(os.devnull),
    timeout: float = 1800.0,
) -> Ran:
    """Run `command` in a session of its own. Raises OSError when it cannot be started."""
    reading, writing = os.pipe()
    launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(writing), *command]
    with os.fdopen(reading, "rb") as report, tempfile.TemporaryFile() as errors, stdin.open("rb") as given:
        try:
            process = subprocess.Popen(
                launcher,
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        late = False
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            _end_group(process)
        errors.seek(0)
        stderr = errors.read(100_000).decode("utf-8", "replace")
        said = report.read().decode()
    if said.startswith("!"):
        raise OSError(f"{command[0]} cannot be started: {said.removeprefix('!').strip()}")
    code, wall, cpu, peak = said.split() if said else (-signal.SIGKILL, timeout, 0, 0)
    return Ran(int(code), float(wall), float(cpu), int(peak) * 1024 / 1e6, stderr, late)


def run_ok(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    stdin: Path = Path(os.devnull),
) -> Ran:
    """The same for a command that has to end with 0. Raises CommandError."""
    ran = run_timed(command, env=env, cwd=cwd, stdin=stdin)
    if ran.failure:
        raise CommandError(f"{' '.join(command[:5])} ...: {ran.failure}")
    return ran


def bccontam(*words: str | Path) -> list[str]:
    """A command line of this checkout's program; it has to run with ROOT as its current folder."""
    return [sys.executable, "-m", "bccontam", *map(str, words)]


def own_peak_mb() -> float:
    """MB at the peak of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Whatever of the group still runs: the command when it is late, and what it left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
