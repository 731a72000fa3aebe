from __future__ import annotations

import pytest

from bccontam.answer import Prediction, parse_prediction
from tests.support.answers import BILLING, BOTH, ORDER, SHOP


@pytest.mark.parametrize(
    "marker",
    ["- ", "* ", "+ ", "• ", "– ", "1. ", "1) ", "(1) ", "[1] ", "#1 ", "> ", "> - ", "- [ ] ", "- [x] ",
     "### ", "→ ", "  - ", "-", "1.", "1、", "✅ ", "├── "],
)  # fmt: skip
@pytest.mark.parametrize(
    "path", ["{}", "`{}`", "**{}**", "**`{}`**", '"{}"', "[file]({})", "`{}:12`", "{}#L10"]
)
def test_a_list_with_any_marker_gives_its_paths(marker: str, path: str) -> None:
    lines = [marker + path.format(ORDER), marker.replace("1", "2") + path.format(SHOP)]
    assert parse_prediction("Likely files:\n" + "\n".join(lines)) == BOTH


@pytest.mark.parametrize(
    "remark",
    [
        " - the table",
        " — see `src/x.al`",
        ": page src/x.al",
        " (new)",
        " [modified]",
        " in PostOrder",
        " 0.9",
        " (95%)",
        " -> x",
    ],
)
def test_a_remark_after_a_path_is_no_path(remark: str) -> None:
    assert parse_prediction(f"- {ORDER}{remark}\n- `{SHOP}`{remark}") == BOTH


@pytest.mark.parametrize(
    "text",
    [
        f"1. Order table (`{ORDER}`)\n2. Shop page: `{SHOP}`",
        f"- **ShpfyOrder.Table.al** (`{ORDER}`)\n- **ShpfyShop.Page.al**: `{SHOP}`",
        f"1. `{ORDER}`\n   - it calls `src/x.al`\n2. `{SHOP}`\n   **Reason:** uses `src/y.al`",
        f"- `{ORDER}`, `{SHOP}`",
        f"File 1: {ORDER}\nFile 2: `{SHOP}`",
        f"可能的文件：{ORDER}\n文件：`{SHOP}`",
        f"Order table → {ORDER}\nShop page -> `{SHOP}`",
        f"**Primary file:** `{ORDER}`\n**Also:** {SHOP}",
        f"### `{ORDER}`\nIt computes the total.\n### `{SHOP}`\nIt shows it.",
    ],
)
def test_an_item_gives_the_path_it_is_about(text: str) -> None:
    assert parse_prediction(text) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        f"{ORDER}\r\n{SHOP}\r\n",
        f"{ORDER}, {SHOP}",
        f"{ORDER},{SHOP}",
        f"{ORDER}; {SHOP}",
        f"{ORDER} {SHOP}",
        f"{ORDER} and {SHOP}",
        f"`{ORDER}`, `{SHOP}`",
        f"path,confidence\n{ORDER},0.9\n{SHOP},0.4",
        f"rank,path\n1,{ORDER}\n2,{SHOP}",
        f"files:\n  - path: {ORDER}\n    reason: the table, see x\n  - path: '{SHOP}' # page\n",
        f"---\n- file: {ORDER}\n  confidence: 0.9\n- file: {SHOP}\n...",
        f"files: [{ORDER}, {SHOP}]",
        f'files = ["{ORDER}", "{SHOP}"]',
        f"<files><file>{ORDER}</file><file>{SHOP}</file></files>",
        f"&lt;file&gt;{ORDER}&lt;/file&gt;\n&lt;file&gt;{SHOP}&lt;/file&gt;",
        f'<file path="{ORDER}"/>\n<file path="{SHOP}" reason="x"/>',
        f"<ol><li><code>{ORDER}</code> - order</li><li>{SHOP} (page)</li></ol>",
        f"{ORDER}<br>{SHOP}<br/>",
        f"| # | Path | Why |\n|---|:--|---|\n| 1 | `{ORDER}` | table |\n| 2 | {SHOP} | page |",
        f"| File | Path |\n|---|---|\n| ShpfyOrder.Table.al | `{ORDER}` |\n| ShpfyShop.Page.al | `{SHOP}` |",
        f"Path | Why\n--- | ---\n{ORDER} | x\n{SHOP} | y",
        f"├── {ORDER}\n└── {SHOP}",
        f"diff --git a/{ORDER} b/{ORDER}\n--- a/{ORDER}\n+++ b/{ORDER}\n@@ -1 +1 @@\n-x\n+y\n+++ b/{SHOP}\n",
        f"Maybe:\n- `src/x.al`\n\nFinal answer:\n- `{ORDER}`\n- `{SHOP}`",
        f"- https://github.com/o/r/blob/main/{ORDER}#L3\n- https://github.com/o/r/blob/main/{SHOP}",
    ],
)
def test_lists_without_json_are_read(text: str) -> None:
    assert parse_prediction(text) == BOTH


@pytest.mark.parametrize(
    "text",
    [BILLING, f"- {BILLING}", f"1. {BILLING} - contract", f"The bug is in `{BILLING}`.", f"[{BILLING}]"],
)
def test_a_path_with_blanks_stays_whole(text: str) -> None:
    assert parse_prediction(text) == Prediction((BILLING,), "ok")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (ORDER, ORDER),
        (f"{ORDER}.", ORDER),
        (f"It is `{ORDER}`, I think.", ORDER),
        (f'The file "{ORDER}" is it.', ORDER),
        (f"See **{ORDER}**.", ORDER),
        ("Look at `ShpfyOrder.Table.al`.", "ShpfyOrder.Table.al"),
        ("- app/[id]/(chat)/page.tsx", "app/[id]/(chat)/page.tsx"),
        ("- .github/workflows/ci.yml", ".github/workflows/ci.yml"),
        ("`.gitignore`", ".gitignore"),
        ("- src/Makefile", "src/Makefile"),
        ("- src\\tables\\new.al", "src/tables/new.al"),
        ("- src/App/Sales\\_Post.al", "src/App/Sales_Post.al"),
    ],
)
def test_one_path_set_off_from_its_sentence_counts(text: str, path: str) -> None:
    assert parse_prediction(text) == Prediction((path,), "ok")


@pytest.mark.parametrize(
    "text",
    [
        "The bug is in the posting routine.",
        "I think src/a.al is the file, or rather src/App/Foo.Table.al and more.",
        "This is Node.js code, e.g. foo.bar, i.e. x.y; see section 3.b.",
        "Use `Rec.Modify(true)`, `Rec.Count`, `git diff` and `int[]`.",
        "- Sales header table\n- Posting codeunit",
        "The name is `<ObjectName>.<ObjectType>.al`, or `*.al`, ending in `.al`.",
        "and/or",
        "Visit https://example.com/page.html or example.com.",
        "Version 1.2.3 and 24/7 support.",
        "```\nstep 1: orders\nRec.Modify\n```",
        "function foo() { return x[1]; } // 'a'",
        '["just a sentence about it"]',
        "[1, 2, 3] {} [x]",
        "~~src/old.al~~",
    ],
)
def test_prose_yields_no_path(text: str) -> None:
    assert parse_prediction(text).paths == ()
