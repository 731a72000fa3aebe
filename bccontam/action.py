"""The Action's front door: the runner's environment in, a report published, an exit code out.

It wires the rooms together: settings and event decide what is done, the commands do it, and what they made goes
to the report file, the outputs, the summary and the comment, in this order, before the gate fails the step.
Trouble with publishing is a warning and never changes a verdict.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bccontam.commands import Predicted, make_plan, predict
from bccontam.effects import Effects
from bccontam.errors import BccontamError, SettingsError
from bccontam.github.event import Event, read_event
from bccontam.github.files import write_outputs, write_summary
from bccontam.github.log import Log, Redactor
from bccontam.models import copilot_token
from bccontam.reporting import Reported, gate, report_on_store
from bccontam.settings import Settings, settings_from_environment
from bccontam.terminal import plain_progress

if TYPE_CHECKING:
    from bccontam.github.changed import ChangedEntries
    from bccontam.report.shape import Change, Report

_SECRETS = ("API-KEY", "COPILOT-TOKEN", "GITHUB-TOKEN")
INTERNAL_ERROR = 70
"""Exit code of a fault of ours, apart from those of the contract."""

_REMOTE = ("copilot", "copilot-cli", "openai")


def main(environ: Mapping[str, str], write: Callable[[str], None] | None = None) -> int:
    """Run the step; its exit code is 0 (done), 1 (the gate), 2 (a bad input), 3 (nobody could be asked) or 70."""
    write = write or (lambda line: print(line, flush=True))
    log = Log(write, in_actions=environ.get("GITHUB_ACTIONS") == "true", secrets=secrets_of(environ))
    workspace = environ.get("GITHUB_WORKSPACE", "")
    if workspace and Path(workspace).is_dir():
        os.chdir(workspace)
    try:
        settings = settings_from_environment(environ)
        event = read_event(environ, _payload(environ))
        for warning in event.warnings:
            log.warning(warning)
        try:
            return Step(settings, event, environ, log).run()
        finally:
            _give_back(settings.results_path, Path.cwd())
    except BccontamError as error:
        log.error(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - a fault of ours must not look like the gate
        log.fault(error)
        return INTERNAL_ERROR


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """Every credential that this step was given."""
    names = [f"INPUT_{name}" for name in _SECRETS] + [f"INPUT_{name.replace('-', '_')}" for name in _SECRETS]
    names += ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"]
    names += ["ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
    return [environ[name] for name in names if environ.get(name, "").strip()]


def _give_back(folder: Path, workspace: Path) -> None:
    """Let what root wrote belong to the workspace's owner: on a self-hosted runner the next job cleans it up."""
    if os.geteuid() != 0:
        return
    owner = workspace.stat()
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):
            os.lchown(path, owner.st_uid, owner.st_gid)


def _payload(environ: Mapping[str, str]) -> Mapping[str, Any] | None:
    try:
        loaded = json.loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) else None


@dataclass(frozen=True)
class Step:
    """One step of a workflow: what it was asked for, what happened on GitHub, and where its words go."""

    settings: Settings
    event: Event
    environ: Mapping[str, str]
    log: Log

    def run(self) -> int:
        """Do what the mode and the event ask for."""
        if self.event.name == "workflow_run":
            from bccontam.github.comment import stored_comments

            if stored := stored_comments(self.settings.results_path):
                return self._post_stored(stored)
        changed = self._changed()
        reason = self._why_not_ask()
        if self.settings.mode == "plan" or reason:
            return self._plan(changed, reason)
        predicted = None
        if self.settings.mode != "report":
            asks_a_model = self.settings.backend not in ("naming", "replay")
            whom = f" for {self.settings.model}" if asks_a_model else ""
            with self.log.group(f"Asking {self.settings.backend}{whom}"):
                predicted = predict(
                    self.settings, self._effects(), None if changed is None else changed.asked
                )
            if predicted.outcome.exit_code or self.settings.mode == "predict":
                self._write_outputs(_predict_outputs(predicted, self.settings))
                return predicted.outcome.exit_code
        return self._report(changed, predicted)

    def _effects(self) -> Effects:
        return Effects(
            say=self.log.info,
            warn=lambda line: self.log.warning(line, re.sub(r"\d+|'[^']*'|\S*[/.]\S*", "", line)),
            show=self.log.info,
            show_report=lambda report: self.log.info(report.reason),
            show_plan=lambda plan: self.log.info(f"{plan.questions:,} questions would be asked."),
            progress=plain_progress(self.log.info),
            environ=self.environ,
        )

    def _changed(self) -> ChangedEntries | None:
        """The entries that differ between base and head, when these are asked for."""
        if self.settings.entries != "changed" or self.settings.mode == "report":
            return None
        from bccontam.github.changed import ChangeRequest, find_changes

        if not (self.event.base_sha and self.event.head_sha):
            raise SettingsError(
                f"entries: `changed` needs a pull request, a push or a merge group, and this is "
                f"{self.event.name or 'no event'}; use `all` or name the entries."
            )
        changed = find_changes(
            ChangeRequest(
                workspace=Path.cwd(),
                dataset=self.settings.dataset,
                problem_statements=self.settings.problem_statements,
                base_sha=self.event.base_sha,
                head_sha=self.event.head_sha,
                api_url=self.event.api_url,
                token=self.settings.github_token.get_secret_value(),
                repository=self.event.repository,
                head_repository=self.event.head_repository,
            ),
            warn=self._effects().warn,
        )
        self.log.info(
            f"Changed entries: {len(changed.added):,} added, {len(changed.modified):,} modified, "
            f"{len(changed.removed):,} removed."
        )
        return changed

    def _why_not_ask(self) -> str:
        """Why no model can be asked by this run; empty when one can."""
        settings = self.settings
        if settings.mode == "report" or settings.backend not in _REMOTE:
            return ""
        if self.event.untrusted:
            return self.event.untrusted
        own_server = self.environ.get("COPILOT_PROVIDER_BASE_URL", "")
        if settings.backend != "openai" and not own_server and not copilot_token(settings, self.environ):
            return "There is no token for Copilot: give the input copilot-token, or COPILOT_GITHUB_TOKEN to the step."
        needs_key = settings.backend == "openai" and settings.base_url.startswith("https://")
        if needs_key and not settings.api_key.get_secret_value():
            return "The input api-key is empty: is the secret there? For a server that needs no key give any word."
        return ""

    def _plan(self, changed: ChangedEntries | None, reason: str) -> int:
        from bccontam.report.markdown import text
        from bccontam.report.render import render_plan

        plan = make_plan(self.settings, self._effects(), None if changed is None else changed.asked)
        page = render_plan(plan)
        if reason:
            self.log.warning(f"No model was asked. {reason}", "not asked")
            page = f"> [!NOTE]\n> No model was asked. {text(reason)}\n\n{page}"
        path = self.settings.results_path / "plan.md"
        _write(path, page)
        self._write_outputs(
            {
                "entries": str(plan.entries),
                "asked-count": "0",
                "report-path": str(path),
                "results-path": self.settings.results_dir,
            }
        )
        self._publish(page, page)
        return 0

    def _report(self, changed: ChangedEntries | None, predicted: Predicted | None) -> int:
        from bccontam.report.render import COMMENT_BYTES, SUMMARY_BYTES, render_report

        if changed is not None and not changed.asked and predicted and not _has_results(self.settings):
            self.log.notice(
                "No entry was added or modified, and no results are stored: there is nothing to report."
            )
            self._write_outputs(_predict_outputs(predicted, self.settings))
            return 0
        [reported] = report_on_store(
            self.settings,
            self._effects(),
            own=predicted.experiment if predicted else None,
            only=predicted.dataset_ids if predicted else None,
            changes=_changes(changed),
        )
        report = reported.report
        self.log.info(f"{report.verdict}: {report.reason} {report.next_step}")
        outputs = _report_outputs(reported, predicted, self.settings)
        summary = render_report(report, limit=SUMMARY_BYTES, template=reported.template)
        comment = render_report(report, limit=COMMENT_BYTES, template=reported.template)
        self._write_outputs(outputs)
        self._publish(summary, comment)
        failed = gate(report.verdict, self.settings.fail_on)
        if failed:
            self.log.error(
                f"fail-on: {self.settings.fail_on}, and the verdict is {report.verdict}: {report.reason}"
            )
        return failed

    def _publish(self, summary: str, comment: str) -> None:
        """Write the job summary, then the comment and its address."""
        redact = Redactor(secrets_of(self.environ))
        if self.settings.dry_run:
            self.log.info("dry-run: the summary and the comment are not published.")
            self._write_outputs({"comment-url": ""})
            return
        try:
            if self.settings.summary and not write_summary(self.environ, redact(summary)):
                self.log.info("There is no job summary to write to, or the report is too large for one.")
        except BccontamError as error:
            self.log.warning(str(error), "summary")
        self._write_outputs({"comment-url": self._comment(redact(comment))})

    def _comment(self, body: str) -> str:
        """Write or store the comment; its address, empty without one."""
        from bccontam.github.comment import CommentTarget, publish_comment, store_comment

        settings, event = self.settings, self.event
        if settings.comment == "never" or (settings.comment == "auto" and not event.is_pull_request):
            return ""
        if event.number is None:
            self.log.warning(
                "comment: always was asked for, but this event belongs to no pull request.", "comment"
            )
            return ""
        if not event.may_comment:
            try:
                path = store_comment(
                    settings.results_path, event.number, event.head_sha, settings.comment_id, body
                )
                self.log.notice(f"The comment is stored in {path} for a workflow_run job to post.", "comment")
            except BccontamError as error:
                self.log.warning(str(error), "comment")
            return ""
        token = settings.github_token.get_secret_value()
        if not token:
            self.log.warning("No comment was written: the input github-token is empty.", "comment")
            return ""
        outcome = publish_comment(
            CommentTarget(event.api_url, token, event.repository, event.number, settings.comment_id), body
        )
        if outcome.warning:
            self.log.warning(outcome.warning, "comment")
        return outcome.url

    def _post_stored(self, paths: Sequence[Path]) -> int:
        """The second half of the pair for forks: post the comments that an untrusted run has stored."""
        from bccontam.github.comment import load_stored_comment, publish_stored_comment

        url = ""
        for path in paths:
            try:
                stored = load_stored_comment(path)
            except BccontamError as error:
                self.log.warning(str(error), f"comment {path.name}")
                continue
            outcome = publish_stored_comment(
                stored,
                api_url=self.event.api_url,
                token=self.settings.github_token.get_secret_value(),
                repository=self.event.repository,
                head_sha=self.event.head_sha,
                head_repository=self.event.head_repository,
                comment_id=self.settings.comment_id,
            )
            url = outcome.url or url
            if outcome.warning:
                self.log.warning(outcome.warning, f"comment {path.name}")
        self._write_outputs({"comment-url": url})
        return 0

    def _write_outputs(self, outputs: Mapping[str, str]) -> None:
        try:
            write_outputs(self.environ, outputs)
        except BccontamError as error:
            self.log.warning(str(error), "outputs")


def _has_results(settings: Settings) -> bool:
    from bccontam.store import SUFFIX

    return any(path.stat().st_size for path in settings.results_path.rglob(f"*{SUFFIX}"))


def _changes(changed: ChangedEntries | None) -> Sequence[Change]:
    from bccontam.report.shape import Change

    if changed is None:
        return ()
    groups = (("added", changed.added), ("modified", changed.modified), ("removed", changed.removed))
    return [Change(identity, kind) for kind, ids in groups for identity in ids]


def _write(path: Path, page: str) -> None:
    from bccontam.reporting import write_text

    write_text(path, page)


def _predict_outputs(predicted: Predicted, settings: Settings) -> dict[str, str]:
    return {
        "asked-count": str(predicted.outcome.asked),
        "error-count": str(predicted.outcome.errors),
        "isolation": predicted.isolation,
        "results-path": settings.results_dir,
    }


def _report_outputs(reported: Reported, predicted: Predicted | None, settings: Settings) -> dict[str, str]:
    report: Report = reported.report
    divided = bool(report.cutoff.day or report.cutoff.source)
    return {
        "verdict": report.verdict,
        "signal": _number(report.signal.value),
        "signal-low": _number(report.signal.low),
        "signal-high": _number(report.signal.high),
        "p-value": _number(report.signal.p_value),
        "exact-signal": _number(report.deltas.exact),
        "basename-hit-rate": _number(report.groups.all.basename_hit_rate),
        "exact-hit-rate": _number(report.groups.all.exact_hit_rate),
        "entries": str(report.groups.all.count),
        "pre-count": str(report.groups.pre.scored) if divided else "",
        "control-count": str(report.groups.control.scored) if divided else "",
        "error-count": str(report.groups.all.error_count),
        "asked-count": str(predicted.outcome.asked if predicted else 0),
        "isolation": predicted.isolation
        if predicted
        else ", ".join(name for name, _ in report.enforcement.sandbox),
        "report-path": str(reported.path),
        "results-path": settings.results_dir,
    }


def _number(value: float | None) -> str:
    """A plain decimal number; empty where undefined."""
    return "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".")
