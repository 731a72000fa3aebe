"""The modes: a dataset, a model and a store joined into a run; a dataset into a plan; results into a report.

Shared by both front doors. Nothing here prints or reads the environment by itself: effects come in from the
door that calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bccontam.effects import Effects
from bccontam.entry import Entry
from bccontam.errors import DatasetError, SettingsError
from bccontam.reporting import Experiment, find_cutoff, gate, report_on_store, write_text
from bccontam.result import RunRecord
from bccontam.selection import Selection, in_shard
from bccontam.settings import Settings
from bccontam.store import ResultStore, write_record
from bccontam.wording import count

if TYPE_CHECKING:
    from bccontam.plan import Plan
    from bccontam.probe import ProbeOutcome


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a prediction run did, whose answers they are, and the ids of the dataset's entries."""

    outcome: ProbeOutcome
    experiment: Experiment
    dataset_ids: frozenset[str]
    isolation: str


def execute(settings: Settings, effects: Effects) -> int:
    """Run one mode from the command line and return its exit code."""
    if settings.mode == "plan":
        show_plan(make_plan(settings, effects), settings, effects)
        return 0
    predicted = None
    if settings.mode != "report":
        predicted = predict(settings, effects)
        if predicted.outcome.exit_code or settings.mode == "predict":
            return predicted.outcome.exit_code
    reported = report_on_store(
        settings,
        effects,
        own=predicted.experiment if predicted else None,
        only=predicted.dataset_ids if predicted else None,
    )
    for one in reported:
        if settings.json_file != "-":
            effects.show_report(one.report)
        page = f", as a page in {one.page}" if one.page else ""
        effects.say(f"The full report is in {one.path}{page}.")
    return max(gate(one.report.verdict, settings.fail_on) for one in reported)


def dataset_entries(settings: Settings, effects: Effects, *, warn: bool = True) -> Iterator[Entry]:
    """The entries of the dataset that the settings name."""
    from bccontam.datasets import load_entries

    statements = settings.problem_statements or None
    return load_entries(settings.dataset, statements, warn=effects.warn if warn else lambda _: None)


def predict(settings: Settings, effects: Effects, ids: Collection[str] | None = None) -> Predicted:
    """Ask the model about the selected entries and store every answer. `ids`: only these entries.

    Raises DatasetError, PromptError or SettingsError before a question is asked, AskError when the model
    cannot be asked at all.
    """
    from bccontam.facts import FactFinder
    from bccontam.models import make_model
    from bccontam.probe import ProbeSettings, run_probe, stop_on_signals
    from bccontam.prompts import lint_prompt, load_prompt

    if settings.mode == "run":
        find_cutoff(settings, ())  # an unknown model is refused before its answers are paid for
    prompt = load_prompt(settings.prompt)
    selection = _selection(settings, ids)
    dataset_ids: set[str] = set()

    def passing() -> Iterator[Entry]:
        for entry in dataset_entries(settings, effects):
            dataset_ids.add(entry.instance_id)
            yield entry

    lint_prompt(prompt, passing(), settings.top_k)
    total = settings.samples * sum(identity in selection for identity in dataset_ids)
    selection.check()
    facts = FactFinder.from_settings(settings)
    probing = ProbeSettings.from_settings(settings)
    name = store_name(settings)
    with (
        stop_on_signals() as stop,
        make_model(settings, effects.environ) as model,
        ResultStore(settings.results_path, name, warn=effects.warn) as store,
        effects.progress(total) as progress,
    ):
        outcome = run_probe(
            selection.filter(dataset_entries(settings, effects, warn=False)),
            model,
            store,
            prompt,
            probing,
            facts=facts,
            progress=progress,
            say=effects.say,
            stop=stop,
            total=total,
        )
        experiment = Experiment(
            model.backend, model.model, prompt.version, settings.top_k, probing.sampling_text
        )
        isolation = model.condition.sandbox
    record = RunRecord(
        shard=settings.shard,
        entries=tuple(sorted(i for i in dataset_ids if in_shard(i, *settings.shard_index))),
        unscorable=outcome.unscorable,
        not_asked=outcome.not_asked,
    )
    write_record(settings.results_path, name, record)
    if outcome.unscorable:
        identity, reason = outcome.unscorable[0]
        number = count(len(outcome.unscorable), "entry", "entries")
        why = f"{number} cannot be scored, the first of them {identity}: {reason}."
        if (
            settings.mode == "run"
            and ids is None
            and not (outcome.asked or outcome.reused or outcome.not_asked)
        ):
            raise DatasetError(f"There is nothing to ask: {why}")
        effects.warn(why)
    effects.say(
        f"Asked {outcome.asked:,}, reused {outcome.reused:,} stored answers, {outcome.errors:,} errors, "
        f"{outcome.not_asked:,} not asked, {len(outcome.unscorable):,} unscorable."
    )
    return Predicted(outcome, experiment, frozenset(dataset_ids), isolation)


def _selection(settings: Settings, ids: Collection[str] | None) -> Selection:
    if settings.entries == "changed" and ids is None:
        raise SettingsError("entries: `changed` is known to the action only; use `all` or name the entries.")
    return Selection(settings.entries, ids=ids, shard=settings.shard_index)


def store_name(settings: Settings) -> str:
    """The file name of a run's results: backend, model and shard, in characters that are safe everywhere."""
    index, count = settings.shard_index
    model = re.sub(r"[^A-Za-z0-9._-]+", "-", settings.model).strip(".-")[:80] or settings.backend
    return f"{settings.backend}--{model}.{index}-of-{count}"


def make_plan(settings: Settings, effects: Effects, ids: Collection[str] | None = None) -> Plan:
    """What a run would ask and could detect. `ids`: only these entries."""
    from bccontam.plan import PlanRequest, build_plan
    from bccontam.prompts import lint_prompt, load_prompt

    prompt = load_prompt(settings.prompt)
    lint_prompt(prompt, dataset_entries(settings, effects), settings.top_k)
    cutoff, _ = find_cutoff(settings, ())
    selection = _selection(settings, ids)
    plan = build_plan(
        selection.filter(dataset_entries(settings, effects, warn=False)),
        PlanRequest(
            cutoff=cutoff,
            guard_days=settings.guard_days,
            alpha=settings.alpha,
            samples=settings.samples,
            max_requests=settings.max_requests,
            control_rate=settings.control_rate,
        ),
    )
    selection.check()
    return plan


def show_plan(plan: Plan, settings: Settings, effects: Effects) -> None:
    """Show a plan as a table, or write it as Markdown (`output`) or JSON."""
    from pydantic import TypeAdapter

    from bccontam.plan import Plan
    from bccontam.report.render import render_plan

    if settings.output:
        write_text(Path(settings.output), render_plan(plan))
        effects.say(f"The plan is in {settings.output}.")
    if settings.json_file:
        text = TypeAdapter(Plan).dump_json(plan, indent=2).decode()
        if settings.json_file == "-":
            effects.show(text)
            return
        write_text(Path(settings.json_file), f"{text}\n")
    if not settings.output:
        effects.show_plan(plan)
