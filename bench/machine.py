"""What the figures were measured on, without names: processor, cores, memory, kernel, Python, commit, load.

It reads /proc and asks git; what it cannot find out it calls unknown.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.paths import ROOT


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine at one time. `load` is the average of the minute before the first measurement."""

    cpu: str
    cores: int
    memory_gb: float
    kernel: str
    python: str
    date: str
    commit: str
    load: float

    @property
    def sentence(self) -> str:
        """All of it in words."""
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_gb:.0f} GB of memory; {self.kernel}; "
            f"Python {self.python}; {self.date}; commit {self.commit}; "
            f"load average {self.load:.2f} at the start"
        )


def this_machine() -> Machine:
    """The machine, now."""
    return Machine(
        cpu=cpu_model(_read("/proc/cpuinfo")),
        cores=len(os.sched_getaffinity(0)),
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        kernel=f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}",
        python=platform.python_version(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=_commit(),
        load=round(os.getloadavg()[0], 2),
    )


def cpu_model(cpuinfo: str) -> str:
    """The first `model name` of /proc/cpuinfo."""
    for line in cpuinfo.split("\n"):
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return value.strip()
    return f"unknown {platform.machine()} processor"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _commit() -> str:
    """The short id of the newest commit of the program itself, with `+` where its files differ from it."""
    try:
        commit = _git("log", "-1", "--format=%h", "--", "bccontam")
        return commit + ("+" if _git("status", "--porcelain", "--", "bccontam") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
