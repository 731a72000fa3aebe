"""Stored answers instead of a model: JSON lines of `instance_id` and `raw_output`.

For air-gapped scoring of answers that were collected elsewhere, and for tests and the demo. Several lines
for one entry are its samples, in order. Nothing is asked of anybody.
"""

from __future__ import annotations

import json
from pathlib import Path

from bccontam.errors import SettingsError
from bccontam.models.base import Answer, Condition, ModelError, Question


class ReplayModel:
    """Answers from a file. `model` names whose answers they are."""

    backend = "replay"
    condition = Condition(
        tools_sent=None, sandbox="not known: stored answers", self_test="not run", prompt_owner="unknown"
    )

    def __init__(self, path: Path, model: str = "") -> None:
        """Raises SettingsError (file, line, reason) when the answers cannot be read."""
        self.model = model or "replay"
        self._answers = _read_answers(path)

    def ask(self, question: Question, timeout: float) -> Answer:
        """The stored answer; a ModelError of kind `not-found` when there is none."""
        samples = self._answers.get(question.instance_id, [])
        if question.sample >= len(samples):
            raise ModelError("bad-response", f"no stored answer number {question.sample + 1} for this entry")
        return Answer(text=samples[question.sample], model=self.model, seconds=0.0)

    def close(self) -> None:
        """Nothing to release."""


def _read_answers(path: Path) -> dict[str, list[str]]:
    answers: dict[str, list[str]] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise SettingsError(
            f"Cannot read the stored answers in {path}: {error.strerror}; check the input `answers`."
        ) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError) as error:
            raise SettingsError(
                f"{path}, line {number}: not JSON; give one object a line with instance_id and raw_output."
            ) from error
        identity = row.get("instance_id") if isinstance(row, dict) else None
        text = row.get("raw_output") if isinstance(row, dict) else None
        if not isinstance(identity, str) or not (text is None or isinstance(text, str)):
            raise SettingsError(f"{path}, line {number}: needs the strings instance_id and raw_output.")
        answers.setdefault(identity, []).append(text or "")
    if not answers:
        raise SettingsError(
            f"{path} holds no stored answers: give one JSON object a line with instance_id and raw_output."
        )
    return answers
