"""The image itself: its size, its face to the runner, what it holds, and the fence inside it.

Needs a Docker Engine; what a step does in the image is in `test_container`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.support.container import PYTHON, ContainerRunner, base_image, image_size, inspect
from tests.support.paths import ROOT

pytestmark = pytest.mark.real

MB = 1_000_000


def test_the_images_are_as_small_as_promised(full_image: str, slim_image: str, job: ContainerRunner) -> None:
    base = image_size(base_image())
    cli = int(job.execute("stat", "-c", "%s", "/opt/copilot/copilot").stdout)
    assert image_size(slim_image) - base <= 80 * MB
    assert image_size(full_image) - base <= 80 * MB + cli


@pytest.mark.parametrize("target", ["full_image", "slim_image"])
def test_the_image_leaves_user_and_work_folder_to_the_runner(
    target: str, request: pytest.FixtureRequest
) -> None:
    config = inspect(request.getfixturevalue(target))["Config"]
    assert config["Entrypoint"][0].startswith("/")
    assert "sh" not in Path(config["Entrypoint"][0]).name
    assert not config["User"]
    assert config["WorkingDir"] in ("", "/")
    assert not config["Volumes"]


def test_the_image_holds_nothing_that_installs_and_nothing_in_home(job: ContainerRunner) -> None:
    found = job.execute(
        "sh", "-c", "ls /opt/bccontam/venv/bin/pip* /usr/bin/npm /usr/local/bin/node /opt/copilot/cache 2>/dev/null;"
        " find /opt -name 'inuse.*'; ls -A /root | grep -vx -e .bashrc -e .profile -e .npmrc -e .wget-hsts; true",
    )  # fmt: skip
    assert found.stdout == ""


def test_the_image_holds_the_program_and_no_more_of_the_checkout(job: ContainerRunner) -> None:
    def content(folder: str) -> set[str]:
        return set(job.execute("ls", "-A", folder).stdout.split())

    assert content("/opt/bccontam/app") == {"LICENSE", "__pycache__", "bccontam", "entrypoint.py"}
    assert content("/opt/bccontam") == {"app", "venv"}
    assert content("/opt/copilot") == {"LICENSE.md", "copilot"}


def test_the_copilot_cli_is_unmodified_and_has_its_licence_beside_it(job: ContainerRunner) -> None:
    listed = job.execute("sha256sum", "/opt/copilot/copilot", "/opt/copilot/LICENSE.md").stdout.split()
    installed = ROOT / ".cache" / "copilot"
    for digest, name in zip(listed[::2], ("copilot", "LICENSE.md"), strict=True):
        if (installed / name).is_file():
            assert digest == hashlib.sha256((installed / name).read_bytes()).hexdigest()


def test_no_module_of_the_workspace_or_of_a_variable_takes_the_place_of_ours(job: ContainerRunner) -> None:
    (job.workspace / "json.py").write_text("raise SystemExit(77)\n")
    (job.workspace / "sitecustomize.py").write_text("raise SystemExit(78)\n")
    job.environ["PYTHONPATH"] = "/github/workspace"
    assert job.run({"mode": "plan", "dataset": "dataset.jsonl", "backend": "naming"}).code == 0


def test_bytecode_is_there_and_not_made_at_each_start(job: ContainerRunner) -> None:
    code = (
        "import sys, bccontam.action, bccontam.reporting, bccontam.report.render, github, copilot, rich.console\n"
        "from pathlib import Path\n"
        "made = [m.__cached__ for m in sys.modules.values() if getattr(m, '__cached__', None)]\n"
        "print([name for name in made if not Path(name).exists()])"
    )
    done = job.execute(PYTHON, "-I", "-B", "-c", code)
    assert done.stdout == "[]\n", done.stderr


CANARY = "canary-7b1f0c"
FENCED = """
import json, subprocess, sys
from pathlib import Path
from bccontam.sandbox import fresh_workspace, clean_environment, make_sandbox
sandbox = make_sandbox("require", execute=[Path("/opt/copilot")])
with fresh_workspace(sandbox.uid) as place:
    script = "pwd; ls -A; cat /github/workspace/canary.txt; ls /github/workspace; cat /github/home/canary.txt"
    words = ["/bin/sh", "-c", script]
    process = sandbox.start(place, words, clean_environment({}, place, {}),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = process.communicate(timeout=30)
print(json.dumps({"output": output.decode(), "work": str(place.work)}))
"""


def test_the_models_process_sees_an_empty_folder_and_nothing_of_the_workspace(
    job: ContainerRunner,
) -> None:
    for folder in (job.workspace, job.home):
        (folder / "canary.txt").write_text(CANARY)
        (folder / "canary.txt").chmod(0o644)
    done = job.execute(PYTHON, "-I", "-c", FENCED)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    lines = seen["output"].strip().split("\n")
    assert lines[0] == seen["work"]
    assert CANARY not in seen["output"]
    assert "dataset.jsonl" not in seen["output"]
    assert len(lines) == 4, lines
    assert all("ermission denied" in line for line in lines[1:]), lines
