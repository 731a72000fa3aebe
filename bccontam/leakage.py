"""What a problem statement gives away about the gold files (docs/statistics.md section 7).

Grades a statement against the gold paths, and an answer against the statement. It judges text alone: what
a model could guess from the naming convention is measured by `bccontam.naming`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, Literal
from urllib.parse import unquote

from bccontam.paths import normalize_path

EntryGrade = Literal["path", "basename", "object-name", "none"]
FileGrade = Literal["path", "basename", "object-name", "weak", "none"]

MINIMUM_STEM_LETTERS: Final = 6
"""A stem with fewer letters ("Item", "base") stands in any text by chance and is no leak."""

_UNUSUAL_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_NO_BREAK_HYPHEN = "\u2011"
_ZERO_WIDTH = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_REPEATED_SEPARATOR = re.compile("//+")
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")
_ASCII_NEITHER = dict.fromkeys(code for code in range(128) if not chr(code).isalnum())
_JOINERS = ".-"


def leakage_grade(problem_statement: str, gold: Sequence[str]) -> EntryGrade:
    """The strongest grade among the gold paths: `path`, `basename`, `object-name` or `none`.

    A weak object name (one plain word) counts as an object name here, as the definition has it.
    """
    found = set(gold_grades(problem_statement, gold).values())
    if "path" in found:
        return "path"
    if "basename" in found:
        return "basename"
    return "object-name" if found & {"object-name", "weak"} else "none"


def gold_grades(problem_statement: str, gold: Sequence[str]) -> dict[str, FileGrade]:
    """Each gold path with what the statement gives away about it.

    `path` and `basename` stand in the statement as a whole name, separators and case folded. For
    `object-name` everything but letters and digits is removed from both sides and the basename's stem (what
    stands before its first dot) is looked for; `weak` is an object name of one plain word, such as
    `Customer.Table.al`, which a statement may well use without meaning the object.
    """
    text = _fold(problem_statement)
    squashed = _squash(text)
    return {path: _file_grade(path, text, squashed) for path in gold}


def copied_from_question(predicted: Sequence[str], problem_statement: str) -> bool:
    """Whether a predicted path or its basename stands in the statement as a whole name."""
    text = _fold(problem_statement)
    return any(_stands_in(text, name) for path in predicted for name in _path_and_basename(path))


def leak_check_text(text: str) -> str:
    """The text as it looks to a reader: no-break characters made plain, zero-width ones taken out.

    For checks alone; a model gets the statement unchanged.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text).replace(_NO_BREAK_HYPHEN, "-")
    return _ZERO_WIDTH.sub("", _UNUSUAL_SPACE.sub(" ", text))


def _file_grade(path: str, text: str, squashed: str) -> FileGrade:
    whole, name = _path_and_basename(path)
    if _stands_in(text, whole):
        return "path"
    if _stands_in(text, name):
        return "basename"
    stem = _squash(name.split(".", 1)[0])
    if sum(map(str.isalpha, stem)) < MINIMUM_STEM_LETTERS or stem not in squashed:
        return "none"
    return "weak" if _is_one_plain_word(path) else "object-name"


def _path_and_basename(path: str) -> tuple[str, str]:
    folded = _fold(normalize_path(path))
    return folded, folded.rsplit("/", 1)[-1]


def _is_one_plain_word(path: str) -> bool:
    stem = path.replace("\\", "/").rsplit("/", 1)[-1].split(".", 1)[0]
    return stem.isalpha() and stem[1:].islower()


def _fold(text: str) -> str:
    """One spelling for a path written with either separator, in any case, or inside a URL (`%20`)."""
    if "%" in text:
        text = unquote(text)
    return _REPEATED_SEPARATOR.sub("/", leak_check_text(text).replace("\\", "/")).casefold()


def _squash(folded: str) -> str:
    if folded.isascii():  # ten times faster, and most statements are
        return folded.translate(_ASCII_NEITHER)
    return _NEITHER_LETTER_NOR_DIGIT.sub("", folded)


def _stands_in(text: str, name: str) -> bool:
    """Whether the name occurs in the text and is not a piece of a longer name there."""
    return any(_is_whole(text, start, start + len(name)) for start in _occurrences(text, name))


def _occurrences(text: str, name: str) -> Iterator[int]:
    """Where the name starts in the text, without overlaps, so that the search stays linear."""
    start = text.find(name) if name else -1
    while start >= 0:
        yield start
        start = text.find(name, start + len(name))


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no longer name holds text[start:end].

    A letter or digit next to it continues a name ("MyPost.Codeunit.al" is not "Post.Codeunit.al"), and so
    does a dot or dash with a letter or digit on its far side ("models.py.bak"); the full stop after
    "models.py." does not. An underscore separates: "test_models.py" gives "models.py" away. A folder in front
    does not make it another name: tracebacks and links show where the repository lies on somebody's disk.
    """
    before = text[max(start - 2, 0) : start]
    after = text[end : end + 2]
    return not (_continues(before[::-1]) or _continues(after))


def _continues(neighbours: str) -> bool:
    if neighbours[:1] in _JOINERS:
        neighbours = neighbours[1:]
    return neighbours[:1].isalnum()
