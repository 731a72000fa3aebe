"""The image as a runner runs it: its mounts, its variables, its file commands, a workspace of another user.

The network is closed but for loopback. The tests need a Docker Engine; without one they skip with the reason, or
fail where the real parts are required.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from bccontam.store import SUFFIX, load_results
from tests.support.builders import make_patch
from tests.support.chat_server import ChatServer, Reply, Request, failure, text
from tests.support.container import (
    RUNNER_UID,
    ContainerRunner,
    engine,
)
from tests.support.emulate import BINARY, emulator
from tests.support.paths import ROOT
from tests.support.real import need_real
from tests.support.runner import pull_request

pytestmark = pytest.mark.real

DEMO = ROOT / "bccontam" / "demo"
CUTOFF = {"cutoff": "2024-06-01"}
KEY = "sk-loopback-0123456789"


def demo(**inputs: str) -> dict[str, str]:
    return {"dataset": "dataset.jsonl", "backend": "naming", "github-token": "", **inputs}


def results(job: ContainerRunner) -> Path:
    [path] = (job.workspace / "contamination-results").glob(f"*{SUFFIX}")
    return path


def test_a_report_on_no_results_says_what_to_do(job: ContainerRunner) -> None:
    ran = job.run({"mode": "report"})
    assert ran.code == 2
    assert "No stored results in contamination-results: run `predict` first" in ran.log
    assert len(ran.shown.strip().split("\n")) == 1


@pytest.mark.parametrize("target", ["full_image", "slim_image"])
def test_the_naming_floor_of_the_sample_benchmark(
    target: str, job: ContainerRunner, request: pytest.FixtureRequest
) -> None:
    job.image = request.getfixturevalue(target)
    ran = job.run(demo(**CUTOFF))
    assert ran.code == 0, ran.log
    assert ran.outputs["asked-count"] == "40"
    assert ran.outputs["entries"] == "40"
    assert ran.outputs["verdict"] in ("signal", "no-signal", "inconclusive")
    report = job.workspace / ran.outputs["report-path"]
    assert report.read_text(encoding="utf-8").startswith("## ")
    assert ran.summary.startswith("## ")
    assert len(list(load_results(results(job)))) == 40


def test_a_second_step_asks_nothing_again(job: ContainerRunner) -> None:
    job.run(demo(**CUTOFF))
    assert job.run(demo(**CUTOFF)).outputs["asked-count"] == "0"


def test_the_gate_fails_the_step_after_the_report_is_published(job: ContainerRunner) -> None:
    ran = job.run(demo(backend="replay", answers="answers.jsonl", **CUTOFF, **{"fail-on": "signal"}))
    assert ran.code == 1
    assert ran.outputs["verdict"] == "signal"
    assert "signal" in ran.summary
    assert "::error" in ran.log


def test_a_bad_input_is_one_sentence(job: ContainerRunner) -> None:
    ran = job.run(demo(**{"top-k": "three"}))
    assert ran.code == 2
    assert "top-k: use a whole number" in ran.log
    assert "Traceback" not in ran.log
    assert len(ran.shown.strip().split("\n")) == 1


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00\x01", b"", b"<!doctype html><title>404</title>", b'{"instance_id": "a__b-1"\n']
)
def test_an_unreadable_dataset_is_named_and_nothing_is_asked(job: ContainerRunner, content: bytes) -> None:
    (job.workspace / "dataset.jsonl").write_bytes(content)
    ran = job.run(demo(mode="predict"))
    assert ran.code == 2
    assert "dataset.jsonl" in ran.log
    assert not (job.workspace / "contamination-results").exists()


def test_a_dataset_that_is_not_there_is_named(job: ContainerRunner) -> None:
    (job.workspace / "dataset.jsonl").unlink()
    ran = job.run(demo())
    assert ran.code == 2
    assert "dataset.jsonl" in ran.log


def test_a_model_behind_a_server_is_asked(job: ContainerRunner) -> None:
    job.network = "host"
    with ChatServer(text('["src/Berths/BerthPlan.Page.al"]')) as server:
        inputs = {"backend": "openai", "base-url": server.url, "api-key": KEY, "model": "test-model"}
        ran = job.run(demo(**inputs, **CUTOFF))
        assert ran.code == 0, ran.log
        assert len(server.questions) == 40
        assert server.questions[0].headers["authorization"] == f"Bearer {KEY}"
    assert ran.outputs["error-count"] == "0"
    assert KEY not in ran.shown + ran.summary + results(job).read_text(encoding="utf-8")


def test_a_server_that_refuses_the_key_is_exit_code_3(job: ContainerRunner) -> None:
    job.network = "host"
    with ChatServer(failure(401, "no such key")) as server:
        inputs = {"backend": "openai", "base-url": server.url, "api-key": KEY, "model": "test-model"}
        ran = job.run(demo(**inputs, **CUTOFF))
    assert ran.code == 3, ran.log
    assert KEY not in ran.shown


@pytest.mark.parametrize("backend", ["copilot", "copilot-cli"])
def test_copilot_is_asked_behind_the_fence(job: ContainerRunner, backend: str) -> None:
    job.network = "host"
    with ChatServer(text('["src/Berths/BerthPlan.Page.al"]')) as server:
        job.environ = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": server.url,
            "COPILOT_PROVIDER_API_KEY": KEY,
        }
        inputs = {"backend": backend, "model": "test-model", "isolation": "require"}
        ran = job.run(demo(**inputs, entries="*-1001,*-1008,*-1015", **CUTOFF))
        assert ran.code == 0, ran.log
        assert len(server.questions) == 3
    assert ran.outputs["error-count"] == "0"
    assert ran.outputs["isolation"].startswith("landlock abi ")
    stored = list(load_results(results(job)))
    assert {result.self_test for result in stored} == {"passed"}
    assert {result.tools_sent for result in stored} == {0}
    assert KEY not in ran.shown + ran.summary + results(job).read_text(encoding="utf-8")


def test_the_slim_image_says_that_it_has_no_copilot(slim_image: str, job: ContainerRunner) -> None:
    job.image = slim_image
    ran = job.run(demo(backend="copilot", model="test-model", **{"copilot-token": "ghs_0123456789abcdef"}))
    assert ran.code == 3, ran.log
    assert "opilot" in ran.log
    assert "Traceback" not in ran.log


CANARY = "canary-7b1f0c"


def test_the_report_reads_what_the_models_process_cannot(job: ContainerRunner) -> None:
    template = job.workspace / "canary.md.j2"
    template.write_text(f'{{% extends "report.md.j2" %}}{{% block title %}}## {CANARY}{{% endblock %}}')
    ran = job.run(demo(template="canary.md.j2", **CUTOFF))
    assert ran.code == 0, ran.log
    assert CANARY in ran.summary


def test_a_pull_request_gets_one_comment_about_its_changed_entries(
    job: ContainerRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_real(BINARY.is_file(), "The GitHub emulator")
    monkeypatch.setenv("NO_PROXY", "*")
    job.network = "host"
    job.github = {"repository": "octocat/widgets"}
    with emulator() as github:
        repository = github.repository("octocat/widgets")
        base = repository.create_file("dataset.jsonl", "base", rows(1, 2, 3), branch="main")["commit"].sha
        repository.create_git_ref("refs/heads/topic", base)
        old = repository.get_contents("dataset.jsonl", ref="topic")
        assert not isinstance(old, list)
        head = repository.update_file(
            "dataset.jsonl",
            "head",
            rows(1, 2, 3, 4, statement="Posting fails twice."),
            old.sha,
            branch="topic",
        )["commit"].sha
        pull = repository.create_pull(base="main", head="topic", title="More entries")
        payload = pull_request("octocat/widgets", base, head)
        payload["pull_request"]["number"] = pull.number
        (job.workspace / "dataset.jsonl").write_text(rows(1, 2, 3, 4, statement="Posting fails twice."))
        job.github["api_url"] = github.url
        token = github.token()
        runs = [
            job.run(demo(entries="changed", **{"github-token": token}), "pull_request", payload) for _ in "ab"
        ]
        [comment] = pull.get_issue_comments()
    assert [ran.code for ran in runs] == [0, 0], runs[0].log + runs[1].log
    assert "1 added, 1 modified, 0 removed" in runs[0].log
    assert [ran.outputs["asked-count"] for ran in runs] == ["2", "0"]
    assert {ran.outputs["comment-url"] for ran in runs} == {comment.html_url}
    assert comment.body.startswith("<!-- bccontam")
    assert "acme__w-4" in comment.body
    assert token not in runs[0].shown + runs[1].shown + comment.body


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "safe.directory=*"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def rows(*numbers: int, statement: str = "Posting fails.") -> str:
    """A dataset of small entries; `statement` is that of the first."""
    made = [
        {
            "instance_id": f"acme__w-{number}",
            "repo": "acme/w",
            "created_at": "2025-03-01",
            "patch": make_patch(f"src/Secret{number}.Codeunit.al"),
            "problem_statement": statement if number == 1 else f"Report number {number}.",
        }
        for number in numbers
    ]
    return "".join(f"{json.dumps(row)}\n" for row in made)


def test_changed_entries_are_read_by_git_in_a_workspace_of_another_user(job: ContainerRunner) -> None:
    git(job.workspace, "init", "--quiet", "--initial-branch=main")
    commits = []
    for numbers, statement in (((1, 2, 3), "Posting fails."), ((1, 3, 4), "Posting fails twice.")):
        (job.workspace / "dataset.jsonl").write_text(rows(*numbers, statement=statement))
        git(job.workspace, "add", ".")
        git(job.workspace, "commit", "--quiet", "--message", "x")
        commits.append(git(job.workspace, "rev-parse", "HEAD"))
    payload = pull_request(base_sha=commits[0], head_sha=commits[1])
    ran = job.run(demo(entries="changed", comment="never"), "pull_request", payload)
    assert ran.code == 0, ran.log
    if os.getuid() == 0:
        assert (job.workspace / ".git").stat().st_uid == RUNNER_UID
    assert "1 added, 1 modified, 1 removed" in ran.log
    assert ran.outputs["asked-count"] == "2"
    assert "dubious" not in ran.log


def test_a_read_only_workspace_is_named_and_another_place_for_results_works(job: ContainerRunner) -> None:
    job.read_only_workspace = True
    refused = job.run(demo(**CUTOFF))
    assert refused.code == 2
    assert "Cannot write results" in refused.log
    elsewhere = job.run(demo(**CUTOFF, **{"results-dir": "/github/runner_temp/results"}))
    assert elsewhere.code == 0, elsewhere.log
    assert elsewhere.outputs["entries"] == "40"
    assert (job.temp / "results" / "report.md").is_file()


def test_a_step_that_is_terminated_keeps_its_results_and_the_next_asks_the_rest(
    job: ContainerRunner,
) -> None:
    job.network = "host"

    def answer(number: int, request: Request) -> Reply:
        return text('["src/Berths/BerthPlan.Page.al"]', delay=0.3)

    with ChatServer(answer) as server:
        inputs = demo(
            **{"backend": "openai", "base-url": server.url, "api-key": KEY, "model": "m"}, concurrency="2"
        )
        running = job.start(inputs)
        deadline = time.monotonic() + 60
        while len(server.questions) < 7:
            assert time.monotonic() < deadline, "the questions did not come"
            time.sleep(0.05)
        running.signal("TERM")
        stopped = running.wait(60)
        kept = list(load_results(results(job)))
        asked = len(server.questions)
        rest = job.run(inputs)
        assert len(server.questions) - asked == 40 - len(kept)
    assert stopped.code != 0
    assert 5 <= len(kept) < 40
    assert all(result.error is None for result in kept)
    assert rest.code == 0, rest.log
    assert len(list(load_results(results(job)))) == 40


def test_nothing_in_the_log_of_a_hostile_dataset_is_a_command(job: ContainerRunner) -> None:
    from tests.support.runner_log import commands

    hostile = "::error::boom\n##[set-output name=x]y\n::add-mask::a\n"
    lines = (DEMO / "dataset.jsonl").read_text(encoding="utf-8").split("\n")
    benchmark = [json.loads(line) for line in lines if line]
    for row in benchmark:
        row["problem_statement"] += hostile
        row["created_at"] = hostile
        row["area"] = hostile
    (job.workspace / "dataset.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in benchmark))
    ran = job.run(demo(**CUTOFF))
    assert ran.code == 0, ran.log
    assert {name for name, _ in commands(ran.shown)} <= {"group", "endgroup", "warning", "notice"}
    assert "x" not in ran.outputs


def test_no_container_is_left() -> None:
    assert engine("ps", "--quiet", "--filter", "name=bccontam-test-") == ""
