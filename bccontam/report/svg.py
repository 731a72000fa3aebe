"""Charts of a report as inline SVG for the page: hit rate over time, the sweep, and every check as an interval.

Pure text from numbers. Colours and fonts are classes of the page's style sheet, so that they follow its light and
dark; what a chart says is told in words and as a table beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor

from bccontam.contamination import Signal
from bccontam.report.series import hit_bars, sweep_points
from bccontam.report.shape import Report
from bccontam.report.view import GROUP_NAMES, compared
from bccontam.wording import count, points, rate

_WIDTH, _HEIGHT = 860, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 28, 34
_MOST_LABELS = 12


@dataclass(frozen=True, slots=True)
class _Scale:
    """Values from `low` to `high` on pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def month_svg(report: Report) -> str:
    """Hit rate over time: bars by group, the control group on a shade, the mean of each group as a line."""
    bars = hit_bars(report).bars
    if not bars:
        return ""
    metric = report.signal.metric
    top = max(0.2, ceil(round(10 * max(bar.rate for bar in bars), 6)) / 10)
    height = _Scale(0, top, _HEIGHT - _BOTTOM, _TOP)
    step = (_WIDTH - _LEFT - _RIGHT) / len(bars)
    parts = [*_grid(height, _ticks(0, top), lambda tick: f"{100 * tick:.0f} %")]
    means = {"pre": report.groups.pre.hit_rate(metric), "control": report.groups.control.hit_rate(metric)}
    if means["pre"] is None or means["control"] is None:
        means = dict.fromkeys(("pre", "", "control"), report.groups.all.hit_rate(metric))
    for number, bar in enumerate(bars):
        x = _LEFT + number * step
        said = f"{bar.label}, {GROUP_NAMES[bar.group]}: {rate(bar.rate)} of {count(bar.entries, 'entry', 'entries')}"
        if bar.group == "control":
            parts.append(_rect("shade", x, _TOP, step, _HEIGHT - _TOP - _BOTTOM))
        y = height.at(bar.rate)
        parts.append(
            f"<g><title>{escape(said)}</title>{_rect('hover', x, _TOP, step, _HEIGHT - _TOP - _BOTTOM)}"
            f"{_rect(f'bar {bar.group}', x + 0.12 * step, y - 1, 0.76 * step, _HEIGHT - _BOTTOM - y + 1)}</g>"
        )
    for number, bar in enumerate(bars):
        mean = means.get(bar.group)
        if mean is not None:
            x = _LEFT + number * step
            parts.append(_line("mean", x, height.at(mean), x + step, height.at(mean)))
    parts += _labels([bar.label for bar in bars], lambda number: _LEFT + (number + 0.5) * step)
    return _svg("months", f"{metric} hit rate over time", parts, _HEIGHT)


def sweep_svg(report: Report) -> str:
    """The signal along a sweep of cutoffs on the band of its interval."""
    sweep = sweep_points(report)
    if not sweep:
        return ""
    low = min(0.0, floor(10 * min(point.low for point in sweep)) / 10)
    high = max(0.1, ceil(10 * max(point.high for point in sweep)) / 10)
    height = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    across = _Scale(0, len(sweep) - 1, _LEFT + 12, _WIDTH - _RIGHT - 12)
    xs = [across.at(number) for number in range(len(sweep))]
    upper = [(x, height.at(point.high)) for x, point in zip(xs, sweep, strict=True)]
    lower = [(x, height.at(point.low)) for x, point in zip(xs, sweep, strict=True)]
    middle = [(x, height.at(point.value)) for x, point in zip(xs, sweep, strict=True)]
    parts = [
        *_grid(height, _ticks(low, high), _tick),
        f'<polygon class="band" points="{_path([*upper, *reversed(lower)])}"/>',
        _line("zero", _LEFT, height.at(0), _WIDTH - _RIGHT, height.at(0)),
        f'<polyline class="value" points="{_path(middle)}"/>',
    ]
    for (x, y), point in zip(middle, sweep, strict=True):
        signal = Signal(report.signal.metric, point.value, point.low, point.high, point.p_value)
        said = f"{point.cutoff.isoformat()}: {compared(signal)} over all dates tried"
        parts.append(
            f'<g><title>{escape(said)}</title><circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/></g>'
        )
    parts += _labels([f"{point.cutoff:%Y-%m}" for point in sweep], lambda number: xs[number])
    return _svg("sweep", f"{report.signal.metric} signal by cutoff", parts, _HEIGHT)


def checks_svg(report: Report) -> str:
    """The headline and every sensitivity row as an interval on one axis, with the smallest effect that matters."""
    rows = [("headline", report.signal)] + [(check.name, check.signal) for check in report.sensitivity]
    known = [signal for _, signal in rows if signal.low is not None and signal.high is not None]
    if len(rows) < 2 or not known:
        return ""
    effect = report.thresholds.min_effect
    low = min(0.0, *(signal.low for signal in known if signal.low is not None))
    high = max(effect, *(signal.high for signal in known if signal.high is not None))
    low, high = floor(10 * low) / 10, ceil(10 * high) / 10
    left, row_height = 250, 24
    bottom = _TOP + row_height * len(rows)
    across = _Scale(low, high, left, _WIDTH - _RIGHT - 12)
    parts = []
    for tick in _ticks(low, high):
        x = across.at(tick)
        parts.append(_line("grid", x, _TOP, x, bottom))
        parts.append(_text("tick", x, bottom + 18, _tick(tick), "middle"))
    parts.append(_line("zero", across.at(0), _TOP, across.at(0), bottom))
    parts.append(_line("effect", across.at(effect), _TOP - 6, across.at(effect), bottom))
    parts.append(_text("tick", across.at(effect), _TOP - 10, "smallest that matters", "middle"))
    for number, (name, signal) in enumerate(rows):
        y = _TOP + (number + 0.5) * row_height
        strong = " headline" if number == 0 else ""
        parts.append(_text(f"name{strong}", left - 10, y + 4, name, "end"))
        if signal.value is None or signal.low is None or signal.high is None:
            continue
        parts.append(
            f"<g><title>{escape(f'{name}: {compared(signal)}')}</title>"
            f"{_line(f'interval{strong}', across.at(signal.low), y, across.at(signal.high), y)}"
            f'<circle class="dot{strong}" cx="{across.at(signal.value):.1f}" cy="{y:.1f}" r="4.5"/></g>'
        )
    return _svg("checks", "the signal under every check", parts, bottom + _BOTTOM)


def _svg(name: str, title: str, parts: Iterable[str], height: float) -> str:
    return (
        f'<svg class="chart" role="img" aria-labelledby="{name}-title" aria-describedby="{name}-line" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}"><title id="{name}-title">{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round values between two multiples of a tenth, at most nine of them."""
    tenths = round(10 * low), round(10 * high)
    step = next(step for step in (1, 2, 5) if (tenths[1] - tenths[0]) / step <= 9 or step == 5)
    first = -(-tenths[0] // step) * step
    return [tick / 10 for tick in range(first, tenths[1] + 1, step)]


def _tick(value: float) -> str:
    """A difference on an axis of points, `+10`."""
    return points(value).removesuffix(" pts").removesuffix(".0")


def _grid(height: _Scale, ticks: Sequence[float], say: Callable[[float], str]) -> list[str]:
    parts = []
    for tick in ticks:
        y = height.at(tick)
        parts.append(_line("grid", _LEFT, y, _WIDTH - _RIGHT, y))
        parts.append(_text("tick", _LEFT - 8, y + 4, say(tick), "end"))
    return parts


def _labels(labels: Sequence[str], x_of: Callable[[int], float]) -> list[str]:
    step = -(-len(labels) // _MOST_LABELS)
    return [
        _text("tick", x_of(number), _HEIGHT - _BOTTOM + 20, label, "middle")
        for number, label in enumerate(labels)
        if number % step == 0
    ]


def _rect(name: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{name.strip()}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _line(name: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(name: str, x: float, y: float, words: str, anchor: str) -> str:
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _path(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
