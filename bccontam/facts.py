"""What is known about an entry and an answer before any rate is computed, stored with the result.

Leakage of the answer through the question, whether an answer was copied out of the question, and what naming
alone proposes: each needs the problem statement, which a report from stored results no longer has.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bccontam.answer import Prediction
from bccontam.entry import Entry
from bccontam.errors import SettingsError
from bccontam.file_index import FileIndex
from bccontam.leakage import copied_from_question, leakage_grade
from bccontam.models.naming import propose_files

if TYPE_CHECKING:
    from bccontam.settings import Settings


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """Facts of one answered entry; `listed_files` is None without a list of real paths."""

    leakage: str
    copied: bool
    naming_files: tuple[str, ...]
    listed_files: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class FactFinder:
    """Finds the facts of an entry and its prediction; called once for each answer."""

    top_k: int
    convention: str = "al"
    file_index: FileIndex | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> FactFinder:
        """Reads the file list when one is given. Raises SettingsError when it cannot be read."""
        index = None
        if settings.file_list:
            try:
                lines = Path(settings.file_list).read_text(encoding="utf-8", errors="replace").split("\n")
            except OSError as error:
                raise SettingsError(
                    f"file-list: cannot read {settings.file_list}: {error.strerror}."
                ) from error
            index = FileIndex.from_lines(lines)
        return cls(settings.top_k, convention_of(settings.prompt), index)

    def __call__(self, entry: Entry, prediction: Prediction) -> EntryFacts:
        """The facts of one answer."""
        statement = entry.problem_statement
        listed = None if self.file_index is None else self.file_index.search(statement, self.top_k)
        return EntryFacts(
            leakage=leakage_grade(statement, [file.path for file in entry.gold_files]),
            copied=copied_from_question(prediction.paths, statement),
            naming_files=propose_files(statement, self.top_k, convention=self.convention),
            listed_files=listed,
        )


def convention_of(prompt: str) -> str:
    """The naming convention a prompt implies: `al` for the AL prompt, else `generic`."""
    return "al" if prompt == "al" else "generic"
