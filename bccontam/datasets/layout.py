"""What every layout of rows is held to, and how what it finds becomes an Entry.

A layout is a module with three names: `FIELDS` (the keys it reads; nothing else of a row is decoded from
Parquet), `matches(row)` and `fields(row)`. It does not judge what it finds; `make_entry` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from bccontam.datasets.ids import check_id
from bccontam.datasets.text import Statement, as_text, clean, make_statement, one_line
from bccontam.entry import Entry, parse_created_at


@dataclass(frozen=True, slots=True)
class Fields:
    """What a row says under the names of its layout; any JSON value may stand anywhere."""

    instance_id: object
    repo: object = None
    created_at: object = None
    patch: object = None
    problem_statement: object = None
    area: object = None


class Layout(Protocol):
    """A module that reads one layout of rows."""

    FIELDS: tuple[str, ...]

    def matches(self, row: dict[str, Any]) -> bool:
        """Whether a row has this layout."""

    def fields(self, row: dict[str, Any]) -> Fields:
        """What the row says."""


def make_entry(fields: Fields) -> Entry:
    """The entry of a row. Raises ValueError when its id cannot be used; anything else makes it unscorable."""
    patch = as_text(fields.patch)
    statement = _statement(fields.problem_statement)
    return Entry(
        instance_id=check_id(fields.instance_id),
        repo=one_line(fields.repo),
        created_at=parse_created_at(fields.created_at),
        problem_statement=statement.text,
        patch=clean(patch or ""),
        area=_area(fields.area),
        statement_problem=statement.problem,
        statement_cut=statement.cut,
        patch_problem="invalid patch: it is not text" if patch is None else "",
    )


def _statement(value: object) -> Statement:
    if value is None:
        return Statement(
            problem="no problem statement: its row has none, and there is no folder of statements"
        )
    text = as_text(value)
    if text is None:
        return Statement(problem="no problem statement: it is not text")
    return make_statement(text)


def _area(value: object) -> str | None:
    """Areas as groups: in one case, without outer blanks, several joined; None when there is none."""
    values = value if isinstance(value, list) else [value]
    return ", ".join(filter(None, (one_line(item).casefold() for item in values))) or None
