"""What a run would ask and could detect, before a token is spent.

Built from entries in one pass; pure. It answers whether a benchmark has enough fresh entries for a verdict at
a cutoff, for the given one and for every model whose own cutoff is known.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from bccontam import stats
from bccontam.cutoffs import all_cutoffs
from bccontam.entry import Entry
from bccontam.leakage import leakage_grade

SCHEMA_VERSION = 1
CHARACTERS_PER_TOKEN = 4
PROMPT_CHARACTERS = 1_200
"""Length of the shipped prompts around the statement, rounded up."""


@dataclass(frozen=True, slots=True)
class GroupSize:
    """How a cutoff divides the entries, and the smallest difference that could be found (a fraction)."""

    label: str
    cutoff: str
    pre: int
    control: int
    detectable: float | None


@dataclass(frozen=True, slots=True)
class Needed:
    """Fresh entries that would have to be added to detect an effect (a fraction); None: more old ones too."""

    effect: float
    more_control: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run. Counts are entries unless named otherwise."""

    entries: int
    scorable: int
    undated: int
    duplicates: int
    statements_cut: int
    images: int
    unscorable: list[tuple[str, str]]
    leakage: list[tuple[str, int]]
    gold_kinds: list[tuple[str, int]]
    files_per_patch: list[tuple[str, float | None]]
    first_day: str
    last_day: str
    control_rate: float
    given: GroupSize | None
    needed: list[Needed]
    models: list[GroupSize]
    questions: int
    prompt_tokens: int
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The cutoff and what a run would ask. `control_rate` is the assumed hit rate of fresh entries."""

    cutoff: date | None = None
    guard_days: int = 0
    alpha: float = 0.05
    samples: int = 1
    max_requests: int = 0
    control_rate: float = 0.10


def build_plan(entries: Iterable[Entry], request: PlanRequest) -> Plan:
    """One pass over the entries; memory grows with their number, not with their patches."""
    unscorable: list[tuple[str, str]] = []
    grades: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    seen: Counter[bytes] = Counter()
    days: list[date] = []
    files: list[tuple[date | None, int]] = []
    total = scorable = undated = cut = images = characters = 0
    for entry in entries:
        total += 1
        if entry.unscorable:
            unscorable.append((entry.instance_id, entry.unscorable))
            continue
        scorable += 1
        gold = [file.path for file in entry.gold_files]
        grades[leakage_grade(entry.problem_statement, gold)] += 1
        kinds.update(file.kind for file in entry.gold_files)
        seen[
            hashlib.sha256(f"{entry.problem_statement}\0{entry.patch}".encode("utf-8", "replace")).digest()
        ] += 1
        files.append((entry.created_at, len(gold)))
        cut += entry.statement_cut
        images += entry.images
        characters += len(entry.problem_statement) + PROMPT_CHARACTERS
        if entry.created_at is None:
            undated += 1
        else:
            days.append(entry.created_at)
    days.sort()
    given = _group_size("this cutoff", request.cutoff, days, request) if request.cutoff else None
    questions = scorable * request.samples
    questions = min(questions, request.max_requests) if request.max_requests else questions
    return Plan(
        entries=total,
        scorable=scorable,
        undated=undated,
        duplicates=sum(number - 1 for number in seen.values()),
        statements_cut=cut,
        images=images,
        unscorable=unscorable,
        leakage=[(grade, grades[grade]) for grade in ("path", "basename", "object-name", "none")],
        gold_kinds=sorted(kinds.items(), key=lambda item: (-item[1], item[0])),
        files_per_patch=_files_per_patch(files, request.cutoff),
        first_day=days[0].isoformat() if days else "",
        last_day=days[-1].isoformat() if days else "",
        control_rate=request.control_rate,
        given=given,
        needed=[_needed(effect, given, request) for effect in (0.20, 0.10)] if given else [],
        models=[_group_size(cutoff.model, cutoff.day, days, request) for cutoff in all_cutoffs()],
        questions=questions,
        prompt_tokens=round(
            characters
            * request.samples
            / CHARACTERS_PER_TOKEN
            * (questions / max(1, scorable * request.samples))
        ),
    )


def _group_size(label: str, cutoff: date, days: Sequence[date], request: PlanRequest) -> GroupSize:
    pre = sum((cutoff - day).days > request.guard_days for day in days)
    control = sum((day - cutoff).days >= request.guard_days for day in days)
    detectable = stats.minimum_detectable_effect(pre, control, request.control_rate, alpha=request.alpha)
    return GroupSize(label, cutoff.isoformat(), pre, control, detectable)


def _needed(effect: float, given: GroupSize, request: PlanRequest) -> Needed:
    control = stats.control_needed(given.pre, effect, request.control_rate, alpha=request.alpha)
    return Needed(effect, None if control is None else max(0, control - given.control))


def _files_per_patch(
    files: Sequence[tuple[date | None, int]], cutoff: date | None
) -> list[tuple[str, float | None]]:
    groups: list[tuple[str, list[int]]] = [("all", [number for _, number in files])]
    if cutoff is not None:
        groups.append(("pre", [number for day, number in files if day is not None and day < cutoff]))
        groups.append(("control", [number for day, number in files if day is not None and day >= cutoff]))
    return [(name, sum(numbers) / len(numbers) if numbers else None) for name, numbers in groups]
