"""Strict JSON with its oddities noted and its failures as sentences that hold nothing of the data.

Shared by the readers of lines and of documents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bccontam.datasets.notes import DUPLICATE_KEY, Notes
from bccontam.datasets.text import shown

BROKEN = (ValueError, RecursionError)
"""What decoding raises: bad syntax, a number of thousands of digits, brackets nested too deeply."""


class Decoder:
    """JSON text -> values. Of a key that stands twice in an object the last value counts, as in `json`."""

    def __init__(self, file: Path, notes: Notes | None) -> None:
        """Repeated keys are looked for, and noted, only where there are notes."""
        self._file = file
        self._notes = notes
        self._json = json.JSONDecoder(object_pairs_hook=self._object if notes else None)
        self.repeated: set[str] = set()

    def decode(self, text: str, place: str) -> object:
        """The one value that `text` is; raises one of BROKEN."""
        value = self._json.decode(text)
        self.note(value, place)
        return value

    def decode_at(self, text: str, position: int) -> tuple[object, int]:
        """The value that starts at `position`, and where it ends; raises one of BROKEN."""
        self.repeated.clear()
        return self._json.raw_decode(text, position)

    def note(self, value: object, place: str) -> None:
        """Note the keys that stood twice in the value decoded last."""
        if self._notes and self.repeated:
            instance_id = value.get("instance_id") if isinstance(value, dict) else None
            owner = f" of {shown(instance_id)}" if isinstance(instance_id, str) else ""
            for key in sorted(self.repeated):
                self._notes.add(self._file, DUPLICATE_KEY, f"{shown(key)}{owner} ({place})")
        self.repeated.clear()

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            once: set[str] = set()
            for key, _ in pairs:
                (self.repeated if key in once else once).add(key)
        return found


def reason(error: Exception, characters_before: int = 0) -> str:
    """Why the JSON is broken, for a sentence; the column counts characters of the line from 1.

    `characters_before` are those of the line that stood before the decoded text.
    """
    if isinstance(error, json.JSONDecodeError):
        column = error.colno + (characters_before if error.lineno == 1 else 0)
        return f"broken JSON at column {column} ({error.msg})"
    if isinstance(error, RecursionError):
        return "broken JSON (nested too deeply)"
    return "broken JSON (a number with too many digits)"
