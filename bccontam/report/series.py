"""What a report's charts show, whoever draws them: bars over time, points along a sweep, and a line of text.

A chart of many years is told in quarters or years, so that it stays legible and small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bccontam.report.shape import MonthRow, Report
from bccontam.sensitivity import SweepPoint
from bccontam.wording import count, interval, p_value, points, rate

MOST_BARS = 40
MOST_POINTS = 60


@dataclass(frozen=True, slots=True)
class Bar:
    """Scored entries of one group and period, and their hit rate; `label` is `2024-03`, `2024 Q1` or `2024`."""

    label: str
    group: str
    entries: int
    rate: float


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars in the order they are drawn, and the name of their period; none with under two months."""

    period: str
    bars: list[Bar]


def _quarter(month: str) -> str:
    return f"{month[:4]} Q{(int(month[5:7]) + 2) // 3}"


_PERIODS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("month", str),
    ("quarter", _quarter),
    ("year", lambda month: month[:4]),
)


def hit_bars(report: Report) -> Bars:
    """Hit rate over time; the older group comes first where another benchmark is the control group."""
    months = report.months
    if len(months) < 2:
        return Bars("month", [])
    if not report.cutoff.day:
        months = sorted(months, key=lambda row: row.group == "control")
    for period, name in _PERIODS:
        bars = Bars(period, _grouped(months, name))
        if len(bars.bars) <= MOST_BARS:
            break
    return bars


def _grouped(months: Sequence[MonthRow], name: Callable[[str], str]) -> list[Bar]:
    found: dict[tuple[str, str], list[MonthRow]] = {}
    for row in months:
        found.setdefault((name(row.month), row.group), []).append(row)
    bars = []
    for (label, group), rows in found.items():
        entries = sum(row.entries for row in rows)
        hits = sum(row.entries * row.hit_rate for row in rows)
        bars.append(Bar(label, group, entries, hits / entries))
    return bars


def sweep_points(report: Report) -> list[SweepPoint]:
    """The sweep, thinned evenly where it is long; none with under two cutoffs."""
    sweep = report.sweep
    step = -(-len(sweep) // MOST_POINTS) if sweep else 1
    return sweep[::step] if len(sweep) > 1 else []


def month_line(report: Report) -> str:
    """What the bars show, in words."""
    bars = hit_bars(report)
    if not bars.bars:
        return ""
    dated = count(sum(row.entries for row in report.months), "dated entry", "dated entries")
    span = f"{dated} from {report.months[0].month} to {report.months[-1].month}, a bar for each {bars.period}"
    metric = report.signal.metric
    pre, control = report.groups.pre.hit_rate(metric), report.groups.control.hit_rate(metric)
    if not (report.cutoff.day or report.cutoff.source):
        return f"{span}; mean {rate(report.groups.all.hit_rate(metric))}."
    if report.cutoff.day:
        sides = f"before {report.cutoff.day}, {rate(control)} from then on"
    else:
        sides = f"in this benchmark, {rate(control)} in the control"
    return f"{span}; the control group is shaded. Mean (line): {rate(pre)} {sides}."


def sweep_line(report: Report) -> str:
    """What the sweep shows, in words: the strongest signal, with its p over all dates tried."""
    if not sweep_points(report):
        return ""
    best = min(report.sweep, key=lambda point: (point.p_value, -point.value))
    return (
        f"Over {count(len(report.sweep), 'cutoff')} the strongest signal is {points(best.value)} "
        f"{interval(best.low, best.high)} at {best.cutoff.isoformat()}, {p_value(best.p_value)} over all dates "
        "tried. This is exploration, not a verdict."
    )
