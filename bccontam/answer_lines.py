"""Paths in an answer that is no JSON: lists, tables, YAML, tags, one path a line, and code spans in prose.

A piece of text counts only when it is a path and nothing else; a sentence yields nothing. Brackets are read by
`bccontam.answer_reader`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bccontam.answer_path import cut_position, looks_like_file

_MAX_LINE = 2**16
_MAX_LINES = 5_000

_FINAL = re.compile(
    r"^[\s>*#_`-]{0,20}(?:(?:so|thus|hence|my|the)\W+){0,3}(?:final\W+(?:answer|list|prediction|choice|file|path)s?|answer)"
    r"(?:\s+(?:is|are))?\s?[*_`]{0,4}:",
    re.IGNORECASE | re.MULTILINE,
)
_FILE_LINE = re.compile(r"^[^\n]*[.`/\\]\w[^\n]*$", re.MULTILINE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)(\s[^<>]{0,2000})?/?>")
_INLINE_TAGS = frozenset("a b body br code div em html i kbd p pre span strong tt u".split())
_ATTRIBUTE = re.compile(r"[\w:-]{1,40}\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')")

_MARKER = re.compile(
    r"(?:>|[-*+•‣◦▪▸–—·→➜▶✓✔☑]|\+\+\+|---|#{1,6}|#?\(?\d{1,3}[.):]|\([a-z]\)|[a-z]\)|\[(?:[ xX]|\d{1,3})\]|[│├└─|]+)\s+|\#\d{1,3}\s+|[├└]──\s*"
)
_LABEL = re.compile(r"[*_]{0,3}[A-Za-z][\w ()#/-]{0,40}[*_]{0,3}\s?[:=][*_]{0,3}\s+")
_SHORT_LABEL = re.compile(r"(?:files?|path|file_?path|filename|location):(?![\\/])", re.IGNORECASE)
_SPAN = re.compile(
    r"`+([^`\n]{1,4096})`+|\*\*([^*\n]{1,4096})\*\*|[\"“«„]([^\"“”«»„\n]{1,4096})[\"”“»]|\]\(<?([^()<>\s]{1,4096})>?\)|<(https?://[^<>\s]{1,4096})>"
)
_REMARK = re.compile(
    r"\s+(?:[-–—]{1,2}|->|=>|→|\||//|#|in|at|lines?|procedure|function|method|trigger)\s.*|\s*(?:—|→).*|:\s.*|\s+[(\[].*|\t.*"
)
_SEPARATORS = re.compile(r"\s*[,;|\t、，]\s*|\s+(?:and|or|&|und|et|y)\s+")
_NUMBER = re.compile(r"\s*[\"']?[-+]?\d*[.,]?\d*%?[\"']?\s*")
_GIT_HEADER = re.compile(r"diff --git a/(.+) b/\1")
_ANCHOR = re.compile(r"(?:\$\{\w+\}|\$\(\w+\)|%\w+%|\\\\\?)(?=[\\/])")
_EDGES = " \t\"'`*_,;“”„«»‘’"
_URL_FILE = re.compile(
    r"https?://\S+?/(?:\S*/)?(?:blob|raw|src|contents|-)/\S+|https?://raw\.\S+|https?://\S+[?&]path=\S+|(?:file:|\w+://file)/\S+",
    re.IGNORECASE,
)


def listed_paths(text: str) -> Iterator[str]:
    """Items of lists, table cells, tag contents and lines that hold a path alone, in order.

    After a heading such as `Final answer:` only what follows counts, if there is something.
    """
    headings = list(_FINAL.finditer(text))
    if headings:
        found = list(_from_lines(text[headings[-1].end() :]))
        if found:
            yield from found
            return
    yield from _from_lines(text)


def spanned_paths(text: str) -> Iterator[str]:
    """Paths in backticks, quotes, bold or links within sentences, in order."""
    for line in _lines(text):
        yield from _spans(line)


def _from_lines(text: str) -> Iterator[str]:
    for line in _lines(_TAG.sub(_tag_lines, text)):
        yield from _of_line(line)


def _tag_lines(tag: re.Match[str]) -> str:
    values = [first or second for first, second in _ATTRIBUTE.findall(tag[3] or "")]
    item = "" if tag[1] or tag[2].lower() in _INLINE_TAGS else "- "
    return "\n".join(["", *values, item])


def _lines(text: str) -> Iterable[str]:
    lines = [found[0].strip() for found in _FILE_LINE.finditer(text)]
    return (line for line in lines[-_MAX_LINES:] if len(line) <= _MAX_LINE)


def _of_line(line: str) -> Iterator[str]:
    if line.startswith(("```", "~~~")):
        return
    if (header := _GIT_HEADER.fullmatch(line)) is not None:
        yield header[1]
        return
    if line.count("|") >= 2 or line.startswith("|"):
        cells = [
            file for cell in line.split("|") if (file := _whole(cell)) or (file := next(_spans(cell), None))
        ]
        yield from _fullest(cells)
        return
    rest, is_item = _without_markers(line)
    if (label := _LABEL.match(rest) or _SHORT_LABEL.match(rest)) is not None and not looks_like_file(rest):
        rest, is_item = rest[label.end() :], True
    several = _several(rest)
    if several:
        yield from several
    elif (file := _whole(rest)) is not None:
        yield file
    else:
        yield from _of_item(rest, is_item)


def _several(rest: str) -> list[str]:
    """The paths of a line that holds several, or one in a row of a table of comma-separated values."""
    pieces = _SEPARATORS.split(rest.strip("[](){}. "))
    if len(pieces) > 1:
        files = [_whole(piece) for piece in pieces]
        found = [file for file in files if file is not None]
        others = [piece for piece, file in zip(pieces, files, strict=True) if file is None]
        if found and all(map(_NUMBER.fullmatch, others)):
            return found
        if files[0] is not None and "/" in files[0] and "," in rest and len(others) == len(pieces) - 1:
            return [files[0]]
    words = rest.split()
    found = [file for word in words if "/" in word and (file := _whole(word)) is not None]
    return found if len(words) > 1 and len(found) == len(words) else []


def _of_item(rest: str, is_item: bool) -> Iterator[str]:
    """The path a list item is about: it stands first, or in the first span; remarks after it name others."""
    head = _REMARK.sub("", rest, count=1)
    if (file := _whole(head)) is not None and (is_item or "/" in file):
        yield from _fullest([file, *(span for span in _spans(rest) if span.endswith(f"/{file}"))])
    elif is_item:
        spans = list(_spans(head)) or list(_spans(rest))[:1]
        same = [span for span in _spans(rest) if spans and span.endswith(f"/{spans[0]}")]
        yield from same[:1] or spans


def _fullest(files: list[str]) -> list[str]:
    """Of several spellings of one file the one with a directory."""
    return [next((file for file in files if "/" in file), files[0])] if files else []


def _without_markers(line: str) -> tuple[str, bool]:
    is_item = False
    for _ in range(4):
        if (marker := _MARKER.match(line)) is None:
            break
        line, is_item = line[marker.end() :], True
    return line.strip(), is_item


def _whole(text: str) -> str | None:
    """`text` if it is a path and nothing else but quotes, emphasis, a line number or a link."""
    text = text.strip(" \t,;").rstrip(".:")
    if (link := re.fullmatch(r"\[([^\[\]]*)\]\(<?([^()<>\s]*)>?\)", text)) is not None:
        return _whole(link[2]) or _whole(link[1])
    inner = text.strip(_EDGES) if not text.startswith("__init__") else text
    if _URL_FILE.fullmatch(inner):
        return inner
    quoted = bool(inner) and len(inner) < len(text) and text[0] == text[-1] and text[0] in "\"'`"
    return inner if looks_like_file(cut_position(_ANCHOR.sub("", inner)), quoted) else None


def _spans(line: str) -> Iterator[str]:
    for span in _SPAN.finditer(line):
        inner = next(filter(None, span.groups())).strip().rstrip(".,:;")
        is_quote = span[3] is not None
        if _URL_FILE.fullmatch(inner) or (
            looks_like_file(cut_position(inner), quoted=True)
            and ("/" in inner or "\\" in inner or not is_quote)
        ):
            yield inner
