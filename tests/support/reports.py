"""The main shapes of a report, as results and what to report on them: for golden files, pictures and the browser.

Everything is counted off, nothing is random: the same shape is the same report to the last character.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from bccontam.contamination import Thresholds
from bccontam.gold import GoldFile, Kind
from bccontam.report.data import Request, build_report
from bccontam.report.shape import Change, Report
from bccontam.result import Result, RunRecord
from bccontam.score import score_prediction

CUTOFF = date(2025, 6, 1)
AREAS = ("sales", "purchasing", "finance", "warehouse")
NAMES = ("PostingPreview", "VendorLedger", "StockTransfer", "PriceCalculation", "WorkOrder", "CashReceipt")
EVIL = "<img src=x onerror=alert(1)>|`@octo`</script><!-- #1 [a](https://e.invalid)\n# Owned \u202egpj"


@dataclass(frozen=True)
class Shape:
    """Results and the request that make one report."""

    results: Sequence[Result]
    request: Request
    records: Sequence[RunRecord] = ()

    def report(self) -> Report:
        """The report."""
        return build_report(self.results, self.request, self.records)


def answers(
    hits: int, entries: int, first: date, days: int, *, prefix: str = "", repo: str = ""
) -> list[Result]:
    """`entries` results over `days` days from `first`, `hits` of them hits, evenly mixed."""
    made = []
    for number in range(entries):
        is_hit = (number + 1) * hits // entries > number * hits // entries
        made.append(_answer(number, is_hit, first + timedelta(days=number * days // entries), prefix, repo))
    return made


def _answer(number: int, is_hit: bool, day: date, prefix: str, repo: str) -> Result:
    repo = repo or ("contoso/HarbourSuite" if number % 3 else "contoso/DockTools")
    name, area = NAMES[number % len(NAMES)], AREAS[number % len(AREAS)]
    gold = [f"src/{area}/{name}{number}x{day:%y}.Codeunit.al"]
    if number % 7 == 0:
        gold.append(f"src/{area}/{name}{number}x{day:%y}.Page.al")
    kind: Kind = "added" if number % 11 == 5 else "modified"
    right = gold[0] if number % 4 else f"app/{gold[0]}"
    predicted = [f"src/{area}/{name}.Table.al", f"src/{area}/{name}Mgt.Codeunit.al"]
    if is_hit:
        predicted.insert(number % 3, right)
    status = "unparsed" if not is_hit and number % 17 == 3 else "ok"
    predicted = [] if status == "unparsed" else predicted
    naming = (gold[0] if number % 10 == 1 else f"src/{area}/{name}.Page.al",)
    leakage = ("path", "basename")[number // 20 % 2] if number % 20 == 9 else "none"
    return Result(
        instance_id=f"{prefix or repo.replace('/', '__')}-{1000 + number}{day:%m}",
        model="harbour-large-2025-04-14",
        requested_model="harbour-large",
        created_at=day.isoformat(),
        area=area,
        gold_files=tuple(gold),
        gold=tuple(GoldFile(path, None, kind) for path in gold),
        predicted_files=tuple(predicted),
        score=score_prediction(predicted, gold),
        raw_output="\n".join(predicted) or "I cannot tell.",
        status=status,  # type: ignore[arg-type]
        repo=repo,
        fingerprint=f"{prefix}{repo}{number}{day}",
        backend="openai",
        prompt="al@e44effa46368",
        sampling="temperature 0",
        leakage=leakage if number % 3 else ("object-name" if leakage == "none" else leakage),
        copied=leakage == "path",
        naming_files=naming,
        statement_chars=900 + 37 * (number % 40),
        tools_sent=0,
        sandbox="no process",
        self_test="not needed",
        prompt_owner="ours",
        input_tokens=700 + number,
        output_tokens=45,
        seconds=1.5,
        finish_reason="stop",
    )


def failing(results: Sequence[Result], every: int) -> list[Result]:
    """The same results with every so many an error."""
    broken: dict[str, object] = {"predicted_files": (), "score": score_prediction((), ())}
    broken |= {"status": "error", "error": "timeout: no answer within 300 s", "error_kind": "timeout"}
    return [
        replace(result, **broken) if number % every == 0 else result  # type: ignore[arg-type]
        for number, result in enumerate(results)
    ]


def old(hits: int, entries: int, **names: str) -> list[Result]:
    """Entries created before the cutoff."""
    return answers(hits, entries, date(2024, 3, 4), 450, **names)


def fresh(hits: int, entries: int, **names: str) -> list[Result]:
    """Entries created on or after the cutoff."""
    return answers(hits, entries, CUTOFF, 200, **names)


def _with_samples(results: Sequence[Result]) -> list[Result]:
    """Three answers an entry: the one there is, a miss, and the first again for every second entry."""
    sampled = []
    for number, result in enumerate(results):
        miss = replace(result, sample=1, predicted_files=("x.al",), score=score_prediction((), ()))
        again = result if number % 2 else miss
        for sample, answer in enumerate((result, miss, again)):
            sampled.append(replace(answer, sample=sample, fingerprint=f"{result.fingerprint}/{sample}"))
    return sampled


def _hostile() -> Shape:
    results = [*old(9, 12), *fresh(2, 9)]
    fields: dict[str, object] = dict.fromkeys(
        ("model", "repo", "area", "backend", "prompt", "sandbox", "self_test", "prompt_owner"), EVIL
    )
    evil = [
        replace(
            result,
            instance_id=f"{EVIL}{number}",
            leakage=EVIL if number % 2 else "none",
            gold_files=(f"{EVIL}.al",),
            predicted_files=(f"{EVIL}{number}.al", "x" * 500),
            **fields,  # type: ignore[arg-type]
        )
        for number, result in enumerate(results)
    ]
    undated = replace(evil[0], instance_id=f"{EVIL}undated", created_at=EVIL)
    request = Request(
        cutoff=CUTOFF,
        cutoff_source=EVIL,
        reveal_answers=True,
        changes=[Change(f"{EVIL}3", "modified"), Change(EVIL, "removed")],
    )
    return Shape([*evil, undated], request, [RunRecord(unscorable=((EVIL, EVIL),))])


def _everything() -> Shape:
    """Every part of a report at once: another benchmark as control, a reference, samples, floors."""
    results = [
        replace(result, listed_files=result.gold_files[:1] if number % 6 == 0 else ())
        for number, result in enumerate(_with_samples(old(30, 60)))
    ]
    control = [
        replace(result, prompt="generic@0a1b2c3d4e5f", sandbox="none")
        for result in answers(6, 40, date(2025, 9, 1), 120, prefix="fabrikam__Yard", repo="fabrikam/Yard")
    ]
    reference = [replace(result, requested_model="harbour-2019") for result in [*old(12, 60), *control]]
    record = RunRecord(
        unscorable=(("contoso__HarbourSuite-9", "no gold: its patch names no file"),), not_asked=3
    )
    return Shape(results, Request(control=control, reference=reference), [record])


def shapes() -> dict[str, Shape]:
    """Every shape by the name of its golden file."""
    signal = [*old(52, 89), *fresh(5, 37)]
    dated = Request(cutoff=CUTOFF)
    changed = [*signal[:2], *signal[-2:]]
    kinds = ("modified", "modified", "added", "added")
    changes = [Change(result.instance_id, kind) for result, kind in zip(changed, kinds, strict=True)]
    undated = [replace(result, created_at="") for result in old(1, 2, prefix="undated")]
    return {
        "baseline": Shape(signal, Request()),
        "signal": Shape(signal, dated),
        "no-signal": Shape([*old(9, 320), *fresh(8, 260)], dated),
        "inconclusive-few-control": Shape([*old(20, 74), *fresh(3, 12)], dated),
        "inconclusive-empty-control": Shape([*old(20, 74), *undated], Request(cutoff=date(2026, 6, 1))),
        "inconclusive-errors": Shape([*old(52, 89), *failing(fresh(5, 37), 4)], dated),
        "inconclusive-missing-shards": Shape(signal, dated, [RunRecord(shard="1/3"), RunRecord(shard="3/3")]),
        "pull-request": Shape(
            signal,
            replace(
                dated, changes=[*changes, Change("contoso__DockTools-7", "removed")], baseline=signal[:-9]
            ),
        ),
        "large": Shape([*old(400, 1400), *fresh(60, 600)], dated),
        "hostile": _hostile(),
        "everything": _everything(),
        "exact-metric": Shape(signal, replace(dated, thresholds=Thresholds(metric="exact"), guard_days=14)),
    }
