"""Gold files of a patch: every path it touches, by its name after the patch, and how it touches it.

The names are read here, from the header lines: unidiff guesses them wrongly where they are quoted, hold
blanks or carry other prefixes than `a/` and `b/`. unidiff counts the hunks, so that content which looks like
a header is not taken for one. Nothing is opened or applied, and a path is kept as text, `..` included.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Literal

from unidiff.constants import SUBMODULE_FILE_MODE
from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from bccontam.errors import PatchError
from bccontam.gold.names import Names, read_name, read_pair_line, split_names, without_first, without_prefixes

Kind = Literal["modified", "added", "deleted", "renamed", "copied", "binary", "mode"]


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A path the gold patch touches: post-image `path`, pre-image `old_path` where it differs.

    `binary` and `mode` are existing files whose change is not to their text. `submodule` marks another
    repository, which is no source file. A byte of a name that is not UTF-8 is a lone surrogate
    (`surrogateescape`), as in Python's own file functions.
    """

    path: str
    old_path: str | None
    kind: Kind
    submodule: bool = False


def extract_gold_files(patch: str, warn: Callable[[str], None] | None = None) -> list[GoldFile]:
    """The files `patch` touches, in order of first occurrence, each once; empty for text that is no diff.

    A deleted file stands under its old name. Hunks whose lines do not add up cost a warning (`warn`, by
    default a log line), as the headers still name the files. Raises PatchError where a name is open to
    doubt, and for diffs in another format than unified or combined.
    """
    lines = _legible(patch).removesuffix("\n").split("\n")
    sections = _sections(lines)
    if not sections and any(map(_LEFTOVER.match, lines)):
        raise PatchError("the patch has lines of a diff but names no file; make it again with git diff")
    if any(section.broken for section in sections):
        (warn or logging.getLogger("bccontam").warning)(
            "a patch has a hunk with more or fewer lines than it counts; its files are taken from the headers"
        )
    prefixed = not any(section.form == "pair" and section.old == section.new for section in sections)
    found = [(section.form, _gold_file(section, prefixed)) for section in sections]
    files: dict[str, GoldFile] = {}
    for _, file in found:
        if file.path:
            files[file.path] = _merged(files[file.path], file) if file.path in files else file
    return _without_opened(files, {file.path for form, file in found if form != "submodule"})


def _without_opened(files: dict[str, GoldFile], written: set[str]) -> list[GoldFile]:
    """All but the submodules of `Submodule` lines whose own files follow (git diff --submodule=diff)."""
    if files.keys() <= written:
        return list(files.values())
    folders = {path[: slash.start()] for path in written for slash in re.finditer("/", path)}
    return [file for path, file in files.items() if path in written or path not in folders]


def _merged(first: GoldFile, again: GoldFile) -> GoldFile:
    """One file for two sections about one path: a change of type, or commits put one after another."""
    kind = first.kind
    if again.kind == "deleted":
        kind = "deleted"
    elif first.kind in ("deleted", "binary", "mode"):
        kind = "modified" if again.kind == "added" else again.kind
    old_path = (first.old_path or again.old_path) if kind in ("renamed", "copied") else None
    return replace(first, kind=kind, old_path=old_path)


# --- The text: what a tool on the way did to it is undone -----------------------------------------------

_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")
_INDENTED = re.compile(r"\s*[ \t]diff --git ")
_CONTEXT_DIFF = re.compile(r"^\*{15}.*\n\*\*\* \d+(?:,\d+)? \*\*\*\*", re.MULTILINE)
_NORMAL_DIFF = re.compile(r"^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] ", re.MULTILINE)
_LEFTOVER = re.compile(
    r"[ \t>|*]*(?:diff -|@@ -\d|\+\+\+ |Index: |Only in .+: |GIT binary patch|(?:Add|Update|Delete) File: )"
    r"|\d+(?:,\d+)?[acd]$|[ad]\d+ \d+$"
)
"""A line of a diff in a text in which no file was found; the last two are those of ed and RCS scripts."""


def _legible(patch: str) -> str:
    text = _undo_utf16(patch) if "\0" in patch or patch.startswith("\ufffe") else patch
    if "\0" in text:
        raise PatchError("the patch holds a NUL character; make it again with git diff, without --text")
    text = text.removeprefix("\ufeff").rstrip("\r").replace("\n\ufeff", "\n")
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n")
        text = text if "\n" in text else text.replace("\r", "\n")
    if "\x1b[" in text:
        text = _COLOUR.sub("", text)
    if _INDENTED.match(text):
        raise PatchError("the patch is indented, so that its headers look like content; remove the indent")
    if "\n" not in text and r"\n" in text and _LEFTOVER.match(text):
        raise PatchError("the patch is one line with its line ends written as \\n; unescape it first")
    is_context = "***************" in text and _CONTEXT_DIFF.search(text)
    if is_context or (("\n< " in text or "\n> " in text) and _NORMAL_DIFF.search(text)):
        raise PatchError("the patch is a context or normal diff; make it again with git diff or diff -u")
    return text


def _undo_utf16(patch: str) -> str:
    """UTF-16 that was read as UTF-8, Latin-1 or the other byte order, read again; else `patch` itself."""
    try:
        if patch.startswith("\ufffe"):
            return patch.encode("utf-16-le", "surrogatepass").decode("utf-16-be")
        text = patch.lstrip("\ufffd")
        is_latin = text.startswith(("\u00ff\u00fe", "\u00fe\u00ff"))
        data = text.encode("latin-1") if is_latin else text.encode("utf-8", "surrogateescape")
        data = data.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
        even, odd = data[0::2].count(0), data[1::2].count(0)
        if "\ufffd" in text or max(even, odd) * 4 < len(data):
            return patch
        return data.decode("utf-16-le" if odd > even else "utf-16-be")
    except UnicodeError:
        return patch


# --- Sections: what the header lines of one file say ----------------------------------------------------

_STARTS = ("diff -", "Index: ", "Submodule ", "Binary file ", "Binary files ")
"""Lines that begin something new wherever they stand: no line of a hunk starts with a letter."""

_EXTENDED: dict[str, Kind | None] = {
    "new file mode ": "added",
    "deleted file mode ": "deleted",
    "rename from ": "renamed",
    "rename old ": "renamed",
    "rename to ": "renamed",
    "rename new ": "renamed",
    "copy from ": "copied",
    "copy to ": "copied",
    "old mode ": "mode",
    "new mode ": "mode",
    "mode ": "mode",
    "GIT binary patch": "binary",
    "similarity index ": None,
    "dissimilarity index ": None,
    "index ": None,
}
"""The extended header lines of git-diff ("Generating patch text with -p") and what they say of a file."""

_FROM = ("rename from ", "rename old ", "copy from ")
_TO = ("rename to ", "rename new ", "copy to ")
_MAX_NAME = 20_000
_NO_NEWLINE = "\\ No newline at end of file\n"
_SUBMODULE = re.compile(
    r"Submodule (?P<path>.+?) (?:(?P<old>[0-9a-f]{4,64})\.{2,3}(?P<new>[0-9a-f]{4,64})\b"
    r"|contains (?:untracked|modified) content)"
)
_BINARY = re.compile(r"Binary files? (?P<names>.+) (?:differ|(?P<single>has changed))$")


@dataclass(slots=True)
class _Section:
    """What the header lines of one file say; `form` is where its names stand.

    `names` is the rest of the first line: two names in "git" and "binary", one in "single" and "submodule".
    `old` and `new` are the names of the `---` and `+++` lines, empty for no file, None for no such line;
    `source` and `target` those of a rename or copy. `line` is the number of the first line, `end` of the
    first after the headers, both from 0. `broken`: the hunks do not add up.
    """

    form: Literal["git", "binary", "pair", "single", "submodule"]
    line: int
    names: str = ""
    old: str | None = None
    new: str | None = None
    source: str = ""
    target: str = ""
    kind: Kind | None = None
    is_binary: bool = False
    is_submodule: bool = False
    has_hunks: bool = False
    broken: bool = False
    end: int = 0


def _sections(lines: list[str]) -> list[_Section]:
    starts = [number for number, line in enumerate(lines) if line.startswith(_STARTS)]
    starts.append(len(lines))
    sections = _pairs(lines, 0, starts[0])
    for start, end in pairwise(starts):
        line = lines[start]
        option, _, names = line.removeprefix("diff --").partition(" ")
        if line.startswith("Binary ") and sections and sections[-1].end == start:
            sections[-1].is_binary = True
            sections += _pairs(lines, start + 1, end)
        elif option == "git":
            section = _read_headers(_Section("git", start, names), lines, end)
            sections += [section, *_read_hunks(section, lines, end)]
        elif option in ("cc", "combined"):
            sections.append(_read_headers(_Section("single", start, names), lines, end))
        else:
            following = _pairs(lines, start + 1, end)
            if not (following and line.startswith("Index: ")):
                sections += _announced(lines, start, end)
            sections += following
    return sections


def _read_headers(section: _Section, lines: list[str], end: int) -> _Section:
    """Read the extended header lines and the `---` and `+++` lines after them, as far as they go."""
    section.end = section.line + 1
    while section.end < end:
        line = lines[section.end]
        word = next((word for word in _EXTENDED if line.startswith(word)), None)
        if word is None:
            break
        section.end += 1
        if word in _FROM:
            section.source = read_name(line.removeprefix(word))
        elif word in _TO:
            section.target = read_name(line.removeprefix(word))
        kind = _EXTENDED[word]
        section.is_submodule |= line.endswith(" " + SUBMODULE_FILE_MODE)
        section.is_binary |= kind == "binary"
        if kind and kind != "binary" and section.kind in (None, "mode"):
            section.kind = kind
    if _is_pair(lines, section.end, end):
        section.old, section.new = map(read_pair_line, lines[section.end : section.end + 2])
        section.end += 2
    section.has_hunks = section.end < end and lines[section.end].startswith("@@")
    return section


def _is_pair(lines: list[str], number: int, end: int) -> bool:
    return number + 1 < end and lines[number].startswith("--- ") and lines[number + 1].startswith("+++ ")


def _find_pair(lines: list[str], start: int, end: int) -> int | None:
    """The next `---` and `+++` lines with a hunk after them: without one they may be content."""
    for number in range(start, end - 2):
        if lines[number + 2].startswith("@@") and _is_pair(lines, number, end):
            return number
    return None


def _pairs(lines: list[str], start: int, end: int) -> list[_Section]:
    """The sections that have no first line of their own but begin with `---` and `+++` lines."""
    number = _find_pair(lines, start, end)
    if number is None:
        return []
    old, new = map(read_pair_line, lines[number : number + 2])
    section = _Section("pair", number, old=old, new=new, has_hunks=True, end=number + 2)
    return [section, *_read_hunks(section, lines, end)]


def _read_hunks(section: _Section, lines: list[str], end: int) -> list[_Section]:
    """Count the hunks of `section`; returns the sections of `_pairs` that follow them."""
    if not section.has_hunks:
        return _pairs(lines, section.end, end)
    files = _count_hunks(lines[section.end : end])
    if not files:
        if _find_pair(lines, section.end, end) is not None:
            raise _doubt(section.end, "hunks")
        section.broken = True
        return []
    if section.form == "pair":
        section.kind = _kind_of_hunks(files[0])
    return [
        _Section(
            "pair",
            section.line,
            old=read_pair_line("--- " + file.source_file),
            new=read_pair_line("+++ " + file.target_file),
            kind=_kind_of_hunks(file),
            has_hunks=True,
        )
        for file in files[1:]
    ]


def _count_hunks(lines: list[str]) -> list[PatchedFile]:
    """The file that has these hunks, and the files that follow; none where the hunks do not add up."""
    body = (_NO_NEWLINE if line.startswith("\\") else line + "\n" for line in lines)
    try:
        files = PatchSet(chain(("--- a/_\n", "+++ b/_\n"), body), metadata_only=True)
    except (UnidiffParseError, ValueError):
        return []
    return files if all(files) else []


def _kind_of_hunks(file: PatchedFile) -> Kind | None:
    if file.is_added_file:
        return "added"
    return "deleted" if file.is_removed_file else None


def _announced(lines: list[str], start: int, end: int) -> list[_Section]:
    """The section of an `Index:` (svn), `Submodule` (git diff --submodule) or `Binary files` line."""
    line = lines[start]
    if match := _BINARY.match(line):
        return [_Section("single" if match["single"] else "binary", start, match["names"], is_binary=True)]
    if match := _SUBMODULE.match(line):
        is_new, is_gone = (not (match[side] or "-").strip("0") for side in ("old", "new"))
        kind: Kind | None = "added" if is_new else "deleted" if is_gone else None
        return [_Section("submodule", start, match["path"], kind=kind, is_submodule=True)]
    has_rule = lines[start + 1 : end] and lines[start + 1].startswith("=====")
    is_repeated = lines[end : end + 1] and lines[end].startswith("diff -")
    if line.startswith("Index: ") and has_rule and not is_repeated:
        is_binary = any(text.startswith("Cannot display") for text in lines[start:end])
        return [_Section("single", start, line.removeprefix("Index: "), is_binary=is_binary)]
    return []


def _gold_file(section: _Section, prefixed: bool) -> GoldFile:
    """The file of `section`. `prefixed`: a lone name in a "pair" may carry `a/` or `b/`."""
    if section.source and section.target:
        old, new = section.source, section.target
    elif section.form in ("single", "submodule"):
        old = new = read_name(section.names)
    elif section.form == "pair":
        old, new = without_prefixes(section.old or "", section.new or "", prefixed)
        old = new if old in (new + ".orig", new + "~") else old
    else:
        old, new = _two_names(section)
    if max(len(old), len(new)) > _MAX_NAME:
        raise _doubt(section.line, "names")
    old, new = _tidy(old), _tidy(new)
    kind = _kind(section, old, new)
    path = old if kind == "deleted" else new
    return GoldFile(path or old, old if kind in ("renamed", "copied") else None, kind, section.is_submodule)


def _tidy(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _kind(section: _Section, old: str, new: str) -> Kind:
    if section.kind and section.kind != "mode":
        return section.kind
    if section.old == "" or not old:
        return "added"
    if section.new == "" or not new:
        return "deleted"
    if old != new:
        return "renamed"
    if section.is_binary:
        return "binary"
    return "mode" if section.kind == "mode" and not section.has_hunks else "modified"


def _two_names(section: _Section) -> Names:
    """The names of a `diff --git` or `Binary files` line, checked against the `---` and `+++` lines."""
    separator = " and " if section.form == "binary" else " "
    split = split_names(section.names, separator, section.old, section.new)
    written = (section.old or "", section.new or "")
    if split is None:
        if not any(written):
            raise _doubt(section.line, "names")
        return without_prefixes(*written)
    names = without_prefixes(*split)
    for text, part, name in zip(written, split, names, strict=True):
        if text not in ("", part, name) and without_first(text) != name:
            raise _doubt(section.line, "names")
    return names


def _doubt(line: int, what: str) -> PatchError:
    return PatchError(
        f"the {what} from line {line + 1} of the patch on are open to doubt; make it again with git diff"
    )
