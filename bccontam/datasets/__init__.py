"""Read a benchmark's own files: `load_entries(path)` gives a stream of entries.

Files are JSON lines, a JSON array, a JSON object of rows, or Parquet; what a file is, is decided by its
content. Rows have the field names of SWE-bench, which BC-Bench shares, or of Multi-SWE-bench; BC-Bench
keeps its problem statements in a folder beside the file. A new layout of rows is one module with `FIELDS`,
`matches` and `fields` and one line in `rows.LAYOUTS`.

Every file is read twice. The first pass keeps no more than ids and hashes; it finds what makes a file
unusable, so that no question is asked about a file that breaks in line 900, and what is odd about it. The
second pass gives the entries. Fields that no layout names, `hints_text` above all, are never looked at.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bccontam.datasets.check import check_files
from bccontam.datasets.files import find_files
from bccontam.datasets.notes import Notes
from bccontam.datasets.rows import read_entries
from bccontam.datasets.statements import StatementFolder, find_folder
from bccontam.datasets.text import STATEMENT_LIMIT
from bccontam.entry import Entry
from bccontam.errors import DatasetError

__all__ = ["STATEMENT_LIMIT", "DatasetError", "load_entries"]


def load_entries(
    path: str | os.PathLike[str],
    problem_statements: str | os.PathLike[str] | None = None,
    *,
    warn: Callable[[str], None] | None = None,
) -> Iterator[Entry]:
    """The entries of a benchmark, in the order of its rows, each id once.

    `path` is a file, or a glob (`data/test-*.parquet`; `**` crosses folders) whose files are read in sorted
    order as one benchmark. `problem_statements` is a folder of `<instance_id>/README.md`; when it is not
    given (None or empty), a folder `problemstatement` beside the file is used if it is there, else the rows'
    own statements. A statement longer than STATEMENT_LIMIT characters is cut, with a visible mark.

    The call itself checks every file; the iterator it returns reads them again as a stream, so that memory
    grows with the number of ids and not with the rows (one exception: a JSON object that holds all rows is
    read whole). An entry without a usable statement or patch is given too; `Entry.unscorable` says why.

    Oddities that do no harm (byte order marks, CRLF, blank lines, identical duplicates, dates that cannot be
    read) go to `warn`, by default the logger `bccontam`: one line for each kind and file, in which text from
    the dataset is escaped.

    Raises DatasetError, one sentence with file, place and reason: from the call, or from the iterator when a
    file has changed in between.
    """
    folders = {file: find_folder(file, problem_statements) for file in find_files(path)}
    notes = Notes()
    check_files(folders, notes)
    for line in notes.lines():
        (warn or logging.getLogger("bccontam").warning)(line)
    return _stream(folders)


def _stream(folders: dict[Path, StatementFolder | None]) -> Iterator[Entry]:
    seen: set[str] = set()
    for file, folder in folders.items():
        for _, entry in read_entries(file):
            if entry.instance_id in seen:
                continue
            seen.add(entry.instance_id)
            yield entry if folder is None else _with_statement(entry, folder)


def _with_statement(entry: Entry, folder: StatementFolder) -> Entry:
    statement = folder.read(entry.instance_id)
    return replace(
        entry,
        problem_statement=statement.text,
        statement_problem=statement.problem,
        statement_cut=statement.cut,
    )
