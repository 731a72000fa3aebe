"""What stands in a Markdown page: fenced blocks, headings, links, code spans.

Reads the plain Markdown that README and docs are written in; it is no general parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^( *)```(.*)$")
_HEADING = re.compile(r"^(#{1,6}) (.+)$")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the page, the line of its fence, what the fence says (`sh checked`), and what it holds."""

    path: Path
    line: int
    info: str
    text: str

    @property
    def place(self) -> str:
        """`README.md:12`, for the name of a test."""
        return f"{self.path.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level, its text as written, and its anchor as GitHub makes it."""

    level: int
    text: str
    anchor: str


def blocks(path: Path, info: str = "") -> list[Block]:
    """The fenced blocks of a page, all or those whose fence says exactly `info`."""
    found = [part for part in _parts(path) if isinstance(part, Block)]
    return [block for block in found if not info or block.info == info]


def prose(path: Path) -> str:
    """The page without its fenced blocks."""
    return "\n".join(part for part in _parts(path) if isinstance(part, str))


def headings(path: Path) -> list[Heading]:
    """The headings of a page in their order."""
    found: list[Heading] = []
    seen: dict[str, int] = {}
    for line in prose(path).split("\n"):
        match = _HEADING.match(line)
        if match:
            slug = _slug(match[2])
            number = seen.get(slug, 0)
            seen[slug] = number + 1
            found.append(Heading(len(match[1]), match[2], f"{slug}-{number}" if number else slug))
    return found


def links(path: Path) -> list[str]:
    """Targets of links and images, in the page's own spelling."""
    return [first or second for first, second in _LINK.findall(_SPAN.sub("", prose(path)))]


def spans(path: Path) -> list[str]:
    """Code spans outside of fenced blocks."""
    return _SPAN.findall(prose(path))


def _slug(text: str) -> str:
    """GitHub's anchor of a heading: lower case, blanks as dashes, other punctuation gone."""
    plain = text.replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def _parts(path: Path) -> Iterator[Block | str]:
    """The lines of a page, fenced blocks each as one."""
    lines = iter(enumerate(path.read_text(encoding="utf-8").split("\n"), start=1))
    for number, line in lines:
        fence = _FENCE.match(line)
        if not fence:
            yield line
            continue
        indent, inside = len(fence[1]), []
        for _, text in lines:
            if text.strip() == "```":
                break
            inside.append(text[indent:] if text[:indent].isspace() else text)
        else:
            raise ValueError(f"{path.name}, line {number}: a block that never ends")
        yield Block(path, number, fence[2].strip(), "\n".join(inside) + "\n")
