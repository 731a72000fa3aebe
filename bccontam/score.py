"""Predicted paths times gold paths -> Score (docs/statistics.md section 1).

It is recall at k: extra wrong guesses cost nothing. How many paths count is decided before, by who cuts the
prediction to its top k (or to its first, for hit@1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bccontam.paths import basename, normalize_path, suffix


@dataclass(frozen=True, slots=True)
class Score:
    """Hits and recalls of one answer; recalls in [0, 1], and a hit is never less than its recall."""

    exact_hit: bool
    basename_hit: bool
    exact_recall: float
    basename_recall: float
    suffix_hit: bool = False
    suffix_recall: float = 0.0


_MISS = Score(False, False, 0.0, 0.0)

_Spellings = tuple[str, str, str]
_EXACT, _BASENAME, _SUFFIX = range(3)


def score_prediction(predicted: Sequence[str], gold: Sequence[str], suffix_depth: int = 3) -> Score:
    """Score paths against paths, in any order, duplicates and spellings counting once.

    Both sides are normalised the same way. `exact` compares whole paths with their case, `basename` the
    lower-cased file names, `suffix` the lower-cased last `suffix_depth` components. A recall is the share
    of the distinct gold values that were predicted; without gold everything is a miss.
    """
    if not predicted or not gold:
        return _MISS
    guesses = [_spellings(path, suffix_depth) for path in predicted]
    truths = [_spellings(path, suffix_depth) for path in gold]
    base = _recall(guesses, truths, _BASENAME)
    if not base:
        return _MISS  # paths that agree in more than their file name agree in that too
    exact, tail = _recall(guesses, truths, _EXACT), _recall(guesses, truths, _SUFFIX)
    return Score(exact > 0, True, exact, base, tail > 0, tail)


@lru_cache(maxsize=16_384)
def _spellings(path: str, suffix_depth: int) -> _Spellings:
    """What a path is compared by; cached, as reports score the same few paths again and again."""
    return normalize_path(path), basename(path), suffix(path, suffix_depth)


def _recall(guesses: list[_Spellings], truths: list[_Spellings], level: int) -> float:
    wanted = {spellings[level] for spellings in truths if spellings[level]}
    found = wanted.intersection([spellings[level] for spellings in guesses])
    return len(found) / len(wanted) if found else 0.0
