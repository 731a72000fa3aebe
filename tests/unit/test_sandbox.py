"""What a fenced process is given (folders, environment, policy), and how a proof is judged."""

from __future__ import annotations

import os
import struct
import tempfile
from pathlib import Path

import pytest

from bccontam import fence, sandbox
from bccontam.errors import AskError
from bccontam.fence import Fence
from bccontam.sandbox import Sandbox, clean_environment, fresh_workspace, make_sandbox, prove

POISON = {
    "GITHUB_TOKEN": "ghs_secret",
    "GITHUB_REPOSITORY": "owner/benchmark",
    "ACTIONS_RUNTIME_TOKEN": "secret",
    "INPUT_API-KEY": "secret",
    "COPILOT_ALLOW_ALL": "true",
    "COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "/workspace",
    "GH_TOKEN": "ghp_secret",
    "PYTHONPATH": "/workspace",
    "LD_PRELOAD": "/workspace/evil.so",
    "NODE_OPTIONS": "--require /workspace/evil.js",
    "HOME": "/root",
    "PATH": "/workspace/bin",
    "TMPDIR": "/workspace/tmp",
}


def test_the_environment_is_built_from_an_allow_list() -> None:
    with fresh_workspace() as workspace:
        environment = clean_environment(POISON, workspace, {"COPILOT_GITHUB_TOKEN": "ghs_secret"})
    assert set(environment) == {"PATH", "LANG", "TZ", "TERM", "HOME", "TMPDIR", "COPILOT_GITHUB_TOKEN"}
    assert "workspace" not in "".join(environment.values())
    assert environment["HOME"] == str(workspace.home)


@pytest.mark.parametrize(
    "name", ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR"]
)
def test_the_users_way_to_the_network_is_handed_on(name: str) -> None:
    with fresh_workspace() as workspace:
        assert clean_environment({name: "value"}, workspace, {})[name] == "value"
        assert name not in clean_environment({name: ""}, workspace, {})


def test_a_workspace_is_empty_private_and_gone_afterwards() -> None:
    with fresh_workspace() as workspace:
        folders = [Path(folder) for folder in workspace.own]
        assert len(set(folders)) == 4
        for folder in folders:
            assert list(folder.iterdir()) == []
            assert folder.stat().st_mode & 0o777 == 0o700
        (workspace.work / "left").write_text("x")
        (workspace.home / "closed").mkdir(mode=0o000)
    assert not workspace.root.exists()


def test_a_workspace_lies_outside_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    with fresh_workspace() as workspace:
        assert tmp_path not in workspace.root.parents
        assert not any((folder / ".git").exists() for folder in workspace.work.parents)


def test_the_name_of_a_workspace_tells_nothing() -> None:
    with fresh_workspace() as workspace:
        assert workspace.root.name.startswith("run-")
        assert [Path(folder).name for folder in workspace.own] == ["work", "home", "tmp", "state"]


def test_required_isolation_fails_without_landlock() -> None:
    with pytest.raises(AskError, match="no Landlock") as caught:
        make_sandbox("require", abi=0)
    assert caught.value.exit_code == 3


def test_isolation_that_is_off_is_recorded_as_none() -> None:
    found = prove(make_sandbox("off"), [], [])
    assert (found.text, found.sandbox, found.passed) == ("not run", "none", False)


def test_a_probe_that_cannot_run_is_no_proof() -> None:
    broken = Sandbox("require", Fence(uid=None).but(abi="no number"))
    with pytest.raises(AskError, match="the probe did not run"):
        prove(broken, [], [])


FINDINGS = {
    "abi": 7,
    "filter": True,
    "uid": 65534,
    "own": [0],
    "read": [],
    "list": [],
    "write": [],
    "unix": [],
    "tcp": [],
}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "passed"),
        ({"read": [0]}, "failed: the dataset could be read"),
        ({"read": [2]}, "failed: a canary file could be read"),
        ({"list": [0]}, "failed: a folder could be listed"),
        ({"write": [0]}, "failed: a file could be written outside"),
        ({"own": []}, "failed: its own file could not be read"),
        ({"unix": [0]}, "failed: a unix socket could be reached"),
        ({"unix": [0], "filter": False}, "passed"),
        ({"tcp": [0]}, "failed: another TCP port could be reached"),
        ({"tcp": [0], "abi": 3}, "passed"),
        ({"read": [0], "list": [0]}, "failed: the dataset could be read; a folder could be listed"),
    ],
)
def test_a_proof_fails_on_whatever_was_promised_and_does_not_hold(
    change: dict[str, object], text: str
) -> None:
    assert sandbox._judge({**FINDINGS, **change}, files=2).text == text


def test_what_was_in_force_is_named() -> None:
    assert sandbox._judge(FINDINGS, 0).sandbox == "landlock abi 7, socket filter, uid 65534"
    own = {**FINDINGS, "uid": os.getuid(), "filter": False}
    assert sandbox._judge({**own, "abi": 4}, 0).sandbox == "landlock abi 4"
    assert sandbox._judge({**own, "abi": 0}, 0).sandbox == "none"


def test_every_jump_of_the_socket_filter_stays_inside_it() -> None:
    for machine in fence._MACHINES.values():
        code = fence._assemble(fence._socket_rules(machine))
        steps = list(struct.iter_unpack("=HBBI", code))
        jumps = [(place, step) for place, step in enumerate(steps) if step[0] in (0x15, 0x35, 0x45)]
        assert jumps
        assert all(place + 1 + max(step[1], step[2]) < len(steps) for place, step in jumps)
        assert steps[-1][0] == 0x06
