"""The command line as a user runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bccontam.store import SUFFIX, load_results
from tests.support.builders import make_patch
from tests.support.paths import BC_BENCH, ROOT, needs_shared


def run(*words: str | Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "bccontam", *map(str, words)],
        cwd=folder,
        env=environment | environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_dataset(folder: Path, count: int = 6, **fields: Any) -> Path:
    path = folder / "dataset.jsonl"
    rows = [
        {
            "instance_id": f"acme__w-{i}",
            "repo": "acme/w",
            "created_at": f"2025-0{i + 1}-01",
            "patch": make_patch(f"src/Sales/Secret{i}.Codeunit.al"),
            "problem_statement": f"Posting number {i} fails.",
            "metadata": {"area": "sales"},
        }
        | fields
        for i in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_answers(folder: Path, answers: list[str]) -> Path:
    path = folder / "answers.jsonl"
    rows = [{"instance_id": f"acme__w-{i}", "raw_output": text} for i, text in enumerate(answers)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_version_is_printed(tmp_path: Path) -> None:
    done = run("--version", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("bccontam, version ")


@pytest.mark.parametrize("command", ["run", "predict", "report", "plan", "demo"])
def test_every_command_explains_itself(tmp_path: Path, command: str) -> None:
    done = run(command, "--help", folder=tmp_path)
    assert done.returncode == 0
    assert "--results-dir" in done.stdout


def test_no_command_is_help_and_a_bad_input(tmp_path: Path) -> None:
    done = run(folder=tmp_path)
    assert done.returncode == 2
    assert "Commands:" in done.stdout + done.stderr


def test_the_demo_shows_a_signal_and_says_where_the_report_is(tmp_path: Path) -> None:
    done = run("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "signal" in done.stdout
    assert str(Path("demo-results") / "report.md") in done.stderr
    report = (tmp_path / "demo-results" / "report.md").read_text(encoding="utf-8")
    assert report.startswith("## ")
    assert "contoso__HarbourSuite" in report
    assert str(Path("demo-results") / "report.html") in done.stderr
    assert "contoso__HarbourSuite" in (tmp_path / "demo-results" / "report.html").read_text(encoding="utf-8")
    assert max(len(line) for line in done.stdout.split("\n")) <= 80


def test_a_second_demo_reuses_every_answer(tmp_path: Path) -> None:
    run("demo", folder=tmp_path)
    again = run("demo", folder=tmp_path)
    assert "Asked 0, reused 40 stored answers" in again.stderr


def test_the_report_shows_no_gold_and_no_predicted_path_unless_asked(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path)
    answers = write_answers(tmp_path, [json.dumps([f"src/Sales/Secret{i}.Codeunit.al"]) for i in range(6)])
    words = (
        "run",
        "--dataset",
        dataset,
        "--backend",
        "replay",
        "--answers",
        answers,
        "--cutoff",
        "2025-04-01",
        "--html",
        "out/page.html",
    )
    hidden = run(*words, folder=tmp_path)
    assert hidden.returncode == 0, hidden.stderr
    written = [tmp_path / "contamination-results" / "report.md", tmp_path / "out" / "page.html"]
    for file in written:
        assert "Secret" not in file.read_text(encoding="utf-8")
    assert "Secret" not in hidden.stdout + hidden.stderr
    shown = run(*words, "--reveal-answers", folder=tmp_path)
    for file in written:
        assert "Secret0.Codeunit.al" in file.read_text(encoding="utf-8")
    assert "Secret" not in shown.stdout + shown.stderr


def test_json_holds_what_the_contract_promises(tmp_path: Path) -> None:
    run("demo", folder=tmp_path)
    words = ("report", "--results-dir", "demo-results", "--cutoff", "2024-06-01", "--json", "out.json")
    done = run(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert report["verdict"] == "signal"
    assert report["schema_version"] == 1
    assert set(report["signal"]) == {"metric", "value", "low", "high", "p_value", "method"}
    assert set(report["deltas"]) == {"basename", "exact", "suffix"}
    for name in ("all", "pre", "control"):
        assert {"count", "scored", "error_count", "exact_hit_rate", "mean_basename_recall"} <= set(
            report["groups"][name]
        )
    piped = run("report", "--results-dir", "demo-results", "--json", "-", folder=tmp_path)
    assert json.loads(piped.stdout)["signal"]["value"] is None


def test_the_gate_fails_after_the_report_is_written(tmp_path: Path) -> None:
    run("demo", folder=tmp_path)
    words = ("report", "--results-dir", "demo-results", "--cutoff", "2024-06-01", "--output", "gate.md")
    assert run(*words, "--fail-on", "signal", folder=tmp_path).returncode == 1
    assert (tmp_path / "gate.md").stat().st_size > 1000
    assert run(*words, folder=tmp_path).returncode == 0
    assert (
        run("report", "--results-dir", "demo-results", "--fail-on", "signal", folder=tmp_path).returncode == 0
    )
    inconclusive = run(
        "report", "--results-dir", "demo-results", "--fail-on", "inconclusive", folder=tmp_path
    )
    assert inconclusive.returncode == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("report",), "No stored results"),
        (("report", "--cutoff", "June"), "cutoff: use a day"),
        (("report", "--alpha", "1.5"), "alpha: use a number between 0 and 1"),
        (("plan", "--dataset", "absent.jsonl"), "absent.jsonl"),
        (("run", "--backend", "gpt"), "backend: use one of"),
        (("plan", "--dataset", "dataset.jsonl", "--entries", "changed"), "known to the action only"),
        (("run", "--backend", "replay"), "answers: needed"),
        (
            ("plan", "--cutoff", "auto", "--model", "unheard-of-9", "--dataset", "dataset.jsonl"),
            "unheard-of-9",
        ),
        (("report", "--nonsense"), "No such option"),
        (("plan", "--dataset", "dataset.jsonl", "--prompt", "missing.j2"), "Unknown prompt"),
        (("plan", "--dataset", "dataset.jsonl", "--entries", "typo-*"), "nothing in the dataset matches"),
    ],
)
def test_a_bad_input_is_one_sentence_and_exit_code_2(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    write_dataset(tmp_path)
    done = run(*words, folder=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_a_broken_dataset_is_named_by_file_and_line_before_anything_is_asked(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path)
    with dataset.open("a") as file:
        file.write('{"instance_id": "acme__w-9"\n')
    done = run("predict", "--dataset", dataset, "--backend", "naming", folder=tmp_path)
    assert done.returncode == 2
    assert "dataset.jsonl" in done.stderr
    assert "line 7" in done.stderr
    assert not (tmp_path / "contamination-results").exists()


def test_an_unknown_cutoff_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path)
    done = run("run", "--dataset", dataset, "--backend", "naming", "--cutoff", "auto", folder=tmp_path)
    assert done.returncode == 2
    assert "cutoff" in done.stderr
    assert not (tmp_path / "contamination-results").exists()


def test_mixed_experiments_in_one_folder_are_named_and_refused(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path)
    for top_k in ("2", "3"):
        run("predict", "--dataset", dataset, "--backend", "naming", "--top-k", top_k, folder=tmp_path)
    mixed = run("report", folder=tmp_path)
    assert mixed.returncode == 2
    assert "top-k 2" in mixed.stderr
    assert "top-k 3" in mixed.stderr
    grouped = run("report", "--group-by-model", "--html", "page.html", folder=tmp_path)
    assert grouped.returncode == 0, grouped.stderr
    for number in (1, 2):
        assert (tmp_path / "contamination-results" / f"report.{number}.md").is_file()
        assert (tmp_path / f"page.{number}.html").is_file()


@pytest.mark.parametrize("name", ["control", "baseline", "reference"])
def test_mixed_experiments_to_compare_with_are_named_or_reduced_to_the_same(
    tmp_path: Path, name: str
) -> None:
    dataset = write_dataset(tmp_path)
    words = ("predict", "--dataset", dataset, "--backend", "naming", "--results-dir")
    for top_k in ("1", "2", "3"):
        run(*words, "mixed", "--top-k", top_k, folder=tmp_path)
    run(*words, "own", "--top-k", "3", folder=tmp_path)
    run(*words, "other", "--top-k", "4", folder=tmp_path)
    refused = run("report", "--results-dir", "other", f"--{name}", "mixed", folder=tmp_path)
    assert refused.returncode == 2
    assert "mixes 3 experiments" in refused.stderr
    same = run("report", "--results-dir", "own", f"--{name}", "mixed", folder=tmp_path)
    assert same.returncode == (2 if name == "reference" else 0), same.stderr


def test_shards_together_give_what_one_run_gives(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, 9)
    for index in (1, 2, 3):
        words = (
            "--dataset",
            dataset,
            "--backend",
            "naming",
            "--shard",
            f"{index}/3",
            "--results-dir",
            "sharded",
        )
        run("predict", *words, folder=tmp_path)
    run("predict", "--dataset", dataset, "--backend", "naming", "--results-dir", "whole", folder=tmp_path)
    reports = []
    for name in ("sharded", "whole"):
        done = run("report", "--results-dir", name, "--cutoff", "2025-05-01", "--json", "-", folder=tmp_path)
        report = json.loads(done.stdout)
        report["usage"]["seconds"] = 0
        reports.append(report)
    assert reports[0] == reports[1]


def test_a_missing_shard_makes_the_verdict_inconclusive_and_is_named(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, 9)
    words = ("--dataset", dataset, "--backend", "naming", "--shard")
    run("predict", *words, "1/3", folder=tmp_path)
    run("predict", *words, "3/3", folder=tmp_path)
    done = run("report", "--cutoff", "2025-05-01", "--json", "-", folder=tmp_path)
    report = json.loads(done.stdout)
    assert report["verdict"] == "inconclusive"
    assert report["missing_shards"] == ["2/3"]
    assert "2/3" in report["reason"]


def test_stored_answers_to_entries_that_are_gone_count_no_more(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, 6)
    words = ("predict", "--dataset", dataset, "--backend", "naming")
    run(*words, folder=tmp_path)
    lines = dataset.read_text(encoding="utf-8").split("\n")
    dataset.write_text("\n".join(lines[2:]), encoding="utf-8")
    run(*words, "--entries", "acme__w-5", folder=tmp_path)
    report = json.loads(run("report", "--json", "-", folder=tmp_path).stdout)
    assert report["groups"]["all"]["count"] == 4


def test_what_a_cap_left_over_is_reported(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path)
    done = run("run", "--dataset", dataset, "--backend", "naming", "--max-requests", "2", folder=tmp_path)
    assert "Asked 2" in done.stderr
    assert "4 not asked" in done.stderr
    assert len(list(load_results(tmp_path / "contamination-results"))) == 2


def test_a_run_that_has_nothing_to_ask_says_why(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, 3, problem_statement="")
    done = run("run", "--dataset", dataset, "--backend", "naming", folder=tmp_path)
    assert done.returncode == 2
    assert (
        "nothing to ask: 3 entries cannot be scored, the first of them acme__w-0: no problem" in done.stderr
    )
    assert "No stored results" not in done.stderr


def test_an_unscorable_entry_is_listed_and_not_asked(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, 3)
    row = {
        "instance_id": "acme__w-99",
        "repo": "acme/w",
        "patch": "",
        "problem_statement": "x",
        "created_at": None,
    }
    with dataset.open("a") as file:
        file.write(json.dumps(row) + "\n")
    done = run("run", "--dataset", dataset, "--backend", "naming", folder=tmp_path)
    assert "1 unscorable" in done.stderr
    assert "1 entry cannot be scored, the first of them acme__w-99: no gold" in done.stderr
    assert "acme__w-99" in (tmp_path / "contamination-results" / "report.md").read_text(encoding="utf-8")


def test_nothing_from_a_dataset_reaches_the_terminal_raw(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, created_at="\x1b[31m::error::boom\n##[group]x")
    done = run("plan", "--dataset", dataset, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert not any(line.lstrip().startswith("::") for line in (done.stdout + done.stderr).split("\n"))
    assert "##[" not in done.stdout + done.stderr


@needs_shared
def test_a_plan_of_the_real_benchmark_knows_its_control_sizes(tmp_path: Path) -> None:
    done = run("plan", "--dataset", BC_BENCH, "--cutoff", "2025-06-01", "--json", "-", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["entries"], plan["scorable"], plan["undated"]) == (101, 101, 0)
    assert (plan["given"]["pre"], plan["given"]["control"]) == (64, 37)
    assert dict(plan["leakage"]) == {"path": 1, "basename": 1, "object-name": 28, "none": 71}


@needs_shared
def test_the_naming_floor_of_the_real_benchmark_is_stored_whole(tmp_path: Path) -> None:
    done = run("run", "--dataset", BC_BENCH, "--backend", "naming", "--cutoff", "2025-06-01", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    [stored] = (tmp_path / "contamination-results").glob(f"*{SUFFIX}")
    assert len(list(load_results(stored))) == 101
