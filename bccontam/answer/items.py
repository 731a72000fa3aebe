"""Which strings in a node are its paths, which nodes stand together, and which are empty lists.

Knows the shapes models answer in: arrays, objects with a path under one of many keys, lists of such objects,
objects keyed by path. It does not clean paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bccontam.answer.path import has_extension, looks_like_file
from bccontam.answer.reader import Leaf, Node

_PATH_KEYS = (
    *("files", "paths", "filepaths", "filenames"),
    *("path", "filepath", "fullpath", "relativepath", "relpath", "repopath", "pathname"),
    *("file", "filename", "sourcefile", "sourcepath", "targetfile"),
)
"""Keys that say they hold the path, the best first; written without case and punctuation."""

_PATH_KEY_ENDINGS = ("file", "files", "path", "paths", "filename", "filenames", "filepath", "filepaths")
_ASIDE_KEYS = re.compile(
    r"(?:reject|exclu|discard|ignor|reason|rationale|explan|thought|thinking|analysis|note|draft|schema|example)"
)
_FOLDER_KEYS = ("directory", "dir", "folder", "path")
_NAME_KEYS = ("filename", "file", "name")

_GAP = re.compile(r"(?=[^\n,;]*[\n,;])\s*[,;]?\s*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")
_LABEL_LENGTH = 200  # characters beside a list that are looked at
_BEFORE_ALONE = re.compile(r"(?:.*[:=])?[\s\"'`*_>#-]*")
_AFTER_ALONE = re.compile(r"[\s\"'`*_.;,<]*")


class Item(NamedTuple):
    """A string that may be a path. `firm`: it was quoted or named as one, not a bare word in brackets."""

    text: str
    firm: bool


def node_items(node: Node, named: bool = False) -> Iterator[Item]:
    """The items of a list, or the values of an object that say they are paths, in order."""
    if node.has_keys:
        yield from _object_items(node)
        return
    for _, value in node.items:
        yield from _value_items(value, named)


def _value_items(value: Leaf | Node, named: bool) -> Iterator[Item]:
    if isinstance(value, Node):
        yield from node_items(value, named)
    elif value.raw.strip():
        yield Item(value.path_text, value.quoted or named)


def _object_items(node: Node) -> Iterator[Item]:
    fields = [(_folded(key), value) for key, value in node.items if key is not None and not _is_blank(value)]
    values = dict(fields)
    best = next((key for key in _PATH_KEYS if key in values), None)
    if best is not None and (joined := _joined(values)) is not None:
        yield joined
        return
    if best is not None:
        for folded, value in fields:
            if folded == best:
                yield from _value_items(value, named=True)
        return
    named = [
        value
        for folded, value in fields
        if folded.endswith(_PATH_KEY_ENDINGS) and not _ASIDE_KEYS.match(folded)
    ]
    if named:
        for value in named:
            yield from _value_items(value, named=True)
        return
    for key, value in node.items:
        yield from _any_field(key, value)


def _any_field(key: str | None, value: Leaf | Node) -> Iterator[Item]:
    if key is None:
        yield from _value_items(value, named=False)
    elif looks_like_file(key):
        yield Item(key, True)
    elif isinstance(value, Node):
        if not _ASIDE_KEYS.match(_folded(key)):
            yield from node_items(value)
    elif looks_like_file(value.path_text, value.quoted):
        yield Item(value.path_text, True)


def _joined(values: dict[str, Leaf | Node]) -> Item | None:
    """A folder and a file name given apart, as one path."""
    folder = next((values[key] for key in _FOLDER_KEYS if key in values), None)
    name = next((values[key] for key in _NAME_KEYS if key in values), None)
    if not isinstance(folder, Leaf) or not isinstance(name, Leaf):
        return None
    place, file = folder.path_text.rstrip("/\\"), name.path_text
    if has_extension(place) or not has_extension(file) or "/" in file or "\\" in file:
        return None
    return Item(f"{place}/{file}", True)


def _folded(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())


def _is_blank(value: Leaf | Node) -> bool:
    return is_empty_list(value) if isinstance(value, Node) else not value.raw.strip()


def is_empty_list(node: Node) -> bool:
    """Whether a closed list or object says that there is no path: nothing in it, or blanks and nulls only."""
    keyed = [value for key, value in node.items if key is not None and _folded(key) in _PATH_KEYS]
    if keyed or not node.closed:
        return node.closed and all(map(_is_blank, keyed))
    return not (node.words or node.scalars) and all(_is_blank(value) for _, value in node.items)


def group_nodes(text: str, nodes: list[Node]) -> list[list[Node]]:
    """Nodes that stand one after another, on lines of their own or with a comma between, form one list."""
    groups: list[list[Node]] = []
    for node in nodes:
        previous = groups[-1][-1] if groups else None
        if previous is not None and previous.closed and _GAP.fullmatch(text, previous.end, node.start):
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def is_link(text: str, node: Node) -> bool:
    """Whether the brackets are the text of a Markdown link or reference, not a list."""
    return node.closed and node.bracket == "[" and text[node.end : node.end + 1] in ("(", "[", ":")


def stands_alone(text: str, group: list[Node]) -> bool:
    """Whether nothing but a label stands on the lines of the group: it is an answer, not part of a sentence."""
    start, end = group[0].start, group[-1].end
    before = text[max(start - _LABEL_LENGTH, 0) : start].rpartition("\n")[2]
    after = text[end : end + _LABEL_LENGTH].partition("\n")[0] if end >= 0 else ""
    if max(len(before), len(after)) == _LABEL_LENGTH:
        return False
    return _BEFORE_ALONE.fullmatch(before) is not None and _AFTER_ALONE.fullmatch(after) is not None
