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
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT


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
    with tempfile.TemporaryFile() as errors, stdin.open("rb") as given:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        late = threading.Event()
        alarm = threading.Timer(timeout, _end_late, (process.pid, late))
        alarm.start()
        try:
            # Its children may outlive it: the session is ended while its number is still taken.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - start
        finally:
            alarm.cancel()
            alarm.join()
            _end(process.pid)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read(100_000).decode("utf-8", "replace")
    return Ran(process.returncode, wall, used.ru_utime + used.ru_stime, _megabytes(used), text, late.is_set())


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
    return _megabytes(resource.getrusage(resource.RUSAGE_SELF))


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss * 1024 / 1e6


def _end_late(leader: int, late: threading.Event) -> None:
    late.set()
    _end(leader)


def _end(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
