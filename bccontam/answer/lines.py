"""Paths in an answer that is no JSON: lists, tables, YAML, tags, one path a line, and code spans in prose.

A piece of text counts only when it is a path and nothing else; a sentence yields nothing. Brackets are read by
`bccontam.answer.reader`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bccontam.answer.path import cut_position, looks_like_file
from bccontam.answer.text import words

_MAX_LINE = 2**16
_MAX_LINES = 5_000  # lines with something like a path in them, from the last

_FINAL = re.compile(
    r"^[ \t>*#_`-]{0,20}(?:(?:so|thus|hence|my|the)\W+){0,3}"
    r"(?:final\W+(?:answer|list|prediction|choice|file|path)s?|answer)(?:\s+(?:is|are))?\s?[*_`]{0,4}:",
    re.IGNORECASE | re.MULTILINE,
)
"""A heading that says the answer follows."""

_FILE_LINE = re.compile(r"^([ \t]*+)([^\n]*[.`/\\]\w[^\n]*)$", re.MULTILINE)

_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)(\s[^<>]{0,2000})?/?>")
_ATTRIBUTE = re.compile(r"[\w:-]{1,40}\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_INLINE_TAGS = words("a b body br code div em html i kbd p pre span strong tt u")

_MARKER = re.compile(
    r"(?:[^\w\s\"'`“«„‘(<\[\]{}$%~./\\|&@#:;,]{1,3}|#{1,6}|\|+"  # any bullet or quote, a diff, headings, a tree
    r"|#?\(?\d{1,3}[.):]|#\d{1,3}|\(?[a-z]\)|\[(?:[ xX]|\d{1,3})\])\s+"  # 1. (1) 1) #1 a) [x] [1]
    r"|\d{1,3}、\s*|\d{1,2}[.)](?=[A-Za-z`\"'*\[])|(?:\*|[-•]\**)(?=[\w./`\"'\[])"  # the same without a blank
)
_LABEL = re.compile(r"[*_]{0,3}[^\W\d_][\w ()#/-]{0,40}[*_]{0,3}\s?(?:(?:[:=]|->|=>|→)[*_]{0,3}\s+|：\s*)")
_SHORT_LABEL = re.compile(r"(?:files?|path|file_?path|filename|location):(?![\\/])", re.IGNORECASE)
_SPAN = re.compile(
    r"`++([^`\n]{1,4096})`++"
    r"|\*\*([^*\n]{1,4096})\*\*"
    r"|\]\(<?([^()<>\s]{1,4096})>?\)"
    r"|<(https?://[^<>\s]{1,4096})>"
    r"|(?P<quoted>[\"“«„][^\"“”«»„\n]{1,4096}[\"”“»])"
)
_LINK = re.compile(r"\[([^\[\]]*)\]\(<?([^()<>\s]*)>?\)")
_REMARK = re.compile(
    r"\s+(?:[-–—]{1,2}|->|=>|→|\||//|#|in|at|lines?|procedure|function|method|trigger)\s.*"
    r"|\s*(?:—|→).*|:\s.*|\s+[(\[].*|\t.*|\s\d[\d.,]*%?$"
)
_SEPARATORS = re.compile(r"\s*[,;|\t、，]\s*|\s+(?:and|or|&|und|et|y)\s+")
_NUMBER = re.compile(r"\s*[\"']?[-+]?\d*[.,]?\d*%?[\"']?\s*")
_GIT_HEADER = "diff --git a/"
_BLANKS = re.compile(r"[ \t]{2,}")
_ANCHOR = re.compile(r"(?:\$\{\w+\}|\$\(\w+\)|%\w+%|\\\\\?)(?=[\\/])")  # a variable before a path
_URL = re.compile(r"[a-z][a-z0-9+-]*:/+\S+", re.IGNORECASE)
_URL_OF_FILE = re.compile(r"/(?:blob|raw|src|contents|-)/|//raw\.|[?&]path=|^file:|//file/", re.IGNORECASE)
_EDGES = " \t\"'`*_,;“”„«»‘’"


class _Line(NamedTuple):
    """A line without its list markers and label. `marked`: it had a marker; `labelled`: it had a label."""

    text: str
    indent: int
    marked: bool
    labelled: bool


def listed_paths(text: str) -> list[str]:
    """Items of lists, table cells, tag contents and lines that hold a path alone, in order.

    After a heading such as `Final answer:` only what follows counts, if there is something.
    """
    headings = list(_FINAL.finditer(text))
    found = _paths_of_lines(text[headings[-1].end() :]) if headings else []
    return found or _paths_of_lines(text)


def spanned_paths(text: str) -> Iterator[str]:
    """Paths in backticks, quotes, bold or links within sentences, in order."""
    for line in _lines(text):
        yield from _spans(line.text)


def _paths_of_lines(text: str) -> list[str]:
    """Lines that begin with a path; and list items that name one later, unless they lie below another item:
    what stands under a path explains it."""
    leading: list[tuple[int, str]] = []
    mentioned: list[tuple[int, str]] = []
    top_indent = _MAX_LINE
    for number, line in enumerate(_lines(_TAG.sub(_tag_as_lines, text))):
        paths = _leading_paths(line)
        if paths:
            top_indent = min(top_indent, line.indent)
            leading += [(number, path) for path in paths]
        elif line.marked and line.indent <= top_indent:
            mentioned += [(number, path) for path in _mentioned_paths(line.text)]
    return [path for _, path in sorted([*leading, *mentioned], key=lambda found: found[0])]


def _tag_as_lines(tag: re.Match[str]) -> str:
    """A tag ends a line, its attributes stand on lines of their own, and its content is an item."""
    values = [first or second for first, second in _ATTRIBUTE.findall(tag[3] or "")]
    item = "" if tag[1] or tag[2].lower() in _INLINE_TAGS else "- "
    return "\n".join(["", *values, item])


def _lines(text: str) -> Iterator[_Line]:
    for found in list(_FILE_LINE.finditer(text))[-_MAX_LINES:]:
        if len(found[2]) <= _MAX_LINE and not found[2].startswith(("```", "~~~")):
            text = _BLANKS.sub(lambda run: "\t" if "\t" in run[0] else " ", found[2])
            yield _line(text.strip(), len(found[1]))


def _line(text: str, indent: int) -> _Line:
    marked = labelled = False
    for _ in range(4):
        if text.startswith("|") or (marker := _MARKER.match(text)) is None:
            break
        text, marked = text[marker.end() :], True
    label = _LABEL.match(text) or _SHORT_LABEL.match(text)
    if label is not None and not looks_like_file(text):
        text, labelled = text[label.end() :], True
    return _Line(text.strip(), indent, marked, labelled)


def _leading_paths(line: _Line) -> list[str]:
    """The paths a line begins with or consists of."""
    text = line.text
    if text.startswith(_GIT_HEADER):
        names = text.removeprefix(_GIT_HEADER)
        return [names[: (len(names) - len(" b/")) // 2]]
    if text.startswith("|") or text.count("|") >= 2:
        cells = [_whole(cell) or next(_spans(cell), None) for cell in text.split("|")]
        return _fullest([cell for cell in cells if cell is not None])
    if several := _several(text):
        return several
    if (file := _whole(text)) is not None:
        return [file]
    head = _REMARK.sub("", text, count=1)
    if (file := _whole(head)) is not None and (line.marked or line.labelled or "/" in file):
        return _fullest([file, *(span for span in _spans(text) if span.endswith(f"/{file}"))])
    return []


def _several(text: str) -> list[str]:
    """The paths of a line that holds several, or the one in a row of comma-separated values."""
    pieces = _SEPARATORS.split(text.strip("[](){}. "))
    if len(pieces) > 1:
        files = [_whole(piece) for piece in pieces]
        found = [file for file in files if file is not None]
        others = [piece for piece, file in zip(pieces, files, strict=True) if file is None]
        if found and all(map(_NUMBER.fullmatch, others)):
            return found
        if files[0] is not None and "/" in files[0] and "," in text and len(found) == 1:
            return [files[0]]
    pieces = text.split()
    found = [file for piece in pieces if "/" in piece and (file := _whole(piece)) is not None]
    return found if len(pieces) > 1 and len(found) == len(pieces) else []


def _mentioned_paths(text: str) -> list[str]:
    """The paths of a list item that begins with words: those before its remark, else the first one after."""
    spans = list(_spans(_REMARK.sub("", text, count=1))) or list(_spans(text))[:1]
    fuller = [span for span in _spans(text) if spans and span.endswith(f"/{spans[0]}")]
    return fuller[:1] or spans


def _fullest(files: list[str]) -> list[str]:
    """Of several spellings of one file the one with a directory."""
    return [next((file for file in files if "/" in file), files[0])] if files else []


def _whole(text: str) -> str | None:
    """`text` if it is a path and nothing else but quotes, emphasis, a line number or a link."""
    text = text.strip(" \t,;").rstrip(".:")
    if (link := _LINK.fullmatch(text)) is not None:
        return _whole(link[2]) or _whole(link[1])
    inner = text if text.startswith("__init__") else text.strip(_EDGES)
    if _is_file_url(inner):
        return inner
    quoted = len(inner) < len(text) and text[0] == text[-1] and text[0] in "\"'`"
    return inner if looks_like_file(cut_position(_ANCHOR.sub("", inner)), quoted) else None


def _is_file_url(text: str) -> bool:
    return _URL.fullmatch(text) is not None and _URL_OF_FILE.search(text) is not None


def _spans(text: str) -> Iterator[str]:
    """Paths set off from their sentence; a name in plain quotes counts only with a directory."""
    for span in _SPAN.finditer(text):
        quoted = span["quoted"]
        inner = (quoted[1:-1] if quoted else next(filter(None, span.groups()))).strip().rstrip(".,:;")
        is_file = looks_like_file(cut_position(inner), quoted=True)
        if _is_file_url(inner) or (is_file and (not quoted or "/" in inner or "\\" in inner)):
            yield inner
