"""Problem statements in a folder, as BC-Bench keeps them: `problemstatement/<instance_id>/README.md`.

An id has been checked before it gets here; all the same nothing outside of the folder is read, not even
through a symbolic link. Line ends become LF and a byte order mark is dropped, nothing else is changed.
"""

from __future__ import annotations

import codecs
import os
from functools import cached_property
from pathlib import Path

from bccontam.datasets.files import is_folder
from bccontam.datasets.sniff import LFS_POINTER
from bccontam.datasets.text import STATEMENT_LIMIT, Statement, make_statement, shown, shown_path
from bccontam.errors import DatasetError

_FOLDER = "problemstatement"
_FILE = "README.md"

_MOST_BYTES = 4 * STATEMENT_LIMIT + 8
"""A character has at most four bytes, CRLF and a byte order mark included: more than the limit comes out."""


def find_folder(dataset: Path, given: str | os.PathLike[str] | None) -> StatementFolder | None:
    """The folder given, else the one beside the dataset if it is there. Raises DatasetError."""
    if given is None or not os.fspath(given):
        beside = dataset.parent / _FOLDER
        return StatementFolder(beside) if is_folder(beside) else None
    folder = Path(given)
    if not is_folder(folder):
        raise DatasetError(
            f"The folder of problem statements {shown_path(folder)} is not there: "
            "give a folder of <instance_id>/README.md."
        )
    return StatementFolder(folder)


class StatementFolder:
    """A folder of problem statements."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = Path(os.path.realpath(folder))

    def read(self, instance_id: str) -> Statement:
        """The statement of an entry, or why it has none."""
        place = f"{shown(self._folder.name)}/{shown(instance_id)}"
        path = Path(os.path.realpath(self._root / instance_id / _FILE))
        if not path.is_relative_to(self._root):
            return Statement(problem=f"missing statement: {place}/{_FILE} leads out of its folder")
        try:
            if not path.is_file():
                return Statement(problem=f"missing statement: {self._why_missing(instance_id, place)}")
            with path.open("rb") as stream:
                raw = stream.read(_MOST_BYTES)
            text = codecs.getincrementaldecoder("utf-8-sig")().decode(raw, final=len(raw) < _MOST_BYTES)
        except UnicodeDecodeError:
            return Statement(problem=f"missing statement: {place}/{_FILE} is not UTF-8")
        except OSError as error:
            return Statement(problem=f"missing statement: {place}/{_FILE} cannot be read ({error.strerror})")
        if raw.startswith(LFS_POINTER):
            return Statement(problem=f"missing statement: {place}/{_FILE} is a Git LFS pointer")
        return make_statement(text.replace("\r\n", "\n").replace("\r", "\n"))

    def _why_missing(self, instance_id: str, place: str) -> str:
        folder = self._root / instance_id
        if folder.is_dir():
            seen = _in_other_case(_FILE, [path.name for path in folder.iterdir()])
            return f"{place} holds {shown(seen)}, not {_FILE}" if seen else f"no {_FILE} in {place}"
        seen = self._names.get(instance_id.casefold(), "")
        return f"there is {shown(seen)}, not {place}" if seen else f"no folder {place}"

    @cached_property
    def _names(self) -> dict[str, str]:
        return {path.name.casefold(): path.name for path in self._root.iterdir()}


def _in_other_case(wanted: str, names: list[str]) -> str:
    return next((name for name in names if name.casefold() == wanted.casefold()), "")
