"""Brackets in a text -> nodes: JSON as models write it, good or broken, anywhere in prose.

A tolerant reader in one forward pass: single, typographic or no quotes, comments, stray commas, Python
tuples, raw backslashes, brackets that never close. It says what stands in the brackets; which of them is the
answer is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from bccontam.answer.path import looks_like_file

MAX_DEPTH = 64
"""Brackets nested deeper are no answer."""

_MAX_ITEMS = 10_000

# The tokens inside brackets, one regular expression. Every quantifier is possessive or bounded, so that a token
# is found or refused in time linear in its length.
_SPACING = r"(?>(?:[\s,;，、；]++|\\[nrt](?=[\s\"'\[\]{}\\]))*)"
_AFTER_QUOTE = r"(?:\s*(?:[,:;，、；\]})QUOTE]|=>|//|/\*|\#)|[^\S\n]*$)"


def _string(quote: str) -> str:
    """A quote ends the string if something that may follow a string comes next; up to eight may stand inside.
    Where that finds no end, the next quote is it."""
    run = rf"(?>(?:[^{quote}\\\n]++|\\.)*)"
    inner = rf"{quote}(?!{_AFTER_QUOTE.replace('QUOTE', quote)})"
    return rf"{quote}{run}(?>(?:{inner}{run}){{0,8}}){quote}|{quote}[^{quote}\\\n]*+{quote}"


_TOKEN = re.compile(
    _SPACING
    + r"(?:(?P<open>[\[{]|\w{0,20}\((?=\s*[\"'“`]))"
    + r"|(?P<close>[\]})])"
    + r"|(?P<comment>//[^\n]*+|\#[^\n]*+|/\*)"
    + rf"|[rRbBuUfF]{{0,2}}(?P<string>{_string(chr(34))}|{_string(chr(39))})"
    + r"|(?P<curly>[“”„‟«»「『][^“”„‟«»「」『』\"\n]*+[”“„‟»«」』\"]|[‘‚‹›][^‘’‚‹›\n]*+[’‘›‹])"
    + r"|(?P<ticked>`++[^`\n]++`++)"
    + r"|(?P<broken>\"[^\n]*+)"
    + r"|(?P<key>[\w$-]{1,64}\s*+(?::(?=[\s\"'\[{“`])|=>|=(?=\s*[\"'\[{])))"
    + r"|(?P<bare>(?>(?:[^,;\n\[\]{})，、]++|\)(?=[\w/.-]))+))"
    + r"|(?P<stray>.))",
    re.MULTILINE,
)
_OPENING = re.compile(r"[\[{]|\((?=\s*[\"'“`])")
_COLON = re.compile(r"\s*+(?::|=>)")
_CLOSES = {"]": "[", "}": "{", ")": "("}
_NOTHING = re.compile(r"(?:null|none|nil|undefined|\.{2,}|…)", re.IGNORECASE)
_SCALAR = re.compile(r"[-+]?\d[\w.+%-]*|true|false|nan|[-+]?inf(?:inity)?", re.IGNORECASE)
_REMARK = re.compile(r"(?<!\s)\s+(?:#|//).*", re.DOTALL)
_INNER_QUOTE = re.compile(r'(?<!\\)"')
_ANY_QUOTE = re.compile(r'\\?"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_CONTROL = re.compile("[\x00-\x1f]+")


class Leaf(NamedTuple):
    """A string as written between its quotes (escapes undecoded), or a bare word (`quoted` false)."""

    raw: str
    quoted: bool

    @property
    def text(self) -> str:
        """The string with its JSON escapes decoded; an unknown escape stays as it is."""
        return _ESCAPE.sub(_decoded, self.raw) if "\\" in self.raw else self.raw

    @property
    def path_text(self) -> str:
        """The string read as a path: a backslash is a separator where decoding gives what no path holds.

        `src\\tables\\new.al` is valid JSON that decodes to a tab and a line break; `src\\App` is no JSON.
        """
        if "\\" not in self.raw:
            return self.raw
        text = self.text.strip()
        unknown = any(
            escape[2] and escape[2].isalnum() and escape[2] not in _ESCAPES
            for escape in _ESCAPE.finditer(self.raw)
        )
        lines = [line.strip() for line in _CONTROL.split(text)]
        if not unknown and (len(lines) == 1 or looks_like_file(lines[0])):
            return text
        return _ESCAPE.sub(lambda escape: _decoded(escape) if escape[1] else escape[0], self.raw.strip())


def _decoded(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPES.get(escape[2], escape[0])


@dataclass(slots=True)
class Node:
    """One pair of brackets: `items` are (key or None, value); offsets are into the text that was read.

    `end` is one past the closing bracket, -1 when it never came. `words`: unquoted prose stands in it;
    `scalars`: a number or constant does; `deep`: it is nested deeper than `MAX_DEPTH`.
    """

    bracket: str
    start: int
    end: int = -1
    items: list[tuple[str | None, Leaf | Node]] = field(default_factory=list)
    words: bool = False
    scalars: bool = False
    deep: bool = False

    @property
    def closed(self) -> bool:
        return self.end >= 0

    @property
    def has_keys(self) -> bool:
        return any(key is not None for key, _ in self.items)


def read_nodes(text: str) -> list[Node]:
    """The outermost brackets of `text` in order. In prose that never closes its bracket, those inside."""
    nodes: list[Node] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        root, position = _read_root(text, opening)
        nodes += _settled(root)
    return nodes


def _settled(root: Node) -> Iterator[Node]:
    if root.deep:
        return
    yield root
    if not root.closed and root.words:
        for _, child in root.items:
            if isinstance(child, Node):
                yield from _settled(child)


def _read_root(text: str, opening: re.Match[str]) -> tuple[Node, int]:
    root = Node(opening[0], opening.start())
    reader = _Reader(text, root)
    position = opening.end()
    while reader.stack and (token := _TOKEN.match(text, position)) is not None:
        position = reader.take(token)
    return root, position if root.closed else len(text)


class _Reader:
    """The open brackets, innermost last, and how many are open below the depth that is read."""

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.stack = [root]
        self.brackets = [root.bracket]
        self.keys: list[str | None] = [None]
        self.ignored = 0
        self.no_comment_end = False

    def take(self, token: re.Match[str]) -> int:
        """Read one token and give the position after it."""
        kind, end = token.lastgroup or "stray", token.end()
        if kind == "open":
            self.open(token[kind][-1], token.start(kind))
        elif kind == "close":
            self.close(token[kind], end)
        elif self.ignored:
            return end
        elif kind == "comment":
            return self.skip_comment(token, end)
        elif kind == "key":
            self.keys[-1] = token[kind].rstrip("=>: \n\t")
        elif kind == "bare":
            self.add_bare(token[kind].strip())
        elif kind == "broken":
            if end < len(self.text):  # the half string at the end of a cut text is dropped
                self.add_pieces(token[kind][1:])
        elif kind != "stray":
            return self.add_string(kind, token[kind], end)
        return end

    def open(self, bracket: str, start: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self.stack[0].deep = True
            self.ignored += 1
            return
        node = Node(bracket, start)
        self.add(node)
        self.stack.append(node)
        self.brackets.append(bracket)
        self.keys.append(None)

    def close(self, bracket: str, end: int) -> None:
        if self.ignored:
            self.ignored -= 1
            return
        opener = _CLOSES[bracket]
        if opener in self.brackets:
            depth = len(self.brackets) - 1 - self.brackets[::-1].index(opener)
        elif opener == "(":  # it belongs to the prose
            return
        else:  # a slip: `["a.al"}` closes its list
            depth = len(self.stack) - 1
        for node in self.stack[depth:]:
            node.end = end
        del self.stack[depth:], self.brackets[depth:], self.keys[depth:]

    def skip_comment(self, token: re.Match[str], end: int) -> int:
        if token["comment"] != "/*" or self.no_comment_end:
            return end
        closing = self.text.find("*/", end)
        self.no_comment_end = closing < 0
        return end if closing < 0 else closing + 2

    def add(self, value: Leaf | Node) -> None:
        items = self.stack[-1].items
        if len(items) < _MAX_ITEMS and not self.ignored:
            items.append((self.keys[-1], value))
        self.keys[-1] = None

    def add_string(self, kind: str, token: str, end: int) -> int:
        raw = token.strip("`") if kind == "ticked" else token[1:-1]
        if (colon := _COLON.match(self.text, end)) is not None and self.keys[-1] is None:
            self.keys[-1] = raw
            return colon.end()
        if kind == "string" and token[0] == '"' and _INNER_QUOTE.search(raw) is not None:
            self.add_pieces(raw)
        else:
            self.add(Leaf(raw, True))
        return end

    def add_pieces(self, raw: str) -> None:
        """What is left of strings whose quotes do not pair: the pieces that are paths. (A stream that was
        cut and sent again reads `["src/Ap["src/App/Foo.al"]`.)"""
        pieces = [piece.strip(" ,") for piece in _ANY_QUOTE.split(raw)]
        files = [piece for piece in pieces if looks_like_file(piece, quoted=True)]
        for piece in files:
            self.add(Leaf(piece, True))
        self.stack[-1].words |= not files
        self.keys[-1] = None

    def add_bare(self, word: str) -> None:
        node = self.stack[-1]
        word = _REMARK.sub("", word)
        bare, word = word, word.strip("\"'")
        scalar = _SCALAR.fullmatch(word) is not None
        if scalar or _NOTHING.fullmatch(word):
            node.scalars |= scalar
            if self.keys[-1] is not None:  # the key may be the path
                self.add(Leaf("", False))
        elif looks_like_file(word):
            self.add(Leaf(word, quoted=word != bare))
        else:
            node.words = True
        self.keys[-1] = None
