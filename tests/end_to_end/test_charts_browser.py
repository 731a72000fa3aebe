"""The charts of the golden reports, drawn by a real Mermaid in a real browser in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.test_page_browser import OVERLAPS
from tests.support.browser import MERMAID, Browser, browser
from tests.support.paths import ROOT
from tests.support.preview import show
from tests.support.real import need_real

pytestmark = pytest.mark.real

GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.md"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    need_real(MERMAID.is_file(), "Mermaid")
    with browser() as started:
        yield started


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_every_chart_is_drawn_and_can_be_read(
    golden: Path, dark: bool, chromium: Browser, tmp_path: Path
) -> None:
    page = golden.read_text(encoding="utf-8")
    assert show(chromium, page, tmp_path / "preview.html", dark=dark) == ""
    charts = page.count("```mermaid")
    assert charts >= 1
    assert chromium.run("return document.querySelectorAll('.mermaid svg').length") == charts
    assert "Syntax error" not in chromium.text("body")
    assert chromium.run(OVERLAPS) == []


def test_bars_and_lines_are_where_the_numbers_say(chromium: Browser, tmp_path: Path) -> None:
    page = (ROOT / "tests" / "golden" / "signal.md").read_text(encoding="utf-8")
    show(chromium, page, tmp_path / "preview.html")
    months = page.split("x-axis [")[1].split("]")[0].count(",") + 1
    counts = chromium.run(
        "return [...document.querySelectorAll('.mermaid svg')].map(svg => ["
        "svg.querySelectorAll('rect[class]:not(.background), g.plot rect').length,"
        "svg.querySelectorAll('g.plot path').length])"
    )
    assert counts[0] == [2 * months, 1]
    assert counts[1] == [0, 4]
