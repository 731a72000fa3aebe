"""What a reader of a verdict must know besides: doubts that the numbers themselves do not show.

Plain sentences from stored results; none of them changes a verdict, and none holds text from a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bccontam.contamination import Verdict
from bccontam.report.shape import Check
from bccontam.result import Result
from bccontam.wording import count, listing

_SAME: tuple[tuple[str, Callable[[Result], object]], ...] = (
    ("backend", lambda result: result.backend),
    ("model", lambda result: result.requested_model or result.model),
    ("prompt", lambda result: result.prompt),
    ("top-k", lambda result: result.top_k),
    ("sampling", lambda result: result.sampling),
)
"""What must be equal for two sets of results to be one experiment."""


def find_cautions(
    verdict: Verdict,
    results: Sequence[Result],
    checks: Sequence[Check],
    control: Sequence[Result] | None,
    baseline: Sequence[Result] | None,
) -> list[str]:
    """The sentences, the weightiest first; empty when there is nothing to add."""
    found = [
        _other_experiment("control", results, control),
        _other_experiment("base branch's", results, baseline),
        _many_models(results),
        *_condition([*results, *(control or ())]),
        _checks(verdict, checks),
    ]
    return [sentence for sentence in found if sentence]


def _other_experiment(name: str, results: Iterable[Result], others: Iterable[Result] | None) -> str:
    if not others:
        return ""
    ours, theirs = list(results), list(others)
    differing = [what for what, of in _SAME if set(map(of, ours)) != set(map(of, theirs))]
    if not differing:
        return ""
    verb = "differs" if len(differing) == 1 else "differ"
    return (
        f"The {name} results are another experiment: {listing(differing)} {verb}, "
        "which can make a difference by itself."
    )


def _many_models(results: Iterable[Result]) -> str:
    models = {result.model for result in results if result.model}
    return (
        f"The API answered under {len(models):,} model ids; the rates pool them." if len(models) > 1 else ""
    )


def _condition(results: Sequence[Result]) -> list[str]:
    """Answers for which it is not shown that the model had nothing but the question."""
    unfenced = sum(result.sandbox == "none" for result in results)
    failed = sum(result.self_test.startswith("failed") for result in results)
    with_tools = sum(bool(result.tools_sent) for result in results)
    return [
        f"{count(number, 'answer')} {what}; the condition was not enforced there."
        for number, what in (
            (with_tools, "came from a request that carried tools"),
            (failed, "came from a sandbox whose self-test failed"),
            (unfenced, "came from a process without a sandbox"),
        )
        if number
    ]


def _checks(verdict: Verdict, checks: Sequence[Check]) -> str:
    """Which sensitivity rows speak against the verdict."""
    if verdict == "inconclusive" or not checks:
        return ""
    if verdict == "signal":
        against = [check.name for check in checks if check.verdict != "signal"]
        how = "does not hold"
    else:
        against = [check.name for check in checks if check.verdict == "signal"]
        how = "is a signal"
    if not against:
        return ""
    return f"It {how} in {len(against)} of {len(checks)} sensitivity rows: {listing(against, 10)}."
