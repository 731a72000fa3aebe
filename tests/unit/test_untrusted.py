from __future__ import annotations

import html
import re

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.github.untrusted import tame

KEPT = {
    "p",
    "h2",
    "h3",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "code",
    "pre",
    "details",
    "summary",
    "br",
}
KEPT |= {"strong", "em", "del", "ul", "ol", "li", "blockquote", "hr", "h1", "h4", "h5", "h6", "input"}

REPORT = """## Benchmark memorisation: no signal

**Older entries hit 12 points more: `src/a@b.al`, 5 < 6 & 7 > 2.**

| group | entries | hit |
| :--- | ---: | :---: |
| all | 101 | 12.0 % [8, 17] |
| [x] | `a\\|b` | &lt;b&gt; |

- first
1. second

<details>
<summary>Every entry</summary>

```mermaid
xychart-beta
  x-axis ["2024-01", "2024-02"]
  bar [1, 2]
```

</details>
"""


def render(text: str) -> str:
    return str(cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE))


def visible(text: str) -> str:
    return text.replace("\u2060", "")


def assert_harmless(text: str) -> None:
    page = render(tame(text))
    assert not set(re.findall(r"</?([a-zA-Z][\w-]*)", page)) - KEPT
    assert not re.search(r"<[!?]", page)
    said = html.unescape(re.sub(r"<[^>]*>", "\0", page))  # GitHub looks at each piece of text between tags
    assert not re.search(r"@[\w-]", said)
    assert not re.search(r"#\d|\bgh-\d", said, re.IGNORECASE)
    assert "://" not in said
    assert not re.search(r"\bwww\.", said, re.IGNORECASE)
    assert not re.search(r"^\s*[/!][A-Za-z]", said, re.MULTILINE)


def test_a_report_looks_the_same() -> None:
    assert visible(render(tame(REPORT))) == render(REPORT)


HOSTILE = [
    "@octocat and @acme/team, @dependabot rebase",
    "mail a@b.example",
    "&#64;octocat &commat;octocat &#x40;octocat",
    "fixes #12, acme/widgets#12, GH-12, gh-12 &#35;12 &num;12",
    "acme/widgets@0123456789abcdef0123456789abcdef01234567",
    "![x](https://e.invalid/p?d=1) [README.md](https://e.invalid) [x]( https://e.invalid )",
    "[x][y] [z]\n\n[y]: https://e.invalid 'title'\n[z]:\nhttps://e.invalid",
    "<https://e.invalid> https://e.invalid www.e.invalid ftp://e.invalid HTTPS://e.invalid WWW.e.invalid",
    "https&colon;//e.invalid https&#58;//e.invalid",
    "<img src=x onerror=y><script>z</script><a href='https://e.invalid'>a</a><IFRAME>",
    "<details open><summary style='x'>y</summary><details >z",
    "</p></td></div>",
    "<!-- bccontam --> <!-- bccontam:a -->\n<!--",
    "<?php x ?> <!DOCTYPE html> <![CDATA[x]]>",
    "/approve\n  /lgtm\n> /merge\n- !retry",
    "[^1]\n\n[^1]: @octocat <b>",
    "a\u202eb\u0007\x1b[31m\ufeff\u200b@\u200boctocat",
    "@\roctocat",
    "caf\udce9 \ud800",
    "`@octocat`\n```\n@octocat <b> https://e.invalid\n```",
    "<details>\n<summary>@octocat</summary>\n\n#12\n\n</details>",
    "\\@octocat \\#12 <\\b>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_acts(text: str) -> None:
    assert_harmless(text)


@pytest.mark.parametrize("text", [*HOSTILE, REPORT])
def test_what_is_tame_stays_as_it_is(text: str) -> None:
    assert tame(tame(text)) == tame(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_tame_can_be_sent(text: str) -> None:
    tame(text).encode("utf-8")


PIECES = [
    "@",
    "octocat",
    "#",
    "12",
    "<",
    ">",
    "!",
    "--",
    "[",
    "]",
    "(",
    ")",
    ":",
    "//",
    "https",
    "www",
    ".",
    "&",
    "#64;",
]
PIECES += [
    "commat;",
    "a",
    " ",
    "\n",
    "`",
    "```",
    "\\",
    "|",
    "/",
    "details",
    "br",
    "*",
    "_",
    "~",
    "\u2060",
    "\u200b",
    "-",
    "gh-",
    "\t",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_no_combination_acts(text: str) -> None:
    assert_harmless(text)
