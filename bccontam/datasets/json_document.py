"""JSON documents: an array of rows, read as a stream, and objects that hold rows, read whole.

An object holds rows under their ids (`{"acme-1": {...}}`) or in a list under a usual name (`{"data": [...]}`,
also the `{"rows": [{"row": {...}}]}` of the Hugging Face datasets server). Several documents may follow each
other, as `jq` prints them.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bccontam.datasets.json_text import BROKEN, Decoder, reason
from bccontam.datasets.notes import BYTE_ORDER_MARK, Notes
from bccontam.datasets.text import bad, shown
from bccontam.errors import DatasetError

_CHUNK = 1 << 20
_SPACE = " \t\r\n"
_ROW_KEYS = frozenset({"instance_id", "patch", "fix_patch"})
_LISTS = ("rows", "data", "instances", "entries", "examples")

_LONGEST_TOKEN = 32
"""Within so many characters before the end of a buffer a syntax error may be the cut of the buffer itself."""


def read(file: Path, notes: Notes | None) -> Iterator[tuple[str, object]]:
    """`("line 12", value)` for every row, with the line it starts on. Raises DatasetError."""
    with file.open("rb") as stream:
        document = _Document(stream, file, notes)
        while character := document.peek():
            if character == "[":
                yield from _elements(document)
            else:
                place, value = document.value()
                yield from _rows_of(value, place, document)


def holds_rows(value: object) -> bool:
    """Whether an object is not a row itself but holds rows."""
    if not isinstance(value, dict) or not value or not _ROW_KEYS.isdisjoint(value):
        return False
    return _list_name(value) is not None or all(isinstance(row, dict) for row in value.values())


def _list_name(value: dict[str, object]) -> str | None:
    return next((name for name in _LISTS if isinstance(value.get(name), list)), None)


def _elements(document: _Document) -> Iterator[tuple[str, object]]:
    document.take()
    if document.peek() == "]":
        document.take()
        return
    while True:
        place, value = document.value()
        yield place, value
        match document.peek():
            case ",":
                document.take()
            case "]":
                document.take()
                return
            case "":
                raise document.bad("the file ends inside the array; it may be cut short")
            case _:
                raise document.bad("broken JSON (expected a comma or the end of the array)")


def _rows_of(value: object, place: str, document: _Document) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict) or not holds_rows(value):
        yield place, value
        return
    name = _list_name(value)
    if name is not None:
        for number, row in enumerate(value[name], 1):
            yield f"row {number} of {name}", _unwrapped(row, document)
        return
    for key, row in value.items():
        given = row.get("instance_id")
        if key in document.repeated:
            raise document.bad(f"two rows under one key, {shown(key)}")
        if given is not None and str(given) != key:
            raise document.bad(f"the row under the key {shown(key)} has another instance_id")
        yield f"key {shown(key)}", {**row, "instance_id": key}


def _unwrapped(row: object, document: _Document) -> object:
    """The row itself, where the datasets server gives it with its number around it."""
    if not isinstance(row, dict) or "row_idx" not in row or "row" not in row:
        return row
    if row.get("truncated_cells"):
        raise document.bad("the datasets server has cut long cells; download the file itself")
    return row["row"]


class _Document:
    """The text of a file with a place in it; holds what has not been taken, and little more."""

    def __init__(self, stream: BinaryIO, file: Path, notes: Notes | None) -> None:
        self._stream = stream
        self._file = file
        self._decoder = Decoder(file, notes)
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._buffer = ""
        self._position = 0
        self._line = 1
        self._dropped = 0
        self.repeated: frozenset[str] = frozenset()
        while self.peek() == "\ufeff":
            self.take()
            if notes:
                notes.add(file, BYTE_ORDER_MARK, "line 1")

    def peek(self) -> str:
        """The next character that is no white space, not taken yet; empty at the end."""
        while True:
            rest = len(self._buffer)
            while self._position < rest and self._buffer[self._position] in _SPACE:
                self._line += self._buffer[self._position] == "\n"
                self._position += 1
            if self._position < rest:
                return self._buffer[self._position]
            if not self._more():
                return ""

    def take(self) -> None:
        """Go past the character that `peek` gave."""
        self._position += 1

    def value(self) -> tuple[str, object]:
        """The next value with the line it starts on."""
        self.peek()
        place = f"line {self._line}"
        while True:
            try:
                value, end = self._decoder.decode_at(self._buffer, self._position)
                break
            except BROKEN as error:
                if self._may_be_cut(error) and self._more():
                    continue
                raise self._broken(error) from None
        self._line += self._buffer.count("\n", self._position, end)
        self._position = end
        self.repeated = frozenset(self._decoder.repeated)
        self._decoder.note(value, place)
        return place, value

    def bad(self, why: str) -> DatasetError:
        """The error for what is wrong here."""
        return bad(self._file, f"line {self._line}", why)

    def _may_be_cut(self, error: Exception) -> bool:
        """Whether the error may be the end of the buffer and not the data's."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return _is_open_string(error) or len(self._buffer) - error.pos < _LONGEST_TOKEN

    def _more(self) -> bool:
        """Read on: as much again as is held, so that a long value is not decoded over and over."""
        raw = self._stream.read(max(_CHUNK, len(self._buffer) - self._position))
        try:
            text = self._utf8.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            lines_before = self._buffer.count("\n", self._position) + error.object.count(
                b"\n", 0, error.start
            )
            place = f"line {self._line + lines_before}"
            raise bad(self._file, place, "not UTF-8; save the file as UTF-8") from None
        if raw:
            line_start = self._buffer.rfind("\n", 0, self._position) + 1
            self._dropped = self._position - line_start + (0 if line_start else self._dropped)
            self._buffer = self._buffer[self._position :] + text
            self._position = 0
        return bool(raw)

    def _broken(self, error: Exception) -> DatasetError:
        if not isinstance(error, json.JSONDecodeError):
            return self.bad(reason(error))
        line = self._line + self._buffer.count("\n", self._position, error.pos)
        is_cut = _is_open_string(error) or not self._buffer[error.pos :].strip()
        hint = "; the file may be cut short" if is_cut else ""
        return bad(self._file, f"line {line}", reason(error, self._dropped) + hint)


def _is_open_string(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated string")
