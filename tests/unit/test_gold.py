"""Gold files of a patch: the public cases, variants of their kinds, and what must be an error."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.errors import PatchError
from bccontam.gold import GoldFile, extract_gold_files
from tests.support.paths import SHARED, shared_cases

STATUS = {"added": "A", "deleted": "D", "renamed": "R", "copied": "C"}
"""git's status letters; everything else is M, a change of type (T) included."""

HUNK = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
NEW_HUNK = "@@ -0,0 +1 @@\n+one\n"
OLD_HUNK = "@@ -1 +0,0 @@\n-one\n"
INDEX = "index 1111111..2222222 100644\n"


def pair(old: str, new: str, hunk: str = HUNK) -> str:
    return f"--- {old}\n+++ {new}\n{hunk}"


def git(old: str, new: str, extended: str = INDEX, hunk: str = HUNK) -> str:
    return f"diff --git {old} {new}\n{extended}" + pair(old, new, hunk)


def paths(patch: str) -> list[str]:
    return [file.path for file in extract_gold_files(patch)]


def summary(files: list[GoldFile]) -> list[dict[str, str]]:
    return [
        {"status": STATUS.get(file.kind, "M"), "path": file.path}
        | ({"old_path": file.old_path} if file.old_path else {})
        for file in files
    ]


@pytest.mark.parametrize("case", shared_cases("diffs"))
def test_a_case_of_a_real_bug_report_gives_its_gold_files(case: dict[str, Any]) -> None:
    data = (SHARED / "cases" / case["input_file"]).read_bytes()
    expected = case["expected"]
    files = [{**file, "status": file["status"].replace("T", "M")} for file in expected["files"]]
    for patch in (case["input"], data.decode("utf-8", "surrogateescape")):
        if case["title"].startswith("NUL byte"):
            assert "or" in expected
            with pytest.raises(PatchError):
                extract_gold_files(patch)
            continue
        found = extract_gold_files(patch, warn=lambda message: None)
        assert [file.path for file in found] == expected["gold"]
        assert summary(found) == files


@pytest.mark.parametrize("case", [case for case in shared_cases("datasets") if case.id == "C082"])
def test_an_office_file_in_a_patch_is_a_binary_gold_file(case: dict[str, Any]) -> None:
    expected = case["expected"]
    files = extract_gold_files(case["input"]["patch"])
    assert [file.path for file in files] == expected["gold"]
    assert {file.path: file.kind for file in files if file.path in expected["kinds"]} == expected["kinds"]


@pytest.mark.parametrize("case", [case for case in shared_cases("datasets") if case.id == "C067"])
def test_a_patch_with_wrong_hunk_counts_gives_gold_from_its_headers_with_a_warning(
    case: dict[str, Any],
) -> None:
    text = (SHARED / "cases" / case["input_file"]).read_text(encoding="utf-8")
    wrong, right = (json.loads(line)["patch"] for line in text.split("\n") if line)
    warnings: list[str] = []
    assert extract_gold_files(right, warnings.append) == extract_gold_files(right)
    assert warnings == []
    assert extract_gold_files(wrong, warnings.append) == extract_gold_files(right)
    assert len(warnings) == 1


@pytest.mark.parametrize("case", [case for case in shared_cases("datasets") if case.id == "C037"])
def test_a_patch_with_a_nul_character_is_an_error(case: dict[str, Any]) -> None:
    row = json.loads((SHARED / "cases" / case["input_file"]).read_text(encoding="utf-8"))
    with pytest.raises(PatchError, match="NUL"):
        extract_gold_files(row["patch"])


VARIANTS: dict[str, tuple[str, list[GoldFile]]] = {
    # names
    "quoted names on both sides": (
        git('"a/\\346\\227\\245 \\"x\\".al"', '"b/\\346\\227\\245 \\"x\\".al"'),
        [GoldFile('日 "x".al', None, "modified")],
    ),
    "every escape": (
        git('"a/\\a\\b\\t\\n\\v\\f\\r\\\\\\"\\001"', '"b/\\a\\b\\t\\n\\v\\f\\r\\\\\\"\\001"'),
        [GoldFile('\a\b\t\n\v\f\r\\"\x01', None, "modified")],
    ),
    "only the new name is quoted": (
        'diff --git a/plain name.al "b/caf\\303\\251.al"\nsimilarity index 100%\n'
        'rename from plain name.al\nrename to "caf\\303\\251.al"\n',
        [GoldFile("café.al", "plain name.al", "renamed")],
    ),
    "only the old name is quoted, and no rename lines": (
        git('"a/caf\\303\\251.al"', "b/plain name.al"),
        [GoldFile("plain name.al", "café.al", "renamed")],
    ),
    "quoted mode change": (
        'diff --git "a/x\\ty" "b/x\\ty"\nold mode 100644\nnew mode 100755\n',
        [GoldFile("x\ty", None, "mode")],
    ),
    "a Windows path in quotes": (
        pair('"a\\src\\App\\Foo.al"', '"b\\src\\App\\Foo.al"'),
        [GoldFile("src/App/Foo.al", None, "modified")],
    ),
    "blank at the end of a name": (
        git("a/x ", "b/x ").replace("--- a/x ", "--- a/x \t").replace("+++ b/x ", "+++ b/x \t"),
        [GoldFile("x ", None, "modified")],
    ),
    "the TAB after a name with blanks became blanks": (
        git("a/my file.al", "b/my file.al").replace("file.al\n@@", "file.al    \n@@"),
        [GoldFile("my file.al", None, "modified")],
    ),
    "a path with dot components": (
        pair("./src/./x.al", "./src/./x.al"),
        [GoldFile("src/x.al", None, "modified")],
    ),
    "a dotfile": (git("a/.github/x.yml", "b/.github/x.yml"), [GoldFile(".github/x.yml", None, "modified")]),
    # prefixes
    "noprefix below a real directory b, new file": (
        "diff --git b/n.al b/n.al\nnew file mode 100644\n" + pair("/dev/null", "b/n.al", NEW_HUNK),
        [GoldFile("b/n.al", None, "added")],
    ),
    "noprefix rename from a/ to b/": (
        "diff --git a/core.py b/core.py\nsimilarity index 100%\nrename from a/core.py\nrename to b/core.py\n",
        [GoldFile("b/core.py", "a/core.py", "renamed")],
    ),
    "noprefix with blanks, mode only": (
        "diff --git x x x x\nold mode 100644\nnew mode 100755\n",
        [GoldFile("x x", None, "mode")],
    ),
    "prefixes in reverse": (git("b/src/x.al", "a/src/x.al"), [GoldFile("src/x.al", None, "modified")]),
    "mnemonic prefixes of a commit and the tree": (
        git("c/src/x.al", "w/src/x.al"),
        [GoldFile("src/x.al", None, "modified")],
    ),
    "mnemonic prefixes of two files": (
        git("1/src/x.al", "2/src/x.al"),
        [GoldFile("src/x.al", None, "modified")],
    ),
    "a real directory w": (git("w/x.al", "w/x.al"), [GoldFile("w/x.al", None, "modified")]),
    "mnemonic rename without rename lines": (
        git("i/old.al", "w/new.al"),
        [GoldFile("new.al", "old.al", "renamed")],
    ),
    "own prefixes of unequal length, empty file": (
        "diff --git old/a b.al newer/a b.al\nnew file mode 100644\nindex 0000000..e69de29\n",
        [GoldFile("a b.al", None, "added")],
    ),
    "own prefixes of two components": (
        git("x/old/src/x.al", "y/new/src/x.al"),
        [GoldFile("src/x.al", None, "modified")],
    ),
    "scheme-like prefixes and a rename without rename lines": (
        git("src://old.al", "dst://new.al"),
        [GoldFile("new.al", "old.al", "renamed")],
    ),
    "lone new file without a git line": (
        pair("/dev/null", "b/n.al", NEW_HUNK),
        [GoldFile("n.al", None, "added")],
    ),
    "lone new file beside names without a prefix": (
        pair("src/x.al", "src/x.al") + pair("/dev/null", "b/n.al", NEW_HUNK),
        [GoldFile("src/x.al", None, "modified"), GoldFile("b/n.al", None, "added")],
    ),
    # " b/" inside names
    "mode change, and ` b/` in every place": (
        "diff --git a/p b/q b/r b/p b/q b/r\nold mode 100644\nnew mode 100755\n",
        [GoldFile("p b/q b/r", None, "mode")],
    ),
    "text change, and ` b/` in the path": (
        git("a/lib b/x.al", "b/lib b/x.al"),
        [GoldFile("lib b/x.al", None, "modified")],
    ),
    "renamed without rename lines, told apart by the +++ line": (
        git("a/z.txt", "b/x b/y.txt", INDEX),
        [GoldFile("x b/y.txt", "z.txt", "renamed")],
    ),
    # kinds
    "copy with a text change": (
        git("a/base.al", "b/copy.al", "similarity index 90%\ncopy from base.al\ncopy to copy.al\n"),
        [GoldFile("copy.al", "base.al", "copied")],
    ),
    "mode and text change": (
        git("a/run.sh", "b/run.sh", "old mode 100644\nnew mode 100755\nindex 1111111..2222222\n"),
        [GoldFile("run.sh", None, "modified")],
    ),
    "rewritten": (
        git("a/x.al", "b/x.al", "dissimilarity index 90%\nindex 1111111..2222222 100644\n"),
        [GoldFile("x.al", None, "modified")],
    ),
    "deleted binary": (
        "diff --git a/i.png b/i.png\ndeleted file mode 100644\nindex 1111111..0000000\n"
        "Binary files a/i.png and /dev/null differ\n",
        [GoldFile("i.png", None, "deleted")],
    ),
    "binary delta, then text": (
        "diff --git a/i.png b/i.png\nindex 1111111..2222222 100644\nGIT binary patch\ndelta 10\n"
        "Rcmb1OO-xKpO@jdz00000\n\ndelta 10\nRcmb1OO-xKpO@jdz00000\n\n" + git("a/x.al", "b/x.al"),
        [GoldFile("i.png", None, "binary"), GoldFile("x.al", None, "modified")],
    ),
    "binary with ` and ` in quotes": (
        'Binary files "a/x and \\303\\251.png" and "b/x and \\303\\251.png" differ\n',
        [GoldFile("x and é.png", None, "binary")],
    ),
    "binary of which one side is missing": (
        "Binary files /dev/null and b/this and that.png differ\n",
        [GoldFile("this and that.png", None, "added")],
    ),
    "binary line after the text of another file": (
        "diff -ru a/x.al b/x.al\n" + pair("a/x.al", "b/x.al") + "Binary files a/i.png and b/i.png differ\n",
        [GoldFile("x.al", None, "modified"), GoldFile("i.png", None, "binary")],
    ),
    "binary in git's format, then text without a git line": (
        "diff --git a/i.png b/i.png\nindex 1111111..2222222 100644\nBinary files a/i.png and b/i.png differ\n"
        + pair("a/x.al", "b/x.al"),
        [GoldFile("i.png", None, "binary"), GoldFile("x.al", None, "modified")],
    ),
    "hg binary": ("Binary file img/n.png has changed\n", [GoldFile("img/n.png", None, "binary")]),
    "modified, then deleted by a later commit": (
        git("a/x.al", "b/x.al")
        + "diff --git a/x.al b/x.al\ndeleted file mode 100644\n"
        + pair("a/x.al", "/dev/null", OLD_HUNK),
        [GoldFile("x.al", None, "deleted")],
    ),
    "added, then modified by a later commit": (
        "diff --git a/x.al b/x.al\nnew file mode 100644\n"
        + pair("/dev/null", "b/x.al", NEW_HUNK)
        + git("a/x.al", "b/x.al"),
        [GoldFile("x.al", None, "added")],
    ),
    "two files change names": (
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
        "diff --git a/y b/x\nsimilarity index 100%\nrename from y\nrename to x\n",
        [GoldFile("y", "x", "renamed"), GoldFile("x", "y", "renamed")],
    ),
    # other tools
    "GNU diff of two trees": (
        "diff -ruN proj-1.0/src/x.al proj-1.1/src/x.al\n"
        + pair(
            "proj-1.0/src/x.al\t2024-01-01 10:00:00.000000000 +0100",
            "proj-1.1/src/x.al\t2024-01-02 10:00:00.000000000 +0100",
        )
        + "Only in proj-1.1/src: rest.al\n",
        [GoldFile("src/x.al", None, "modified")],
    ),
    "GNU diff -N of a new and a deleted file": (
        pair("a/n.al\t1970-01-01 01:00:00.000000000 +0100", "b/n.al\t2024-01-02 10:00:00 +0100", NEW_HUNK)
        + pair("a/o.al\t2024-01-02 10:00:00 +0100", "b/o.al\t1970-01-01 01:00:00.000000000 +0100", OLD_HUNK),
        [GoldFile("n.al", None, "added"), GoldFile("o.al", None, "deleted")],
    ),
    "times after blanks": (
        pair("a/x.al 2024-01-01 10:00:00.000000000 +0100", "b/x.al Mon Jan  1 10:00:00 2024"),
        [GoldFile("x.al", None, "modified")],
    ),
    "a backup beside the file": (pair("src/x.al.orig", "src/x.al"), [GoldFile("src/x.al", None, "modified")]),
    "absolute names in two trees": (
        pair("/tmp/old/src/x.al", "/tmp/new/src/x.al"),
        [GoldFile("src/x.al", None, "modified")],
    ),
    "svn: added, binary, empty, text": (
        "Index: trunk/n.al\n=====================\n--- trunk/n.al\t(nonexistent)\n"
        f"+++ trunk/n.al\t(working copy)\n{NEW_HUNK}"
        "Index: trunk/i.png\n=====================\nCannot display: file marked as a binary type.\n"
        "Index: trunk/empty.al\n=====================\n"
        "Index: trunk/x.al\n=====================\n--- trunk/x.al (revision 10)\n"
        f"+++ trunk/x.al (working copy)\n{HUNK}",
        [
            GoldFile("trunk/n.al", None, "added"),
            GoldFile("trunk/i.png", None, "binary"),
            GoldFile("trunk/empty.al", None, "modified"),
            GoldFile("trunk/x.al", None, "modified"),
        ],
    ),
    "svn in git's format": (
        "Index: trunk/n.al\n=====================\ndiff --git a/trunk/n.al b/trunk/n.al\n"
        "new file mode 100644\n--- /dev/null\t(nonexistent)\n+++ b/trunk/n.al\t(working copy)\n" + NEW_HUNK,
        [GoldFile("trunk/n.al", None, "added")],
    ),
    "hg": (
        "diff -r 1111 -r 2222 src/x.al\n"
        + pair("a/src/x.al\tMon Jan 01 00:00:00 2024 +0000", "b/src/x.al\tTue Jan 02 00:00:00 2024 +0000"),
        [GoldFile("src/x.al", None, "modified")],
    ),
    # line ends and coding
    "CRLF and names with blanks": (
        git("a/my file.al", "b/my file.al").replace("file.al\n@@", "file.al\t\n@@").replace("\n", "\r\n"),
        [GoldFile("my file.al", None, "modified")],
    ),
    "CRLF, a pure rename, last line end cut off": (
        "diff --git a/o b/n\r\nsimilarity index 100%\r\nrename from o\r\nrename to n\r",
        [GoldFile("n", "o", "renamed")],
    ),
    "CRLF written twice": (
        git("a/x.al", "b/x.al").replace("\n", "\r\r\n"),
        [GoldFile("x.al", None, "modified")],
    ),
    "CR alone": (git("a/x.al", "b/x.al").replace("\n", "\r"), [GoldFile("x.al", None, "modified")]),
    "BOM before a later patch": (
        git("a/x.al", "b/x.al") + "\ufeff" + git("a/y.al", "b/y.al"),
        [GoldFile("x.al", None, "modified"), GoldFile("y.al", None, "modified")],
    ),
    "colours": (
        "\x1b[1mdiff --git a/x.al b/x.al\x1b[m\n\x1b[1mold mode 100644\x1b[m\n\x1b[1mnew mode 100755\x1b[m\n",
        [GoldFile("x.al", None, "mode")],
    ),
    "line separators of Unicode in a hunk": (
        git("a/x.al", "b/x.al", INDEX, "@@ -1 +1,2 @@\n-a\u2028--- a/e\x85\x0c\n+b\u2028+++ b/e\n+c\x0b@@\n"),
        [GoldFile("x.al", None, "modified")],
    ),
    # hunks
    "header-like lines in a hunk of a patch without git lines": (
        pair("a/q.sql", "b/q.sql", "@@ -2 +2 @@\n--- a/e.sql\n+++ b/e.sql\n@@ -11 +11 @@\n-s\n+S\n"),
        [GoldFile("q.sql", None, "modified")],
    ),
    "a `diff --git` line as content": (
        git("a/x.al", "b/x.al", INDEX, "@@ -1,2 +1,2 @@\n diff --git a/e b/e\n-diff --git a/f b/f\n+x\n"),
        [GoldFile("x.al", None, "modified")],
    ),
    "a file without a git line after one with it": (
        git("a/x.al", "b/x.al") + pair("a/y.al", "b/y.al"),
        [GoldFile("x.al", None, "modified"), GoldFile("y.al", None, "modified")],
    ),
    "localised marker between hunks": (
        git("a/x.al", "b/x.al", INDEX, "@@ -1 +1 @@\n-a\n\\ Pas de fin de ligne\n+b\n\\ Pas\n" + HUNK),
        [GoldFile("x.al", None, "modified")],
    ),
    "blank lines between files": (
        pair("a/x.al", "b/x.al") + "\n\n" + pair("a/y.al", "b/y.al"),
        [GoldFile("x.al", None, "modified"), GoldFile("y.al", None, "modified")],
    ),
    # several parents, submodules
    "combined diff of a quoted name, deleted": (
        'diff --combined "caf\\303\\251 x.al"\nindex 1111111,2222222..0000000\n'
        'deleted file mode 100644,100644\n--- "a/caf\\303\\251 x.al"\n+++ /dev/null\n'
        "@@@ -1,1 -1,1 +0,0 @@@\n--a\n",
        [GoldFile("café x.al", None, "deleted")],
    ),
    "combined diff, binary": (
        "diff --cc i.png\nindex 1111111,2222222..3333333\nBinary files differ\n",
        [GoldFile("i.png", None, "binary")],
    ),
    "submodule log, then a file": (
        "Submodule my dep 1111111..2222222:\n  > diff\n  < Index: x\n" + git("a/x.al", "b/x.al"),
        [GoldFile("my dep", None, "modified", submodule=True), GoldFile("x.al", None, "modified")],
    ),
    "new submodule": (
        "Submodule libs/dep 0000000...2222222 (new submodule)\n",
        [GoldFile("libs/dep", None, "added", submodule=True)],
    ),
    "submodule in the short format": (
        git("a/libs/dep", "b/libs/dep", "index 1111111..2222222 160000\n", "@@ -1 +1 @@\n-S 1\n+S 2\n"),
        [GoldFile("libs/dep", None, "modified", submodule=True)],
    ),
    # around the diff
    "mail with a quoted hunk in its message": (
        "From 1 Mon Sep 17 00:00:00 2001\nSubject: rename\n\nrename from x\n@@ -1 +1 @@ is wrong\n---\n"
        " x | 0\n\ndiff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n-- \n2.39.5\n\n",
        [GoldFile("y", "x", "renamed")],
    ),
    "empty file, then a mail that speaks of renames": (
        "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n-- \n2.39.5\n\n"
        "Subject: x\n\nrename from old to\nrename to new\n",
        [GoldFile("e", None, "added")],
    ),
    "two fences with prose": (
        f"First:\n```diff\n{pair('a/x.al', 'b/x.al')}```\nthen\n~~~\n{git('a/y.al', 'b/y.al')}~~~\nDone.\n",
        [GoldFile("x.al", None, "modified"), GoldFile("y.al", None, "modified")],
    ),
    # no diff
    "blank lines before the first": (
        " \n\t\n\ndiff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n",
        [GoldFile("n", "o", "renamed")],
    ),
    "blanks": (" \n\t\r\n", []),
    "prose that names a command": ("Please run `diff --git` first.\nThere is a --- line +++ here.\n", []),
    "difflib without names": (pair("", ""), []),
}


@pytest.mark.parametrize(("patch", "expected"), VARIANTS.values(), ids=VARIANTS.keys())
def test_a_variant_of_a_known_kind_gives_its_gold_files(patch: str, expected: list[GoldFile]) -> None:
    warnings: list[str] = []
    assert extract_gold_files(patch, warn=warnings.append) == expected
    assert warnings == []


PLAIN = git("a/src/x.al", "b/src/x.al")

ERRORS: dict[str, str] = {
    "context diff": "*** a/x.al\t2024\n--- b/x.al\t2024\n***************\n*** 1,3 ****\n  one\n! two\n",
    "context diff beside a unified one": PLAIN
    + "diff -c a/y.al b/y.al\n*** a/y.al\n--- b/y.al\n***************\n*** 1 ****\n! a\n--- 1 ----\n! A\n",
    "normal diff": "diff -r a/x.al b/x.al\n2c2\n< two\n---\n> TWO\n",
    "normal diff without a command line": "2c2\n< two\n---\n> TWO\n",
    "ed script": "2c\nTWO\n.\n",
    "RCS script": "d2 1\na2 1\nTWO\n",
    "envelope of another patch format": "*** Begin Patch\n*** Update File: x.al\n@@\n-a\n+A\n*** End Patch\n",
    "a hunk and no name": HUNK,
    "a name on one side only": f"+++ b/x.al\n{HUNK}",
    "names and no hunk": "--- a/x.al\n+++ b/x.al\n",
    "nothing but files on one side": "Only in b/src: x.al\n",
    "indented": PLAIN.replace("diff", "    diff").replace("\n", "\n    "),
    "only the first line is indented": " diff --git a/o b/n\nrename from o\nrename to n\n" + PLAIN,
    "quoted in a mail": "> " + PLAIN.replace("\n", "\n> "),
    "log --graph": "| " + PLAIN.replace("\n", "\n| "),
    "line ends written out": PLAIN.replace("\n", "\\n"),
    "line ends written out, deleted file": "diff --git a/x b/x\\ndeleted file mode 100644\\nindex 1..0\\n",
    "one name": "diff --git a/x.al\nold mode 100644\nnew mode 100755\n",
    "two ways to split, and nothing else to tell": "diff --git a/p b/q b/r\nsimilarity index 100%\n",
    "an open quote": 'diff --git "a/x.al b/x.al\nold mode 100644\nnew mode 100755\n',
    "header and +++ line name different files": git("a/x.al", "b/x.al").replace("+++ b/x.al", "+++ b/y.al"),
    "binary files with names that do not fit": "Binary files a and b and c and d differ\n",
    "hunks that do not add up, then another file": pair("a/x.al", "b/x.al", "@@ -1,9 +1,9 @@\n one\n")
    + pair("a/y.al", "b/y.al"),
    "hunks left out, several files": pair("a/x.al", "b/x.al", "@@ ... @@\n-a\n")
    + pair("a/y.al", "b/y.al", "@@ ... @@\n-a\n"),
    "a header without end": "diff --git a/" + 30_000 * "x " + "b/x\n",
    "NUL": PLAIN.replace("TWO", "T\0WO"),
    "NUL, and a half of UTF-16": "\ufeff" + PLAIN + "\0x\0y",
    "UTF-32": PLAIN.encode("utf-32-le").decode("latin-1"),
}


@pytest.mark.parametrize("patch", ERRORS.values(), ids=ERRORS.keys())
def test_a_patch_that_cannot_be_read_is_an_error_in_one_sentence(patch: str) -> None:
    with pytest.raises(PatchError) as caught:
        extract_gold_files(patch)
    message = str(caught.value)
    assert message.count(". ") == 0
    assert "\n" not in message
    assert ".al" not in message, "a message does not give gold away"


BROKEN: dict[str, str] = {
    "too short": "@@ -1,4 +1,4 @@\n one\n-two\n+TWO\n three\n",
    "too long": "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n three\n@@ -9 +9 @@\n-x\n+y\n",
    "next hunk inside": "@@ -1,9 +1,9 @@\n one\n@@ -20 +20 @@\n-x\n+y\n",
    "surplus lines like a header": HUNK + "--- a/evil.al\n+++ b/evil.al\n",
    "surplus added line like a header": HUNK + "+++ b/evil.al\n",
    "a number too long to read": f"@@ -1,{5000 * '9'} +1 @@\n-x\n+y\n",
    "left out": "@@ ... @@\n-x\n+y\n",
    "word diff": "@@ -1,3 +1,3 @@\none\n[-two-]{+TWO+}\nthree\n",
}


@pytest.mark.parametrize("hunk", BROKEN.values(), ids=BROKEN.keys())
def test_hunks_that_do_not_add_up_leave_the_files_of_the_headers_and_one_warning(hunk: str) -> None:
    warnings: list[str] = []
    patch = git("a/f.al", "b/f.al", INDEX, hunk) + git("a/g.al", "b/g.al", INDEX, hunk)
    assert [file.path for file in extract_gold_files(patch, warnings.append)] == ["f.al", "g.al"]
    assert len(warnings) == 1


def test_a_last_hunk_that_is_one_line_short_is_told() -> None:
    warnings: list[str] = []
    short = "@@ -1,4 +1,4 @@\n one\n-two\n+TWO\n three\n"
    assert [
        file.path for file in extract_gold_files(git("a/f.al", "b/f.al", INDEX, short), warnings.append)
    ] == ["f.al"]
    assert len(warnings) == 1


def test_a_warning_goes_to_the_log_without_naming_the_file(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="bccontam"):
        extract_gold_files(git("a/f.al", "b/f.al", INDEX, "@@ -1,9 +1,9 @@\n one\n"))
    assert len(caplog.records) == 1
    assert "f.al" not in caplog.text


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("misread", ["utf-8", "latin-1", "utf-16-le", "utf-16-be"])
def test_utf16_read_as_something_else_is_read_again(codec: str, misread: str) -> None:
    patch = (
        git('"a/caf\\303\\251 x.al"', '"b/caf\\303\\251 x.al"', INDEX, HUNK.replace("one", "uno é")) + "\n"
    )
    data = ("\ufeff" + patch).encode(codec)
    text = data.decode(misread, "surrogateescape" if misread == "utf-8" else "strict")
    assert paths(text) == ["café x.al"]


def test_utf16_with_its_marks_replaced_is_read_again() -> None:
    assert paths(PLAIN.encode("utf-16").decode("utf-8", "replace")) == ["src/x.al"]


def test_a_name_that_is_not_utf8_can_be_written_as_json_and_back() -> None:
    (path,) = paths(git('"a/caf\\351.al"', '"b/caf\\351.al"'))
    assert json.loads(json.dumps(path)) == path
    assert path.encode("utf-8", "surrogateescape") == b"caf\xe9.al"


LINES = st.sampled_from(
    [line for patch, _ in VARIANTS.values() for line in patch.split("\n")]
    + [line for patch in ERRORS.values() if len(patch) < 500 for line in patch.split("\n")]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(LINES, st.text(max_size=8)), max_size=25), st.sampled_from(["\n", "\r\n", "\r"]))
def test_no_text_gives_anything_but_distinct_relative_paths_or_an_error(lines: list[str], end: str) -> None:
    try:
        files = extract_gold_files(end.join(lines), warn=lambda message: None)
    except PatchError:
        return
    found = [file.path for file in files]
    assert len(set(found)) == len(found)
    assert all(path and not path.startswith("/") for path in found)
    assert all((file.old_path is not None) == (file.kind in ("renamed", "copied")) for file in files)
