"""Text from a dataset: made whole on the way in, cut at the limit, escaped on the way into a message.

It changes nothing else: the problem statement of a row is asked as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bccontam.errors import DatasetError

STATEMENT_LIMIT = 100_000
"""Longest problem statement in characters; what is behind it is cut."""

CUT_MARK = f"\n\n[cut here: the problem statement is longer than {STATEMENT_LIMIT:,} characters]"

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.@+=~ /-]")
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Statement:
    """A problem statement as it is asked, or the reason why there is none."""

    text: str = ""
    problem: str = ""
    cut: bool = False


def make_statement(text: str) -> Statement:
    """The statement with lone surrogates replaced, cut at STATEMENT_LIMIT with a visible mark."""
    if len(text) <= STATEMENT_LIMIT:
        return Statement(clean(text))
    return Statement(clean(text[:STATEMENT_LIMIT]) + CUT_MARK, cut=True)


def clean(text: str) -> str:
    """The text with lone surrogates as U+FFFD: JSON can carry them, and no UTF-8 output can."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def as_text(value: object) -> str | None:
    """A field's text: a list of lines is joined, null is empty, and None means that it is no text at all."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(line if line.endswith("\n") else line + "\n" for line in value)
    return None


def one_line(value: object) -> str:
    """A short field (repository, area) on one line; empty when it is neither text nor a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return " ".join(clean(str(value)).split())


def shown(text: str) -> str:
    """Dataset text fit for a message: plain ASCII, everything else escaped, at most 80 characters."""
    escaped = _NOT_PLAIN.sub(_escape, text[:_LONGEST_SHOWN])
    return escaped if len(text) <= _LONGEST_SHOWN else escaped + "..."


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def bad(file: Path, place: str, reason: str) -> DatasetError:
    """The one sentence about a file that cannot be used; `place` is `line 3`, `row 3` or empty."""
    where = f"{shown_path(file)}, {place}" if place else shown_path(file)
    return DatasetError(f"{where}: {reason}.")


def shown_path(path: Path) -> str:
    """A path as the user wrote it, on one line."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(path)
    )
