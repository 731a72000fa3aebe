"""A report as Markdown: the shipped template, or a user's that extends it, kept under a size.

Numbers come formatted by the filters here, the same everywhere; every other value is escaped on output unless
a filter made it safe, so that text from a dataset or a model stays text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bccontam import wording
from bccontam.errors import SettingsError
from bccontam.report import charts
from bccontam.report.data import Change, EntryRow, Report
from bccontam.report.markdown import code, text

if TYPE_CHECKING:
    from jinja2 import Environment

    from bccontam.plan import Plan

COMMENT_BYTES = 60_000
SUMMARY_BYTES = 1_000_000
_FOLDER = Path(__file__).parent / "templates"
_SMALLEST_ROW = 40
"""Bytes that the shortest table row takes: bounds how many rows can fit at all."""

GROUP_NAMES = {"all": "all", "pre": "older", "control": "control", "": wording.DASH}
VERDICT_NAMES = {"signal": "signal", "no-signal": "no signal", "inconclusive": "inconclusive"}


class Safe(str):
    """Markdown that may be printed as it is: made by a filter, never by a dataset."""

    __slots__ = ()


def render_report(report: Report, *, limit: int | None = None, template: str = "") -> str:
    """The report as Markdown of at most `limit` bytes of UTF-8, by leaving out whole rows and saying how many.

    `template` is the source of a user's template that extends `report.md.j2`. Raises SettingsError with one
    sentence when that template cannot be used.
    """
    if limit is None:
        return _render(report, len(report.entries), len(report.changes), template)
    changes = _fit(lambda rows: _render(report, 0, rows, template), len(report.changes), limit)
    entries = _fit(lambda rows: _render(report, rows, changes, template), len(report.entries), limit)
    return _render(report, entries, changes, template)


def _fit(render: Callable[[int], str], rows: int, limit: int) -> int:
    """The number of rows, close to the most, whose rendering stays within the limit (0 if none does)."""
    rows = min(rows, limit // _SMALLEST_ROW)
    empty = len(render(0).encode())
    while rows:
        size = len(render(rows).encode())
        if size <= limit:
            return rows
        share = (limit - empty) / max(1, size - empty)
        rows = max(0, min(rows - 1, int(rows * share * 0.99)))
    return 0


def _render(report: Report, entries: int, changes: int, template: str) -> str:
    from jinja2 import TemplateError

    rows = {row.instance_id: row for row in report.entries}
    context: dict[str, Any] = {
        "report": report,
        "group_labels": [("all", "all"), ("pre", "older"), ("control", "control")],
        "floor_of": {floor.group: floor.naming_rate for floor in report.floors}.get,
        "division": _division(report),
        "month_chart": Safe(charts.month_chart(report)),
        "month_line": charts.month_line(report),
        "sweep_chart": Safe(charts.sweep_chart(report)),
        "sweep_line": charts.sweep_line(report),
        "changed_rows": _changed_rows(report.changes[:changes], rows),
        "changes_left_out": len(report.changes) - changes,
        "entry_rows": report.entries[:entries],
        "entries_left_out": len(report.entries) - entries,
        "revealed": any(row.gold_files is not None for row in report.entries),
    }
    environment = _environment(sandboxed=bool(template))
    try:
        page = environment.from_string(template) if template else environment.get_template("report.md.j2")
        return _tidy(page.render(context))
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        raise SettingsError(
            f"template: cannot be used{where}: {error.message or type(error).__name__}."
        ) from error


def render_plan(plan: Plan) -> str:
    """A plan as Markdown."""
    return _tidy(_environment().get_template("plan.md.j2").render(plan=plan))


def _tidy(page: str) -> str:
    """Runs of blank lines folded to one, so that blocks need not agree about who ends with one."""
    lines: list[str] = []
    for line in page.split("\n"):
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n") + "\n"


def _changed_rows(
    changes: Sequence[Change], rows: dict[str, EntryRow]
) -> list[tuple[Change, EntryRow | None]]:
    return [(change, rows.get(change.instance_id)) for change in changes]


def _division(report: Report) -> str:
    cutoff = report.cutoff
    if cutoff.day is not None:
        guard = f", {wording.count(cutoff.guard_days, 'day')} around it left out" if cutoff.guard_days else ""
        source = "" if cutoff.source == "given" else f" ({cutoff.source})"
        return f"Older: created before {cutoff.day}{source}; control: on or after it, UTC days{guard}."
    if cutoff.source:
        return f"Older: this benchmark; control: {cutoff.source}."
    return "No cutoff: every entry is in one group."


@cache
def _environment(*, sandboxed: bool = False) -> Environment:
    """A user's template is rendered in a sandbox; our own needs none, which takes half the time."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    make = SandboxedEnvironment if sandboxed else Environment
    environment = make(
        loader=FileSystemLoader(_FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the output is Markdown: `finalize` escapes for that
        finalize=_finalize,
    )
    environment.filters.update(
        rate=lambda value: Safe(wording.rate(value)),
        points=lambda value: Safe(wording.points(value)),
        interval=lambda low, high: Safe(wording.interval(low, high)),
        between=lambda pair: Safe(wording.interval(*pair) if pair else ""),
        p_value=lambda value: Safe(wording.p_value(value)),
        count=lambda number, noun, plural=None: Safe(wording.count(number, noun, plural)),
        number=lambda value: Safe(wording.DASH if value is None else f"{value:.2f}"),
        whole=lambda value: Safe(wording.DASH if value is None else f"{value:,.0f}"),
        mark=lambda value: Safe(_mark(value)),
        code=lambda value: Safe(code(str(value))),
        codes=lambda values: Safe(", ".join(code(str(value)) for value in values) or wording.DASH),
        say=lambda value: Safe(text(str(value))),
        tally=lambda pairs: Safe(_tally(pairs)),
        verdict_name=lambda verdict: Safe(VERDICT_NAMES[verdict]),
        group_name=lambda name: Safe(GROUP_NAMES[name]),
    )
    return environment


def _finalize(value: object) -> object:
    """Markdown's autoescape: what is neither a number nor made safe by a filter is escaped."""
    if value is None:
        return wording.DASH
    if isinstance(value, Safe | int | float):
        return value
    return text(str(value))


def _mark(value: float | None) -> str:
    if value is None:
        return wording.DASH
    if value in (0.0, 1.0):
        return "✓" if value else "·"
    return f"{value:.2f}"


def _tally(pairs: Iterable[tuple[str, int]]) -> str:
    pairs = list(pairs)
    if len(pairs) == 1:
        return text(pairs[0][0])
    return ", ".join(f"{text(value)} ({number:,})" for value, number in pairs) or wording.DASH
