"""The page in a real browser: what it shows, sorting and filters by mouse and keyboard, and that it loads nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bccontam.report.html import render_page
from bccontam.report.shape import Report
from tests.support.browser import AXE, Browser, browser
from tests.support.real import need_real
from tests.support.reports import fresh, old, shapes

pytestmark = pytest.mark.real

SHAPES = shapes()
COLUMNS = ["entry", "created", "group", "leakage", "answer", "basename", "suffix", "exact"]
Open = Callable[[str], Report]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def open_page(chromium: Browser, tmp_path: Path) -> Open:
    def open_shape(name: str) -> Report:
        report = SHAPES[name].report()
        show(chromium, report, tmp_path)
        return report

    return open_shape


def show(chromium: Browser, report: Report, folder: Path) -> None:
    page = folder / "page.html"
    page.write_text(render_page(report), encoding="utf-8")
    chromium.console()
    chromium.shape(1100)
    chromium.open(page)


def column(chromium: Browser, name: str) -> list[str]:
    script = "return [...document.querySelectorAll('#entries tbody tr')].map(row => row.cells[arguments[0]].innerText)"
    return list(chromium.run(script, COLUMNS.index(name)))


def sort_by(chromium: Browser, name: str) -> None:
    chromium.click(f"#entries th:nth-child({COLUMNS.index(name) + 1}) button")


def choose(chromium: Browser, label: str, choice: str) -> None:
    chromium.run(
        "const select = [...document.querySelectorAll('.filters label')]"
        ".find(label => label.innerText.startsWith(arguments[0])).querySelector('select');"
        "select.value = arguments[1]; select.dispatchEvent(new Event('change'))",
        label,
        choice,
    )


def shown(chromium: Browser) -> str:
    return chromium.text("#shown")


@pytest.mark.parametrize("name", SHAPES)
def test_a_page_opens_without_a_complaint_and_loads_nothing(
    name: str, chromium: Browser, open_page: Open
) -> None:
    report = open_page(name)
    assert chromium.text("h1").startswith("Benchmark memorisation: ")
    assert shown(chromium).endswith(f" of {len(report.entries):,} entries")
    assert chromium.console() == []
    assert chromium.run("return performance.getEntriesByType('resource').map(entry => entry.name)") == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["pull-request", "everything", "baseline"])
def test_a_page_has_no_fault_that_a_checker_of_accessibility_finds(
    name: str, dark: bool, chromium: Browser, open_page: Open
) -> None:
    need_real(AXE.is_file(), "axe-core")
    open_page(name)
    chromium.shape(1100, dark=dark)
    chromium.run("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    chromium.run(AXE.read_text(encoding="utf-8"))
    found = chromium.run(
        "return axe.run({resultTypes: ['violations']}).then(done => done.violations.map("
        "fault => `${fault.id}: ${fault.nodes.slice(0, 3).map(node => node.html).join(' ')}`))"
    )
    assert found == []


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_it_round(
    chromium: Browser, open_page: Open
) -> None:
    report = open_page("signal")
    days = sorted(row.created_at for row in report.entries)
    sort_by(chromium, "created")
    assert column(chromium, "created") == days[:100]
    assert chromium.run("return document.querySelector('[aria-sort]').innerText.trim()").startswith("created")
    sort_by(chromium, "created")
    assert column(chromium, "created") == days[::-1][:100]
    assert (
        chromium.run("return document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"
    )


def test_names_are_sorted_by_their_numbers(chromium: Browser, open_page: Open) -> None:
    open_page("signal")
    sort_by(chromium, "entry")
    numbers = [int(name.rsplit("-", 1)[1]) for name in column(chromium, "entry") if "DockTools" in name]
    assert numbers == sorted(numbers)


def test_hits_come_first_and_what_is_not_scored_last_either_way(chromium: Browser, open_page: Open) -> None:
    open_page("inconclusive-errors")
    choose(chromium, "group", "control")
    for order in ("✓·–", "·✓–"):
        sort_by(chromium, "basename")
        marks = column(chromium, "basename")
        assert marks == sorted(marks, key=order.index)
        assert set(marks) == set(order)


def test_means_over_samples_are_numbers_between_hit_and_miss(chromium: Browser, open_page: Open) -> None:
    open_page("everything")
    sort_by(chromium, "basename")
    marks = column(chromium, "basename")
    assert [float(mark) for mark in marks if mark[0].isdigit()]
    values = [{"✓": 1.0, "·": 0.0}.get(mark) if mark in "✓·" else float(mark) for mark in marks]
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("label", "choice", "name", "wanted"),
    [
        ("group", "control", "group", {"control"}),
        ("basename hit", "hit", "basename", {"✓"}),
        ("basename hit", "miss", "basename", {"·"}),
        ("basename hit", "not scored", "basename", {"–"}),
        ("leakage", "path", "leakage", {"path"}),
        ("answer", "error", "answer", {"error"}),
    ],
)
def test_a_filter_leaves_what_it_names(
    label: str, choice: str, name: str, wanted: set[str], chromium: Browser, open_page: Open
) -> None:
    report = open_page("inconclusive-errors")
    choose(chromium, label, choice)
    values = column(chromium, name)
    assert set(values) == wanted
    assert len(values) < len(report.entries)
    assert shown(chromium) == f"1–{len(values)} of {len(values)} (of {len(report.entries)}) entries"


def test_filters_add_up_and_reset_takes_them_all_away(chromium: Browser, open_page: Open) -> None:
    report = open_page("signal")
    choose(chromium, "group", "older")
    choose(chromium, "basename hit", "hit")
    chromium.type("#search", "docktools")
    wanted = [
        row.instance_id
        for row in report.entries
        if row.group == "pre" and row.basename_hit == 1 and "DockTools" in row.instance_id
    ]
    assert column(chromium, "entry") == wanted
    assert wanted
    chromium.type("#search", "no such entry")
    assert shown(chromium) == f"0 of {len(report.entries)} entries"
    chromium.click("#reset")
    assert shown(chromium) == f"1–100 of {len(report.entries)} entries"


def test_many_entries_are_shown_a_page_at_a_time(chromium: Browser, open_page: Open) -> None:
    report = open_page("large")
    ids = [row.instance_id for row in report.entries]
    chromium.click("#previous")
    assert column(chromium, "entry") == ids[:100]
    chromium.click("#next")
    assert column(chromium, "entry") == ids[100:200]
    assert shown(chromium) == "101–200 of 2,000 entries"
    chromium.run("for (let page = 0; page < 18; page += 1) document.getElementById('next').click()")
    assert column(chromium, "entry") == ids[1900:]
    chromium.click("#next")
    assert column(chromium, "entry") == ids[1900:]
    assert chromium.run("return document.getElementById('next').getAttribute('aria-disabled')") == "true"
    sort_by(chromium, "created")
    assert shown(chromium) == "1–100 of 2,000 entries"


def test_everything_can_be_done_from_the_keyboard(chromium: Browser, open_page: Open) -> None:
    report = open_page("signal")
    chromium.press("Tab")
    assert chromium.run("return document.activeElement.innerText") == "Skip to the table of entries"
    chromium.press("Enter")
    assert chromium.run("return document.activeElement.id") == "every-entry"
    chromium.press("Tab")
    assert chromium.run("return document.activeElement.id") == "search"
    order = ["SELECT"] * 4 + ["reset", "previous", "next"]
    for wanted in order:
        chromium.press("Tab")
        assert chromium.run("return document.activeElement.id || document.activeElement.tagName") == wanted
    chromium.press("Enter")
    assert shown(chromium) == f"101–{len(report.entries)} of {len(report.entries)} entries"
    chromium.press("Tab", "Tab")
    assert chromium.run("return document.activeElement.innerText") == "entry"
    chromium.press("Space")
    assert (
        chromium.run("return document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
    )
    outline = chromium.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_hostile_names_are_read_as_text_and_run_nothing(chromium: Browser, open_page: Open) -> None:
    report = open_page("hostile")
    assert chromium.run("return document.querySelectorAll('img, iframe, object').length") == 0
    names = column(chromium, "entry")
    assert len(names) == len(report.entries)
    assert all("<img src=x onerror=alert(1)>" in name for name in names)
    sort_by(chromium, "leakage")
    chromium.type("#search", "<img")
    assert len(column(chromium, "entry")) == len(report.entries)
    assert chromium.run("return document.querySelectorAll('img').length") == 0
    assert chromium.console() == []


def test_the_policy_stops_what_would_be_put_in_later(chromium: Browser, open_page: Open) -> None:
    open_page("signal")
    chromium.run(
        "document.body.insertAdjacentHTML('beforeend', "
        '\'<img src="https://e.invalid/x.png" onerror="document.title = 1"><p style="color: red">x</p>\')'
    )
    refused = " ".join(chromium.console())
    assert "Content Security Policy" in refused
    assert chromium.run("return document.title").startswith("Benchmark memorisation")


@pytest.mark.parametrize("width", [360, 1100])
def test_a_page_fits_its_window(width: int, chromium: Browser, open_page: Open) -> None:
    open_page("everything")
    chromium.shape(width)
    overflow = chromium.run("const d = document.documentElement; return d.scrollWidth - d.clientWidth")
    assert overflow == 0


def test_charts_are_drawn_in_the_page_with_a_title_and_words(chromium: Browser, open_page: Open) -> None:
    open_page("signal")
    charts = chromium.run(
        "return [...document.querySelectorAll('svg')].map(svg => ["
        "document.getElementById(svg.getAttribute('aria-labelledby')).textContent, "
        "document.getElementById(svg.getAttribute('aria-describedby')).innerText, "
        "svg.getBoundingClientRect().height])"
    )
    assert [title for title, _, _ in charts] == [
        "basename hit rate over time",
        "the signal under every check",
        "basename signal by cutoff",
    ]
    assert all(words and height > 200 for _, words, height in charts)


def test_the_words_of_a_drawn_chart_do_not_run_into_each_other(chromium: Browser, open_page: Open) -> None:
    for name in ("signal", "everything", "baseline"):
        open_page(name)
        assert chromium.run(OVERLAPS) == []


def test_twenty_thousand_entries_can_be_looked_through(chromium: Browser, tmp_path: Path) -> None:
    results = [*old(6_000, 15_000), *fresh(1_000, 5_000)]
    report = replace(SHAPES["large"], results=results).report()
    show(chromium, report, tmp_path)
    assert shown(chromium) == "1–100 of 20,000 entries"
    sort_by(chromium, "basename")
    choose(chromium, "group", "control")
    assert set(column(chromium, "basename")) == {"✓"}
    assert shown(chromium) == "1–100 of 5,000 (of 20,000) entries"


OVERLAPS = """
const found = [];
for (const svg of document.querySelectorAll('svg')) {
  const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([words, box]) => words.trim() && box.width);
  boxes.forEach(([one, a], number) => boxes.slice(number + 1).forEach(([other, b]) => {
    if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found.push([one, other]);
  }));
}
return found;
"""
