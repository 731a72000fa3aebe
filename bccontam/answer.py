"""Model text -> predicted paths and a status.

Finds the list a model answered with, in whatever it is wrapped, and cleans each item. It never raises, never
invents a path, and takes time and memory bounded by `answer_text.MAX_TEXT`. It knows no gold path.

The order of attempts: the text without terminal sequences, events and reasoning; the last list of paths in
brackets; the same on readings of the text with its escapes undone; lists, tables, tags and lines of paths;
paths in backticks. The first attempt that finds a path is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from bccontam.answer_lines import listed_paths, spanned_paths
from bccontam.answer_path import clean_path, has_extension, looks_like_file
from bccontam.answer_items import group_nodes, is_empty_list, is_link, node_items, stands_alone
from bccontam.answer_reader import Node, read_nodes
from bccontam.answer_text import (
    answer_block,
    bounded,
    event_message,
    is_refusal,
    other_readings,
    plain_text,
    reply_text,
    without_reasoning,
)

Status = Literal["ok", "truncated", "refusal", "empty", "echo", "unparsed", "error"]

EXAMPLE_PATHS = ("src/App/Foo.Table.al", "src/App/Bar.Codeunit.al")
"""The paths the shipped prompts show as the form of an answer; an answer of these alone is an echo."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Ordered predicted paths (at most top-k) and how the text read."""

    paths: tuple[str, ...]
    status: Status


_MAX_EXAMINED = 500  # distinct items of one list; nobody means the rest
_MAX_GROUPS = 20  # lists looked at, from the last
_MAX_NESTED = 3  # answers encoded within answers

_ENCODED = re.compile(r"\s*(?:\[\s*[\"'\\]|\{\s*[\"'\\]|```)")
_SEVERAL = re.compile(r"\s*[\n;|,]\s*|\s+and\s+")


class _Found(NamedTuple):
    paths: list[str]
    echoed: bool


def parse_prediction(text: str | None, top_k: int = 3, repo: str | None = None) -> Prediction:
    """The paths an answer names, in its order, at most `top_k`, and how it read.

    `repo` is `owner/name`; it helps to tell a repository's name or URL from its directories. Statuses: `ok`;
    `truncated` (the text ends within its list; complete items count); `refusal`; `empty` (a valid empty list);
    `echo` (nothing but `EXAMPLE_PATHS`); `unparsed` (no path found); `error` (no text at all). Blank items,
    duplicates and what is no path take no place. Never raises.
    """
    if not isinstance(text, str):
        return Prediction((), "error")
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
        return self.read(answer_block(text), nested)

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
        yield self.from_brackets(text, groups, nested)
        reply = reply_text(text)
        if reply is not None and nested:
            yield self.parse(reply, nested - 1)
        for reading in other_readings(text):
            yield self.from_brackets(reading, group_nodes(reading, read_nodes(reading)), nested)
        yield self.from_plain_list(text, groups, nested)
        yield self.from_texts(listed_paths(text))
        yield self.from_texts(spanned_paths(text))

    def from_brackets(self, text: str, groups: list[list[Node]], nested: int) -> Prediction | None:
        """The last list with a path in it: quoted items before bare words, echoes of the example passed over."""
        echoed = False
        for firm in (True, False):
            for group in _with_items(text, groups, firm):
                found = self.collect(_group_items(group, firm), nested)
                if any("/" in path or has_extension(path) for path in found.paths):
                    return self.prediction(found, group)
                echoed |= found.echoed
        return Prediction((), "echo") if echoed else None

    def from_plain_list(self, text: str, groups: list[list[Node]], nested: int) -> Prediction | None:
        """A list that stands alone: of names without extension or directory, or an empty one."""
        alone = [group for group in groups[-_MAX_GROUPS:] if stands_alone(text, group)]
        for group in reversed(alone):
            if not any(node.words for node in group):
                found = self.collect(_group_items(group, True), nested)
                if found.paths:
                    return self.prediction(found, group)
        if any(all(map(is_empty_list, group)) for group in alone):
            return Prediction((), "empty")
        return None

    def from_texts(self, texts: Iterable[str]) -> Prediction | None:
        found = self.collect(texts, nested=0)
        if found.paths:
            return Prediction(tuple(found.paths[: self.top_k]), "ok")
        return Prediction((), "echo") if found.echoed else None

    def prediction(self, found: _Found, group: list[Node]) -> Prediction:
        return Prediction(tuple(found.paths[: self.top_k]), "ok" if group[-1].closed else "truncated")

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
            yield from self.parse(text, nested - 1).paths
            return
        pieces = _SEVERAL.split(text) if len(text) <= 2**16 else [text]
        several = len(pieces) > 1 and all(looks_like_file(piece, quoted=True) for piece in pieces if piece)
        for piece in pieces if several else [text]:
            if (path := clean_path(piece, self.repo)) is not None:
                yield path


def _with_items(text: str, groups: list[list[Node]], firm: bool) -> Iterator[list[Node]]:
    """The last groups that hold a string, from the last; links are no lists."""
    with_items = (
        group
        for group in reversed(groups)
        if (group[0].bracket != "(" or (not firm and stands_alone(text, group)))
        and not (len(group) == 1 and is_link(text, group[0]))
        and any(node.items for node in group)
    )
    return islice(with_items, _MAX_GROUPS)


def _group_items(group: list[Node], firm: bool) -> Iterator[str]:
    return (item.text for node in group for item in node_items(node) if item.firm or not firm)


def _is_cut(text: str, group: list[Node]) -> bool:
    last = group[-1]
    return not last.closed and not last.words and stands_alone(text, group)
