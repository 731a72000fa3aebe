"""Markdown as GitHub shows it: rendered by GitHub's own parser, in its widths and colours, with Mermaid drawn.

For looking at reports and for tests of their charts. The look is close to GitHub's, not the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options

from tests.support.browser import MERMAID, Browser

WIDTH = 860
"""Pixels that a comment on a pull request has for its text, and a little around it."""

_CSS = """
:root { --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --stripe: #f6f8fa; --code: #818b981f; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --soft: #9198a1; --line: #3d444d; --stripe: #151b23; --code: #656c7633; --page: #0d1117; }
}
body { margin: 16px; font: 14px/1.5 "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif; color: var(--text);
  background: var(--page); overflow-wrap: break-word; }
h2 { font-size: 1.5em; padding-bottom: .3em; border-bottom: 1px solid var(--line); margin: 24px 0 16px; }
h3 { font-size: 1.25em; margin: 24px 0 16px; }
body > :first-child { margin-top: 0; }
p, ul, table, details, pre { margin: 0 0 16px; }
li + li { margin-top: .25em; }
table { border-collapse: collapse; display: block; width: max-content; max-width: 100%; overflow: auto; }
th, td { padding: 6px 13px; border: 1px solid var(--line); }
th { font-weight: 600; }
tr:nth-child(2n) td { background: var(--stripe); }
code { font: 85% "DejaVu Sans Mono", monospace; background: var(--code); padding: .2em .4em; border-radius: 6px; }
blockquote { margin: 0 0 16px; padding: 0 1em; color: var(--soft); border-left: .25em solid var(--line); }
sub { color: var(--soft); }
.mermaid { text-align: center; margin-bottom: 16px; }
"""
_FENCE = re.compile(r'<pre lang="mermaid"><code>(.*?)</code></pre>', re.DOTALL)


def preview(markdown: str, page: Path, *, dark: bool = False) -> None:
    """Write the page that shows `markdown`; its charts are drawn when it is opened."""
    shown = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    shown = _FENCE.sub(lambda found: f'<div class="mermaid">{found[1]}</div>', shown)
    theme = "dark" if dark else "default"
    page.write_text(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>report</title>"
        f"<style>{_CSS}</style><script src={MERMAID.as_uri()}></script></head><body>{shown}"
        f"<script>mermaid.initialize({{startOnLoad: false, theme: '{theme}'}});"
        "window.drawn = mermaid.run({querySelector: '.mermaid'})"
        ".then(() => '', error => String(error.message || error));</script></body></html>",
        encoding="utf-8",
    )


def show(browser: Browser, markdown: str, page: Path, *, dark: bool = False, width: int = WIDTH) -> str:
    """Open the preview in the browser and wait for its charts; what Mermaid had to complain about."""
    preview(markdown, page, dark=dark)
    browser.shape(width, dark=dark)
    browser.open(page)
    return str(browser.run("return window.drawn"))
