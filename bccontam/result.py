"""Result: one scored answer, with everything needed to score, filter and audit it again.

One result is one JSON line. The first eleven fields are BC-Bench's own, so that its summary reads our
files and we read theirs; the rest is ours and has defaults. An undated entry has an empty `created_at`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from bccontam.answer import Status
from bccontam.entry import parse_created_at
from bccontam.gold import GoldFile
from bccontam.score import Score

SCHEMA_VERSION = 1
NO_SCORE = Score(False, False, 0.0, 0.0)

_day = lru_cache(maxsize=65536)(parse_created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One scored answer to one question about one entry.

    Paths are repo-relative with `/`; `seconds` is the wall time of the last attempt; `sample` counts from
    0. `gold` holds the kinds and pre-image names of `gold_files`. `naming_files` are the paths the naming
    convention alone proposes for the same question, `listed_files` those of a keyword search over a list of
    real paths (None: not computed). `sampling`
    is what shaped the answer beside the prompt. `error` is a sentence, `error_kind` its type; a result with an error
    stands in no rate.
    """

    instance_id: str
    model: str
    category: str = "bug-fix"
    created_at: str = ""
    area: str | None = None
    top_k: int = 3
    gold_files: tuple[str, ...] = ()
    predicted_files: tuple[str, ...] = ()
    score: Score = NO_SCORE
    raw_output: str = ""
    error: str | None = None

    schema_version: int = SCHEMA_VERSION
    repo: str = ""
    status: Status = "ok"
    sample: int = 0
    fingerprint: str = ""
    backend: str = ""
    requested_model: str = ""
    prompt: str = ""
    sampling: str = ""
    gold: tuple[GoldFile, ...] = ()
    leakage: str | None = None
    copied: bool | None = None
    naming_files: tuple[str, ...] | None = None
    listed_files: tuple[str, ...] | None = None
    statement_chars: int | None = None
    statement_cut: bool = False
    images: int = 0
    tools_sent: int | None = None
    sandbox: str = ""
    self_test: str = ""
    prompt_owner: str = ""
    error_kind: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    attempts: int = 1
    finish_reason: str | None = None

    @property
    def day(self) -> date | None:
        """The UTC day of `created_at`, or None when undated."""
        return _day(self.created_at)

    @property
    def scored(self) -> bool:
        """Whether this answer stands in the rates (docs/statistics.md section 2)."""
        if self.error is not None or self.status == "error":
            return False
        return self.status != "truncated" or bool(self.predicted_files)


def fingerprint(
    *,
    instance_id: str,
    system: str,
    prompt: str,
    prompt_version: str,
    backend: str,
    model: str,
    top_k: int,
    sampling: dict[str, object],
    sample: int,
) -> str:
    """The identity of one question: a stored answer is reused only if this matches (SHA-256, hex)."""
    identity = [instance_id, system, prompt, prompt_version, backend, model, top_k, sampling, sample]
    text = json.dumps(identity, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What a run leaves beside its results: which share it had, and what it did not ask.

    `shard` is `i/n`; `entries` are the ids that its dataset has for that shard, asked or not; `unscorable` holds
    `(instance_id, reason)`; `not_asked` counts questions left over by a cap or an interruption.
    """

    shard: str = "1/1"
    entries: tuple[str, ...] = ()
    unscorable: tuple[tuple[str, str], ...] = ()
    not_asked: int = 0
