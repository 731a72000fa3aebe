"""The page as text; what it does in a browser is tests/end_to_end/test_page_browser.py."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from bccontam.report.html import render_page
from bccontam.report.shape import Report
from bccontam.wording import interval, points
from tests.support.reports import EVIL, shapes

SHAPES = shapes()
VOID = {"meta", "input", "br", "line", "rect", "circle", "polyline", "polygon"}


class Elements(HTMLParser):
    """Every element with its attributes, and whether all are closed in their order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: render_page(shape.report()) for name, shape in SHAPES.items()}


def data_of(page: str) -> list[list[Any]]:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    loaded: list[list[Any]] = json.loads(text)
    return loaded


@pytest.mark.parametrize("name", SHAPES)
def test_a_page_is_well_formed_and_names_nothing_twice(name: str, pages: dict[str, str]) -> None:
    page = Elements(pages[name])
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.seen if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", SHAPES)
def test_a_page_loads_nothing_and_its_text_can_do_nothing(name: str, pages: dict[str, str]) -> None:
    page = Elements(pages[name])
    tags = [tag for tag, _ in page.seen]
    assert not {"img", "link", "iframe", "object", "embed", "base", "video", "audio"} & set(tags)
    assert tags.count("script") == 2
    for tag, attributes in page.seen:
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes), (
            tag,
            attributes,
        )
    links = {attributes["href"] for tag, attributes in page.seen if tag == "a"}
    assert links == {"#every-entry", "https://arxiv.org/abs/2506.12286"}


@pytest.mark.parametrize("name", ["signal", "hostile"])
def test_the_policy_lets_only_this_style_and_this_script_run(name: str, pages: dict[str, str]) -> None:
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', pages[name])
    policy = html.unescape(policy)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        [source] = re.findall(pattern, pages[name], re.DOTALL)
        digest = b64encode(sha256(source.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_the_page_and_the_comment_say_the_same(pages: dict[str, str]) -> None:
    report = SHAPES["signal"].report()
    shown = html.unescape(re.sub(r"<[^>]+>", "", pages["signal"])).replace("\u00a0", " ")
    for sentence in (report.reason, report.next_step):
        assert sentence in shown
    for signal in [*report.signals, *(check.signal for check in report.sensitivity)]:
        assert points(signal.value) in shown
        assert interval(signal.low, signal.high) in shown


def test_every_entry_is_in_the_data_and_the_first_hundred_in_the_page(pages: dict[str, str]) -> None:
    report = SHAPES["large"].report()
    rows = data_of(pages["large"])
    assert [row[0] for row in rows] == [row.instance_id for row in report.entries]
    [body] = re.findall(r'<table id="entries".*?<tbody>(.*?)</tbody>', pages["large"], re.DOTALL)
    assert body.count("<tr>") == 100


def test_hits_travel_as_numbers_and_what_is_not_scored_as_nothing(pages: dict[str, str]) -> None:
    rows = data_of(pages["inconclusive-errors"])
    hits = {json.dumps(cell) for row in rows for cell in row[5:8]}
    assert hits == {"0.0", "1.0", "null"}
    assert all(row[5] is None for row in rows if row[4] == "error")


def test_paths_are_in_the_page_only_when_answers_are_revealed(pages: dict[str, str]) -> None:
    shape = SHAPES["signal"]
    gold = shape.results[0].gold_files[0]
    assert gold not in pages["signal"]
    assert {len(row) for row in data_of(pages["signal"])} == {8}
    revealed = render_page(replace(shape, request=replace(shape.request, reveal_answers=True)).report())
    assert gold in data_of(revealed)[0][8]
    assert revealed.count("<code>src/") > 100


def test_hostile_names_stay_text(pages: dict[str, str]) -> None:
    page = pages["hostile"]
    assert "<img" not in page
    assert "<!--" not in page
    assert "\u202e" not in page
    assert any("onerror=alert(1)" in row[0] for row in data_of(page))
    assert max(len(str(cell)) for row in data_of(page) for cell in row[:5]) <= 210


def test_a_name_cannot_end_the_data_it_travels_in() -> None:
    shape = SHAPES["signal"]
    ends = ["</script>", "<!--<script>", "]]>", "&quot;", "\u2028", "\udcff"]
    results = [replace(shape.results[0], instance_id=f"{end}{EVIL}", fingerprint=end) for end in ends]
    page = render_page(replace(shape, results=[*shape.results, *results]).report())
    page.encode("utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    assert len(data_of(page)) == len(shape.results) + len(ends)


def _headings(report: Report) -> list[str]:
    return re.findall(r"<h2[^>]*>(.*?)</h2>", render_page(report))


def test_a_page_has_the_parts_that_there_is_something_for() -> None:
    assert _headings(SHAPES["pull-request"].report()) == [
        "The groups",
        "This pull request",
        "Does it survive?",
        "How it was asked",
        "Every entry",
        "Method and caveats",
    ]
    assert "This pull request" not in _headings(SHAPES["baseline"].report())
