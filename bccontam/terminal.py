"""What the command line shows: a progress bar on a terminal, plain lines elsewhere, a compact table.

Every text goes through one filter first, so that nothing from a dataset or a model can act on the terminal.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bccontam import wording
from bccontam.effects import Effects, ProgressBar
from bccontam.github.log import printable

if TYPE_CHECKING:
    from rich.table import Table

    from bccontam.plan import Plan
    from bccontam.probe import Progress
    from bccontam.report.shape import Report

WIDTH = 80
"""Columns that everything fits into."""

_STYLES = {"signal": "bold red", "no-signal": "bold blue", "inconclusive": "bold yellow"}
_NUMBER = re.compile(r"\[[^\[\]]{1,20}\]|\d (?:%|pts)|\bp [=<>] [.\d]+")


def terminal_effects() -> Effects:
    """Effects of the command line: messages on standard error, results on standard output."""
    return Effects(
        say=lambda line: print(printable(line), file=sys.stderr),
        warn=lambda line: print(f"warning: {printable(line)}", file=sys.stderr),
        show=lambda text: print(text.rstrip("\n")),
        show_report=show_report,
        show_plan=show_plan,
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
    """The verdict and a table that fits 80 columns, on standard output, in colour only on a terminal."""
    from rich.console import Console
    from rich.text import Text

    from bccontam.report import view

    on_terminal = sys.stdout.isatty()
    console = Console(
        width=None if on_terminal else WIDTH, color_system="auto" if on_terminal else None, highlight=False
    )
    width = min(console.width, WIDTH)

    def say(text: str, style: str = "") -> None:
        console.print(Text(wrapped(text, width), style=style), soft_wrap=True)

    say(view.VERDICT_NAMES[report.verdict], _STYLES[report.verdict])
    say(report.reason)
    say(f"Next: {report.next_step}")
    for caution in report.cautions:
        say(f"Mind: {caution}")
    console.print()
    console.print(_group_table(report))
    if report.sensitivity and report.verdict != "inconclusive":
        agreeing = sum(check.verdict == report.verdict for check in report.sensitivity)
        console.print()
        say(f"Sensitivity: {agreeing} of {len(report.sensitivity)} rows have the same verdict by themselves.")


def _group_table(report: Report) -> Table:
    """Sizes, hit rates with their intervals, and the differences."""
    from rich.table import Table

    from bccontam.report import view

    divided = view.is_divided(report)
    groups = [report.groups.pre, report.groups.control] if divided else [report.groups.all]
    signals = {signal.metric: signal for signal in report.signals}
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in ("older", "control", "older − control") if divided else ("all",):
        table.add_column(name, justify="right")
    table.add_row("entries", *(f"{group.scored:,}" for group in groups))
    for metric, signal in signals.items():
        cells = [view.rated(group, metric).replace("\u00a0", " ") for group in groups]
        if divided:
            known = signal.value is not None
            between = f" {wording.interval(signal.low, signal.high)}" if known else ""
            cells.append(f"{wording.points(signal.value)}{between}")
        style = "bold" if metric == report.signal.metric else ""
        table.add_row(f"{metric} hit", *cells, style=style)
    table.add_row("errors", *(f"{group.error_count:,}" for group in groups))
    return table


def wrapped(text: str, width: int) -> str:
    """Text on lines of at most `width` columns that do not part a number from what belongs to it."""
    kept = _NUMBER.sub(lambda found: found[0].replace(" ", "\u00a0"), printable(text))
    return textwrap.fill(kept, width, break_on_hyphens=False).replace("\u00a0", " ")


def show_plan(plan: Plan) -> None:
    """What a run would ask and could detect, in tables that fit 80 columns, on standard output."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bccontam.report import view

    console = Console(width=None if sys.stdout.isatty() else 80, highlight=False)
    facts = Table(box=None, pad_edge=False, show_header=False)
    facts.add_column()
    facts.add_column(justify="right")
    for label, number in (
        ("entries", plan.entries),
        ("that can be scored", plan.scorable),
        ("without a usable date", plan.undated),
        ("that repeat another", plan.duplicates),
        *((f"leakage: {grade}", number) for grade, number in plan.leakage),
        *((f"gold files: {kind}", number) for kind, number in plan.gold_kinds),
    ):
        facts.add_row(label, f"{number:,}")
    for name, mean in plan.files_per_patch:
        facts.add_row(
            f"files per patch, {view.GROUP_NAMES[name]}", wording.DASH if mean is None else f"{mean:.2f}"
        )
    console.print(
        Text(f"{plan.questions:,} questions, about {plan.prompt_tokens:,} prompt tokens\n", style="bold")
    )
    console.print(facts)
    sizes = Table(box=None, pad_edge=False, header_style="bold")
    sizes.add_column("cutoff", overflow="fold")
    for name in ("day", "older", "control", "difference"):
        sizes.add_column(name, justify="right")
    for size in [*([plan.given] if plan.given else []), *plan.models]:
        sizes.add_row(
            size.label, size.cutoff, f"{size.pre:,}", f"{size.control:,}", wording.points(size.detectable)
        )
    console.print(
        Text(
            f"\nSmallest difference found with a power of 80 %,\nwhen {wording.rate(plan.control_rate)} of the "
            "control entries are hit:\n"
        )
    )
    console.print(sizes)
    for need in plan.needed:
        console.print(Text(f"\n{view.need_line(need)}"))
    for identity, reason in plan.unscorable[:20]:
        console.print(Text(printable(f"cannot be scored: {identity}: {reason}")))
    if len(plan.unscorable) > 20:
        console.print(Text(f"and {len(plan.unscorable) - 20:,} more that cannot be scored"))
