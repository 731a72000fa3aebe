"""The attempts at reading an answer, in their order, for `bccontam.answer.parse_prediction`.

The text without terminal sequences, events and reasoning; the last list of paths in brackets; the same on
readings of the text with its escapes undone; lists, tables, tags and lines of paths; paths in backticks. The
first attempt that finds a path is the answer. Time and memory are bounded by `bccontam.answer.text.MAX_TEXT`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from bccontam.answer import EXAMPLE_PATHS, Prediction
from bccontam.answer.items import group_nodes, is_empty_list, is_link, node_items, stands_alone
from bccontam.answer.lines import listed_paths, spanned_paths
from bccontam.answer.path import clean_path, is_shaped_like_a_path, looks_like_file
from bccontam.answer.reader import Node, read_nodes
from bccontam.answer.text import (
    answer_block,
    bounded,
    event_message,
    is_refusal,
    other_readings,
    plain_text,
    reply_text,
    unescape_entities,
    without_reasoning,
)

_MAX_EXAMINED = 500  # distinct items of one list; nobody means the rest
_MAX_LISTS = 20  # lists looked at, from the last
_MAX_LISTED = 2**16  # characters of a string that may be a list of files
_MAX_NESTED = 3  # answers encoded within answers

_ENCODED = re.compile(r"\s*(?:\[\s*[\"'\\]|\{\s*[\"'\\]|```)")
_SEVERAL = re.compile(r"(?<!\s)(?:\s*[\n;|,]\s*|\s+and\s+)")


class _List(NamedTuple):
    """Brackets that stand together, read for their quoted items only or for bare words too."""

    group: list[Node]
    quoted: bool

    @property
    def has_items(self) -> bool:
        return any(node.items for node in self.group)

    def items(self) -> Iterator[str]:
        return (item.text for node in self.group for item in node_items(node) if item.firm or not self.quoted)


class _Found(NamedTuple):
    paths: list[str]
    echoed: bool


def parse(text: str, top_k: int, repo: str | None) -> Prediction:
    """What `bccontam.answer.parse_prediction` says of a text."""
    return _Parser(max(top_k, 0), repo).parse(text, _MAX_NESTED)


@dataclass(frozen=True, slots=True)
class _Parser:
    top_k: int
    repo: str | None

    def parse(self, text: str, nested: int) -> Prediction:
        text = plain_text(bounded(text))
        message = event_message(text)
        if message is not None and nested:
            return self.parse(message, nested - 1)
        if not text.strip():
            return Prediction((), "error")
        text, cut = without_reasoning(text)
        if not text.strip():
            return Prediction((), "truncated" if cut else "unparsed")
        block = answer_block(text)
        prediction = self.read(block, nested)
        return self.read(text, nested) if prediction.status == "unparsed" and block != text else prediction

    def read(self, text: str, nested: int) -> Prediction:
        nodes = read_nodes(text)
        groups = group_nodes(text, nodes)
        echoed = False
        for prediction in self.attempts(text, groups, nested):
            if prediction is not None and prediction.status != "echo":
                return prediction
            echoed |= prediction is not None
        if echoed:
            return Prediction((), "echo")
        if groups and _is_cut(text, groups[-1]):
            return Prediction((), "truncated")
        return Prediction((), "refusal" if is_refusal(text) else "unparsed")

    def attempts(self, text: str, groups: list[list[Node]], nested: int) -> Iterator[Prediction | None]:
        yield self.from_brackets(_quoted_lists(text, groups), nested)
        reply = reply_text(text)
        if reply is not None and nested:
            yield self.parse(reply, nested - 1)
        for reading in other_readings(text):
            read = group_nodes(reading, read_nodes(reading))
            yield self.from_brackets([*_quoted_lists(reading, read), *_bare_lists(reading, read)], nested)
        yield self.from_brackets(_bare_lists(text, groups), nested)
        yield self.from_plain_list(text, groups, nested)
        yield self.from_texts(listed_paths(unescape_entities(text)))
        yield self.from_texts(spanned_paths(text))
        yield self.from_brackets(_bare_lists(text, groups, anywhere=True), nested)

    def from_brackets(self, lists: Iterable[_List], nested: int) -> Prediction | None:
        """The first list with a path in it; one that is the prompt's example is passed over."""
        echoed = False
        for candidate in lists:
            found = self.collect(candidate.items(), nested)
            if any(map(is_shaped_like_a_path, found.paths)):
                return self.prediction(found, candidate)
            echoed |= found.echoed
        return Prediction((), "echo") if echoed else None

    def from_plain_list(self, text: str, groups: list[list[Node]], nested: int) -> Prediction | None:
        """A list that stands alone: of names without extension or directory, or an empty one."""
        alone = [group for group in groups[-_MAX_LISTS:] if stands_alone(text, group)]
        for group in reversed(alone):
            if not any(node.words for node in group):
                candidate = _List(group, quoted=True)
                found = self.collect(candidate.items(), nested)
                if found.paths:
                    return self.prediction(found, candidate)
        is_empty = any(all(map(is_empty_list, group)) for group in alone)
        return Prediction((), "empty") if is_empty else None

    def from_texts(self, texts: Iterable[str]) -> Prediction | None:
        found = self.collect(texts, nested=0)
        if found.paths:
            return Prediction(tuple(found.paths[: self.top_k]), "ok")
        return Prediction((), "echo") if found.echoed else None

    def prediction(self, found: _Found, source: _List) -> Prediction:
        return Prediction(tuple(found.paths[: self.top_k]), "ok" if source.group[-1].closed else "truncated")

    def collect(self, texts: Iterable[str], nested: int) -> _Found:
        """The distinct paths of some items, without the example when all of it is there."""
        wanted = self.top_k + len(EXAMPLE_PATHS)
        paths: dict[str, None] = {}
        for text in islice(dict.fromkeys(islice(texts, 20 * _MAX_EXAMINED)), _MAX_EXAMINED):
            paths.update(dict.fromkeys(self.paths_of_item(text, nested)))
            if len(paths) >= wanted:
                break
        echoed = all(example in paths for example in EXAMPLE_PATHS)
        kept = [path for path in paths if not (echoed and path in EXAMPLE_PATHS)]
        return _Found(kept, echoed)

    def paths_of_item(self, text: str, nested: int) -> Iterator[str]:
        """Mostly one path; several where one string holds a list of files, or an encoded answer."""
        if nested and _ENCODED.match(text):
            yield from self.parse(text, 0).paths
            return
        for piece in _files_of(text):
            path = clean_path(piece, self.repo)
            for part in _files_of(path) if path is not None else ():
                if (cleaned := clean_path(part)) is not None:
                    yield cleaned


def _files_of(text: str) -> list[str]:
    """The parts of a string that is a list of files and nothing else; otherwise the string."""
    parts = [part for part in _SEVERAL.split(text) if part] if len(text) <= _MAX_LISTED else []
    return parts if len(parts) > 1 and all(looks_like_file(part, quoted=True) for part in parts) else [text]


def _quoted_lists(text: str, groups: list[list[Node]]) -> Iterator[_List]:
    """The last lists in square or curly brackets, the very last first, for their quoted items."""
    lists = (_List(group, quoted=True) for group in reversed(groups) if group[0].bracket != "(")
    return islice((found for found in lists if found.has_items), _MAX_LISTS)


def _bare_lists(text: str, groups: list[list[Node]], anywhere: bool = False) -> Iterator[_List]:
    """The same for unquoted items and for round brackets, which must stand alone to be no part of a sentence,
    or at least be no Markdown link."""
    lists = (
        _List(group, quoted=False)
        for group in reversed(groups)
        if not is_link(text, group[0]) and (anywhere or stands_alone(text, group))
    )
    return islice((found for found in lists if found.has_items), _MAX_LISTS)


def _is_cut(text: str, group: list[Node]) -> bool:
    last = group[-1]
    return not (last.closed or last.words) and stands_alone(text, group)
