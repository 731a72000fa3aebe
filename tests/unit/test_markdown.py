from __future__ import annotations

import html
import re
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from bccontam.report.markdown import EMPTY, code, codes, cut, text, visible
from tests.support.paths import shared_cases

JOINER = "\u2060"
HOSTILE = [
    "@octo/team @dependabot rebase packages/@scope/x.ts",
    '<img src="https://e.invalid/p.png"> <!-- </details> <h1>x',
    "![x](https://e.invalid/p?d=1) [README.md](https://e.invalid)",
    "[x]: https://e.invalid",
    "https://e.invalid/x www.e.invalid someone@e.invalid",
    "_www.e.invalid __www.e.invalid (www.e.invalid) _GH-7_",
    "src/:bug:/x.al #123 GH-7 acme/widgets#9",
    "pkg/__init__.py *.al ~~x~~ **b**",
    "``a```b`",
    "`",
    "a\\|b|c",
    "a\\",
    "# Owned\n## Owned\n- item\n1. item\n> quote\n---\n===",
    "</details>\n</summary>",
    "```\n# Owned\n```",
    "~~~\nx",
    "$x^2$ {{ 7*7 }} {% raw %}",
    "\u202egpj.exe\u202c \u200b \ufeff \x1b[31mred\x07",
    "caf\udce9.al",
    " leading and trailing ",
    "|||",
    "<script>alert(1)</script>",
    "&amp; &#64;octo",
    "a\u3164\ufe0f\U000e0100b",
    "d6cd1e2bd19e03a81132a23b2025920577f84e37",
]
ALIVE = re.compile(
    r"<(?:a|img|h[1-6]|script|em|strong|del|li|ul|ol|blockquote|hr|details|summary|input)\b", re.IGNORECASE
)


def render(markdown: str) -> str:
    """As GitHub renders it, with HTML let through: what is alive must show."""
    rendered: str = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    return rendered


def cells(markdown: str) -> list[str]:
    page = render(f"| a | b | c |\n| --- | --- | --- |\n| x | {markdown} | z |\n\nafter")
    assert page.count("<tr>") == 2
    found = re.findall(r"<td[^>]*>(.*?)</td>", page, re.DOTALL)
    assert "after" in page.split("</table>")[1]
    return found


def words(rendered: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", rendered)).replace(JOINER, "")


@pytest.mark.parametrize("value", HOSTILE)
def test_a_code_span_shows_hostile_text_in_one_cell_and_nothing_comes_alive(value: str) -> None:
    found = cells(code(value))
    assert len(found) == 3
    assert found[2] == "z"
    assert not ALIVE.search(found[1])
    assert words(found[1]).strip() == visible(value).strip()


@pytest.mark.parametrize("value", HOSTILE)
def test_words_outside_code_stay_words(value: str) -> None:
    for page in (render(text(value)), cells(text(value))[1]):
        assert not ALIVE.search(page)
        assert not re.search(r"@\w|#\d|https?://|www\.|:bug:|GH-\d", html.unescape(page))
        assert words(page).strip() == visible(value.replace("\n", " ")).strip()


@given(st.text(max_size=80))
def test_any_text_stays_in_its_cell(value: str) -> None:
    for shown in (code(value), text(value)):
        found = cells(shown)
        assert len(found) == 3
        assert found[2] == "z"
        assert not ALIVE.search(found[1])


@given(st.text(alphabet="`|\\<>!-@#:[]()*_ \n", max_size=30))
def test_marks_alone_stay_in_their_cell(value: str) -> None:
    for shown in (code(value), text(value)):
        found = cells(shown)
        assert len(found) == 3
        assert not ALIVE.search(found[1])
        assert "<!--" not in shown


@given(st.text(max_size=300))
def test_a_value_is_bounded_and_can_always_be_written(value: str) -> None:
    code(value).encode("utf-8")
    text(value).encode("utf-8")
    assert len(visible(cut(value, 50))) <= 50 * 10


def test_a_long_value_is_cut_with_a_mark() -> None:
    assert code("x" * 1000) == f"`{'x' * 199}…`"


def test_an_empty_value_is_said_to_be_none() -> None:
    assert code("") == EMPTY
    assert codes([]) == ""


def test_many_values_are_counted() -> None:
    assert codes(["a", "b", "c"], most=2) == "`a`, `b`, and 1 more"


def test_plain_sentences_stay_readable() -> None:
    sentence = "Older: created before 2025-06-01; control: on or after it, UTC days."
    assert text(sentence) == sentence


CASES = [case for case in shared_cases("github") if "path_or_text" in str(case.values[0]["input"])]


@pytest.mark.parametrize("case", CASES)
def test_public_problems_with_hostile_text(case: dict[str, Any]) -> None:
    value, expected = case["input"]["path_or_text"], case["expected"]
    shown = code(value)
    found = cells(shown)
    assert len(found) == 3
    assert not ALIVE.search(found[1])
    if "text" in expected:
        assert words(found[1]) == expected["text"]
    assert "<!--" not in shown
    for line in shown.split("\n"):
        assert not line.startswith(("@dependabot", "@bors"))
