"""Model text -> predicted paths and a status.

Finds the list a model answered with, in whatever it is wrapped, and cleans each item. It never raises, never
invents a path, and takes bounded time and memory. It knows no gold path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "truncated", "refusal", "empty", "echo", "unparsed", "error"]

EXAMPLE_PATHS = ("src/App/Foo.Table.al", "src/App/Bar.Codeunit.al")
"""The paths the shipped prompts show as the form of an answer; an answer of these alone is an echo."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Ordered predicted paths (at most top-k) and how the text read."""

    paths: tuple[str, ...]
    status: Status


def parse_prediction(text: str | None, top_k: int = 3, repo: str | None = None) -> Prediction:
    """The paths an answer names, in its order, at most `top_k`, and how it read.

    `repo` is `owner/name`; it helps to tell a repository's name or URL from its directories. Statuses: `ok`;
    `truncated` (the text ends within its list; complete items count); `refusal`; `empty` (a valid empty list);
    `echo` (nothing but `EXAMPLE_PATHS`); `unparsed` (no path found); `error` (no text at all). Blank items,
    duplicates and what is no path take no place. Never raises.
    """
    if not isinstance(text, str):
        return Prediction((), "error")
    # Its regular expressions take 30 ms to compile: a report on stored results needs none of them.
    from bccontam.answer.parse import parse

    return parse(text, top_k, repo)
