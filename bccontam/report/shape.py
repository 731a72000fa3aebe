"""The types of a report: what it holds, in the order in which it is written as JSON.

The published JSON schema (`docs/report.schema.json`) is made from them. Building one is `bccontam.report.data`.
Rates are in [0, 1], differences are fractions, days are UTC; None is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bccontam import __version__
from bccontam.contamination import Aggregate, Signal, Thresholds, Verdict
from bccontam.sensitivity import Comparability, Differences, Floor, LeakageRow, SweepPoint

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Groups:
    """All results, and the two groups that the signal compares."""

    all: Aggregate
    pre: Aggregate
    control: Aggregate


@dataclass(frozen=True, slots=True)
class Deltas:
    """Pre minus control for each metric."""

    basename: float | None
    exact: float | None
    suffix: float | None


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The cutoff day, where it came from, and the guard around it in days."""

    day: str | None
    source: str
    guard_days: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What was measured: ids as the API returned them, how it was asked; `samples` is the most of an entry."""

    models: list[str]
    backends: list[str]
    prompts: list[str]
    top_k: list[int]
    samples: int


@dataclass(frozen=True, slots=True)
class Enforcement:
    """How the context-free condition was enforced, each value with its number of results."""

    sandbox: list[tuple[str, int]]
    self_test: list[tuple[str, int]]
    tools_sent: list[tuple[str, int]]
    prompt_owner: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Usage:
    """What the answers cost: questions with an answer or an error, tokens, summed seconds."""

    questions: int
    input_tokens: int
    output_tokens: int
    seconds: float
    not_asked: int


@dataclass(frozen=True, slots=True)
class Check:
    """One sensitivity row: the same signal with one thing changed, its verdict by itself, entries a side."""

    name: str
    verdict: Verdict
    signal: Signal
    pre: int
    control: int
    note: str


@dataclass(frozen=True, slots=True)
class MonthRow:
    """Scored entries created in one month (`YYYY-MM`) that are in one group, and their hit rate.

    `group` is `pre`, `control` or empty; a month that the cutoff divides has two rows.
    """

    month: str
    group: str
    entries: int
    hit_rate: float


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One entry as the tables show it. `group` is `pre`, `control` or empty; a hit is the mean over samples.

    `status` names each different status of its samples. Paths are there only when answers are revealed.
    """

    instance_id: str
    created_at: str
    group: str
    leakage: str
    status: str
    exact_hit: float | None
    basename_hit: float | None
    suffix_hit: float | None
    copied: bool
    gold_files: list[str] | None = None
    predicted_files: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """The same numbers for the base branch's results; `pre` and `control` count scored entries."""

    verdict: Verdict
    signal: Signal
    pre: int
    control: int


@dataclass(frozen=True, slots=True)
class Change:
    """An entry that a pull request changes: `added`, `modified` or `removed`."""

    instance_id: str
    change: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """What the changed entries do to the signal: how many are scored a side, and the signal without them."""

    pre: int
    control: int
    without: Signal


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report. `cautions` are sentences that a reader of the verdict must know."""

    verdict: Verdict
    reason: str
    next_step: str
    cautions: list[str]
    signal: Signal
    signals: list[Signal]
    deltas: Deltas
    groups: Groups
    cutoff: Cutoff
    thresholds: Thresholds
    subject: Subject
    enforcement: Enforcement
    usage: Usage
    leakage: list[LeakageRow]
    copied: int
    floors: list[Floor]
    familiarity: float | None
    sensitivity: list[Check]
    sweep: list[SweepPoint]
    difference_in_differences: Differences | None
    comparability: list[Comparability]
    repositories: list[tuple[str, int, float | None]]
    months: list[MonthRow]
    entries: list[EntryRow]
    undated: list[str]
    left_out: int
    unscorable: list[tuple[str, str]]
    missing_shards: list[str]
    before: Before | None = None
    changes: list[Change] = field(default_factory=list)
    contribution: Contribution | None = None
    schema_version: int = SCHEMA_VERSION
    tool_version: str = __version__
