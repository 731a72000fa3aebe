"""A report as one self-contained page: the same content as the Markdown, with a table of entries to sort and filter.

Style, script, charts and data are inside; the page's own policy lets it load and run nothing else, so it works
without a network and no text from a dataset or a model can come alive in it. Entries travel as JSON and are shown
a page at a time, so that a hundred thousand of them stay quick to look through.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bccontam import wording
from bccontam.contamination import METRICS
from bccontam.report import series, svg, view
from bccontam.report.environment import TEMPLATES, make_environment
from bccontam.report.markdown import cut, visible
from bccontam.report.render import number_filters
from bccontam.report.shape import Change, EntryRow, Report

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_ROWS_AT_FIRST = 100
"""Entries that are in the page as it comes, for those who run no script; the script shows as many at a time."""

_LONGEST, _LONGEST_SENTENCE = 200, 2_000
_MOST_PATHS, _MOST_CHANGES = 10, 1_000


def render_page(report: Report) -> str:
    """The page as HTML, UTF-8."""
    environment = _environment()
    style, script = _source("page.css"), _source("page.js")
    revealed = view.is_revealed(report.entries)
    context: dict[str, Any] = {
        "report": report,
        "group_table": view.group_table(report),
        "division": view.division(report),
        "month_svg": _ours(svg.month_svg(report)),
        "month_line": series.month_line(report),
        "bars": series.hit_bars(report).bars,
        "sweep_svg": _ours(svg.sweep_svg(report)),
        "sweep_line": series.sweep_line(report),
        "sweep": series.sweep_points(report),
        "checks_svg": _ours(svg.checks_svg(report)),
        "change_line": view.change_line(report),
        "changed_rows": _changed(report),
        "changes_left_out": view.beyond(report.changes, _MOST_CHANGES),
        "facts": view.facts(report),
        "columns": _columns(revealed=revealed),
        "first_rows": [_cells(row, revealed=revealed) for row in report.entries[:_ROWS_AT_FIRST]],
        "page_size": _ROWS_AT_FIRST,
        "filters": _filters(report),
        "data": _ours(_json(report.entries, revealed=revealed)),
        "method_line": view.method_line(report),
        "tests_line": view.tests_line(report),
        "caveats": view.CAVEATS,
        "paper": view.PAPER,
        "style": _ours(style),
        "script": _ours(script),
        "policy": _policy(style, script),
    }
    return environment.get_template("page.html.j2").render(context)


def _ours(text: str) -> Markup:
    """Text of our own making that is printed as it is."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - never text from a dataset: that is escaped where it is put in


def _policy(style: str, script: str) -> str:
    """What the page may do: show itself, in this very style and with this very script."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


@cache
def _source(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = make_environment(_finalize, autoescape=True)
    environment.filters.update(number_filters(), beyond=view.beyond, plain=_plain, plains=_plains)
    return environment


def _finalize(value: object) -> object:
    """Beside autoescape: what cannot be seen is made visible, and nothing is endless."""
    if value is None:
        return wording.DASH
    return _plain(value, _LONGEST_SENTENCE) if type(value) is str else value


def _plain(value: str, longest: int = _LONGEST) -> str:
    """Untrusted text made visible and bounded; the template escapes it."""
    return cut(visible(cut(value, longest)), longest)


def _plains(values: Sequence[str], most: int = view.MOST_LISTED) -> list[str]:
    shown = [_plain(value) for value in values[:most]]
    return shown if len(values) <= most else [*shown, f"and {len(values) - most:,} more"]


def _columns(*, revealed: bool) -> list[tuple[str, str]]:
    """Headings of the table of entries, each with how its column sorts."""
    columns = [
        ("entry", "text"),
        ("created", "text"),
        ("group", "text"),
        ("leakage", "text"),
        ("answer", "text"),
    ]
    columns += [("basename", "number"), ("suffix", "number"), ("exact", "number")]
    return [*columns, ("gold", "text"), ("predicted", "text")] if revealed else columns


def _cells(row: EntryRow, *, revealed: bool) -> list[object]:
    """A row of the table: text, numbers for hits (None: not scored), lists of paths."""
    cells: list[object] = [
        _plain(row.instance_id),
        row.created_at,
        view.GROUP_NAMES[row.group] if row.group else "",
        _plain(row.leakage),
        f"{_plain(row.status)}, copied" if row.copied else _plain(row.status),
        row.basename_hit,
        row.suffix_hit,
        row.exact_hit,
    ]
    if revealed:
        cells += [_plains(row.gold_files or [], _MOST_PATHS), _plains(row.predicted_files or [], _MOST_PATHS)]
    return cells


def _json(rows: Sequence[EntryRow], *, revealed: bool) -> str:
    """The entries for the page's script; nothing in it can end the element that it stands in."""
    text = json.dumps(
        [_cells(row, revealed=revealed) for row in rows], ensure_ascii=False, separators=(",", ":")
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _filters(report: Report) -> list[tuple[str, int, list[str]]]:
    """Per filter its label, the column it looks at, and what can be chosen there."""
    groups = [name for name in ("pre", "control", "") if any(row.group == name for row in report.entries)]
    found = [
        ("group", 2, [view.GROUP_NAMES[name] if name else "neither" for name in groups]),
        ("leakage", 3, sorted({_plain(row.leakage) for row in report.entries if row.leakage})[:20]),
        ("answer", 4, sorted({word for row in report.entries for word in _statuses(row)})[:20]),
    ]
    metric = report.signal.metric
    hits = (f"{metric} hit", 5 + METRICS.index(metric), ["hit", "miss", "not scored"])
    return [hits, *(choice for choice in found if len(choice[2]) > 1)]


def _statuses(row: EntryRow) -> list[str]:
    words = [part.split(" ")[0] for part in row.status.split(", ")]
    return [*words, "copied"] if row.copied else words


def _changed(report: Report) -> list[tuple[Change, EntryRow | None]]:
    rows = {row.instance_id: row for row in report.entries} if report.changes else {}
    return [(change, rows.get(change.instance_id)) for change in report.changes[:_MOST_CHANGES]]
