"""The entrypoint as a subprocess in a simulated runner: what it wrote, that nothing leaked, its exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bccontam.action import main, secrets_of
from tests.support.builders import make_patch
from tests.support.chat_server import ChatServer, failure
from tests.support.fault_github import FaultGithub
from tests.support.paths import ROOT
from tests.support.runner import HEAD_SHA, Runner, pull_request
from tests.support.runner_log import commands

DEMO = ROOT / "bccontam" / "demo"
RUN = {
    "dataset": "dataset/bcbench.jsonl",
    "backend": "replay",
    "model": "harbour-memory-1",
    "answers": "answers.jsonl",
    "cutoff": "2024-06-01",
    "github-token": "ghs_hushhushhush",
    "comment": "never",
}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    (made.workspace / "dataset").mkdir()
    shutil.copy(DEMO / "dataset.jsonl", made.workspace / "dataset" / "bcbench.jsonl")
    shutil.copy(DEMO / "answers.jsonl", made.workspace / "answers.jsonl")
    return made


def gold_names() -> Iterator[str]:
    for line in (DEMO / "dataset.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            for header in json.loads(line)["patch"].split("\n"):
                if header.startswith("+++ b/"):
                    yield header.rpartition("/")[2]


def test_a_run_writes_report_summary_and_outputs(runner: Runner) -> None:
    done = runner.run(RUN)
    assert done.code == 0, done.log
    assert done.outputs["verdict"] == "signal"
    assert float(done.outputs["signal"]) > 0.4
    assert (
        float(done.outputs["signal-low"]) < float(done.outputs["signal"]) < float(done.outputs["signal-high"])
    )
    assert float(done.outputs["p-value"]) < 0.01
    assert (done.outputs["entries"], done.outputs["pre-count"], done.outputs["control-count"]) == (
        "40",
        "26",
        "14",
    )
    assert done.outputs["asked-count"] == "40"
    assert done.summary.startswith("## ")
    assert (runner.workspace / done.outputs["report-path"]).is_file()
    assert (runner.workspace / done.outputs["results-path"]).is_dir()
    assert done.outputs["comment-url"] == ""


def test_every_output_of_the_metadata_is_written_and_no_other(runner: Runner) -> None:
    yaml = pytest.importorskip("yaml")
    declared = set(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["outputs"])
    assert set(runner.run(RUN).outputs) == declared


def test_nothing_leaks_neither_secrets_nor_the_answer_key(runner: Runner) -> None:
    runner.environ["COPILOT_GITHUB_TOKEN"] = "ghu_copilothush"
    done = runner.run(RUN | {"api-key": "sk-hushhush"})
    assert done.code == 0, done.log
    shown = done.summary + json.dumps(done.outputs)
    unmasked = "\n".join(line for line in done.log.split("\n") if not line.startswith("::add-mask::"))
    stored = "".join(
        path.read_text(encoding="utf-8")
        for path in runner.workspace.rglob("contamination-results/*")
        if path.is_file()
    )
    for secret in ("ghs_hushhushhush", "ghu_copilothush", "sk-hushhush", "runtime-hush-hush"):
        assert secret not in shown + unmasked + stored
        assert f"::add-mask::{secret}" in done.log
    for name in gold_names():
        assert name not in shown + done.log


def test_answers_are_shown_when_they_are_asked_for(runner: Runner) -> None:
    done = runner.run(RUN | {"reveal-answers": "true"})
    assert "BerthPlan.Page.al" in done.summary
    assert "BerthPlan.Page.al" not in done.log


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"fail-on": "signal"}, 1),
        ({"fail-on": "inconclusive"}, 1),
        ({"fail-on": "never"}, 0),
        ({"fail-on": "signal", "cutoff": ""}, 0),
        ({"fail-on": "inconclusive", "cutoff": ""}, 1),
    ],
)
def test_the_gate_fails_the_step_after_everything_is_published(
    runner: Runner, inputs: dict[str, str], code: int
) -> None:
    done = runner.run(RUN | inputs)
    assert done.code == code
    assert done.summary.startswith("## ")
    assert done.outputs["verdict"]
    assert len([name for name, _ in commands(done.log) if name == "error"]) == code


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"mode": "start"}, "mode: use one of"),
        ({"top-k": "many"}, "top-k"),
        ({"dataset": "absent.jsonl"}, "absent.jsonl"),
        ({"answers": "absent.jsonl"}, "absent.jsonl"),
        ({"mode": "report", "results-dir": "empty"}, "No stored results"),
        ({"entries": "changed"}, "needs a pull request"),
        ({"summary": "yes"}, "summary: use true or false"),
    ],
)
def test_a_bad_input_is_one_error_and_exit_code_2(
    runner: Runner, inputs: dict[str, str], sentence: str
) -> None:
    done = runner.run(RUN | inputs, event="workflow_dispatch")
    assert done.code == 2
    errors = [message for name, message in commands(done.log) if name == "error"]
    assert len(errors) == 1
    assert sentence in errors[0]
    assert "Traceback" not in done.log


def test_a_model_that_cannot_be_asked_at_all_is_exit_code_3(runner: Runner) -> None:
    refused = failure(401, "Incorrect API key provided: sk-hushhush")
    with ChatServer(lambda index, request: refused) as server:
        done = runner.run(RUN | {"backend": "openai", "base-url": server.url, "api-key": "sk-hushhush"})
        asked = len(server.requests)
    assert done.code == 3, done.log
    assert asked < 20
    [message] = [message for name, message in commands(done.log) if name == "error"]
    assert "401" in message
    assert "sk-hushhush" not in message


def test_a_log_full_of_hostile_text_carries_out_no_command(runner: Runner) -> None:
    hostile = (
        "::add-mask::e\n  ::error::boom\n##[set-output name=verdict;]clean\n::stop-commands::x\n@everyone"
    )
    row = {
        "instance_id": "acme__w-1",
        "repo": hostile,
        "created_at": hostile,
        "patch": make_patch("src/x.al"),
        "problem_statement": hostile,
        "metadata": {"area": hostile},
    }
    (runner.workspace / "dataset" / "bcbench.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    answer = {"instance_id": "acme__w-1", "raw_output": hostile + '["src/##[group]x.al", "::error::.al"]'}
    (runner.workspace / "answers.jsonl").write_text(json.dumps(answer) + "\n", encoding="utf-8")
    done = runner.run(RUN | {"reveal-answers": "true"})
    assert done.code == 0, done.log
    ours = {"add-mask", "group", "endgroup", "warning"}
    assert {name for name, _ in commands(done.log)} <= ours
    assert all("hush" in message for name, message in commands(done.log) if name == "add-mask")
    assert done.outputs["verdict"] == "inconclusive"


def test_dry_run_publishes_nothing_and_still_decides(runner: Runner) -> None:
    done = runner.run(
        RUN | {"dry-run": "true", "fail-on": "signal", "comment": "always"}, "pull_request", pull_request()
    )
    assert done.code == 1
    assert done.summary == ""
    assert done.outputs["verdict"] == "signal"


def test_the_summary_can_be_switched_off(runner: Runner) -> None:
    assert runner.run(RUN | {"summary": "false"}).summary == ""


@pytest.mark.parametrize(
    "event", ["push", "schedule", "workflow_dispatch", "merge_group", "release", "workflow_run"]
)
def test_events_without_a_pull_request_get_the_summary(runner: Runner, event: str) -> None:
    done = runner.run(RUN | {"comment": "auto"}, event, {})
    assert done.code == 0, done.log
    assert done.outputs["verdict"] == "signal"
    assert done.summary


def test_a_comment_that_was_asked_for_without_a_pull_request_is_a_warning(runner: Runner) -> None:
    done = runner.run(RUN | {"comment": "always"}, "push")
    assert done.code == 0
    assert any("no pull request" in message for name, message in commands(done.log) if name == "warning")


def test_publishing_trouble_is_a_warning_and_changes_no_verdict(runner: Runner) -> None:
    done = runner.run(RUN | {"comment": "always"}, "pull_request", pull_request(), timeout=180)
    assert done.code == 0, done.log
    assert done.outputs["verdict"] == "signal"
    assert any(name == "warning" for name, _ in commands(done.log))


@pytest.mark.parametrize("head", ["visitor/widgets", "dependabot"])
def test_a_fork_and_dependabot_get_a_plan_and_a_stored_comment(runner: Runner, head: str) -> None:
    payload = pull_request("visitor/widgets")
    if head == "dependabot":
        payload = pull_request()
        payload["pull_request"]["user"]["login"] = "dependabot[bot]"
    inputs = RUN | {"backend": "openai", "base-url": "https://models.example.invalid/v1", "comment": "auto"}
    done = runner.run(inputs | {"model": "gpt-5"}, "pull_request", payload)
    assert done.code == 0, done.log
    assert "No model was asked" in done.summary
    assert "maintainer" in done.summary
    assert done.outputs["asked-count"] == "0"
    stored = [
        path for path in (runner.workspace / "contamination-results").iterdir() if "comment" in path.name
    ]
    assert len(stored) == 1
    assert json.loads(stored[0].read_text(encoding="utf-8"))["number"] == 7


def test_a_missing_secret_is_a_plan_that_says_what_is_missing(runner: Runner) -> None:
    inputs = RUN | {"backend": "openai", "base-url": "https://models.example.invalid/v1", "model": "gpt-5"}
    done = runner.run(inputs)
    assert done.code == 0, done.log
    assert "api-key is empty" in done.summary


def test_a_pull_request_gets_one_comment_that_later_runs_edit(runner: Runner) -> None:
    with FaultGithub() as server:
        runner.github["api_url"] = server.url
        server.pulls[7] = {"number": 7, "state": "open"}
        inputs = RUN | {"comment": "auto"}
        first = runner.run(inputs, "pull_request", pull_request())
        assert first.code == 0, first.log
        assert first.outputs["comment-url"]
        second = runner.run(inputs | {"cutoff": "2024-01-01"}, "pull_request", pull_request())
        assert second.outputs["comment-url"] == first.outputs["comment-url"]
        [body] = server.bodies
    assert body.startswith("<!-- bccontam -->\n## ")
    assert "2024-01-01" in body
    assert len(body.encode()) <= 60_000
    for name in gold_names():
        assert name not in body


def test_a_workflow_run_posts_what_a_fork_has_stored(runner: Runner) -> None:
    inputs = RUN | {"backend": "openai", "base-url": "https://models.example.invalid/v1", "comment": "auto"}
    runner.run(inputs, "pull_request", pull_request("visitor/widgets"))
    payload = {
        "workflow_run": {
            "head_sha": HEAD_SHA,
            "head_repository": {"full_name": "visitor/widgets"},
            "pull_requests": [],
        }
    }
    with FaultGithub() as server:
        runner.github["api_url"] = server.url
        head = {"sha": HEAD_SHA, "repo": {"full_name": "visitor/widgets"}}
        server.pulls[7] = {"number": 7, "state": "open", "head": head}
        done = runner.run({"mode": "report", "github-token": "ghs_hushhushhush"}, "workflow_run", payload)
        assert done.code == 0, done.log
        assert done.outputs["comment-url"]
        [body] = server.bodies
    assert "No model was asked" in body


def test_the_plan_mode_asks_nobody(runner: Runner) -> None:
    done = runner.run({"mode": "plan", "dataset": "dataset/bcbench.jsonl", "cutoff": "2024-06-01"})
    assert done.code == 0, done.log
    assert "What a run would ask" in done.summary
    assert done.outputs["entries"] == "40"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_only_changed_entries_are_asked_on_a_pull_request(runner: Runner) -> None:
    dataset = runner.workspace / "dataset" / "bcbench.jsonl"
    rows = dataset.read_text(encoding="utf-8").split("\n")[:-1]
    git(runner.workspace, "init", "-q", "-b", "main")
    dataset.write_text("\n".join(rows[:-2]) + "\n", encoding="utf-8")
    git(runner.workspace, "add", "dataset")
    git(runner.workspace, "commit", "-qm", "base")
    base = git(runner.workspace, "rev-parse", "HEAD")
    changed = json.loads(rows[0])
    changed["problem_statement"] += "\nMore."
    rows[0] = json.dumps(changed)
    dataset.write_text("\n".join([*rows[:5], *rows[6:]]) + "\n", encoding="utf-8")
    git(runner.workspace, "commit", "-qam", "head")
    head = git(runner.workspace, "rev-parse", "HEAD")
    payload = pull_request(base_sha=base, head_sha=head)
    done = runner.run(RUN | {"entries": "changed"}, "pull_request", payload)
    assert done.code == 0, done.log
    assert "2 added, 1 modified, 1 removed" in done.log
    assert done.outputs["asked-count"] == "3"
    assert "This pull request" in done.summary
    assert "contoso__HarbourSuite-1036" in done.summary


def test_before_and_after_are_shown_with_a_baseline(runner: Runner) -> None:
    runner.run(RUN | {"results-dir": "base-results"})
    done = runner.run(RUN | {"baseline": "base-results"}, "pull_request", pull_request())
    assert done.code == 0, done.log
    assert "| base |" in done.summary
    assert "| head |" in done.summary


def test_a_missing_baseline_is_a_warning(runner: Runner) -> None:
    done = runner.run(RUN | {"baseline": "absent"})
    assert done.code == 0, done.log
    assert any("base branch" in message for name, message in commands(done.log) if name == "warning")


def test_a_broken_template_is_a_warning_and_the_shipped_report_is_published(runner: Runner) -> None:
    (runner.workspace / "mine.md.j2").write_text(
        "{% extends 'report.md.j2' %}{% block title %}{{ nothing }}{% endblock %}"
    )
    done = runner.run(RUN | {"template": "mine.md.j2"})
    assert done.code == 0, done.log
    assert any("mine.md.j2" in message for name, message in commands(done.log) if name == "warning")
    assert done.summary.startswith("## ")


def test_an_own_template_extends_the_shipped_one(runner: Runner) -> None:
    source = "{% extends 'report.md.j2' %}{% block title %}## House title\n{% endblock %}"
    (runner.workspace / "mine.md.j2").write_text(source)
    assert runner.run(RUN | {"template": "mine.md.j2"}).summary.startswith("## House title")


def test_every_credential_is_known_to_the_log() -> None:
    environ: dict[str, Any] = {
        "INPUT_API-KEY": "one",
        "INPUT_GITHUB_TOKEN": "two",
        "COPILOT_GITHUB_TOKEN": "three",
        "PATH": "x",
    }
    assert set(secrets_of(environ)) == {"one", "two", "three"}


def test_main_runs_in_process_with_lines_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    assert main({"INPUT_MODE": "report"}, lines.append) == 2
    assert lines == [
        "error: No stored results in contamination-results: run `predict` first, or give their folder as results-dir."
    ]
