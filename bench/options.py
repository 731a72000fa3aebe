"""How often to measure and where to write; the same for every row of the suite."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path


class UnavailableError(Exception):
    """A row cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True)
class Options:
    """`runs` of what is short. `folder` is there and is removed after the suite."""

    folder: Path
    runs: int = 5
    _numbers: count[int] = field(default_factory=count, repr=False, compare=False)

    @property
    def long_runs(self) -> int:
        """Runs of what takes long: two, or one where few are wanted."""
        return min(2, self.runs)

    def fresh(self) -> Path:
        """The path of a folder that nobody has used; it does not exist yet."""
        return self.folder / f"part-{next(self._numbers)}"
