"""What the command line shows: a progress bar on a terminal, plain lines elsewhere, a compact table.

Every text goes through one filter first, so that nothing from a dataset or a model can act on the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bccontam import wording
from bccontam.effects import Effects, ProgressBar
from bccontam.github.log import printable

if TYPE_CHECKING:
    from bccontam.probe import Progress
    from bccontam.report.data import Report


def terminal_effects() -> Effects:
    """Effects of the command line: messages on standard error, results on standard output."""
    return Effects(
        say=lambda line: print(printable(line), file=sys.stderr),
        warn=lambda line: print(f"warning: {printable(line)}", file=sys.stderr),
        show=lambda text: print(text.rstrip("\n")),
        show_report=show_report,
        progress=progress_bar
        if sys.stderr.isatty()
        else plain_progress(lambda line: print(printable(line), file=sys.stderr, flush=True)),
        environ=os.environ,
    )


@contextmanager
def progress_bar(total: int | None) -> Iterator[Callable[[Progress], None]]:
    """A bar with done, errors, rate and time left, on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[errors]} errors, {task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking", total=total, errors=0, rate=0.0)

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, errors=progress.errors, rate=progress.rate)

        yield show


def plain_progress(say: Callable[[str], None]) -> ProgressBar:
    """One line for each tenth of the questions, for logs."""

    @contextmanager
    def lines(total: int | None) -> Iterator[Callable[[Progress], None]]:
        shown = 0

        def show(progress: Progress) -> None:
            nonlocal shown
            tenth = 10 * progress.done // total if total else 0
            if tenth > shown:
                shown = tenth
                left = f", about {progress.seconds_left:.0f} s left" if progress.seconds_left else ""
                say(
                    f"{progress.done:,} of {total:,} done, {progress.errors:,} errors, {progress.rate:.1f}/s{left}"
                )

        yield show

    return lines


def show_report(report: Report) -> None:
    """A table that fits 80 columns on standard output, in colour only on a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("group")
    for name in ("entries", "basename hit", "suffix hit", "exact hit", "errors"):
        table.add_column(name, justify="right")
    groups = (("all", report.groups.all), ("older", report.groups.pre), ("control", report.groups.control))
    for label, group in groups:
        rates = (group.basename_hit_rate, group.suffix_hit_rate, group.exact_hit_rate)
        table.add_row(
            label, f"{group.scored:,}", *(wording.rate(value) for value in rates), f"{group.error_count:,}"
        )
    signal = report.signal
    colour = {"signal": "bold red", "no-signal": "bold green", "inconclusive": "bold yellow"}[report.verdict]
    console.print(Text(report.verdict.replace("-", " "), style=colour))
    console.print(Text(f"{report.reason}\n{report.next_step}\n"))
    console.print(table)
    if signal.value is not None:
        between = wording.interval(signal.low, signal.high)
        numbers = f"{wording.points(signal.value)} {between}, {wording.p_value(signal.p_value)}"
        console.print(Text(f"\n{signal.metric} signal: {numbers}"))
