"""A report as one value, built from stored results and the records of the runs that stored them.

What it holds is `bccontam.report.shape`; how it looks is the templates' business. Pure: reads no file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from bccontam import sensitivity as checks
from bccontam.contamination import (
    HIT,
    METRICS,
    Judgement,
    Metric,
    Signal,
    Split,
    Thresholds,
    aggregate,
    compare,
    decide,
    entry_tables,
    entry_values,
    judge,
    measure,
    split_by_cutoff,
)
from bccontam.report.cautions import find_cautions
from bccontam.report.shape import (
    Before,
    Change,
    Check,
    Contribution,
    Cutoff,
    Deltas,
    Enforcement,
    EntryRow,
    Groups,
    MonthRow,
    Report,
    Subject,
    Usage,
)
from bccontam.result import Result, RunRecord
from bccontam.wording import count, listing

DEFAULT_THRESHOLDS = Thresholds()
CONTROL_SOURCE = "another benchmark's results"


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


Tables = Mapping[Metric, Mapping[str, float]]
"""Per metric the value of each scored entry."""


def build_report(results: Sequence[Result], request: Request, records: Sequence[RunRecord] = ()) -> Report:
    """The report on stored results. `records` are those of the runs that stored them."""
    metric = request.thresholds.metric
    everything = [*results, *(request.control or ())]
    split, divided = _divide(results, request)
    sides = _sides(split)
    tables: Tables = dict(zip(METRICS, entry_tables(everything, [HIT[m] for m in METRICS]), strict=True))
    groups = Groups(aggregate(everything), aggregate(split.pre), aggregate(split.control))
    signals = _signals(split)
    missing = missing_shards(records)
    not_asked = sum(record.not_asked for record in records)
    judgement = judge(signals[metric], groups.pre, groups.control, request.thresholds, divided=divided)
    judgement = _mind_missing(judgement, missing, not_asked)
    floors = checks.floors([("all", everything), ("pre", split.pre), ("control", split.control)], metric)
    compared = divided and bool(split.pre) and bool(split.control)
    rows = _checks(split, request.thresholds) if compared else []
    return Report(
        verdict=judgement.verdict,
        reason=judgement.reason,
        next_step=judgement.next_step,
        cautions=find_cautions(judgement.verdict, results, rows, request.control, request.baseline),
        signal=signals[metric],
        signals=list(signals.values()),
        deltas=Deltas(**{m: signals[m].value for m in METRICS}),
        groups=groups,
        cutoff=_cutoff(request),
        thresholds=request.thresholds,
        subject=_subject(results),
        enforcement=_enforcement(results),
        usage=_usage(results, not_asked),
        leakage=checks.leakage_table(everything, metric),
        copied=len({r.instance_id for r in everything if r.copied}),
        floors=floors,
        familiarity=floors[2].lift,
        sensitivity=rows,
        sweep=checks.sweep(results, metric) if request.control is None else [],
        difference_in_differences=(
            None
            if request.reference is None
            else checks.difference_in_differences(split, request.reference, metric)
        ),
        comparability=(
            checks.comparability([("pre", split.pre), ("control", split.control)]) if compared else []
        ),
        repositories=checks.repository_rates(everything, metric),
        months=_months(everything, tables[metric], sides),
        entries=_entry_rows(everything, tables, sides, reveal=request.reveal_answers),
        undated=sorted({r.instance_id for r in results if r.day is None}) if request.control is None else [],
        left_out=len({r.instance_id for r in split.left_out}),
        unscorable=sorted({pair for record in records for pair in record.unscorable}),
        missing_shards=missing,
        before=_before(request),
        changes=list(request.changes),
        contribution=_contribution(split, request),
    )


def _divide(results: Sequence[Result], request: Request) -> tuple[Split, bool]:
    if request.control is not None:
        return Split(list(results), list(request.control), []), True
    if request.cutoff is not None:
        return split_by_cutoff(results, request.cutoff, request.guard_days), True
    return Split([], [], [result for result in results if result.day is None]), False


def _signals(split: Split) -> dict[Metric, Signal]:
    rules = [HIT[metric] for metric in METRICS]
    pre, control = entry_tables(split.pre, rules), entry_tables(split.control, rules)
    return {
        metric: measure(list(older.values()), list(newer.values()), metric)
        for metric, older, newer in zip(METRICS, pre, control, strict=True)
    }


def _sides(split: Split) -> dict[str, str]:
    """The group of each entry that is in one."""
    sides = {result.instance_id: "control" for result in split.control}
    sides.update((result.instance_id, "pre") for result in split.pre)
    return sides


def _cutoff(request: Request) -> Cutoff:
    if request.control is not None:
        return Cutoff(None, CONTROL_SOURCE, 0)
    if request.cutoff is None:
        return Cutoff(None, "", request.guard_days)
    return Cutoff(request.cutoff.isoformat(), request.cutoff_source, request.guard_days)


def missing_shards(records: Iterable[RunRecord]) -> list[str]:
    """Shards `i/n` that no run record stands for, of the finest division that occurs."""
    done: dict[int, set[int]] = {}
    for record in records:
        index, shards = (int(part) for part in record.shard.split("/"))
        done.setdefault(shards, set()).add(index)
    if not done or any(len(indices) == shards for shards, indices in done.items()):
        return []
    shards = max(done)
    return [f"{index}/{shards}" for index in range(1, shards + 1) if index not in done[shards]]


def _mind_missing(judgement: Judgement, missing: list[str], not_asked: int) -> Judgement:
    """A verdict on part of a benchmark is no verdict: missing shards make it inconclusive."""
    if missing:
        shards = "shard" if len(missing) == 1 else "shards"
        return Judgement(
            "inconclusive",
            f"The results of {shards} {listing(missing, 20)} are missing.",
            "Run the missing shards again; what the others stored is kept.",
        )
    if not_asked:
        asked = f"{count(not_asked, 'question')} {'was' if not_asked == 1 else 'were'} not asked."
        return Judgement(judgement.verdict, f"{judgement.reason} {asked}", judgement.next_step)
    return judgement


def _checks(split: Split, thresholds: Thresholds) -> list[Check]:
    return [
        Check(row.name, decide(row.signal, thresholds), row.signal, row.pre, row.control, row.note)
        for row in checks.sensitivity_rows(split, thresholds.metric)
    ]


def _before(request: Request) -> Before | None:
    if request.baseline is None:
        return None
    split, divided = _divide(request.baseline, request)
    pre, control = aggregate(split.pre), aggregate(split.control)
    metric = request.thresholds.metric
    signal = compare(split.pre, split.control, HIT[metric], metric)
    judgement = judge(signal, pre, control, request.thresholds, divided=divided)
    return Before(judgement.verdict, signal, pre.scored, control.scored)


def _contribution(split: Split, request: Request) -> Contribution | None:
    """What the changed entries do to the signal; None where none is changed or nothing is compared."""
    changed = {change.instance_id for change in request.changes}
    if not changed:
        return None
    metric = request.thresholds.metric
    pre, control = entry_values(split.pre, HIT[metric]), entry_values(split.control, HIT[metric])
    if not pre or not control:
        return None
    older = [value for identity, value in pre.items() if identity not in changed]
    newer = [value for identity, value in control.items() if identity not in changed]
    return Contribution(len(pre) - len(older), len(control) - len(newer), measure(older, newer, metric))


def _subject(results: Sequence[Result]) -> Subject:
    asked = Counter(result.instance_id for result in results)
    return Subject(
        models=sorted({r.model for r in results if r.model}),
        backends=sorted({r.backend for r in results if r.backend}),
        prompts=sorted({r.prompt for r in results if r.prompt}),
        top_k=sorted({r.top_k for r in results}),
        samples=max(asked.values(), default=0),
    )


def _tally(values: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))


def _enforcement(results: Sequence[Result]) -> Enforcement:
    unknown = "not recorded"
    return Enforcement(
        sandbox=_tally(r.sandbox or unknown for r in results),
        self_test=_tally(r.self_test or unknown for r in results),
        tools_sent=_tally(unknown if r.tools_sent is None else str(r.tools_sent) for r in results),
        prompt_owner=_tally(r.prompt_owner or unknown for r in results),
    )


def _usage(results: Sequence[Result], not_asked: int) -> Usage:
    return Usage(
        questions=len(results),
        input_tokens=sum(r.input_tokens or 0 for r in results),
        output_tokens=sum(r.output_tokens or 0 for r in results),
        seconds=sum(r.seconds or 0.0 for r in results),
        not_asked=not_asked,
    )


def _months(
    results: Sequence[Result], values: Mapping[str, float], sides: Mapping[str, str]
) -> list[MonthRow]:
    months = {r.instance_id: r.day.isoformat()[:7] for r in results if r.day is not None}
    found: dict[tuple[str, str], list[float]] = {}
    for identity, value in values.items():
        if identity in months:
            found.setdefault((months[identity], sides.get(identity, "")), []).append(value)
    order = {"pre": 0, "": 1, "control": 2}
    return [
        MonthRow(month, side, len(hits), sum(sorted(hits)) / len(hits))
        for (month, side), hits in sorted(found.items(), key=lambda item: (item[0][0], order[item[0][1]]))
    ]


def _entry_rows(
    results: Sequence[Result], tables: Tables, sides: Mapping[str, str], *, reveal: bool
) -> list[EntryRow]:
    samples: dict[str, list[Result]] = {}
    for result in results:
        samples.setdefault(result.instance_id, []).append(result)
    rows = [_entry_row(answers, tables, sides, reveal=reveal) for answers in samples.values()]
    return sorted(rows, key=lambda row: (row.created_at or "9999", row.instance_id))


def _entry_row(
    answers: Sequence[Result], tables: Tables, sides: Mapping[str, str], *, reveal: bool
) -> EntryRow:
    first = answers[0]
    identity, day = first.instance_id, first.day
    return EntryRow(
        instance_id=identity,
        created_at="" if day is None else day.isoformat(),
        group=sides.get(identity, ""),
        leakage=first.leakage or "",
        status=_status(first) if len(answers) == 1 else _statuses(answers),
        exact_hit=tables["exact"].get(identity),
        basename_hit=tables["basename"].get(identity),
        suffix_hit=tables["suffix"].get(identity),
        copied=any(answer.copied for answer in answers),
        gold_files=list(first.gold_files) if reveal else None,
        predicted_files=(
            list(dict.fromkeys(path for answer in answers for path in answer.predicted_files))
            if reveal
            else None
        ),
    )


def _status(answer: Result) -> str:
    return "error" if answer.error is not None else answer.status


def _statuses(answers: Sequence[Result]) -> str:
    """`ok`, or `ok 4, error 1` where the samples differ."""
    tally = _tally(_status(answer) for answer in answers)
    return tally[0][0] if len(tally) == 1 else ", ".join(f"{status} {number}" for status, number in tally)
