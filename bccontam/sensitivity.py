"""Does the headline survive? The same signal under other rules, and the floors it stands on.

Definitions are those of docs/statistics.md sections 6 to 9. Everything is recomputed from stored results;
pure, with no model call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from math import fsum

from bccontam import stats
from bccontam.contamination import (
    HIT,
    METRICS,
    Metric,
    Rule,
    Signal,
    Split,
    entry_tables,
    entry_values,
    measure,
)
from bccontam.paths import basename
from bccontam.result import Result
from bccontam.score import score_prediction

UNUSABLE = ("unparsed", "refusal", "echo", "empty")
"""Statuses of answers without a usable path; they count as misses in the headline."""

GRADES = ("path", "basename", "object-name", "none")


@dataclass(frozen=True, slots=True)
class Row:
    """One sensitivity row: what was changed, the signal under it, and the entries left on each side."""

    name: str
    signal: Signal
    pre: int
    control: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The signal at one other cutoff; `p_value` is the max-statistic p over all dates tried, by `method`."""

    cutoff: date
    value: float
    low: float
    high: float
    p_value: float
    pre: int
    control: int
    method: str


@dataclass(frozen=True, slots=True)
class LeakageRow:
    """Entries of one leakage grade with their hit rate."""

    grade: str
    entries: int
    hit_rate: float | None


@dataclass(frozen=True, slots=True)
class Floor:
    """What naming alone finds in one group, and the model's lift over it, on the entries that have both."""

    group: str
    entries: int
    model_rate: float | None
    naming_rate: float | None
    lift: float | None
    listed_rate: float | None


@dataclass(frozen=True, slots=True)
class Differences:
    """(pre − control) of the model minus (pre − control) of the reference, over entries that both answered."""

    value: float | None
    p_value: float | None
    method: str | None
    pre: int
    control: int


@dataclass(frozen=True, slots=True)
class Comparability:
    """What could make two groups differ without any memory; means and shares over entries."""

    group: str
    entries: int
    files_per_patch: float | None
    leaking: float | None
    statement_chars: float | None
    repositories: int


def sensitivity_rows(split: Split, metric: Metric) -> list[Row]:
    """The rows of docs/statistics.md section 6, in its order."""
    hit = HIT[metric]
    on_both_sides = _gold_paths(split.pre) & _gold_paths(split.control)
    checks: list[tuple[str, Rule, str]] = [
        ("statement leaks nothing", _only(lambda r: r.leakage == "none", hit), _leakage_note(split)),
        ("one gold file", _only(lambda r: len(r.gold_files) == 1, hit), ""),
        ("gold that existed before the fix", _rescored(metric, _existing_gold), _kinds_note(split)),
        ("first path only (hit@1)", _first_path(metric), ""),
        *((f"{other} metric", HIT[other], "") for other in METRICS if other != metric),
        ("unusable answers as hits", lambda r: 1.0 if r.status in UNUSABLE else hit(r), ""),
        ("unusable answers left out", _only(lambda r: r.status not in UNUSABLE, hit), ""),
        (
            "gold on both sides left out",
            _rescored(metric, lambda r: [path for path in r.gold_files if path not in on_both_sides]),
            "",
        ),
    ]
    rules = [rule for _, rule, _ in checks]
    older, newer = (
        [list(values.values()) for values in entry_tables(group, rules)]
        for group in (split.pre, split.control)
    )
    rows = [
        Row(name, measure(pre, control, metric), len(pre), len(control), note)
        for (name, _, note), pre, control in zip(checks, older, newer, strict=True)
    ]
    return [*rows[:-1], _within_area(split, metric), rows[-1]]


def _only(keep: Callable[[Result], bool], rule: Rule) -> Rule:
    return lambda result: rule(result) if keep(result) else None


def _hit(predicted: Sequence[str], gold: Sequence[str], metric: Metric) -> float:
    if set(map(basename, gold)).isdisjoint(map(basename, predicted)):
        return 0.0  # most miss, and paths that agree in more than their file name agree in that too
    score = score_prediction(predicted, gold)
    hits = {"basename": score.basename_hit, "suffix": score.suffix_hit, "exact": score.exact_hit}
    return float(hits[metric])


def _first_path(metric: Metric) -> Rule:
    hit = HIT[metric]

    def rule(result: Result) -> float | None:
        value = hit(result)
        if not value or len(result.predicted_files) <= 1:
            return value
        return _hit(result.predicted_files[:1], result.gold_files, metric)

    return rule


def _rescored(metric: Metric, gold_of: Callable[[Result], Sequence[str] | None]) -> Rule:
    """Scores each answer against another list of gold files; entries left without any are left out."""
    hit = HIT[metric]

    def rule(result: Result) -> float | None:
        gold = gold_of(result)
        if not gold:
            return None
        value = hit(result)
        if len(gold) == len(result.gold_files) and tuple(gold) == result.gold_files:
            return value
        if not value and set(gold) <= set(result.gold_files):
            return value  # with fewer gold files a miss stays a miss
        return _hit(result.predicted_files, gold, metric)

    return rule


def _existing_gold(result: Result) -> list[str]:
    """Gold files under the names they had before the fix; a file the patch adds cannot be recalled."""
    existing = []
    for file in result.gold:
        if file.kind == "renamed":
            existing.append(file.old_path or file.path)
        elif file.kind not in ("added", "copied"):
            existing.append(file.path)
    return existing


def _gold_paths(results: Iterable[Result]) -> set[str]:
    return {path for result in results for path in result.gold_files}


def _leakage_note(split: Split) -> str:
    unknown = sum(result.leakage is None for group in split[:2] for result in group)
    return f"leakage is not stored for {unknown:,} results" if unknown else ""


def _kinds_note(split: Split) -> str:
    unknown = sum(not result.gold for group in split[:2] for result in group)
    return f"file kinds are not stored for {unknown:,} results" if unknown else ""


def _within_area(split: Split, metric: Metric) -> Row:
    """The headline with a permutation p that shuffles only within an area."""
    rule = HIT[metric]
    pre, control = entry_values(split.pre, rule), entry_values(split.control, rule)
    headline = measure(list(pre.values()), list(control.values()), metric)
    areas = {r.instance_id: (r.area or "").strip().casefold() for group in split[:2] for r in group}
    shared = {areas[i] for i in pre} & {areas[i] for i in control}
    matched = sum(areas[i] in shared for i in (*pre, *control))
    note = f"{matched:,} of {len(pre) + len(control):,} entries have a counterpart in their area"
    name = "shuffled within area"
    if not pre or not control:
        return Row(name, Signal(metric), len(pre), len(control), note)
    strata = [(areas[i], value, True) for i, value in pre.items()]
    strata += [(areas[i], value, False) for i, value in control.items()]
    test = stats.stratified_permutation_test(strata)
    signal = Signal(metric, headline.value, headline.low, headline.high, test.p_value, test.method)
    return Row(name, signal, len(pre), len(control), note)


def leakage_table(results: Iterable[Result], metric: Metric) -> list[LeakageRow]:
    """Hit rate by leakage grade; the row `none` is the paper's filtered accuracy. Empty when not stored."""
    results = [result for result in results if result.leakage is not None]
    rows = []
    for grade in GRADES if results else ():
        graded = [result for result in results if result.leakage == grade]
        values = entry_values(graded, HIT[metric])
        rows.append(LeakageRow(grade, len({r.instance_id for r in graded}), _mean(values.values())))
    return rows


def sweep(results: Iterable[Result], metric: Metric, smallest_group: int = 5) -> list[SweepPoint]:
    """The signal at the first day of every month that leaves enough scored entries on both sides.

    Exploration, not a verdict: each p is the max-statistic permutation p over all dates tried.
    """
    dated = [result for result in results if result.day is not None]
    days = {result.instance_id: result.day for result in dated}
    values = sorted((day, value) for i, value in entry_values(dated, HIT[metric]).items() if (day := days[i]))
    months = sorted({day.replace(day=1) for day, _ in values})
    ends = []
    for month in months:
        before = bisect_left(values, (month, -1.0))
        if smallest_group <= before <= len(values) - smallest_group:
            ends.append((month, before))
    if not ends:
        return []
    hits = [value for _, value in values]
    test = stats.sweep_permutation_test(hits, [before for _, before in ends])
    sums = [0.0, *accumulate(hits)]
    points = []
    for (month, before), p_value in zip(ends, test.p_values, strict=True):
        after, older = len(hits) - before, sums[before]
        newer = max(0.0, sums[-1] - older)  # of fractions, a difference of sums may fall a hair below zero
        between = stats.newcombe_interval(older, before, newer, after)
        assert between is not None
        delta = older / before - newer / after
        points.append(SweepPoint(month, delta, *between, p_value, before, after, test.method))
    return points


def floors(groups: Iterable[tuple[str, Sequence[Result]]], metric: Metric) -> list[Floor]:
    """The naming floor and the model's lift over it, a row a group (docs/statistics.md section 9)."""

    known: dict[int, float] = {}  # by identity: groups overlap, and scoring is what takes the time here

    def proposed(result: Result) -> float | None:
        if result.naming_files is None:
            return None
        if id(result) not in known:
            proposal = result.naming_files[: result.top_k]
            known[id(result)] = _hit(proposal, result.gold_files, metric)
        return known[id(result)]

    def listed(result: Result) -> float | None:
        if result.listed_files is None:
            return None
        return _hit(result.listed_files[: result.top_k], result.gold_files, metric)

    rules = [proposed, _only(lambda r: r.naming_files is not None, HIT[metric]), listed]
    rows = []
    for name, results in groups:
        naming, model, listing = entry_tables(results, rules)
        model_rate, naming_rate = _mean(model.values()), _mean(naming.values())
        lift = None if model_rate is None or naming_rate is None else model_rate - naming_rate
        rows.append(Floor(name, len(naming), model_rate, naming_rate, lift, _mean(listing.values())))
    return rows


def difference_in_differences(split: Split, reference: Iterable[Result], metric: Metric) -> Differences:
    """How much more the model gains on older entries than a reference that cannot remember them."""
    expected = entry_values(reference, HIT[metric])
    pre = _paired(split.pre, expected, metric)
    control = _paired(split.control, expected, metric)
    if not pre or not control:
        return Differences(None, None, None, len(pre), len(control))
    test = stats.permutation_test(pre, control)
    value = fsum(pre) / len(pre) - fsum(control) / len(control)
    return Differences(value, test.p_value, test.method, len(pre), len(control))


def _paired(results: Iterable[Result], expected: dict[str, float], metric: Metric) -> list[float]:
    values = entry_values(results, HIT[metric])
    return sorted(value - expected[i] for i, value in values.items() if i in expected)


def comparability(groups: Iterable[tuple[str, Sequence[Result]]]) -> list[Comparability]:
    """What differs between groups apart from their age, a row a group."""
    rows = []
    for name, results in groups:
        entries = list({result.instance_id: result for result in results}.values())
        graded = [r.leakage for r in entries if r.leakage is not None]
        lengths = [float(r.statement_chars) for r in entries if r.statement_chars is not None]
        rows.append(
            Comparability(
                name,
                len(entries),
                _mean([float(len(r.gold_files)) for r in entries]),
                _mean([float(grade != "none") for grade in graded]),
                _mean(lengths),
                len({r.repo for r in entries if r.repo}),
            )
        )
    return rows


def repository_rates(results: Iterable[Result], metric: Metric) -> list[tuple[str, int, float | None]]:
    """`(repository, scored entries, hit rate)`, the largest first: one repository may be the whole story."""
    by_repo: dict[str, list[Result]] = {}
    for result in results:
        by_repo.setdefault(result.repo or "(unknown)", []).append(result)
    sizes = Counter({repo: len({r.instance_id for r in rows}) for repo, rows in by_repo.items()})
    rates = []
    for repo, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        values = entry_values(by_repo[repo], HIT[metric])
        rates.append((repo, len(values), _mean(values.values())))
    return rates


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else None
