"""Workflows, examples, action.yml and Dockerfile as GitHub and its linters read them, all offline.

They cannot run here. What can be checked is: the schemas, what the linters find, and that workflows speak of inputs,
outputs, files and lines that exist.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bccontam import __version__
from tests.support.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXAMPLES = sorted((ROOT / "examples").glob("*.yml"))
EVERY = [pytest.param(path, id=str(path.relative_to(ROOT))) for path in (*WORKFLOWS, *EXAMPLES)]
SHARDED = ROOT / ".github" / "workflows" / "contamination.yml"
OURS = ("bccontam/bccontam@", "./", "./.bccontam")

_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
_USES = re.compile(r"^\s*(?:- )?uses: (\S+)(?: # (.+))?$", re.MULTILINE)


def tool(name: str, *words: str | Path, folder: Path = ROOT) -> str:
    """What a linter of the test environment prints; the test fails with it when the linter finds anything."""
    program = Path(sys.executable).with_name(name)
    done = subprocess.run(
        [program, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def load(path: Path) -> dict[str, Any]:
    """A workflow; YAML 1.1 reads the key `on` as true."""
    loaded: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else str(key): value for key, value in loaded.items()}


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", ())


def is_ours(step: dict[str, Any]) -> bool:
    uses = str(step.get("uses", ""))
    return uses.startswith(OURS[0]) or uses in OURS[1:]


ACTION = load(ROOT / "action.yml")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch repository with the files that actionlint looks at: it wants one, and this may be a tarball."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT / ".github", root / ".github")
    shutil.copytree(ROOT / "examples", root / "examples")
    shutil.copy(ROOT / "action.yml", root)
    shutil.copy(ROOT / "Dockerfile", root)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return root


def test_there_is_an_example_for_every_use() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names == {"pull-request", "weekly", "release-gate", "fork-plan", "fork-comment", "matrix"}


@pytest.mark.parametrize("path", EVERY)
def test_a_workflow_has_the_form_that_github_wants(path: Path) -> None:
    tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", path)


@pytest.mark.parametrize("path", EVERY)
def test_the_security_linter_finds_nothing(path: Path) -> None:
    found = json.loads(
        tool("zizmor", "--offline", "--no-progress", "--quiet", "--no-config", "--format=json", path)
    )
    assert found == []


def test_actionlint_finds_nothing(repository: Path) -> None:
    files = [path.relative_to(ROOT) for path in (*WORKFLOWS, *EXAMPLES)]
    assert tool("actionlint", "-no-color", *files, folder=repository) == ""


def test_the_action_and_dependabot_have_the_form_that_github_wants() -> None:
    tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml")
    tool("check-jsonschema", "--builtin-schema", "vendor.dependabot", ROOT / ".github" / "dependabot.yml")
    tool(
        "zizmor",
        "--offline",
        "--quiet",
        "--no-config",
        ROOT / "action.yml",
        ROOT / ".github" / "dependabot.yml",
    )


def test_the_dockerfile_is_clean() -> None:
    tool("hadolint", "--no-color", ROOT / "Dockerfile")


@pytest.mark.parametrize("path", EVERY)
def test_every_action_of_others_is_pinned_by_commit_and_says_its_version(path: Path) -> None:
    for uses, comment in _USES.findall(path.read_text(encoding="utf-8")):
        if uses.startswith(("./", "$/", "bccontam/bccontam")):
            continue
        assert _PINNED.fullmatch(uses), uses
        assert re.fullmatch(r"v\d+\.\d+\.\d+", comment), uses


def test_an_action_is_pinned_to_the_same_commit_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for path in (*WORKFLOWS, *EXAMPLES):
        for uses, comment in _USES.findall(path.read_text(encoding="utf-8")):
            name, _, commit = uses.partition("@")
            repository = "/".join(name.split("/")[:2])
            if commit:
                pins.setdefault(repository, set()).add(f"{commit} {comment}")
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", EVERY)
def test_a_workflow_asks_for_no_more_than_each_job_needs(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert isinstance(job["permissions"], dict), f"{name} has no permissions of its own"
        assert "timeout-minutes" in job or "uses" in job, f"{name} may run for six hours"
    assert workflow["concurrency"]["group"]


@pytest.mark.parametrize("path", EVERY)
def test_a_workflow_gives_only_inputs_that_exist_and_reads_only_outputs_that_exist(path: Path) -> None:
    workflow = load(path)
    text = path.read_text(encoding="utf-8")
    for step in filter(is_ours, steps(workflow)):
        assert set(step.get("with", {})) <= set(ACTION["inputs"]), step
        if "id" in step:
            read = set(re.findall(rf"steps\.{step['id']}\.outputs\.([\w-]+)", text))
            assert read <= set(ACTION["outputs"]), step
    for job in workflow["jobs"].values():
        if str(job.get("uses", "")).startswith("bccontam/bccontam/.github/workflows/contamination.yml@"):
            called = load(SHARDED)["on"]["workflow_call"]
            assert set(job["with"]) <= set(called["inputs"])
            assert set(job.get("secrets", {})) <= set(called["secrets"])


def test_the_sharded_workflow_has_the_inputs_of_the_action_with_their_defaults() -> None:
    inputs = load(SHARDED)["on"]["workflow_call"]["inputs"]
    for name in set(inputs) - {"shards"}:
        assert str(inputs[name]["default"]) == ACTION["inputs"][name]["default"], name


def test_examples_use_the_version_that_is_released_next() -> None:
    for path in EXAMPLES:
        for version in re.findall(r"uses: bccontam/bccontam\S*@v(\S+)", path.read_text(encoding="utf-8")):
            assert version == __version__, path


def test_the_second_half_of_the_fork_pair_runs_nothing_of_the_pull_request() -> None:
    plan, comment = load(ROOT / "examples" / "fork-plan.yml"), load(ROOT / "examples" / "fork-comment.yml")
    assert comment["on"]["workflow_run"]["workflows"] == [plan["name"]]
    assert not any("checkout" in str(step.get("uses")) or "run" in step for step in steps(comment))
    assert plan["jobs"]["plan"]["permissions"] == {"contents": "read"}


def test_the_list_of_shards_is_what_the_shards_are_called(tmp_path: Path) -> None:
    [step] = [step for step in steps(load(SHARDED)) if step.get("id") == "shards"]
    for count, code in (("3", 0), ("0", 2), ("257", 2), ("", 2), ("1; true", 2)):
        output = tmp_path / f"output-{code}"
        environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "COUNT": count, "GITHUB_OUTPUT": str(output)}
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=environ, capture_output=True, check=False
        )
        if code == 0 and shutil.which("jq") is None:
            continue
        assert done.returncode == code, done.stderr
    if shutil.which("jq"):
        listed = json.loads((tmp_path / "output-0").read_text().removeprefix("list="))
        assert listed == [{"shard": f"{i}/3", "name": f"{i}-of-3"} for i in (1, 2, 3)]


def test_what_the_release_rewrites_and_reads_is_there() -> None:
    assert (ROOT / "action.yml").read_text(encoding="utf-8").count("\n  image: Dockerfile\n") == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    assert f'\n__version__ = "{__version__}"\n' in (ROOT / "bccontam" / "__init__.py").read_text(
        encoding="utf-8"
    )
    bases = re.findall(r"^ARG BASE=(.+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(bases) == 1
    assert "@" not in bases[0], "the release pins the base by digest; the build here has no registry"
