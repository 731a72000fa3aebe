"""The fence itself, with plain children: what they cannot do inside it, and can without it.

Every statement that something is refused has its control, so that it cannot hold for another reason.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bccontam.errors import AskError
from bccontam.fence import NETWORK_ABI, landlock_abi
from bccontam.sandbox import (
    NOBODY,
    Sandbox,
    clean_environment,
    end,
    fresh_workspace,
    make_sandbox,
    open_to_all,
    prove,
)
from tests.support.paths import ROOT

KERNEL_ABI = landlock_abi()
AS_ROOT = os.geteuid() == 0
PYTHON = "/usr/bin/python3"
OFF = Sandbox("off", None)

pytestmark = [
    pytest.mark.skipif(KERNEL_ABI == 0, reason="this kernel offers no Landlock"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"needs {PYTHON}"),
]


def fenced(abi: int | None = None, ports: tuple[int, ...] = (), *, same_uid: bool = False) -> Sandbox:
    sandbox = make_sandbox("require", ports=ports, abi=abi)
    if same_uid and sandbox.fence:
        return Sandbox("require", sandbox.fence.but(uid=None))
    return sandbox


def run(
    sandbox: Sandbox, *command: str, environ: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a command prints and returns when it runs in the sandbox."""
    with fresh_workspace(sandbox.uid) as workspace:
        process = sandbox.start(
            workspace,
            command,
            clean_environment(environ or {}, workspace, {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        out, err = process.communicate(timeout=20)
    return subprocess.CompletedProcess(command, process.returncode, out.decode(), err.decode())


def python(sandbox: Sandbox, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(sandbox, PYTHON, "-I", "-S", "-c", code, *arguments)


# With another uid some things are refused twice over; with the same uid only Landlock can refuse them.
SANDBOXES = [
    pytest.param(abi, same_uid, id=f"abi {abi}, {'same' if same_uid else 'other'} uid")
    for abi in range(1, KERNEL_ABI + 1)
    for same_uid in ((True, False) if AS_ROOT else (True,))
]
every_sandbox = pytest.mark.parametrize(("abi", "same_uid"), SANDBOXES)


@pytest.fixture
def canary() -> Iterator[Path]:
    """A file that any user can read, in the system's temporary folder."""
    folder = Path("/tmp") / f"canary-{os.getpid()}-{threading.get_ident()}"
    folder.mkdir(mode=0o755)
    path = folder / "gold.txt"
    path.write_text("SECRET")
    path.chmod(0o644)
    yield path
    shutil.rmtree(folder)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


OUTSIDE = (
    'cat "$1"; ls /; ls /tmp; ls /proc; cat "$2"; echo x > "$1"; echo x > "$1.new"; ls "$(dirname "$1")"'
)


@every_sandbox
def test_files_outside_cannot_be_read_listed_or_written(abi: int, same_uid: bool, canary: Path) -> None:
    environ = f"/proc/{os.getpid()}/environ"
    refused = run(fenced(abi, same_uid=same_uid), "/bin/sh", "-c", OUTSIDE, "sh", str(canary), environ)
    assert refused.stdout == ""
    assert refused.stderr.count("Permission denied") == 8
    assert canary.read_text() == "SECRET"
    assert [file.name for file in canary.parent.iterdir()] == ["gold.txt"]


def test_without_the_fence_files_outside_can_be_read_listed_and_written(canary: Path) -> None:
    allowed = run(OFF, "/bin/sh", "-c", OUTSIDE, "sh", str(canary), f"/proc/{os.getpid()}/environ")
    assert (allowed.stderr, allowed.returncode) == ("", 0)
    assert allowed.stdout.startswith("SECRET")
    assert allowed.stdout.endswith("gold.txt\ngold.txt.new\n")


@every_sandbox
def test_its_own_folders_can_be_used(abi: int, same_uid: bool) -> None:
    script = (
        'mkdir a b && echo text > a/f && mv a/f a/g && cat a/g && echo x > "$HOME/h" && echo y > "$TMPDIR/t"'
    )
    done = run(fenced(abi, same_uid=same_uid), "/bin/sh", "-c", script)
    assert (done.stdout, done.returncode) == ("text\n", 0), done.stderr


def test_a_file_moves_between_folders_where_the_abi_knows_it() -> None:
    code = "import os; os.mkdir('a'); os.mkdir('b'); open('a/f', 'w').close(); os.rename('a/f', 'b/f')"
    moved = python(fenced(), code)
    assert moved.returncode == 0, moved.stderr
    assert "cross-device" in python(fenced(abi=1), code).stderr


CONNECT = "import socket, sys; socket.socket().connect(('127.0.0.1', int(sys.argv[1])))"


@every_sandbox
def test_only_the_allowed_tcp_port_can_be_reached(abi: int, same_uid: bool, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    other = python(fenced(abi, same_uid=same_uid), CONNECT, str(port))
    assert ("PermissionError" in other.stderr) == (abi >= NETWORK_ABI)
    allowed = python(fenced(abi, (port,), same_uid=same_uid), CONNECT, str(port))
    assert allowed.returncode == 0, allowed.stderr


def test_no_tcp_port_can_be_served() -> None:
    code = "import socket; socket.socket().bind(('127.0.0.1', 0))"
    assert "PermissionError" in python(fenced(), code).stderr
    assert python(OFF, code).returncode == 0


def test_ways_around_the_tcp_ports_are_closed(listener: socket.socket) -> None:
    """Fast open and MPTCP connect past Landlock; the socket filter knows them."""
    port = str(listener.getsockname()[1])
    for code in (
        "import socket, sys; socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', int(sys.argv[1])))",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
        "import ctypes, os; n = ctypes.CDLL(None, use_errno=True).syscall(425, 8, bytes(120)); "
        "raise OSError(ctypes.get_errno(), '') if n < 0 else SystemExit",
    ):
        assert "PermissionError" in python(fenced(), code, port).stderr, code
    assert python(fenced(), "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)").returncode == 0


def test_a_unix_socket_that_anyone_may_open_cannot_be_reached() -> None:
    """Such as the Docker socket, which is mounted into container actions."""
    code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    path = Path("/tmp") / f"everyone-{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o777)
        server.listen()
        assert "PermissionError" in python(fenced(), code, str(path)).stderr
        assert python(OFF, code, str(path)).returncode == 0
    path.unlink()


@pytest.mark.skipif(KERNEL_ABI < 6, reason="signals are fenced from ABI 6 on")
def test_processes_outside_cannot_be_signalled() -> None:
    code = "import os, sys; os.kill(int(sys.argv[1]), 0)"
    assert "PermissionError" in python(fenced(same_uid=True), code, str(os.getpid())).stderr
    assert python(OFF, code, str(os.getpid())).returncode == 0


def test_the_environment_is_clean() -> None:
    poison = {"GITHUB_TOKEN": "x", "COPILOT_ALLOW_ALL": "true", "https_proxy": "http://proxy:3128"}
    lines = run(fenced(), "/usr/bin/env", environ=poison).stdout.splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert names == {"PATH", "LANG", "TZ", "TERM", "HOME", "TMPDIR", "https_proxy"}


@pytest.mark.skipif(not AS_ROOT, reason="only root can become another user")
def test_root_becomes_nobody_without_groups() -> None:
    code = "import os; print(os.getresuid(), os.getresgid(), os.getgroups())"
    expected = f"({NOBODY}, {NOBODY}, {NOBODY}) ({NOBODY}, {NOBODY}, {NOBODY}) []\n"
    assert run(fenced(), PYTHON, "-c", code, extra_groups=[4242]).stdout == expected


@pytest.mark.skipif(not AS_ROOT, reason="only root has capabilities to lose")
def test_root_that_stays_root_has_no_capabilities() -> None:
    code = "import os; os.setuid(1)"
    assert "PermissionError" in python(fenced(same_uid=True), code).stderr
    assert python(OFF, code).returncode == 0


@pytest.mark.skipif(not AS_ROOT, reason="another uid is for root")
def test_root_stays_root_where_nobody_cannot_reach_the_command(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    assert make_sandbox("require", execute=[private]).uid is None
    assert make_sandbox("require").uid == NOBODY


def test_no_core_is_dumped_and_no_privilege_is_gained() -> None:
    code = "import ctypes, resource; print(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0), *resource.getrlimit(4))"
    assert python(fenced(), code).stdout == "1 0 0\n"


def test_a_command_that_cannot_be_run_says_so(tmp_path: Path) -> None:
    outside = tmp_path / "tool"
    outside.write_text("#!/bin/sh\n")
    outside.chmod(0o755)
    done = run(fenced(), str(outside))
    assert done.returncode == 97
    assert done.stderr == f"fence: cannot run {outside}: Permission denied\n"


def test_many_threads_can_start_fenced_processes() -> None:
    sandbox = fenced()
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda number: run(sandbox, "/bin/echo", str(number)), range(18)))
    assert [result.stdout for result in done] == [f"{number}\n" for number in range(18)]


# A child, one in a session of its own, an orphan there, one that also cleared its environment (but has its
# parent), and an orphan that cleared its environment (but is in the session).
DESCENDANTS = """
sleep $1 & setsid sleep $1 & sh -c 'setsid sh -c "sleep $0; :" &' $1
env -i setsid sleep $1 & (env -i sleep $1 &)
wait
"""


@pytest.mark.parametrize("sandbox", [OFF, None], ids=["off", "fenced"])
def test_nothing_of_a_process_is_left_after_its_end(sandbox: Sandbox | None) -> None:
    sandbox = sandbox or fenced()
    duration = f"300.{os.getpid()}"
    with fresh_workspace(sandbox.uid) as workspace:
        process = sandbox.start(
            workspace,
            ["/bin/sh", "-c", DESCENDANTS, "sh", duration],
            clean_environment({}, workspace, {}),
            stdin=subprocess.DEVNULL,
        )
        with process:
            try:
                wait_until(lambda: len(sleepers(duration)) == 5)
                end(process.pid, workspace)
                assert sleepers(duration) == []
            finally:
                for pid in sleepers(duration):
                    os.kill(pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def sleepers(duration: str) -> list[int]:
    """Processes that run `sleep DURATION`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "cmdline").read_bytes() == f"sleep\0{duration}\0".encode():
                found.append(int(folder.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_a_fenced_process_ends_with_the_one_that_started_it() -> None:
    starter = (
        "import os, subprocess, sys, time\n"
        "from bccontam.sandbox import *\n"
        "sandbox = make_sandbox('require')\n"
        "with fresh_workspace(sandbox.uid) as workspace:\n"
        "    child = sandbox.start(workspace, ['/bin/sleep', '300'], clean_environment({}, workspace, {}))\n"
        "    print(child.pid, workspace.root, flush=True)\n"
        "    time.sleep(300)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        pid, root = process.stdout.readline().split()
        wait_until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")
        process.kill()
    wait_until(
        lambda: not Path(f"/proc/{pid}").exists() or "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    )
    shutil.rmtree(root)


@every_sandbox
def test_the_proof_passes_in_the_sandbox_of_the_run(abi: int, same_uid: bool, canary: Path) -> None:
    found = prove(fenced(abi, same_uid=same_uid), [canary], [canary.parent])
    assert found.text == "passed"
    assert found.sandbox.startswith(f"landlock abi {abi}, ")
    assert [file.name for file in canary.parent.iterdir()] == ["gold.txt"]


def test_a_dataset_that_can_be_read_stops_a_run_that_requires_isolation(canary: Path) -> None:
    with pytest.raises(AskError, match="the dataset could be read") as caught:
        prove(make_sandbox("require", read=[canary]), [canary], [])
    assert caught.value.exit_code == 3
    found = prove(make_sandbox("auto", read=[canary]), [canary], [])
    assert found.text == "failed: the dataset could be read"


def test_a_workspace_that_can_be_read_stops_a_run_that_requires_isolation(canary: Path) -> None:
    with pytest.raises(AskError, match="a canary file could be read; a folder could be listed"):
        prove(make_sandbox("require", read=[canary.parent]), [], [canary.parent])


def test_without_landlock_the_proof_says_what_is_open(canary: Path) -> None:
    found = prove(make_sandbox("auto", abi=0), [canary], [canary.parent])
    assert not found.passed
    assert found.sandbox.startswith("none")
    for what in ("the dataset could be read", "a canary file could be read", "a folder could be listed"):
        assert what in found.text


def test_a_plain_user_gets_the_same_fence(canary: Path) -> None:
    """The whole program as another user: no uid to change, no capability to drop."""
    interpreter = next((path for path in (sys.executable, PYTHON) if open_to_all(Path(path))), None)
    if not AS_ROOT or interpreter is None or not open_to_all(ROOT):
        pytest.skip("needs root, and an interpreter and a checkout that any user can read")
    code = (
        "import json, sys; from pathlib import Path; from bccontam.sandbox import *\n"
        "sandbox = make_sandbox('require')\n"
        "found = prove(sandbox, [Path(sys.argv[1])], [Path(sys.argv[1]).parent])\n"
        "print(json.dumps([sandbox.uid, found.text, found.sandbox]))\n"
    )
    done = subprocess.run(
        [interpreter, "-c", code, str(canary)],
        cwd="/",
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        user=1000,
        group=1000,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=30,
    )
    if "SyntaxError" in done.stderr or "ImportError" in done.stderr:
        pytest.skip(f"{interpreter} is older than Python 3.11")
    assert json.loads(done.stdout) == [None, "passed", f"landlock abi {KERNEL_ABI}, socket filter"], (
        done.stderr
    )
