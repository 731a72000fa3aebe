"""A report as Markdown: the shipped template, or a user's that extends it, kept under a size.

Numbers come formatted by the filters here, the same everywhere; every other value is escaped on output unless
a filter made it safe, so that text from a dataset or a model stays text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from bccontam import wording
from bccontam.errors import SettingsError
from bccontam.report import charts, series, view
from bccontam.report.environment import make_environment
from bccontam.report.markdown import code, codes, text
from bccontam.report.shape import EntryRow, Report

if TYPE_CHECKING:
    from jinja2 import Environment

    from bccontam.plan import Plan

COMMENT_BYTES = 60_000
SUMMARY_BYTES = 1_000_000
_FIRST_GUESS, _MOST_GUESSES = 100, 8
_LONGEST_WORDS = 200


class Safe(str):
    """Markdown that may be printed as it is: made by a filter, never by a dataset."""

    __slots__ = ()


def render_report(report: Report, *, limit: int | None = None, template: str = "") -> str:
    """The report as Markdown of at most `limit` bytes of UTF-8, by leaving out whole rows and saying how many.

    `template` is the source of a user's template that extends `report.md.j2`. Raises SettingsError with one
    sentence when that template cannot be used. A template whose page is over the limit without a single row
    gives way to the shipped one.
    """
    if limit is None:
        return _render(report, template, len(report.entries), len(report.changes))
    if template and not _fits(_render(report, template, 0, 0, 0), limit):
        template = ""
    listed = next((n for n in (view.MOST_LISTED, 5) if _fits(_render(report, template, 0, 0, n), limit)), 0)
    changes = _fit(lambda n: _render(report, template, 0, n, listed), len(report.changes), limit)
    entries = _fit(lambda n: _render(report, template, n, changes, listed), len(report.entries), limit)
    return _render(report, template, entries, changes, listed)


def _fits(page: str, limit: int) -> bool:
    return len(page.encode()) <= limit


def _fit(render: Callable[[int], str], rows: int, limit: int) -> int:
    """The number of rows, close to the most, whose rendering stays within the limit (0 if none does).

    Rows are of about one size: what a few take tells how many fit, and what those take corrects it.
    """
    empty = len(render(0).encode())
    fitting, too_many = 0, rows + 1
    guess = min(rows, _FIRST_GUESS)
    for _ in range(_MOST_GUESSES):
        if not fitting < guess < too_many or empty > limit:
            break
        size = len(render(guess).encode())
        row = max(1.0, (size - empty) / guess)
        if size <= limit:
            fitting = guess
        else:
            too_many = guess
        guess = min(too_many - 1, max(fitting, guess + int((limit - size) / row) - (size > limit)))
    return fitting


def _render(report: Report, template: str, entries: int, changes: int, listed: int = view.MOST_LISTED) -> str:
    rows = {row.instance_id: row for row in report.entries} if changes else {}
    context: dict[str, Any] = {
        "report": report,
        "group_table": _safe_table(view.group_table(report)),
        "division": view.division(report),
        "month_chart": Safe(charts.month_chart(report)),
        "month_line": series.month_line(report),
        "sweep_chart": Safe(charts.sweep_chart(report)),
        "sweep_line": series.sweep_line(report),
        "change_line": view.change_line(report),
        "changed_rows": [(change, rows.get(change.instance_id)) for change in report.changes[:changes]],
        "changes_left_out": len(report.changes) - changes,
        "facts": view.facts(report),
        "listed": listed,
        "entry_rows": report.entries[:entries],
        "entries_left_out": len(report.entries) - entries,
        "revealed": view.is_revealed(report.entries),
        "method_line": view.method_line(report),
        "tests_line": view.tests_line(report),
        "caveats": view.CAVEATS,
        "paper": Safe(view.PAPER),
    }
    environment = _environment(sandboxed=bool(template))
    if not template:
        return _tidy(environment.get_template("report.md.j2").render(context))
    try:
        return _tidy(environment.from_string(template).render(context))
    except Exception as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        why = str(getattr(error, "message", None) or error) or type(error).__name__
        raise SettingsError(f"template: cannot be used{where}: {why.rstrip('.')}.") from error


def render_plan(plan: Plan) -> str:
    """A plan as Markdown."""
    return _tidy(_environment(sandboxed=False).get_template("plan.md.j2").render(plan=plan))


def _tidy(page: str) -> str:
    """Runs of blank lines folded to one, so that blocks need not agree about who ends with one."""
    lines: list[str] = []
    for line in page.split("\n"):
        line = line.rstrip(" ")
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n") + "\n"


@cache
def _environment(*, sandboxed: bool) -> Environment:
    environment = make_environment(_finalize, autoescape=False, sandboxed=sandboxed)
    numbers = {name: _safely(write) for name, write in number_filters().items()}
    environment.filters.update(
        numbers,
        beyond=view.beyond,
        code=lambda value: Safe(code(str(value))),
        codes=lambda values, most=view.MOST_LISTED: Safe(codes(list(values), most) or wording.DASH),
        say=lambda value: Safe(text(str(value))),
        fact=lambda fact: Safe(_fact(fact)),
        entry_line=lambda row: Safe(_entry_line(row)),
    )
    return environment


def number_filters() -> dict[str, Callable[..., str]]:
    """The filters that make text of numbers and of our own words, by name; the same for every output."""
    return {
        "rate": wording.rate,
        "points": wording.points,
        "interval": wording.interval,
        "between": lambda pair: wording.interval(*pair) if pair else "",
        "p_value": wording.p_value,
        "compared": view.compared,
        "count": wording.count,
        "number": lambda value: wording.DASH if value is None else f"{value:.2f}",
        "whole": lambda value: wording.DASH if value is None else f"{value:,.0f}",
        "mark": view.mark,
        "need_line": view.need_line,
        "verdict_name": lambda verdict: view.VERDICT_NAMES[verdict],
        "group_name": lambda name: view.GROUP_NAMES[name],
    }


def _safely(write: Callable[..., str]) -> Callable[..., Safe]:
    return lambda *values: Safe(write(*values))


def _finalize(value: object) -> object:
    """Markdown's autoescape: what is neither a number nor made safe by a filter is escaped."""
    if value is None:
        return wording.DASH
    if isinstance(value, Safe | int | float):
        return value
    return text(str(value), _LONGEST_WORDS)


def _safe_table(table: view.GroupTable) -> view.GroupTable:
    """The same with cells that are printed as they are: they are numbers, finished by our own words."""
    rows = [replace(row, cells=[Safe(cell) for cell in row.cells]) for row in table.rows]
    return replace(table, rows=rows)


def _fact(fact: view.Fact) -> str:
    if fact.code:
        return codes(fact.values, 5) or wording.DASH
    return ", ".join(text(value, 100) for value in fact.values[:5]) + (
        f" and {len(fact.values) - 5:,} more" if len(fact.values) > 5 else ""
    )


_word = lru_cache(maxsize=256)(text)


def _entry_line(row: EntryRow) -> str:
    """The row of one entry. In Python: a hundred thousand of them would take a template half a minute."""
    cells = [
        code(row.instance_id),
        row.created_at or wording.DASH,
        view.GROUP_NAMES[row.group],
        _word(row.leakage, 40) or wording.DASH,
        f"{_word(row.status, 100)}{', copied' if row.copied else ''}",
        view.mark(row.basename_hit),
        view.mark(row.suffix_hit),
        view.mark(row.exact_hit),
    ]
    if row.gold_files is not None:
        cells += [codes(row.gold_files) or wording.DASH, codes(row.predicted_files or []) or wording.DASH]
    return f"| {' | '.join(cells)} |"
