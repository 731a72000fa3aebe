"""The fence around every process a model backend starts: fresh folders, a clean environment, and the proof.

`Sandbox` says what a process may touch and starts it through the launcher `bccontam.fence`; `prove` tries,
from within exactly that sandbox, what must not be possible. Nothing here knows about models.

What stays open, and is not claimed: names can be probed with `stat` (not read, not listed); UDP, and so DNS,
is free; on machines other than x86-64 and arm64 there is no socket filter, so unix sockets that the uid may
open, MPTCP and TCP fast open pass; a descendant that leaves the session and clears its environment outlives
`end`. Without Landlock only the fresh folders, the environment, the socket filter and, for root, another uid
remain.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bccontam import fence
from bccontam.errors import AskError
from bccontam.fence import Fence

Isolation = Literal["require", "auto", "off"]

NOBODY = 65534
RUNTIME = ("/usr", "/lib", "/lib32", "/lib64", "/bin")
SYSTEM_FILES = (
    "/etc/ca-certificates",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
    "/dev/urandom",
)
DEVICES = ("/dev/null",)

# The user's way to the network; nothing else of the caller's environment is handed on.
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True, slots=True)
class Workspace:
    """Fresh folders of one process. `work`, `home`, `temp` and `state` are its own; `root` is ours."""

    root: Path
    work: Path
    home: Path
    temp: Path
    state: Path

    @property
    def own(self) -> tuple[str, ...]:
        """What the process may write to."""
        return tuple(str(path) for path in (self.work, self.home, self.temp, self.state))


@contextmanager
def fresh_workspace(uid: int | None = None) -> Iterator[Workspace]:
    """Empty folders with neutral names outside any repository, owned by `uid`, removed at the end.

    Raises AskError when there is no place for them.
    """
    with tempfile.TemporaryDirectory(prefix="run-", dir=temp_base(uid), ignore_cleanup_errors=True) as name:
        root = Path(name)
        root.chmod(0o711)
        workspace = Workspace(root, *(root / part for part in ("work", "home", "tmp", "state")))
        for folder in workspace.own:
            Path(folder).mkdir(mode=0o700)
            if uid is not None:
                os.chown(folder, uid, uid)
        yield workspace


def temp_base(uid: int | None = None) -> Path:
    """A temporary folder outside any repository that `uid` can walk to. Raises AskError when there is none."""
    candidates = [Path(tempfile.gettempdir()).resolve(), Path("/tmp"), Path("/var/tmp")]  # noqa: S108
    for base in candidates:
        in_repository = any((folder / ".git").exists() for folder in (base, *base.parents))
        if base.is_dir() and not in_repository and (uid is None or open_to_all(base)):
            return base
    raise AskError(
        "There is no temporary folder outside a Git repository for the model's process; set TMPDIR to one."
    )


def open_to_all(path: Path) -> bool:
    """Whether any user can read and execute `path`, and walk to it."""
    try:
        place = path.resolve(strict=True)
        walkable = all(folder.stat().st_mode & 0o001 for folder in place.parents)
        return walkable and place.stat().st_mode & 0o005 == 0o005
    except OSError:
        return False


def clean_environment(
    environ: Mapping[str, str], workspace: Workspace, extra: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of a process: fixed values, its folders, proxy and CA variables, and `extra`."""
    handed_on = (*PROXIES, *(name.lower() for name in PROXIES), *CERTIFICATES)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "HOME": str(workspace.home),
        "TMPDIR": str(workspace.temp),
        **{name: environ[name] for name in handed_on if environ.get(name)},
        **extra,
    }


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How processes of a run are started. `fence` None: fresh folders and a clean environment only."""

    isolation: Isolation
    fence: Fence | None

    @property
    def uid(self) -> int | None:
        """Whom the processes run as; None: as ourselves."""
        return self.fence.uid if self.fence else None

    def launcher(self, workspace: Workspace, pid_file: Path | None = None) -> list[str]:
        """The command that fences itself in; `--` and a command with its full path go behind it.

        It has to be started by this process, whose end (that of the starting thread, to be exact) ends it.
        """
        around = None
        if self.fence:
            around = self.fence.but(write=(*self.fence.write, *workspace.own)).values()
        policy = {"fence": around, "parent": os.getpid(), "pid_file": pid_file and str(pid_file)}
        # Imported, not run by its path: so it is compiled once and not in front of every process.
        folder = str(Path(fence.__file__).resolve().parent)
        start = f"import sys; sys.path.append({folder!r}); from fence import main; main(sys.argv[1:])"
        return [sys.executable, "-I", "-S", "-c", start, fence.packed(policy)]

    def start(
        self, workspace: Workspace, command: Sequence[str], env: Mapping[str, str], **streams: Any
    ) -> subprocess.Popen[bytes]:
        """Start `command` in the work folder; it leads a session of its own. `streams` as for Popen."""
        return subprocess.Popen(  # noqa: S603
            [*self.launcher(workspace), "--", *command],
            cwd=workspace.work,
            env=dict(env),
            start_new_session=True,
            **streams,
        )


def make_sandbox(
    isolation: Isolation,
    *,
    execute: Sequence[Path] = (),
    read: Sequence[Path] = (),
    ports: Sequence[int] = (443,),
    abi: int | None = None,
) -> Sandbox:
    """The strictest sandbox this machine offers, beside `RUNTIME` and `SYSTEM_FILES` for the given paths.

    As root the processes become `NOBODY`, if that user can reach what it must execute and read. `abi` stands
    in for an older kernel. Raises AskError when `isolation` is `require` and the kernel has no Landlock.
    """
    if isolation == "off":
        return Sandbox(isolation, None)
    abi = min(fence.landlock_abi(), fence.NEWEST_ABI if abi is None else abi)
    if isolation == "require" and not abi:
        raise AskError(
            "Kernel isolation is required but this kernel offers no Landlock; "
            "use Linux 5.13 or newer with Landlock enabled, or set `isolation` to auto."
        )
    around = Fence(
        abi=abi,
        execute=(*RUNTIME, *map(str, execute)),
        read=(*SYSTEM_FILES, *map(str, read)),
        write=DEVICES,
        ports=tuple(ports),
    )
    other = Sandbox(isolation, around.but(uid=NOBODY))
    if os.geteuid() == 0 and all(map(open_to_all, execute)) and _can_start(other):
        return other
    return Sandbox(isolation, around)


def _can_start(sandbox: Sandbox) -> bool:
    """Root without the capabilities, or in a user namespace, may be unable to become another user."""
    try:
        with fresh_workspace(sandbox.uid) as workspace:
            return "error" not in _probe(sandbox, workspace, {})
    except (OSError, AskError):
        return False


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What the proof found. `text`: `passed`, `failed: WHAT` or `not run`; `sandbox`: what was in force."""

    text: str
    sandbox: str

    @property
    def passed(self) -> bool:
        """Whether all that must be closed was seen to be closed."""
        return self.text == "passed"


def prove(sandbox: Sandbox, files: Sequence[Path], folders: Sequence[Path]) -> SelfTest:
    """Try from within the sandbox what must not work, and say what did.

    It tries to read `files` (the dataset) and canaries in `folders` (the workspace) and the temp folder, to
    list these folders and `/`, to write there, and to reach a unix socket and another TCP port. Files that we
    cannot read ourselves and folders that we cannot write to prove nothing and are passed over. Raises
    AskError when anything worked and `isolation` is `require`.
    """
    if sandbox.fence is None:
        return SelfTest("not run", "none")
    with ExitStack() as stack:
        workspace = stack.enter_context(fresh_workspace(sandbox.uid))
        temp = Path(tempfile.gettempdir())
        canaries = [stack.enter_context(_canary(folder)) for folder in (*folders, temp)]
        readable = [path.resolve() for path in files if path.is_file() and os.access(path, os.R_OK)]
        own = workspace.work / "own"
        own.write_text(secrets.token_hex(16))
        own.chmod(0o644)
        attempts = {
            "read": [*map(str, readable), *(str(path) for path in canaries if path)],
            "list": ["/", *(str(folder.resolve()) for folder in (*folders, temp))],
            "write": [str(folder.resolve()) for folder in (*folders, temp)],
            "unix": [stack.enter_context(_unix_listener(workspace))],
            "tcp": [stack.enter_context(_tcp_listener())],
            "own": [str(own)],
        }
        found = _probe(sandbox, workspace, attempts)
    result = _judge(found, len(readable))
    if sandbox.isolation == "require" and not result.passed:
        raise AskError(
            f"The isolation of the model's process does not hold here ({result.text}); "
            "run where Landlock works and with the dataset outside the system folders, "
            "or set `isolation` to auto."
        )
    return result


def _judge(found: dict[str, Any], files: int) -> SelfTest:
    if "error" in found:
        return SelfTest(f"failed: the probe did not run ({found['error']})", "none")
    parts = [f"landlock abi {found['abi']}" if found["abi"] else "none"]
    parts += ["socket filter"] if found["filter"] else []
    parts += [f"uid {found['uid']}"] if found["uid"] != os.getuid() else []
    reads: list[int] = found["read"]
    failures = {
        "its own file could not be read": not found["own"],
        "the dataset could be read": any(index < files for index in reads),
        "a canary file could be read": any(index >= files for index in reads),
        "a folder could be listed": bool(found["list"]),
        "a file could be written outside": bool(found["write"]),
        "a unix socket could be reached": bool(found["unix"]) and found["filter"],
        "another TCP port could be reached": bool(found["tcp"]) and found["abi"] >= fence.NETWORK_ABI,
    }
    failed = "; ".join(what for what, is_so in failures.items() if is_so)
    return SelfTest(f"failed: {failed}" if failed else "passed", ", ".join(parts))


def _probe(sandbox: Sandbox, workspace: Workspace, attempts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The probe's findings (see `bccontam.fence.probe`), or only `error` when it did not run."""
    command = [*sandbox.launcher(workspace), "--probe", fence.packed(attempts)]
    env = clean_environment({}, workspace, {})
    try:
        run = subprocess.run(  # noqa: S603
            command, cwd=workspace.work, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30
        )
        if run.returncode != 0:
            return {"error": run.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]}
        findings: dict[str, Any] = fence.unpacked(run.stdout.decode("ascii").strip())
    except (OSError, subprocess.TimeoutExpired, ValueError, EOFError, TypeError) as error:
        return {"error": type(error).__name__}
    return findings


@contextmanager
def _canary(folder: Path) -> Iterator[Path | None]:
    """A file with a random token that any user may read; None where we cannot put one."""
    path = folder.resolve() / f".canary-{secrets.token_hex(8)}"
    try:
        path.write_text(secrets.token_hex(16))
        path.chmod(0o644)
    except OSError:
        yield None
        return
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _unix_listener(workspace: Workspace) -> Iterator[str]:
    path = str(workspace.temp / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        Path(path).chmod(0o777)
        listener.listen()
        yield path


@contextmanager
def _tcp_listener() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield str(listener.getsockname()[1])


def wait_unreaped(pid: int, seconds: float) -> None:
    """Wait for a child to exit, without taking its exit status: its number stays its own until then."""
    deadline = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def end(leader: int | None, workspace: Workspace) -> None:
    """Kill a process, its session, its descendants and all else that was started in `workspace`.

    Returns when none is left, after two seconds at the latest. The leader's exit status must not have been
    taken yet, else its number may be another process's: give None then, and its environment tells.
    """
    marker = os.fsencode(f"TMPDIR={workspace.temp}\0")
    for _ in range(200):
        members = _members(leader, marker)
        if not members:
            return
        for pid in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _members(leader: int | None, marker: bytes) -> list[int]:
    parents: dict[int, int] = {}
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError, IndexError, ValueError):
            # The command name in the second field may hold anything, brackets and blanks included.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            pid = int(folder.name)
            parents[pid] = int(fields[1])
            ours = leader in (pid, int(fields[2]), int(fields[3]))
            if ours or marker in (folder / "environ").read_bytes():
                found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)
