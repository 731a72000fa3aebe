"""Stored results into a written report: which results belong together, the cutoff, the files, the gate.

Shared by both front doors; everything here is recomputed from disk with no model call. Publishing a report on
GitHub is `bccontam.action`'s own business.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bccontam.errors import SettingsError, StoreError
from bccontam.result import Result, RunRecord
from bccontam.settings import Settings
from bccontam.store import load_records, load_results

if TYPE_CHECKING:
    from bccontam.contamination import Thresholds
    from bccontam.effects import Effects
    from bccontam.report.shape import Change, Report


class Experiment(NamedTuple):
    """What must be equal for results to stand in one rate."""

    backend: str
    model: str
    prompt: str
    top_k: int
    sampling: str

    def __str__(self) -> str:
        prompt = self.prompt or "unknown prompt"
        sampling = f", {self.sampling}" if self.sampling else ""
        return f"{self.backend or 'unknown backend'} {self.model}, {prompt}, top-k {self.top_k}{sampling}"


def experiment_of(result: Result) -> Experiment:
    """The experiment that a result belongs to; the model is the one asked for."""
    model = result.requested_model or result.model
    return Experiment(result.backend, model, result.prompt, result.top_k, result.sampling)


@dataclass(frozen=True, slots=True)
class Reported:
    """A finished report: the numbers, where the full Markdown is, the source of the template it was made with
    (empty: the shipped one), and where the page is when one was asked for."""

    report: Report
    path: Path
    template: str
    page: Path | None = None


def report_on_store(
    settings: Settings,
    effects: Effects,
    *,
    own: Experiment | None = None,
    only: Collection[str] | None = None,
    changes: Sequence[Change] = (),
) -> list[Reported]:
    """Report on the results folder and write the full Markdown, and JSON when asked.

    One report, or one for each experiment with `group-by-model`. `own`: the experiment of the run that calls;
    `only`: ids of the dataset's entries, when it is at hand (else those that the runs left on record). Raises
    StoreError when there is nothing to report on or different experiments are mixed.
    """
    reports = _build_all(settings, effects, own, only, changes)
    # Behind this line the results themselves are gone, which are most of the memory.
    parts = [""] if len(reports) == 1 else [f".{number}" for number in range(1, len(reports) + 1)]
    reported = [_write(report, settings, effects, part) for report, part in zip(reports, parts, strict=True)]
    _write_json(reports, settings, effects)
    return reported


def _build_all(
    settings: Settings,
    effects: Effects,
    own: Experiment | None,
    only: Collection[str] | None,
    changes: Sequence[Change],
) -> list[Report]:
    results = _load(settings, effects)
    records = load_records(settings.results_path)
    if only is None and records and all(record.entries for record in records):
        # Stored answers to entries that the dataset has no more, as a cache keeps them, are nobody's answers.
        only = {identity for record in records for identity in record.entries}
    if only is not None:
        results = [result for result in results if result.instance_id in only]
    kinds = experiments(results, settings, own)
    if len(kinds) > 1 and not settings.group_by_model:
        names = "; ".join(map(str, kinds[:6]))
        raise StoreError(
            f"{settings.results_path} mixes {len(kinds)} experiments ({names}): name one with `model`, keep each "
            "in a folder of its own, or report each with `--group-by-model`."
        )
    return [_build(latest(results, kind), records, settings, effects, changes) for kind in kinds]


def _load(settings: Settings, effects: Effects) -> list[Result]:
    path = settings.results_path
    results = list(load_results(path, warn=effects.warn)) if path.exists() else []
    if not results:
        raise StoreError(
            f"No stored results in {path}: run `predict` first, or give their folder as results-dir."
        )
    return results


def experiments(results: Sequence[Result], settings: Settings, own: Experiment | None) -> list[Experiment]:
    """The experiments to report on: the run's own, those of the model that is named, else all there are."""
    if own is not None:
        return [own]
    kinds = sorted({experiment_of(result) for result in results})
    named = [kind for kind in kinds if kind.model == settings.model]
    if settings.model and not named:
        raise StoreError(
            f"{settings.results_path} holds no results of the model {settings.model!r}: "
            f"it has {', '.join(sorted({kind.model for kind in kinds})[:6])}."
        )
    return named or kinds


def latest(results: Sequence[Result], kind: Experiment) -> list[Result]:
    """The results of one experiment, the latest for each entry and sample.

    An entry whose statement has changed was asked again under another fingerprint; the earlier answer is
    another question's. Answers without a fingerprint come from elsewhere: several for one entry are samples.
    """
    found: dict[object, Result] = {}
    for number, result in enumerate(results):
        if experiment_of(result) == kind:
            found[(result.instance_id, result.sample) if result.fingerprint else number] = result
    return list(found.values())


def _build(
    results: Sequence[Result],
    records: Sequence[RunRecord],
    settings: Settings,
    effects: Effects,
    changes: Sequence[Change],
) -> Report:
    from bccontam.report.data import Request, build_report

    cutoff, source = find_cutoff(settings, results)
    own = experiment_of(results[0]) if results else None
    request = Request(
        thresholds=thresholds(settings),
        cutoff=cutoff,
        cutoff_source=source,
        guard_days=settings.guard_days,
        control=_others(settings.control, effects, own),
        reference=_others(settings.reference, effects),
        baseline=_baseline(settings.baseline, effects, own),
        reveal_answers=settings.reveal_answers,
        changes=changes,
    )
    return build_report(results, request, records)


def _write(report: Report, settings: Settings, effects: Effects, part: str) -> Reported:
    """Write the Markdown, and the page when asked; `part` tells several reports apart."""
    from bccontam.report.render import render_report

    template = _template(settings, effects, report)
    path = _part(Path(settings.output) if settings.output else settings.results_path / "report.md", part)
    write_text(path, render_report(report, template=template))
    page = _part(Path(settings.html_file), part) if settings.html_file else None
    if page:
        from bccontam.report.html import render_page

        write_text(page, render_page(report))
    return Reported(report, path, template, page)


def _part(path: Path, part: str) -> Path:
    """The file of one report of several: `report.2.md` beside `report.1.md`."""
    return path.with_name(f"{path.stem}{part}{path.suffix}")


def _others(path: str, effects: Effects, like: Experiment | None = None) -> list[Result] | None:
    """Results to compare with: those of the experiment `like`, else of the only one that is there.

    Raises StoreError when several are mixed and none is that one.
    """
    if not path:
        return None
    results = list(load_results(path, warn=effects.warn))
    kinds = sorted({experiment_of(result) for result in results})
    if like in kinds:
        kinds = [like]
    if len(kinds) > 1:
        names = "; ".join(map(str, kinds[:6]))
        raise StoreError(
            f"{path} mixes {len(kinds)} experiments ({names}): keep each in a folder of its own."
        )
    return latest(results, kinds[0]) if kinds else []


def _baseline(path: str, effects: Effects, like: Experiment | None) -> list[Result] | None:
    """The base branch's results; there are none before its first run, which is no fault of a pull request."""
    if path and not Path(path).exists():
        effects.warn(
            f"There are no results of the base branch at {path} yet: the report shows no before and after."
        )
        return None
    return _others(path, effects, like)


def _template(settings: Settings, effects: Effects, report: Report) -> str:
    """The source of the user's template, or nothing when it is broken (with one warning)."""
    from bccontam.report.render import render_report

    if not settings.template:
        return ""
    try:
        source = Path(settings.template).read_text(encoding="utf-8")
        render_report(report, template=source)
    except (OSError, UnicodeDecodeError, SettingsError) as error:
        effects.warn(f"The report template {settings.template} cannot be used ({error}); the shipped one is.")
        return ""
    return source


def _write_json(reports: Sequence[Report], settings: Settings, effects: Effects) -> None:
    """One JSON object, or an array of them with `group-by-model`; its schema is docs/report.schema.json."""
    if not settings.json_file:
        return
    from pydantic import TypeAdapter

    from bccontam.report.shape import Report

    if settings.group_by_model:
        numbers = TypeAdapter(list[Report]).dump_json(list(reports), indent=2)
    else:
        numbers = TypeAdapter(Report).dump_json(reports[0], indent=2)
    if settings.json_file == "-":
        effects.show(numbers.decode())
    else:
        write_bytes(Path(settings.json_file), numbers, b"\n")


def write_text(path: Path, text: str) -> None:
    """Write a file and its folder. Raises StoreError with one sentence."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, *parts: bytes) -> None:
    """The same for bytes, which may be many."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(parts)
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error.strerror}; choose another place.") from error


def gate(verdict: str, fail_on: str) -> int:
    """1 when the verdict fails the step under `fail_on`, else 0; `no-signal` never fails."""
    failing = {"never": (), "signal": ("signal",), "inconclusive": ("signal", "inconclusive")}
    return int(verdict in failing[fail_on])


def thresholds(settings: Settings) -> Thresholds:
    """What decides the verdict, from the settings."""
    from bccontam.contamination import Thresholds

    return Thresholds(settings.metric, settings.min_effect, settings.alpha, settings.max_error_rate)


def find_cutoff(settings: Settings, results: Sequence[Result]) -> tuple[date | None, str]:
    """The cutoff day and where it came from. Raises SettingsError for `auto` and an unknown model."""
    from bccontam.cutoffs import lookup_cutoff

    if isinstance(settings.cutoff, date):
        return settings.cutoff, "given"
    if settings.cutoff != "auto":
        return None, ""
    names = [settings.model] if settings.model else sorted({r.requested_model or r.model for r in results})
    for name in names:
        found = lookup_cutoff(name)
        if found is not None:
            return found.day, f"training cutoff of {found.model}, {found.source}"
    raise SettingsError(
        f"cutoff: the training cutoff of {', '.join(names) or 'this model'} is not in the shipped table; "
        "give the day as YYYY-MM-DD."
    )
