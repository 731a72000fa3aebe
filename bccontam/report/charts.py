"""Charts of a report as Mermaid, which GitHub draws itself, each with one line of text that says the same.

Pure text from numbers; nothing from a dataset but months and rates goes into a chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from bccontam.report.data import Report
from bccontam.wording import count, interval, points, rate

MOST_LABELS = 8


def month_chart(report: Report) -> str:
    """Hit rate by month as bars, group means as lines that break at the cutoff; empty with under two months."""
    months = report.months
    if len(months) < 2:
        return ""
    axis = _axis([row.month for row in months])
    bars = ", ".join(f"{100 * row.hit_rate:.1f}" for row in months)
    lines = [
        "```mermaid",
        "xychart-beta",
        f'  title "{report.signal.metric} hit rate by month of creation (%)"',
        f"  x-axis [{axis}]",
        '  y-axis "hit rate (%)" 0 --> 100',
        f"  bar [{bars}]",
    ]
    pre, control = (
        group.hit_rate(report.signal.metric) for group in (report.groups.pre, report.groups.control)
    )
    if report.cutoff.day and pre is not None and control is not None:
        means = ", ".join(
            f"{100 * (pre if row.month < report.cutoff.day[:7] else control):.1f}" for row in months
        )
        lines.append(f"  line [{means}]")
    return "\n".join([*lines, "```"])


def _axis(labels: Sequence[str]) -> str:
    """The labels of an axis, so many of them that they do not overlap.

    The others are invisible, and each of another length: an axis shows equal labels once.
    """
    step = ceil(len(labels) / MOST_LABELS)
    shown = (label if number % step == 0 else "\u200b" * number for number, label in enumerate(labels))
    return ", ".join(f'"{label}"' for label in shown)


def month_line(report: Report) -> str:
    """The same in words: the span, and the means on both sides of the cutoff."""
    months = report.months
    if len(months) < 2:
        return ""
    dated = count(sum(row.entries for row in months), "dated entry", "dated entries")
    span = f"{months[0].month} to {months[-1].month}, {dated}"
    metric = report.signal.metric
    if report.cutoff.day:
        pre, control = report.groups.pre.hit_rate(metric), report.groups.control.hit_rate(metric)
        return f"{span}; mean {rate(pre)} before {report.cutoff.day}, {rate(control)} from then on."
    return f"{span}; mean {rate(report.groups.all.hit_rate(metric))}."


def sweep_chart(report: Report) -> str:
    """The signal along a sweep of cutoffs with both ends of its interval; empty with under two cutoffs."""
    sweep = report.sweep
    if len(sweep) < 2:
        return ""
    axis = _axis([f"{point.cutoff:%Y-%m}" for point in sweep])
    rows = [[point.value for point in sweep], [point.low for point in sweep], [point.high for point in sweep]]
    low = min(-10, *(int(100 * value) - 5 for value in rows[1]))
    high = max(10, *(int(100 * value) + 5 for value in rows[2]))
    return "\n".join(
        [
            "```mermaid",
            "xychart-beta",
            '  title "signal by cutoff, with its 95 % interval (points)"',
            f"  x-axis [{axis}]",
            f'  y-axis "older minus control (points)" {low} --> {high}',
            *(f"  line [{', '.join(f'{100 * value:.1f}' for value in row)}]" for row in rows),
            "```",
        ]
    )


def sweep_line(report: Report) -> str:
    """The same in words: the largest difference over all dates tried, with its p over all of them."""
    if len(report.sweep) < 2:
        return ""
    best = max(report.sweep, key=lambda point: point.value)
    return (
        f"Over {count(len(report.sweep), 'cutoff')} the largest difference is {points(best.value)} "
        f"{interval(best.low, best.high)} at {best.cutoff.isoformat()}, p = {best.p_value:.3f} over all dates "
        "tried. This is exploration, not a verdict."
    )
