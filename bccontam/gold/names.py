"""File names in the header lines of a diff: unquoted, told apart, and without the prefixes diff adds.

Works on single header lines as text and knows nothing of the diff around them; `bccontam.gold` reads that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

Names = tuple[str, str]
"""The name before a change and the one after it; an empty one says that there is no such file."""

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = re.compile(r'(?:\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))+')
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = dict(zip('abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_TIME = re.compile(
    r" (?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*(?: ?[-+]\d{4})?|\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}.*"
    r"|\((?:revision \d+|working copy|nonexistent)\))$"
)
_NO_FILE = ("/dev/null", "dev/null", "a/dev/null", "b/dev/null")
_PREFIXES = frozenset("abciow12")
"""git's prefixes: the standard ones, those of diff.mnemonicPrefix, and 1/ 2/ of git diff --no-index."""

_MAX_LENGTH = 20_000
_MAX_SPLITS = 100


def read_name(text: str) -> str:
    """The name `text` stands for, quoted as git and GNU diff do it or plain.

    In a plain name a backslash is a Windows separator, since both tools quote a name that holds one.
    Bytes that are not UTF-8 become lone surrogates.
    """
    quoted = _QUOTED.match(text)
    if not quoted:
        return text.replace("\\", "/")
    if "\\" in _ESCAPES.sub("", quoted[1]):
        return quoted[1].replace("\\", "/")
    return _ESCAPES.sub(_unescape, quoted[1])


def _unescape(escapes: re.Match[str]) -> str:
    codes = _ESCAPE.findall(escapes[0])
    return bytes(int(c, 8) if len(c) == 3 else _ESCAPED[c] for c in codes).decode("utf-8", "surrogateescape")


def read_pair_line(line: str) -> str:
    """The name on a `---` or `+++` line; empty for no file.

    A TAB may end it, and a time or an svn revision follow. Where a tool made blanks of the TAB they go too.
    """
    text = line[4:]
    if not text.startswith('"'):
        text, tab, _ = text.partition("\t")
        text = text if tab else _TIME.sub("", text).rstrip(" ")
    name = read_name(text)
    return "" if name in _NO_FILE else name


def split_names(names: str, separator: str, old: str | None, new: str | None) -> Names | None:
    """The two names on one line, with their prefixes; None where that is open to doubt.

    Plain names may hold the `separator`. What decides is, in this order: the names `old` and `new` of the
    `---` and `+++` lines where there are such lines; that both are the same file, as they are unless it was
    renamed; git's own prefixes.
    """
    splits = list(_splits(names, separator))
    agreeing = [
        (left, right) for left, right in splits if old in (None, "", left) and new in (None, "", right)
    ]
    splits = agreeing or splits
    if alike := [split for split in splits if _is_one_file(*split)]:
        return min(alike, key=lambda split: (split[0] != split[1], len(split[0]) != len(split[1])))
    prefixed = [split for split in splits if _have_git_prefixes(*split)]
    splits = prefixed or splits
    return splits[0] if len(splits) == 1 else None


def _splits(names: str, separator: str) -> Iterator[Names]:
    if len(names) > _MAX_LENGTH or names.count(separator) > _MAX_SPLITS:
        return
    if '"' in names:
        quoted = _QUOTED.match(names)
        end = quoted.end() if quoted else names.find(separator + '"')
        right = names[end:].removeprefix(separator)
        if right != names[end:] and (_QUOTED.fullmatch(right) or (quoted and right and '"' not in right)):
            yield read_name(names[:end]), read_name(right)
        return
    position = names.find(separator)
    while position >= 0:
        yield read_name(names[:position]), read_name(names[position + len(separator) :])
        position = names.find(separator, position + 1)


def _is_one_file(left: str, right: str) -> bool:
    old, new = without_prefixes(left, right)
    return old == new or left in _NO_FILE or right in _NO_FILE


def without_prefixes(left: str, right: str, lone_prefix: bool = True) -> Names:
    """Both names without what diff put before them; `/dev/null` becomes an empty name.

    Equal names carry no prefix (diff.noprefix), as git itself judges. Names that are equal but for their
    first component carry one each, whatever it is; so do different names (a rename) that begin with two of
    git's prefixes or with a scheme such as `src://`. Else what both end with is the name, when they have
    different beginnings. A name without a partner loses `a/` or `b/` if `lone_prefix`.
    """
    left, right = ("" if name in _NO_FILE else name for name in (left, right))
    if not left or not right:
        lone = left or right
        if lone_prefix and lone.startswith(("a/", "b/")):
            lone = lone[2:]
        return (lone, "") if left else ("", lone)
    if left == right:
        return left, right
    old, new = without_first(left), without_first(right)
    if old and (old == new or _have_git_prefixes(left, right) or ("://" in left and "://" in right)):
        return old, new
    has_prefixes = _first(left) != _first(right) or left.startswith("/")
    tail = _common_tail(left, right) if has_prefixes else ""
    return (tail, tail) if tail else (left, right)


def without_first(name: str) -> str:
    """`name` without its first component."""
    return name.partition("/")[2].lstrip("/")


def _first(name: str) -> str:
    return name.partition("/")[0]


def _have_git_prefixes(left: str, right: str) -> bool:
    return _first(left) != _first(right) and {_first(left), _first(right)} <= _PREFIXES


def _common_tail(left: str, right: str) -> str:
    """The last components that both names share."""
    pairs = zip(reversed(left.split("/")), reversed(right.split("/")), strict=False)
    shared = [one for one, other in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    return "/".join(reversed(shared))
