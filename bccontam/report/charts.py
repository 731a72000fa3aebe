"""Charts of a report as Mermaid, which GitHub draws itself; the words beside them are `bccontam.report.series`.

Pure text from numbers; nothing from a dataset but months and rates goes into a chart. Its text takes the colours
of the page; what is drawn has colours that are legible on white and on black.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor

from bccontam.report.series import hit_bars, sweep_points
from bccontam.report.shape import Report

_SHADE, _BLUE, _PALE_BLUE, _ORANGE, _GREY = "#8b949e44", "#2f81f7", "#2f81f788", "#d4622a", "#8b949e"
_MOST_LABELS = 8
_UNSEEN = str.maketrans("01", "\u200b\u200c")
"""Mermaid draws the labels of an axis over each other when there are many, and needs them to differ: most are
numbers written in these, which show nothing."""


def month_chart(report: Report) -> str:
    """Hit rate over time: the control group shaded, the means as a line that breaks where it begins."""
    bars = hit_bars(report).bars
    if not bars:
        return ""
    top = max(20, 10 * ceil(round(10 * max(bar.rate for bar in bars), 6)))
    metric = report.signal.metric
    pre, control = report.groups.pre.hit_rate(metric), report.groups.control.hit_rate(metric)
    mean = report.groups.all.hit_rate(metric)
    series = [("bar", _BLUE, [100 * bar.rate for bar in bars])]
    if pre is not None and control is not None:
        shaded = [float(top if bar.group == "control" else 0) for bar in bars]
        line = [100 * (control if bar.group == "control" else pre) for bar in bars]
        series = [("bar", _SHADE, shaded), *series, ("line", _ORANGE, line)]
    elif mean is not None:
        series.append(("line", _ORANGE, [100 * mean] * len(bars)))
    title = f"{metric} hit rate by {hit_bars(report).period} of creation"
    return _chart(title, [bar.label for bar in bars], "hit rate (%)", (0, top), series)


def sweep_chart(report: Report) -> str:
    """The signal along a sweep of cutoffs between the ends of its interval, with a line at zero."""
    sweep = sweep_points(report)
    if not sweep:
        return ""
    lowest, highest = min(point.low for point in sweep), max(point.high for point in sweep)
    ends = (min(0, 10 * floor(10 * lowest)), max(0, 10 * ceil(10 * highest)))
    series = [
        ("line", _GREY, [0.0] * len(sweep)),
        ("line", _PALE_BLUE, [100 * point.low for point in sweep]),
        ("line", _PALE_BLUE, [100 * point.high for point in sweep]),
        ("line", _ORANGE, [100 * point.value for point in sweep]),
    ]
    labels = [f"{point.cutoff:%Y-%m}" for point in sweep]
    title = f"{report.signal.metric} signal by cutoff, with its 95 % interval"
    return _chart(title, labels, "points", ends, series)


def _chart(
    title: str,
    labels: Sequence[str],
    unit: str,
    ends: tuple[int, int],
    series: Iterable[tuple[str, str, Sequence[float]]],
) -> str:
    series = list(series)
    return "\n".join(
        [
            "```mermaid",
            "---",
            "config:",
            "  xyChart:",
            "    width: 800",
            "    height: 340",
            "    titleFontSize: 16",
            "  themeVariables:",
            "    xyChart:",
            f'      plotColorPalette: "{", ".join(colour for _, colour, _ in series)}"',
            "---",
            "xychart-beta",
            f'  title "{title}"',
            f"  x-axis [{', '.join(_axis(labels))}]",
            f'  y-axis "{unit}" {ends[0]} --> {ends[1]}',
            *(f"  {kind} [{', '.join(map(_number, values))}]" for kind, _, values in series),
            "```",
        ]
    )


def _number(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}"  # never -0.0


def _axis(labels: Sequence[str]) -> list[str]:
    """The labels in quotes, every so many shown, all of them different."""
    step = -(-len(labels) // _MOST_LABELS)
    shown: list[str] = []
    for number, label in enumerate(labels):
        text = f"{number + 1:b}".translate(_UNSEEN)
        if number % step == 0:
            text = label if label not in shown else f"{label}{text}"
        shown.append(text)
    return [f'"{text}"' for text in shown]
