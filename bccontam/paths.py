"""One spelling for a path, so that a predicted path and a gold path can be compared as text.

Knows nothing of patches or answers, and touches no file: a path here is text, `..` and all.
"""

from __future__ import annotations

import re
import unicodedata

_PLAIN = re.compile(r"(?![ab]/)(?:\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/(?!$)|$))+")
"""A path that is already canonical (most are): the work below is skipped for it."""

_PLAIN_NAME = re.compile(r"\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*")
"""A last component that normalising leaves as it is, whatever stands before it."""

_INVISIBLE = dict.fromkeys(
    map(ord, "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff")
)
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_DELETED: dict[int, None] = _INVISIBLE | _BIDI

_FOLDED = str.maketrans(
    dict.fromkeys("\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a", " ")
    | dict.fromkeys("\u202f\u205f\u3000", " ")
    | {"\\": "/"}
)

_BLANKS = "".join(map(chr, range(0x21))) + "\x7f\x85\u2028\u2029"
_QUOTES = "\"'`´\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
_EDGES = _BLANKS + _QUOTES

_DIFF_PREFIXES = ("a", "b")


def normalize_path(path: str) -> str:
    """The canonical repo-relative spelling of `path`, with `/`; empty when nothing is left of it.

    Backslashes become `/`; empty and `.` components, a leading and a trailing slash go; so do blanks and
    quotes around the whole, and invisible characters (zero-width, direction marks, BOM) anywhere. Every
    Unicode space becomes an ASCII one, and composed letters their NFC form. A dotfile keeps its dot and
    `..` stays as text. Never raises, and `normalize_path(normalize_path(p)) == normalize_path(p)`.

    The prefix `a/` or `b/` of a diff header goes too, as a model may copy it. What follows a prefix
    may look like one (`a/b/core.py`), and taking just one off would give another result the second time:
    the whole run of them goes. A file under a real top directory `a` or `b` is therefore spelled without
    it, which does no harm as long as both sides of a comparison are normalised. Do not display or store a
    gold path in this form.
    """
    if _PLAIN.fullmatch(path):
        return path
    if not path.isascii():
        path = unicodedata.normalize("NFC", path.translate(_DELETED))
    parts = [part for part in path.translate(_FOLDED).split("/") if part not in ("", ".")]
    while parts:
        parts[-1] = parts[-1].rstrip(_EDGES)
        if parts[-1] not in ("", "."):
            break
        parts.pop()
    for start, part in enumerate(parts):
        first = part.lstrip(_EDGES)
        is_prefix = first in _DIFF_PREFIXES and start + 1 < len(parts)
        if first not in ("", ".") and not is_prefix:
            return "/".join([first, *parts[start + 1 :]])
    return ""


def basename(path: str) -> str:
    """The lower-cased file name of `path` after normalising; empty when there is none."""
    name = path.rpartition("/")[2]
    if _PLAIN_NAME.fullmatch(name):
        return name.lower()
    return normalize_path(path).rpartition("/")[2].lower()


def suffix(path: str, depth: int = 3) -> str:
    """The last `depth` (at least 1) components of `path` after normalising, lower-cased."""
    return "/".join(normalize_path(path).split("/")[-depth:]).lower()
