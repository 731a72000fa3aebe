"""Everything a report says, as one value: built from stored results, rendered by templates, written as JSON.

The published JSON schema (`docs/report.schema.json`) is made from these types. Building reads no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from bccontam import __version__
from bccontam import sensitivity as checks
from bccontam.contamination import (
    HIT,
    METRICS,
    Aggregate,
    Judgement,
    Metric,
    Signal,
    Split,
    Thresholds,
    Verdict,
    aggregate,
    compare,
    entry_values,
    judge,
    split_by_cutoff,
)
from bccontam.result import Result, RunRecord
from bccontam.sensitivity import Comparability, Differences, Floor, LeakageRow, Row, SweepPoint

SCHEMA_VERSION = 1
DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Groups:
    """All results, and the two groups that the signal compares."""

    all: Aggregate
    pre: Aggregate
    control: Aggregate


@dataclass(frozen=True, slots=True)
class Deltas:
    """Pre minus control for each metric, None where undefined."""

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
    """What was measured: ids as the API returned them, how it was asked."""

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
class EntryRow:
    """One entry as the tables show it; paths only when answers are revealed."""

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
class MonthRow:
    """Scored entries created in one month and their hit rate."""

    month: str
    entries: int
    hit_rate: float


@dataclass(frozen=True, slots=True)
class Before:
    """The same numbers for the base branch's results."""

    verdict: Verdict
    signal: Signal
    pre: int
    control: int


@dataclass(frozen=True, slots=True)
class Change:
    """A changed entry: how it changed."""

    instance_id: str
    change: str


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report. Rates are in [0, 1], days are UTC; None is undefined."""

    verdict: Verdict
    reason: str
    next_step: str
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
    sensitivity: list[Row]
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
    schema_version: int = SCHEMA_VERSION
    tool_version: str = __version__


@dataclass(frozen=True, slots=True)
class Request:
    """What to report: the division into groups, the thresholds, and what to compare with."""

    thresholds: Thresholds = DEFAULT_THRESHOLDS
    cutoff: date | None = None
    cutoff_source: str = "given"
    guard_days: int = 0
    control: Sequence[Result] | None = None
    reference: Sequence[Result] | None = None
    baseline: Sequence[Result] | None = None
    reveal_answers: bool = False
    changes: Sequence[Change] = ()


def build_report(results: Sequence[Result], request: Request, records: Sequence[RunRecord] = ()) -> Report:
    """The report on stored results. `records` are those of the runs that stored them."""
    metric = request.thresholds.metric
    split, divided = _divide(results, request)
    groups = Groups(
        aggregate([*results, *(request.control or ())]), aggregate(split.pre), aggregate(split.control)
    )
    signals = {m: compare(split.pre, split.control, HIT[m], m) for m in METRICS}
    missing = missing_shards(records)
    judgement = judge(signals[metric], groups.pre, groups.control, request.thresholds, divided=divided)
    judgement = _mind_missing(judgement, missing, sum(record.not_asked for record in records))
    floors = checks.floors([("all", results), ("pre", split.pre), ("control", split.control)], metric)
    compared = divided and bool(split.pre) and bool(split.control)
    return Report(
        verdict=judgement.verdict,
        reason=judgement.reason,
        next_step=judgement.next_step,
        signal=signals[metric],
        signals=list(signals.values()),
        deltas=Deltas(**{m: signals[m].value for m in METRICS}),
        groups=groups,
        cutoff=Cutoff(
            request.cutoff.isoformat() if request.cutoff else None,
            "another benchmark's results"
            if request.control is not None
            else request.cutoff_source
            if divided
            else "",
            request.guard_days,
        ),
        thresholds=request.thresholds,
        subject=_subject(results),
        enforcement=_enforcement(results),
        usage=_usage(results, records),
        leakage=checks.leakage_table(results, metric),
        copied=len({r.instance_id for r in results if r.copied}),
        floors=floors,
        familiarity=floors[2].lift,
        sensitivity=checks.sensitivity_rows(split, metric) if compared else [],
        sweep=checks.sweep(results, metric) if request.control is None else [],
        difference_in_differences=(
            None
            if request.reference is None
            else checks.difference_in_differences(split, request.reference, metric)
        ),
        comparability=(
            checks.comparability([("pre", split.pre), ("control", split.control)]) if compared else []
        ),
        repositories=checks.repository_rates(results, metric),
        months=_months(results, metric),
        entries=_entry_rows(results, split, request.reveal_answers),
        undated=sorted({r.instance_id for r in results if r.day is None}) if request.control is None else [],
        left_out=len({r.instance_id for r in split.left_out}),
        unscorable=sorted({pair for record in records for pair in record.unscorable}),
        missing_shards=missing,
        before=_before(request),
        changes=list(request.changes),
    )


def _divide(results: Sequence[Result], request: Request) -> tuple[Split, bool]:
    if request.control is not None:
        return Split(list(results), list(request.control), []), True
    if request.cutoff is not None:
        return split_by_cutoff(results, request.cutoff, request.guard_days), True
    return Split([], [], [result for result in results if result.day is None]), False


def missing_shards(records: Iterable[RunRecord]) -> list[str]:
    """Shards `i/n` that no run record stands for, of the finest division that occurs."""
    done: dict[int, set[int]] = {}
    for record in records:
        index, count = (int(part) for part in record.shard.split("/"))
        done.setdefault(count, set()).add(index)
    if not done or any(len(indices) == count for count, indices in done.items()):
        return []
    count = max(done)
    return [f"{index}/{count}" for index in range(1, count + 1) if index not in done[count]]


def _mind_missing(judgement: Judgement, missing: Sequence[str], not_asked: int) -> Judgement:
    """A verdict on part of a benchmark is no verdict: missing shards make it inconclusive."""
    if missing:
        return Judgement(
            "inconclusive",
            f"The results of {'shard' if len(missing) == 1 else 'shards'} {', '.join(missing[:20])} are missing.",
            "Run the missing shards again; what the others stored is kept.",
        )
    if not_asked:
        return Judgement(
            judgement.verdict,
            f"{judgement.reason} {not_asked:,} questions were not asked.",
            judgement.next_step,
        )
    return judgement


def _before(request: Request) -> Before | None:
    if request.baseline is None:
        return None
    split, divided = _divide(request.baseline, request)
    pre, control = aggregate(split.pre), aggregate(split.control)
    metric = request.thresholds.metric
    signal = compare(split.pre, split.control, HIT[metric], metric)
    judgement = judge(signal, pre, control, request.thresholds, divided=divided)
    return Before(judgement.verdict, signal, pre.scored, control.scored)


def _subject(results: Sequence[Result]) -> Subject:
    return Subject(
        models=sorted({r.model for r in results if r.model}),
        backends=sorted({r.backend for r in results if r.backend}),
        prompts=sorted({r.prompt for r in results if r.prompt}),
        top_k=sorted({r.top_k for r in results}),
        samples=max((r.sample for r in results), default=0) + 1,
    )


def _tally(values: Iterable[str]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _enforcement(results: Sequence[Result]) -> Enforcement:
    return Enforcement(
        sandbox=_tally(r.sandbox or "not recorded" for r in results),
        self_test=_tally(r.self_test or "not recorded" for r in results),
        tools_sent=_tally("not recorded" if r.tools_sent is None else str(r.tools_sent) for r in results),
        prompt_owner=_tally(r.prompt_owner or "not recorded" for r in results),
    )


def _usage(results: Sequence[Result], records: Sequence[RunRecord]) -> Usage:
    return Usage(
        questions=len(results),
        input_tokens=sum(r.input_tokens or 0 for r in results),
        output_tokens=sum(r.output_tokens or 0 for r in results),
        seconds=sum(r.seconds or 0.0 for r in results),
        not_asked=sum(record.not_asked for record in records),
    )


def _months(results: Sequence[Result], metric: Metric) -> list[MonthRow]:
    days = {r.instance_id: r.day for r in results}
    by_month: dict[str, list[float]] = {}
    for identity, value in entry_values(results, HIT[metric]).items():
        day = days[identity]
        if day is not None:
            by_month.setdefault(f"{day:%Y-%m}", []).append(value)
    return [MonthRow(month, len(v), sum(sorted(v)) / len(v)) for month, v in sorted(by_month.items())]


def _entry_rows(results: Sequence[Result], split: Split, reveal: bool) -> list[EntryRow]:
    pre = {r.instance_id for r in split.pre}
    control = {r.instance_id for r in split.control}
    hits = {metric: entry_values(results, HIT[metric]) for metric in METRICS}
    rows: dict[str, EntryRow] = {}
    for result in results:
        identity = result.instance_id
        if identity in rows:
            continue
        rows[identity] = EntryRow(
            instance_id=identity,
            created_at=result.day.isoformat() if result.day else "",
            group="pre" if identity in pre else "control" if identity in control else "",
            leakage=result.leakage or "",
            status="error" if result.error is not None else result.status,
            exact_hit=hits["exact"].get(identity),
            basename_hit=hits["basename"].get(identity),
            suffix_hit=hits["suffix"].get(identity),
            copied=bool(result.copied),
            gold_files=list(result.gold_files) if reveal else None,
            predicted_files=list(result.predicted_files) if reveal else None,
        )
    return sorted(rows.values(), key=lambda row: (row.created_at or "9999", row.instance_id))
