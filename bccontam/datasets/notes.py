"""Harmless oddities met while reading: counted by kind, told as one line each.

It decides nothing; what is told has been escaped by whoever noted it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bccontam.datasets.text import shown_path

DUPLICATE = "duplicate {}, kept once"
DUPLICATE_KEY = "duplicate key {}; the last value counts"
BYTE_ORDER_MARK = "a byte order mark at the start of {}; ignored"
CRLF = "CRLF line ends in {}; read as LF"
BLANK_LINE = "blank: {}; skipped"
NO_DATE = "created_at cannot be read as a date and counts as undated: {}"
SAME_BUT_CASE = "instance_ids that differ in nothing but letter case: {}"


@dataclass
class Notes:
    """What was odd, by file and kind: the first instance and how many there were."""

    _seen: dict[tuple[Path, str], tuple[str, int]] = field(default_factory=dict)

    def add(self, file: Path, kind: str, instance: str) -> None:
        """Count one instance of a kind, which is one of the sentences above."""
        first, count = self._seen.get((file, kind), (instance, 0))
        self._seen[file, kind] = first, count + 1

    def lines(self) -> list[str]:
        """One sentence for each file and kind, in the order they were first met."""
        return [
            f"{shown_path(file)}: {kind.format(first if count == 1 else f'{first} and {count - 1:,} more')}."
            for (file, kind), (first, count) in self._seen.items()
        ]
