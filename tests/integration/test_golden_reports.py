"""Reports of the main shapes, word for word: what changes here changes in front of people.

With BCCONTAM_WRITE_GOLDEN=1 the files are written again; look at the difference, and at `script/pictures`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bccontam.report.render import COMMENT_BYTES, SUMMARY_BYTES, render_report
from bccontam.report.shape import Report
from bccontam.terminal import show_report
from tests.support.reports import shapes

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SHAPES = shapes()


@pytest.fixture(scope="module")
def built() -> Callable[[str], Report]:
    reports: dict[str, Report] = {}

    def build(name: str) -> Report:
        if name not in reports:
            reports[name] = SHAPES[name].report()
        return reports[name]

    return build


def is_golden(name: str, text: str) -> bool:
    file = GOLDEN / name
    if os.environ.get("BCCONTAM_WRITE_GOLDEN") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return file.read_bytes() == text.encode("utf-8")


@pytest.mark.parametrize("name", SHAPES)
def test_a_comment_is_the_golden_one(name: str, built: Callable[[str], Report]) -> None:
    page = render_report(built(name), limit=COMMENT_BYTES)
    assert is_golden(f"{name}.md", page)
    assert len(page.encode()) <= COMMENT_BYTES


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("large", "hostile")])
def test_the_terminal_shows_the_golden_table(
    name: str, built: Callable[[str], Report], capsys: pytest.CaptureFixture[str]
) -> None:
    show_report(built(name))
    shown = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
    assert is_golden(f"{name}.txt", shown)
    assert max(map(len, shown.split("\n"))) <= 80


def test_the_verdict_of_each_shape_is_the_one_in_its_name(built: Callable[[str], Report]) -> None:
    for name in SHAPES:
        wanted = re.match(r"signal|no-signal|inconclusive", name)
        if wanted:
            assert built(name).verdict == wanted[0]


def test_a_summary_has_room_for_every_row(built: Callable[[str], Report]) -> None:
    page = render_report(built("large"), limit=SUMMARY_BYTES)
    assert page == render_report(built("large"))
    assert len(re.findall(r"^\| `contoso__", page, re.MULTILINE)) >= 2_000


@pytest.mark.parametrize("name", SHAPES)
def test_no_report_says_clean_or_contaminated(name: str, built: Callable[[str], Report]) -> None:
    words = set(re.findall(r"[a-z]+", render_report(built(name)).lower()))
    assert not {"clean", "contaminated", "uncontaminated"} & words


@pytest.mark.parametrize("name", SHAPES)
def test_a_report_says_what_to_do(name: str, built: Callable[[str], Report]) -> None:
    assert re.search(r"^Next: [A-Z0-9].+\.$", render_report(built(name)), re.MULTILINE)
