"""Stored results -> groups by cutoff -> aggregates -> contamination signal -> verdict.

Definitions are those of docs/statistics.md sections 2 to 4: an error is not a miss, an empty group has no
rate and then there is no signal, and a verdict is one of three states, none of which says "clean". Pure:
reads no file and asks no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, fsum
from typing import Literal, NamedTuple

from bccontam import stats
from bccontam.errors import SettingsError
from bccontam.result import Result
from bccontam.wording import count, interval, p_value, points

Metric = Literal["basename", "suffix", "exact"]
Verdict = Literal["signal", "no-signal", "inconclusive"]
Interval = tuple[float, float]

METRICS: tuple[Metric, ...] = ("basename", "suffix", "exact")

Rule = Callable[[Result], float | None]
"""The value of one scored answer in [0, 1], or None when the answer is left out."""

HIT: Mapping[Metric, Rule] = {
    "basename": lambda result: 1.0 if result.score.basename_hit else 0.0,
    "suffix": lambda result: 1.0 if result.score.suffix_hit else 0.0,
    "exact": lambda result: 1.0 if result.score.exact_hit else 0.0,
}
RECALL: Mapping[Metric, Rule] = {
    "basename": lambda result: result.score.basename_recall,
    "suffix": lambda result: result.score.suffix_recall,
    "exact": lambda result: result.score.exact_recall,
}


class Split(NamedTuple):
    """Results by the day of their entry; `left_out` holds the undated and those within the guard."""

    pre: list[Result]
    control: list[Result]
    left_out: list[Result]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One group: entries, how many of them were scored, and their rates in [0, 1], None when none was.

    An entry with several samples counts once, with the mean over its samples.
    """

    count: int
    scored: int
    error_count: int
    basename_hit_rate: float | None
    suffix_hit_rate: float | None
    exact_hit_rate: float | None
    mean_basename_recall: float | None
    mean_suffix_recall: float | None
    mean_exact_recall: float | None
    basename_interval: Interval | None
    suffix_interval: Interval | None
    exact_interval: Interval | None

    def hit_rate(self, metric: Metric) -> float | None:
        """The hit rate by the metric's name."""
        rates = {
            "basename": self.basename_hit_rate,
            "suffix": self.suffix_hit_rate,
            "exact": self.exact_hit_rate,
        }
        return rates[metric]


@dataclass(frozen=True, slots=True)
class Signal:
    """Δ = hit rate (pre) − hit rate (control), its 95 % interval, one-sided p and the test's name.

    Every number is None where a group is empty.
    """

    metric: Metric
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    method: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why, and what to do next: each one plain sentence or two."""

    verdict: Verdict
    reason: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What decides a verdict (docs/statistics.md section 4)."""

    metric: Metric = "basename"
    min_effect: float = 0.10
    alpha: float = 0.05
    max_error_rate: float = 0.2


def split_by_cutoff(results: Iterable[Result], cutoff: date | str, guard_days: int = 0) -> Split:
    """Results of entries created before the cutoff day and on or after it (UTC days).

    Entries within `guard_days` on either side of the cutoff, and undated ones, are in neither group. Raises
    SettingsError when the cutoff is no day or the guard is negative.
    """
    day = _as_day(cutoff)
    if guard_days < 0:
        raise SettingsError(f"guard-days: {guard_days} is negative; use a whole number of days.")
    guard = timedelta(days=guard_days)
    split = Split([], [], [])
    for result in results:
        created = result.day
        if created is None:
            split.left_out.append(result)
        elif created < day - guard:
            split.pre.append(result)
        elif created >= day + guard:
            split.control.append(result)
        else:
            split.left_out.append(result)
    return split


def _as_day(cutoff: date | str) -> date:
    if isinstance(cutoff, date):
        return cutoff
    try:
        return date.fromisoformat(cutoff)
    except ValueError:
        raise SettingsError(f"cutoff: {cutoff!r} is no day; use YYYY-MM-DD.") from None


def entry_values(results: Iterable[Result], rule: Rule) -> dict[str, float]:
    """`{instance_id: mean of the rule over the entry's scored samples}`, entries without one left out."""
    return entry_tables(results, [rule])[0]


def entry_tables(results: Iterable[Result], rules: Iterable[Rule]) -> list[dict[str, float]]:
    """`entry_values` of several rules in one pass: of many results, reading them takes most of the time."""
    columns: list[tuple[Rule, dict[str, float], dict[str, list[float]]]] = [(rule, {}, {}) for rule in rules]
    for result in results:
        if not result.scored:
            continue
        identity = result.instance_id
        for rule, values, sampled in columns:
            value = rule(result)
            if value is None:
                continue
            if identity in values:
                sampled.setdefault(identity, [values[identity]]).append(value)
            else:
                values[identity] = value
    for _, values, sampled in columns:
        values.update((identity, fsum(samples) / len(samples)) for identity, samples in sampled.items())
    return [values for _, values, _ in columns]


def aggregate(results: Iterable[Result]) -> Aggregate:
    """The group's size, errors and rates (docs/statistics.md section 2)."""
    results = list(results)
    entries = len({result.instance_id for result in results})
    rules = [*(HIT[metric] for metric in METRICS), *(RECALL[metric] for metric in METRICS)]
    columns = [list(values.values()) for values in entry_tables(results, rules)]
    hits, recalls = dict(zip(METRICS, columns[:3], strict=True)), dict(zip(METRICS, columns[3:], strict=True))
    scored = len(hits["basename"])
    return Aggregate(
        count=entries,
        scored=scored,
        error_count=entries - scored,
        basename_hit_rate=_mean(hits["basename"]),
        suffix_hit_rate=_mean(hits["suffix"]),
        exact_hit_rate=_mean(hits["exact"]),
        mean_basename_recall=_mean(recalls["basename"]),
        mean_suffix_recall=_mean(recalls["suffix"]),
        mean_exact_recall=_mean(recalls["exact"]),
        basename_interval=stats.wilson_interval(fsum(hits["basename"]), scored),
        suffix_interval=stats.wilson_interval(fsum(hits["suffix"]), scored),
        exact_interval=stats.wilson_interval(fsum(hits["exact"]), scored),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def measure(pre: Sequence[float], control: Sequence[float], metric: Metric) -> Signal:
    """The contamination signal between two groups of per-entry values in [0, 1]."""
    if not pre or not control:
        return Signal(metric)
    # Exact sums: the order of results changes nothing, not even a last digit.
    hits, control_hits = fsum(pre), fsum(control)
    between = stats.newcombe_interval(hits, len(pre), control_hits, len(control))
    test = stats.difference_test(pre, control)
    assert between is not None
    return Signal(
        metric,
        value=hits / len(pre) - control_hits / len(control),
        low=between[0],
        high=between[1],
        p_value=test.p_value,
        method=test.method,
    )


def compare(pre: Iterable[Result], control: Iterable[Result], rule: Rule, metric: Metric) -> Signal:
    """The signal between two groups of results under one rule."""
    return measure(list(entry_values(pre, rule).values()), list(entry_values(control, rule).values()), metric)


def decide(signal: Signal, thresholds: Thresholds) -> Verdict:
    """The three-state rule on a defined or undefined signal (docs/statistics.md section 4)."""
    if signal.value is None or signal.p_value is None or signal.high is None:
        return "inconclusive"
    if signal.p_value <= thresholds.alpha and signal.value >= thresholds.min_effect:
        return "signal"
    return "no-signal" if signal.high < thresholds.min_effect else "inconclusive"


def judge(
    signal: Signal, pre: Aggregate, control: Aggregate, thresholds: Thresholds, *, divided: bool
) -> Judgement:
    """The verdict with its reason and the next step. `divided`: a cutoff or a control set was given."""
    if not divided:
        return Judgement(
            "inconclusive",
            "No cutoff was given, so there is no control group: the rates are a baseline only.",
            "Give the input cutoff (a day, or auto for the model's own) to compare old entries with fresh ones.",
        )
    empty = [name for name, group in (("older", pre), ("control", control)) if group.scored == 0]
    if empty:
        return Judgement(
            "inconclusive",
            f"The {' and the '.join(empty)} group has no scored entry, so there is nothing to compare.",
            "Choose a cutoff with entries on both sides, or give another benchmark's results as control.",
        )
    for name, group in (("older", pre), ("control", control)):
        if group.error_count > thresholds.max_error_rate * group.count:
            return Judgement(
                "inconclusive",
                f"{count(group.error_count, 'error')} among the {count(group.count, 'entry', 'entries')} "
                f"of the {name} group are more than the {100 * thresholds.max_error_rate:g} % allowed.",
                "Run again: stored answers are kept and only the missing ones are asked.",
            )
    verdict = decide(signal, thresholds)
    numbers = (
        f"{points(signal.value)}, 95 % interval {interval(signal.low, signal.high)}, {p_value(signal.p_value)} "
        f"({signal.method}), {pre.scored:,} older and {control.scored:,} control entries"
    )
    if verdict == "signal":
        return Judgement(
            verdict,
            f"Older entries are hit more often than fresh ones: {numbers}. This is evidence of memorisation.",
            "Look at the sensitivity rows before acting on it; prefer fresh entries when comparing models.",
        )
    if verdict == "no-signal":
        return Judgement(
            verdict,
            f"No difference of {100 * thresholds.min_effect:g} points or more between older and fresh entries: "
            f"{numbers}.",
            "Nothing to do now; check again when entries are added or the model changes.",
        )
    return Judgement(
        verdict,
        f"The data cannot tell a difference of {100 * thresholds.min_effect:g} points from none: {numbers}.",
        what_would_settle(pre, control, thresholds),
    )


def what_would_settle(pre: Aggregate, control: Aggregate, thresholds: Thresholds) -> str:
    """What the groups can detect now, and how many more fresh entries would detect 20 points."""
    rate = control.hit_rate(thresholds.metric) or 0.0
    now = stats.minimum_detectable_effect(pre.scored, control.scored, rate, alpha=thresholds.alpha)
    needed = stats.control_needed(pre.scored, 0.20, rate, alpha=thresholds.alpha)
    found = "no difference" if now is None else f"only a difference of {ceil(100 * now)} points or more"
    sizes = f"{pre.scored:,} older and {count(control.scored, 'control entry', 'control entries')}"
    sentence = f"With {sizes} {found} can be found (power 80 %)"
    if rate + 0.20 > 1:
        return f"{sentence}; at a control rate of {100 * rate:.0f} % a difference of 20 cannot occur."
    if needed is None:
        return f"{sentence}; to find one of 20 add entries on both sides, fresh ones alone are not enough."
    if needed > control.scored:
        missing = count(needed - control.scored, "fresh entry", "fresh entries")
        return f"{sentence}; to find one of 20 add {missing}."
    return f"{sentence}; add fresh entries to narrow the interval."
