"""Hostile text as Markdown text: after these functions no mention, link, image, HTML or marker can come alive.

Pure. Whatever comes from a dataset, a model or an input goes through `code` (identifiers and paths) or `text`
(words) before it stands in a comment, a summary or a report. Some of what GitHub brings to life cannot be
escaped, as it looks at the finished text: there a word joiner, which is not shown, takes it apart.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 200
"""Characters of one value that are shown; a mark stands for what is left out."""

EMPTY = "(none)"

_JOINER = "\u2060"
_BACKTICKS = re.compile("`+")
_COMMENT = re.compile(r"<(?=!--)")
_NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Letters and marks that show nothing by themselves."""


_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_MARKS = re.compile(r"[\\`*_{}\[\]#|~!<>&^$]")
_AT_START = re.compile(r"^(\s*)(?:([-+=])|(\d{1,9})([.)]))")
_COMES_ALIVE = re.compile(
    r"(?<=@)(?=\w)"  # mentions, mail addresses
    r"|(?<=\#)(?=\d)"  # issues
    r"|(?<=[Gg][Hh]-)(?=\d)"  # issues, the old way
    r"|(?<=:)(?=[\w+/-])"  # links, :shortcodes:
    r"|(?<=[Ww]{3})(?=\.)"  # links without a scheme
    r"|(?<![0-9A-Za-z])(?=[0-9a-f]{7,64}(?![0-9A-Za-z]))"  # commits
)


def visible(value: str) -> str:
    """The text with control, format and bidirectional characters and lone surrogates written as escapes."""
    if value.isascii() and value.isprintable():
        return value
    return "".join(char if _is_plain(char) else _escape(char) for char in value)


def _is_plain(char: str) -> bool:
    return " " <= char <= "~" or not (unicodedata.category(char) in _HIDDEN or _UNSEEN.match(char))


def _escape(char: str) -> str:
    number = ord(char)
    if char in _NAMES:
        return _NAMES[char]
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"  # a byte of a file name that is not UTF-8
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def cut(value: str, longest: int = LONGEST) -> str:
    """At most `longest` characters, with a mark where something was left out."""
    return value if len(value) <= longest else f"{value[: longest - 1]}…"


def code(value: str, longest: int = LONGEST) -> str:
    """A code span for a table cell or a sentence; an empty value is `(none)`.

    Its fence is longer than any run of backticks inside, control characters are visible, and it is cut.
    """
    shown = cut(visible(cut(value, longest)), longest)
    if not shown:
        return EMPTY
    if shown.isspace():
        return f"`{'␣' * len(shown)}`"
    # A table splits its cells before it reads code spans: a bar is escaped even inside one. A backslash in front
    # of the bar would undo that, so there the bar stands between two spans.
    return "&#124;".join(_span(part) for part in re.split(r"(?<=\\)\|", shown))


def _span(shown: str) -> str:
    if not shown:
        return ""
    shown = _COMMENT.sub(f"<{_JOINER}", shown).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(shown)), default=0) + 1)
    blank = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def codes(values: list[str] | tuple[str, ...], most: int = 10) -> str:
    """Several code spans with commas, at most `most` of them and the number of the others."""
    spans = [code(value) for value in values[:most]]
    if len(values) > most:
        spans.append(f"and {len(values) - most:,} more")
    return ", ".join(spans)


def text(value: str, longest: int = 2_000) -> str:
    """Words outside code, on one line: every mark escaped, and what would come alive taken apart."""
    shown = visible(" ".join(cut(value, longest).split("\n")))
    shown = _COMES_ALIVE.sub(_JOINER, shown)
    shown = _MARKS.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), shown)
    return _AT_START.sub(_escape_start, shown)


def _escape_start(found: re.Match[str]) -> str:
    """A first dash, plus or number with a dot would begin a list."""
    blanks, sign, number, dot = found.groups()
    return f"{blanks}\\{sign}" if sign else f"{blanks}{number}\\{dot}"
