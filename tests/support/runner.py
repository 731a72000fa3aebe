"""A simulated runner: the environment, files and mounts of one step, and the entrypoint as its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

BASE_SHA, HEAD_SHA = "b" * 40, "a" * 40


@dataclass(frozen=True)
class Done:
    """What a step left behind."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass
class Runner:
    """One job's folders below `root`; `github` holds GITHUB_* values without their prefix."""

    root: Path
    github: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (self.workspace, self.home, self.commands):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def commands(self) -> Path:
        return self.root / "file_commands"

    def run(
        self, inputs: Mapping[str, str], event: str = "push", payload: Any = None, timeout: float = 120
    ) -> Done:
        """Run the step as the runner does: inputs in upper case with their hyphens, files for its commands."""
        event_path = self.root / "event.json"
        event_path.write_text(json.dumps(payload if payload is not None else {}), encoding="utf-8")
        files = {name: self.commands / name for name in ("output", "step_summary", "env", "state", "path")}
        for path in files.values():
            path.write_text("")
        github = {
            "actions": "true",
            "event_name": event,
            "event_path": str(event_path),
            "repository": "acme/widgets",
            "workspace": str(self.workspace),
            "api_url": "http://127.0.0.1:9",
            "server_url": "https://github.example.invalid",
            "run_id": "12",
            "sha": HEAD_SHA,
            "ref": "refs/heads/main",
            **{name: str(path) for name, path in files.items()},
        } | self.github
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CI": "true",
            "ACTIONS_RUNTIME_TOKEN": "runtime-hush-hush",
            **{f"GITHUB_{name.upper()}": value for name, value in github.items()},
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
            **self.environ,
        }
        process = subprocess.run(
            [sys.executable, "-W", "error", str(ROOT / "entrypoint.py")],
            cwd=self.workspace,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        return Done(
            process.returncode,
            process.stdout.decode("utf-8"),
            read_outputs(files["output"].read_text(encoding="utf-8")),
            files["step_summary"].read_text(encoding="utf-8"),
        )


def read_outputs(text: str) -> dict[str, str]:
    """Step outputs as the runner parses them."""
    outputs: dict[str, str] = {}
    lines = text.split("\n")
    assert lines[-1] == "", "the last delimiter needs its line feed"
    position = 0
    while position < len(lines) - 1:
        name, _, delimiter = lines[position].partition("<<")
        assert "=" not in name
        end = lines.index(delimiter, position + 1)
        outputs[name] = "\n".join(lines[position + 1 : end])
        position = end + 1
    return outputs


def pull_request(
    head: str = "acme/widgets", base_sha: str = BASE_SHA, head_sha: str = HEAD_SHA
) -> dict[str, Any]:
    """The payload of a pull request numbered 7."""
    return {
        "number": 7,
        "pull_request": {
            "number": 7,
            "user": {"login": "octocat"},
            "head": {"sha": head_sha, "repo": {"full_name": head}},
            "base": {"sha": base_sha, "repo": {"full_name": "acme/widgets"}},
        },
        "repository": {"full_name": "acme/widgets"},
    }
