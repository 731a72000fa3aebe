"""What a front door lends to a command: lines, warnings, results, progress, the environment.

Commands get these as values, so that tests and the two doors each pass their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bccontam.plan import Plan
    from bccontam.probe import Progress
    from bccontam.report.shape import Report

ProgressBar = Callable[[int | None], AbstractContextManager[Callable[["Progress"], None]]]
"""Opened with the number of questions, it gives what is called with each state of the run."""


@dataclass(frozen=True)
class Effects:
    """`say` takes a line for people, `warn` one for attention, `show` a finished result, `show_report` and
    `show_plan` the compact table of one; each makes its text safe for where it goes. `environ` is the whole
    environment."""

    say: Callable[[str], None]
    warn: Callable[[str], None]
    show: Callable[[str], None]
    show_report: Callable[[Report], None]
    show_plan: Callable[[Plan], None]
    progress: ProgressBar
    environ: Mapping[str, str] = field(default_factory=dict)
