"""What the Markdown report, the page and the terminal say alike: names, the table of groups, sentences.

Values from a dataset or a model are given as they are, each marked for what it is; whoever prints them makes
them safe for where they go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bccontam.contamination import METRICS, Aggregate, Metric, Signal
from bccontam.report.shape import EntryRow, Report
from bccontam.sensitivity import Floor
from bccontam.wording import DASH, count, interval, p_value, points, rate

if TYPE_CHECKING:
    from bccontam.plan import Needed

GROUP_NAMES = {"all": "all", "pre": "older", "control": "control", "": DASH}
VERDICT_NAMES = {"signal": "signal", "no-signal": "no signal", "inconclusive": "inconclusive"}
MOST_LISTED = 20
"""Ids, repositories and reasons that are listed; of more, the number is told."""

PAPER = "https://arxiv.org/abs/2506.12286"


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Groups as columns, rates as rows of finished numbers; `decides` marks the row that the verdict is on."""

    columns: list[str]
    rows: list[GroupRow]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One line of the table of groups."""

    name: str
    cells: list[str]
    decides: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """How it was asked, one line: values from stored results, as identifiers (`code`) or words."""

    name: str
    values: list[str]
    code: bool = False


def is_divided(report: Report) -> bool:
    """Whether there are two groups, by a cutoff or by another benchmark."""
    return bool(report.cutoff.day or report.cutoff.source)


def group_table(report: Report) -> GroupTable:
    """Sizes, rates with intervals and differences; only the one group when nothing divides the entries."""
    groups = [report.groups.pre, report.groups.control, report.groups.all]
    floors = [_floor(report.floors, name) for name in ("pre", "control", "all")]
    signals = {signal.metric: signal for signal in report.signals}
    rows = [("entries scored", [f"{group.scored:,}" for group in groups], "", False)]
    for metric in METRICS:
        cells = [rated(group, metric) for group in groups]
        rows.append((f"{metric} hit", cells, compared(signals[metric]), metric == report.signal.metric))
    naming = [floor.naming_rate if floor else None for floor in floors]
    if any(value is not None for value in naming):
        lifts = [floor.lift if floor else None for floor in floors]
        rows.append(("naming floor", [rate(value) for value in naming], _gap(naming), False))
        rows.append(("lift over the floor", [points(value) for value in lifts], _gap(lifts), False))
    listed = [floor.listed_rate if floor else None for floor in floors]
    if any(value is not None for value in listed):
        rows.append(("keyword-search floor", [rate(value) for value in listed], _gap(listed), False))
    for name, recalls in (
        ("basename recall", [group.mean_basename_recall for group in groups]),
        ("exact recall", [group.mean_exact_recall for group in groups]),
    ):
        rows.append((name, [rate(value) for value in recalls], _gap(recalls), False))
    rows.append(("errors", [f"{group.error_count:,}" for group in groups], "", False))
    if not is_divided(report):
        return GroupTable(["all"], [GroupRow(name, cells[2:], decides) for name, cells, _, decides in rows])
    return GroupTable(
        ["older", "control", "older − control", "all"],
        [GroupRow(name, [*cells[:2], gap, cells[2]], decides) for name, cells, gap, decides in rows],
    )


def _floor(floors: Iterable[Floor], name: str) -> Floor | None:
    return next((floor for floor in floors if floor.group == name), None)


def rated(group: Aggregate, metric: Metric) -> str:
    """A hit rate with its interval, `23.5 % [17.0, 31.5]`, or a dash."""
    intervals = {
        "basename": group.basename_interval,
        "suffix": group.suffix_interval,
        "exact": group.exact_interval,
    }
    between = intervals[metric]
    shown = rate(group.hit_rate(metric))
    return f"{_whole(shown)} {_whole(interval(*between))}" if between else shown


def _gap(values: list[float | None]) -> str:
    older, control = values[:2]
    return DASH if older is None or control is None else points(older - control)


def compared(signal: Signal) -> str:
    """A signal as `+17.3 pts [3.1, 29.2], p = .049`, or a dash."""
    if signal.value is None:
        return DASH
    numbers = (points(signal.value), f"{interval(signal.low, signal.high)},", p_value(signal.p_value))
    return " ".join(map(_whole, numbers))


def _whole(number: str) -> str:
    """A number whose parts a narrow column must not put on two lines."""
    return number.replace(" ", "\u00a0")


def division(report: Report) -> str:
    """How the entries are divided, and what the numbers in brackets are."""
    cutoff = report.cutoff
    brackets = f"The {report.signal.metric} hit decides. Brackets hold 95 % intervals."
    if cutoff.day is not None:
        guard = f", {count(cutoff.guard_days, 'day')} around it left out" if cutoff.guard_days else ""
        source = "" if cutoff.source == "given" else f" ({cutoff.source})"
        return f"Older: created before {cutoff.day}{source}; control: on or after it, UTC days{guard}. {brackets}"
    if cutoff.source:
        return f"Older: this benchmark; control: {cutoff.source}. {brackets}"
    return "No cutoff: every entry is in one group. Brackets hold 95 % intervals."


def change_line(report: Report) -> str:
    """What the changed entries are, and what they do to the signal."""
    if not report.changes:
        return ""
    kinds = ("added", "modified", "removed")
    counts = [(kind, sum(change.change == kind for change in report.changes)) for kind in kinds]
    said = ", ".join(f"{number:,} {kind}" for kind, number in counts if number)
    line = f"{count(len(report.changes), 'changed entry', 'changed entries')}: {said}."
    effect = report.contribution
    if effect is None:
        return line
    return (
        f"{line} {effect.pre:,} older and {effect.control:,} control of them are scored here; without them the "
        f"signal is {compared(effect.without)}."
        if effect.pre or effect.control
        else f"{line} None of them is scored in a group here."
    )


def facts(report: Report) -> list[Fact]:
    """How it was asked and what it took."""
    subject, enforced, usage = report.subject, report.enforcement, report.usage
    tops = " or ".join(f"{top_k:,}" for top_k in subject.top_k[:5])
    return [
        Fact("model, as returned", subject.models, code=True),
        Fact("backend", subject.backends, code=True),
        Fact("prompt", subject.prompts, code=True),
        Fact("asked for", [f"the {tops} likeliest files", count(subject.samples, "answer") + " an entry"]),
        Fact("tools sent", _tallied(enforced.tools_sent)),
        Fact("sandbox", _tallied(enforced.sandbox)),
        Fact("self-test of the sandbox", _tallied(enforced.self_test)),
        Fact("text in front of the prompt", _tallied(enforced.prompt_owner)),
        Fact("questions", [f"{usage.questions:,} answered or failed", f"{usage.not_asked:,} not asked"]),
        Fact("tokens", [f"{usage.input_tokens:,} in", f"{usage.output_tokens:,} out"]),
        Fact("time", [f"{usage.seconds:,.0f} s of answers"]),
    ]


def _tallied(pairs: list[tuple[str, int]]) -> list[str]:
    """The values, each with its number of answers when they differ."""
    if len(pairs) == 1:
        return [pairs[0][0]]
    return [f"{value} ({number:,})" for value, number in pairs]


def _tests(report: Report) -> list[tuple[str, str]]:
    """What was tested, and by which test."""
    named = [(f"{signal.metric} hit", signal.method) for signal in report.signals]
    named += [(row.name, row.signal.method) for row in report.sensitivity]
    if report.difference_in_differences:
        named.append(("reference model", report.difference_in_differences.method))
    named += [("sweep", point.method) for point in report.sweep[:1]]
    return [(name, method) for name, method in named if method]


def tests_line(report: Report) -> str:
    """The tests, with what each was used for; a name holds the number of shuffles and the seed."""
    used: dict[str, list[str]] = {}
    for name, method in _tests(report):
        used.setdefault(method, []).append(name)
    if not used:
        return ""
    usual = max(used, key=lambda method: len(used[method]))
    others = [f"{method} ({', '.join(names)})" for method, names in used.items() if method != usual]
    return f"One-sided tests: {'; '.join([usual, *others])}."


CAVEATS = (
    "A rate alone is no proof: file names can be guessed, above all where they follow a convention. Only the "
    "difference is evidence.",
    "It is black-box evidence of memorisation, and no statement about how much of a benchmark a model was "
    "trained on.",
    "Compare like with like: another backend, prompt or top-k is another experiment. The paper's 76 % (o3, "
    "SWE-bench Verified, one answer, exact path) is about another set and another k.",
    "The verdict belongs to one cutoff, named beforehand; a sweep over other dates is exploration.",
)


def method_line(report: Report) -> str:
    """The method in three sentences, after the name of the paper."""
    tops = " or ".join(f"{top_k:,}" for top_k in report.subject.top_k[:5])
    return (
        "the model gets only the bug report, with no repository, no code and no tools, and names the files that "
        f"the fix changes. Its first {tops} paths are compared with the files of the gold patch. The signal is "
        "the hit rate of the older entries minus that of the control entries; its interval is Newcombe's."
    )


def is_revealed(rows: Iterable[EntryRow]) -> bool:
    """Whether the rows carry paths."""
    return any(row.gold_files is not None for row in rows)


def need_line(need: Needed) -> str:
    """What has to be added before an effect can be found."""
    effect = points(need.effect).removeprefix("+")
    if need.more_control is None:
        return f"To find {effect} add entries on both sides; fresh ones alone are not enough."
    if need.more_control == 0:
        return f"The control entries at hand are enough to find {effect}."
    return f"To find {effect} add {count(need.more_control, 'fresh entry', 'fresh entries')}."


def beyond(items: Sequence[object], most: int) -> int:
    """How many there are beyond the first `most`."""
    return max(0, len(items) - most)


def mark(value: float | None) -> str:
    """A hit, a miss, the mean over samples, or a dash for what is not scored."""
    if value is None:
        return DASH
    if value in (0.0, 1.0):
        return "✓" if value else "·"
    return f"{value:.2f}"
