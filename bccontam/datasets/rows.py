"""The rows of one file as entries: which reader for the file, which layout for the row.

A new layout of rows is a module like `swe_bench` and one line in LAYOUTS.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bccontam.datasets import json_document, json_lines, multi_swe_bench, parquet, swe_bench
from bccontam.datasets.layout import Layout, make_entry
from bccontam.datasets.notes import NO_DATE, Notes
from bccontam.datasets.sniff import kind_of
from bccontam.datasets.text import bad, shown, shown_path
from bccontam.entry import Entry, is_missing_date
from bccontam.errors import DatasetError

LAYOUTS: tuple[Layout, ...] = (multi_swe_bench, swe_bench)


def read_entries(file: Path, notes: Notes | None = None) -> Iterator[tuple[str, Entry]]:
    """`(place, entry)` for every row of a file, such as `("line 3", ...)`; raises DatasetError.

    Oddities are counted in `notes`; without it none is looked for, which is faster.
    """
    for place, row in _read_rows(file, notes):
        if not isinstance(row, dict):
            raise bad(file, place, "this row is not a JSON object")
        fields = _layout_of(row).fields(row)
        try:
            entry = make_entry(fields)
        except ValueError as error:
            raise bad(file, place, str(error)) from None
        if notes and entry.created_at is None and not is_missing_date(fields.created_at):
            notes.add(file, NO_DATE, shown(entry.instance_id))
        yield place, entry


def _layout_of(row: dict[str, Any]) -> Layout:
    return next((layout for layout in LAYOUTS if layout.matches(row)), LAYOUTS[-1])


def _read_rows(file: Path, notes: Notes | None) -> Iterator[tuple[str, object]]:
    try:
        match kind_of(file):
            case "parquet":
                yield from parquet.read(file, {name for layout in LAYOUTS for name in layout.FIELDS})
            case "document":
                yield from json_document.read(file, notes)
            case "lines":
                yield from json_lines.read(file, notes)
    except OSError as error:
        raise DatasetError(
            f"{shown_path(file)} cannot be read: {error.strerror or type(error).__name__}."
        ) from None
