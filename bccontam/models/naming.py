"""The naming floor as a backend: it asks nobody, and answers with what the report's own words suggest.

What a model finds beyond this floor needs another explanation. The conventions are in `bccontam.naming`, the
search over a list of real paths in `bccontam.file_index`.
"""

from __future__ import annotations

import json
from time import perf_counter

from bccontam.file_index import FileIndex
from bccontam.models.base import Answer, Condition, Question
from bccontam.naming import al_file_names, module_file_names

__all__ = ["FileIndex", "NamingModel", "propose_files"]


def propose_files(
    problem_statement: str, top_k: int, *, convention: str = "al", file_list: FileIndex | None = None
) -> tuple[str, ...]:
    """At most `top_k` file names or paths, likeliest first.

    `al` is the convention `<ObjectName>.<ObjectType>.al`; any other value that of Python modules. With a
    `file_list` the answer is real paths of that list, whatever the convention.
    """
    if file_list is not None:
        return file_list.search(problem_statement, top_k)
    propose = al_file_names if convention == "al" else module_file_names
    return propose(problem_statement, top_k)


class NamingModel:
    """The backend that asks nobody. Its answer is a JSON array of at most `top_k` paths."""

    backend = "naming"
    model = "naming"
    condition = Condition(tools_sent=0, sandbox="no process", self_test="not run")

    def __init__(self, convention: str = "al", file_list: FileIndex | None = None) -> None:
        self._convention = convention
        self._file_list = file_list

    def ask(self, question: Question, timeout: float) -> Answer:
        """The proposal for the question's problem statement; never fails."""
        start = perf_counter()
        paths = propose_files(
            question.problem_statement,
            question.top_k,
            convention=self._convention,
            file_list=self._file_list,
        )
        return Answer(json.dumps(paths), self.model, perf_counter() - start, finish_reason="stop")

    def close(self) -> None:
        """Nothing to release."""
