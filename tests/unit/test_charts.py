from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from bccontam.report.charts import month_chart, sweep_chart
from bccontam.report.data import Request, build_report
from bccontam.report.series import MOST_BARS, MOST_POINTS, hit_bars, month_line, sweep_line, sweep_points
from bccontam.report.shape import Report
from bccontam.report.svg import checks_svg, month_svg, sweep_svg
from bccontam.result import Result
from tests.support.builders import group, hit, miss
from tests.support.reports import fresh, old

CUTOFF = date(2025, 6, 1)
RESULTS = [*old(52, 89), *fresh(5, 37)]


def report_on(results: list[Result], cutoff: date | None = CUTOFF) -> Report:
    return build_report(results, Request(cutoff=cutoff))


def numbers(chart: str, kind: str) -> list[list[float]]:
    return [
        [float(x) for x in found.split(", ")] for found in re.findall(rf"^  {kind} \[(.*)\]$", chart, re.M)
    ]


def labels(chart: str) -> list[str]:
    [axis] = re.findall(r"^  x-axis \[(.*)\]$", chart, re.M)
    return [label.strip('"') for label in axis.split(", ")]


def test_a_bar_is_the_hit_rate_of_a_month_and_control_months_are_shaded() -> None:
    results = [
        hit("a", "2025-04-01"),
        miss("b", "2025-04-09"),
        hit("c", "2025-05-02"),
        miss("d", "2025-06-01"),
    ]
    chart = month_chart(report_on(results))
    shade, bars = numbers(chart, "bar")
    assert bars == [50.0, 100.0, 0.0]
    assert shade == [0.0, 0.0, 100.0]
    assert labels(chart) == ["2025-04", "2025-05", "2025-06"]


def test_the_line_is_the_mean_of_each_group_and_breaks_where_the_control_group_begins() -> None:
    report = report_on(RESULTS)
    [line] = numbers(month_chart(report), "line")
    assert set(line) == {58.4, 13.5}
    assert line == sorted(line, reverse=True)
    assert line.count(13.5) == len([row for row in report.months if row.group == "control"])


def test_a_month_that_the_cutoff_divides_has_a_bar_on_either_side() -> None:
    results = [hit("a", "2025-05-03"), hit("b", "2025-06-03"), miss("c", "2025-06-20")]
    report = report_on(results, date(2025, 6, 10))
    assert [(row.month, row.group) for row in report.months] == [
        ("2025-05", "pre"),
        ("2025-06", "pre"),
        ("2025-06", "control"),
    ]
    shown = labels(month_chart(report))
    assert len(set(shown)) == 3
    assert shown[2].startswith("2025-06")


def test_without_a_cutoff_there_is_one_mean_and_no_shade() -> None:
    chart = month_chart(report_on(RESULTS, None))
    assert len(numbers(chart, "bar")) == 1
    assert len(set(numbers(chart, "line")[0])) == 1
    assert "shaded" not in month_line(report_on(RESULTS, None))


def test_one_month_makes_no_chart() -> None:
    report = report_on(group(3, 9, "2025-03-01"))
    assert month_chart(report) == month_line(report) == month_svg(report) == ""
    assert sweep_chart(report) == sweep_line(report) == sweep_svg(report) == ""
    assert checks_svg(report) == ""


def test_axis_labels_are_few_and_all_of_them_differ() -> None:
    shown = labels(month_chart(report_on(RESULTS)))
    assert len(set(shown)) == len(shown) == 22
    assert sum(bool(re.search(r"\d", label)) for label in shown) <= 8


def test_many_years_are_told_in_quarters_or_years() -> None:
    def spread(years: int) -> Report:
        months = [f"{2000 + n // 12}-{n % 12 + 1:02}-05" for n in range(12 * years)]
        return report_on([hit(day, day) for day in months], date(2030, 1, 1))

    assert hit_bars(spread(3)).period == "month"
    quarters = hit_bars(spread(9))
    assert (quarters.period, quarters.bars[0].label, quarters.bars[0].entries) == ("quarter", "2000 Q1", 3)
    years = hit_bars(spread(20))
    assert (years.period, years.bars[-1].label, len(years.bars)) == ("year", "2019", 20)
    assert len(quarters.bars) <= MOST_BARS
    assert "a bar for each year" in month_line(spread(20))


def test_a_bar_of_several_months_weighs_them_by_their_entries() -> None:
    days = [f"{2000 + n // 12}-{n % 12 + 1:02}-05" for n in range(60)]
    results = [miss(day, day) for day in days] + [hit(f"x{n}", "2000-01-07") for n in range(5)]
    first = hit_bars(report_on(results, date(2030, 1, 1))).bars[0]
    assert (first.label, first.entries, first.rate) == ("2000 Q1", 8, 5 / 8)


def test_a_sweep_is_drawn_between_the_ends_of_its_interval_around_zero() -> None:
    report = report_on(RESULTS)
    zero, low, high, value = numbers(sweep_chart(report), "line")
    assert set(zero) == {0.0}
    assert all(bottom < middle < top for bottom, middle, top in zip(low, value, high, strict=True))
    assert len(value) == len(report.sweep)
    [ends] = re.findall(r'^  y-axis "points" (-?\d+) --> (\d+)$', sweep_chart(report), re.M)
    assert int(ends[0]) <= min(low)
    assert int(ends[1]) >= max(high)


def test_a_long_sweep_is_thinned() -> None:
    report = report_on(RESULTS)
    long = replace(report, sweep=report.sweep * 10)
    assert len(sweep_points(long)) <= MOST_POINTS
    assert len(sweep_points(long)) > MOST_POINTS // 2


def test_the_line_beside_a_sweep_names_the_strongest_signal_and_its_p_over_all_dates() -> None:
    report = report_on(RESULTS)
    line = sweep_line(report)
    assert "+44.9 pts [27.1, 57.2] at 2025-06-01, p < .001 over all dates tried" in line
    assert "exploration, not a verdict" in line


def test_another_benchmark_is_drawn_after_this_one() -> None:
    report = build_report(fresh(5, 37), Request(control=old(52, 89, prefix="other")))
    sides = [bar.group for bar in hit_bars(report).bars]
    assert sides == sorted(sides, reverse=True)
    assert "in this benchmark" in month_line(report)


def test_a_chart_says_a_number_in_one_way_and_never_minus_zero() -> None:
    for chart in (month_chart(report_on(RESULTS)), sweep_chart(report_on(RESULTS))):
        assert "-0.0" not in chart
        assert "nan" not in chart


def test_the_drawn_checks_have_the_headline_and_every_row() -> None:
    report = report_on(RESULTS)
    drawn = checks_svg(report)
    for name in ("headline", *(check.name for check in report.sensitivity)):
        assert f">{name}<" in drawn
    assert "smallest that matters" in drawn


def test_every_bar_and_point_of_a_drawn_chart_says_its_numbers() -> None:
    report = report_on(RESULTS)
    assert month_svg(report).count("<title>") == len(hit_bars(report).bars)
    assert "2025-06, control: 0.0 % of 6 entries" in month_svg(report)
    assert sweep_svg(report).count("<circle") == len(report.sweep)
