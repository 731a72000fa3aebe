"""The first pass: every row is read and judged, and no more than ids and hashes are kept.

What makes a file unusable is raised here, before an entry has been given to anyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bccontam.datasets.notes import DUPLICATE, SAME_BUT_CASE, Notes
from bccontam.datasets.rows import read_entries
from bccontam.datasets.statements import StatementFolder
from bccontam.datasets.text import bad, shown, shown_path
from bccontam.entry import Entry
from bccontam.errors import DatasetError


@dataclass(frozen=True, slots=True)
class _Identity:
    """What two rows of one id must agree in; the long texts as hashes, which hold within one process."""

    patch: int
    problem_statement: int
    created_at: date | None
    repo: str
    area: str | None


def check_files(folders: Mapping[Path, StatementFolder | None], notes: Notes) -> None:
    """Read every file, with the folder of its statements; count oddities in `notes`.

    Raises DatasetError for the first thing that makes one of the files unusable.
    """
    seen: dict[str, tuple[_Identity, Path, str]] = {}
    folded: set[str] = set()
    for file, folder in folders.items():
        empty = True
        for place, entry in read_entries(file, notes):
            empty = False
            identity = _identity(entry, has_folder=folder is not None)
            if entry.instance_id in seen:
                if difference := _difference(identity, seen[entry.instance_id][0]):
                    raise _conflict(file, place, entry.instance_id, difference, seen[entry.instance_id])
                notes.add(file, DUPLICATE, f"{shown(entry.instance_id)} (identical)")
                continue
            seen[entry.instance_id] = identity, file, place
            if entry.instance_id.casefold() in folded:
                notes.add(file, SAME_BUT_CASE, shown(entry.instance_id))
            folded.add(entry.instance_id.casefold())
        if empty:
            raise bad(file, "", "it holds no entries")


def _identity(entry: Entry, *, has_folder: bool) -> _Identity:
    return _Identity(
        patch=hash(entry.patch),
        problem_statement=0 if has_folder else hash(entry.problem_statement),
        created_at=entry.created_at,
        repo=entry.repo,
        area=entry.area,
    )


def _difference(one: _Identity, other: _Identity) -> str:
    names = ("patch", "problem_statement", "created_at", "repo", "area")
    return " and ".join(name for name in names if getattr(one, name) != getattr(other, name))


def _conflict(
    file: Path, place: str, instance_id: str, difference: str, first: tuple[_Identity, Path, str]
) -> DatasetError:
    _, first_file, first_place = first
    where = first_place if first_file == file else f"{first_place} of {shown_path(Path(first_file.name))}"
    return bad(
        file,
        place,
        f"conflicting duplicate of {shown(instance_id)}: {where} has the same id with another {difference}",
    )
