"""The image of this checkout, built and run the way a GitHub runner builds and runs a container action.

The mounts, variables and file commands are the runner's (actions/runner, ContainerActionHandler). A running Docker
Engine is used; nothing here starts one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.runner import HEAD_SHA, read_outputs

RUNNER_UID = 1001
"""Whom a hosted runner's files belong to; the container runs as root."""

PYTHON = "/opt/bccontam/venv/bin/python"


@cache
def docker() -> str:
    """The client of an engine that answers; skips the test when there is none, or fails it where it has to run."""
    for client in ("/usr/bin/docker", shutil.which("docker")):
        if client and Path(client).exists() and _answers(client):
            return client
    reason = "no Docker Engine answers: start one, or name it in DOCKER_HOST"
    if os.environ.get("BCCONTAM_REQUIRE_REAL") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _answers(client: str) -> bool:
    try:
        return (
            subprocess.run([client, "version"], capture_output=True, timeout=20, check=False).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def engine(*words: str | Path, timeout: float = 120) -> str:
    """What a command of the engine's client prints."""
    done = subprocess.run([docker(), *words], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(target: str) -> str:
    """Build a target of the Dockerfile and return its tag. The network is the host's: pip and npm need one."""
    tag = f"bccontam-test:{target}"
    environ = {**os.environ, "DOCKER_BUILDKIT": "1"}
    words = [docker(), "build", "--network", "host", "--target", target, "--tag", tag, str(ROOT)]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return tag


def image_size(image: str) -> int:
    """Bytes of an image, unpacked."""
    return int(inspect(image)["Size"])


def inspect(image: str) -> dict[str, Any]:
    """What the engine knows of an image."""
    [facts] = json.loads(engine("image", "inspect", image))
    assert isinstance(facts, dict)
    return facts


def base_image() -> str:
    """The base of the Dockerfile under a tag of ours: the builder may have it in a cache of its own alone."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").split("\n")
    [base] = [line.removeprefix("ARG BASE=") for line in lines if line.startswith("ARG BASE=")]
    tag = "bccontam-test:base"
    environ = {**os.environ, "DOCKER_BUILDKIT": "1"}
    words = [docker(), "build", "--quiet", "--tag", tag, "-"]
    subprocess.run(words, input=f"FROM {base}\n".encode(), env=environ, capture_output=True, check=True)
    return tag


@dataclass(frozen=True, slots=True)
class Ran:
    """What a step left behind. `seconds` are of wall time, from the client's start to its end."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str
    seconds: float

    @property
    def shown(self) -> str:
        """The log that people see: the runner takes a line that masks a secret for itself."""
        return "".join(
            line for line in self.log.splitlines(keepends=True) if not line.startswith("::add-mask::")
        )


@dataclass
class ContainerRunner:
    """One job's folders below `root`. `github` holds GITHUB_* values without their prefix."""

    image: str
    root: Path
    network: str = "none"
    github: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    read_only_workspace: bool = False

    def __post_init__(self) -> None:
        for folder in (self.workspace, self.home, self.workflow, self.commands):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def workspace(self) -> Path:
        return self.root / "repo" / "repo"

    @property
    def temp(self) -> Path:
        return self.root / "_temp"

    @property
    def home(self) -> Path:
        return self.temp / "_github_home"

    @property
    def workflow(self) -> Path:
        return self.temp / "_github_workflow"

    @property
    def commands(self) -> Path:
        return self.temp / "_runner_file_commands"

    def run(
        self, inputs: Mapping[str, str], event: str = "push", payload: Any = None, timeout: float = 180
    ) -> Ran:
        """Run the step to its end."""
        return self.start(inputs, event, payload).wait(timeout)

    def start(self, inputs: Mapping[str, str], event: str = "push", payload: Any = None) -> Running:
        """Start the step."""
        (self.workflow / "event.json").write_text(json.dumps(payload if payload is not None else {}))
        files = {name: self.commands / f"{name}_{uuid.uuid4()}" for name in _FILE_COMMANDS}
        for file in files.values():
            file.write_text("")
        self._give_to(RUNNER_UID)
        variables = self._variables(inputs, event, files)
        name = f"bccontam-test-{uuid.uuid4().hex[:12]}"
        words = [docker(), "run", "--rm", "--name", name, "--workdir", "/github/workspace"]
        words += ["--network", self.network, "--env", "HOME=/github/home"]
        # Values go through the client's own environment, as the runner hands them on: they may be secret.
        for variable in variables:
            words += ["--env", variable]
        for mount in self._mounts():
            words += ["--volume", mount]
        process = subprocess.Popen(
            [*words, self.image],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return Running(self, name, process, files, time.monotonic())

    def execute(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a program of the image in place of the entrypoint, with the same mounts."""
        command = [docker(), "run", "--rm", "--workdir", "/github/workspace", "--network", self.network]
        for mount in self._mounts():
            command += ["--volume", mount]
        command += ["--entrypoint", words[0], self.image, *words[1:]]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)

    def take_back(self) -> None:
        """What root wrote into the mounts, given to the user of the tests, who removes it."""
        if os.getuid():
            command = [
                "run",
                "--rm",
                "--network",
                "none",
                "--volume",
                f"{self.root}:/work",
                "--entrypoint",
                "chown",
            ]
            engine(*command, self.image, "-R", f"{os.getuid()}:{os.getgid()}", "/work")

    def _give_to(self, uid: int) -> None:
        """On a user's machine these files belong to the user, who is not root either."""
        if os.getuid() == 0:
            for folder, folders, names in os.walk(self.root):
                for name in (".", *folders, *names):
                    os.chown(Path(folder, name), uid, uid, follow_symlinks=False)

    def _mounts(self) -> list[str]:
        return [
            f"{self.temp}:/github/runner_temp",
            f"{self.home}:/github/home",
            f"{self.workflow}:/github/workflow",
            f"{self.commands}:/github/file_commands",
            f"{self.workspace}:/github/workspace{':ro' if self.read_only_workspace else ''}",
        ]

    def _variables(self, inputs: Mapping[str, str], event: str, files: Mapping[str, Path]) -> dict[str, str]:
        github = {
            "actions": "true",
            "actor": "octocat",
            "api_url": "https://api.github.example.invalid",
            "event_name": event,
            "event_path": "/github/workflow/event.json",
            "job": "test",
            "ref": "refs/heads/main",
            "repository": "acme/widgets",
            "run_attempt": "1",
            "run_id": "12",
            "server_url": "https://github.example.invalid",
            "sha": HEAD_SHA,
            "workflow": "ci",
            "workspace": "/github/workspace",
            **{name: f"/github/file_commands/{file.name}" for name, file in files.items()},
        } | self.github
        return {
            "CI": "true",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": "/github/runner_temp",
            "RUNNER_WORKSPACE": "/github",
            "ACTIONS_RUNTIME_TOKEN": "runtime-hush-hush",
            **{f"GITHUB_{name.upper()}": value for name, value in github.items()},
            **{f"INPUT_{name.replace(' ', '_').upper()}": value for name, value in inputs.items()},
            **self.environ,
        }


_FILE_COMMANDS = ("env", "path", "output", "state", "step_summary")


@dataclass
class Running:
    """A step that is under way."""

    runner: ContainerRunner
    name: str
    process: subprocess.Popen[bytes]
    files: Mapping[str, Path]
    started: float

    def signal(self, name: str) -> None:
        """Send a signal to the container's first process."""
        engine("kill", "--signal", name, self.name)

    def wait(self, timeout: float = 180) -> Ran:
        """What it left behind. Killing the client would leave the container running: it is removed by name."""
        alarm = threading.Timer(timeout, self._remove)
        alarm.start()
        try:
            log, _ = self.process.communicate()
        finally:
            alarm.cancel()
        seconds = time.monotonic() - self.started
        self.runner.take_back()
        return Ran(
            self.process.returncode,
            log.decode("utf-8"),
            read_outputs(self.files["output"].read_text(encoding="utf-8")),
            self.files["step_summary"].read_text(encoding="utf-8"),
            seconds,
        )

    def _remove(self) -> None:
        with suppress(AssertionError, subprocess.TimeoutExpired):
            engine("rm", "--force", self.name)
