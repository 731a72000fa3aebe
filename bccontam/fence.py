"""Fences its own process in, then becomes the command it was given (or probes the fence from within).

One file that needs nothing of the package, and of the library only what starts fast, as it stands in front of
every process: `json`, `signal`, `socket` and `typing` would double its time. It applies another uid, no
capabilities, no new privileges, Landlock (files, TCP ports, signals) and a socket filter. It does not choose
the policy: that is `bccontam.sandbox`.

Sources: landlock(7) and the kernel's `userspace-api/landlock` and `userspace-api/seccomp_filter` documents.
"""

from __future__ import annotations

import _socket  # the half of `socket` that is written in C
import ctypes
import marshal
import os
import resource
import stat
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

REFUSED = 97  # exit status when the fence cannot be put up: the command is then not run

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same numbers on x86-64 and arm64
NEWEST_ABI, NETWORK_ABI = 7, 4  # the newest we know how to use; the first that knows TCP ports
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV  # what a rule on a file may hold
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
_RULE_PATH, _RULE_PORT = 1, 2

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_SIGKILL = 9
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class Fence:
    """What the fenced process may touch; everything else is closed.

    `abi`: newest Landlock ABI to use, 0 for none. `execute`, `read`, `write`: paths that may be read and
    executed, read, or read and written, with all that lies below them. `ports`: TCP ports it may connect to.
    `uid`: whom it becomes (user and group), None to stay. `filter_sockets`: only TCP, UDP and routing
    sockets.
    """

    __slots__ = ("abi", "execute", "filter_sockets", "ports", "read", "uid", "write")

    def __init__(
        self,
        *,
        abi: int = NEWEST_ABI,
        execute: tuple[str, ...] = (),
        read: tuple[str, ...] = (),
        write: tuple[str, ...] = (),
        ports: tuple[int, ...] = (),
        uid: int | None = None,
        filter_sockets: bool = True,
    ) -> None:
        self.abi = abi
        self.execute = execute
        self.read = read
        self.write = write
        self.ports = ports
        self.uid = uid
        self.filter_sockets = filter_sockets

    def values(self) -> dict[str, Any]:
        """The fields by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def but(self, **changes: Any) -> Fence:
        """The same with other values."""
        return Fence(**{**self.values(), **changes})


def landlock_abi() -> int:
    """The Landlock ABI of this kernel that we know how to use, from 0 (none) to 7."""
    if sys.platform != "linux":
        return 0
    version: int = _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, min(version, NEWEST_ABI))


def apply(fence: Fence) -> dict[str, object]:
    """Put the fence around this process, for good.

    Returns what holds now: the Landlock `abi`, the `uid`, and whether the socket `filter` does. Raises
    OSError when a part fails.
    """
    _drop_capabilities()
    if fence.uid is not None:
        os.setgroups([])
        os.setresgid(fence.uid, fence.uid, fence.uid)
        os.setresuid(fence.uid, fence.uid, fence.uid)
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)), "capset")
    abi = min(fence.abi, landlock_abi())
    if abi:
        _landlock(fence, abi)
    return {"abi": abi, "uid": os.getuid(), "filter": fence.filter_sockets and _filter_sockets()}


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _drop_capabilities() -> None:
    """None to gain by executing as root. Those held now go later: the change of user needs them."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break


def _landlock(fence: Fence, abi: int) -> None:
    files = (1 << 13) - 1
    files |= (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    network = _BIND_TCP | _CONNECT_TCP if abi >= NETWORK_ABI else 0
    scopes = _ABSTRACT_SOCKETS | _SIGNALS if abi >= 6 else 0
    # The kernel takes a shorter structure from an older caller: each ABI gets the one it was born with.
    attributes = struct.pack("=QQQ", files, network, scopes)[
        : 8 if abi < NETWORK_ABI else 16 if abi < 6 else 24
    ]
    size = ctypes.c_size_t(len(attributes))
    ruleset = _check(_libc.syscall(_LANDLOCK_CREATE, attributes, size, ctypes.c_uint32(0)), "Landlock")
    reading = _READ_FILE | _READ_DIR
    for paths, rights in (
        (fence.execute, reading | _EXECUTE),
        (fence.read, reading),
        (fence.write, files & ~_EXECUTE),
    ):
        for path in paths:
            _allow_path(ruleset, path, rights & files)
    if network:
        for port in fence.ports:
            rule = struct.pack("=QQ", _CONNECT_TCP, port)
            _check(_libc.syscall(_LANDLOCK_ADD, ruleset, _RULE_PORT, rule, 0), f"Landlock, port {port}")
    _check(_libc.syscall(_LANDLOCK_RESTRICT, ruleset, ctypes.c_uint32(0)), "Landlock")
    os.close(ruleset)


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    """A path that is not there cannot be allowed, and need not be."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, descriptor)
        _check(_libc.syscall(_LANDLOCK_ADD, ruleset, _RULE_PATH, rule, 0), f"Landlock, {path}")
    finally:
        os.close(descriptor)


_Machine = tuple[int, int, int, int, int]
"""Audit name of an architecture and its numbers of socket, sendto, sendmsg and sendmmsg (Linux `unistd.h`)."""

_MACHINES: dict[str, _Machine] = {
    "x86_64": (0xC000003E, 41, 44, 46, 307),
    "aarch64": (0xC00000B7, 198, 206, 211, 269),
}
_IO_URING_SETUP = 425  # would open sockets past this filter
_FAST_OPEN = 0x20000000  # MSG_FASTOPEN connects past Landlock (seen on Linux 6.18)
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | 13, 0x80000000  # 13: EACCES
_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in `struct seccomp_data`


def _argument(index: int) -> int:
    return 16 + 8 * index  # the low half of a 64-bit argument on a little-endian machine


def _filter_sockets() -> bool:
    """A seccomp filter for what Landlock leaves open: unix sockets by path, other families and protocols.

    False where the machine is not known or the kernel has no such filter.
    """
    machine = _MACHINES.get(os.uname().machine) if sys.maxsize > 2**32 else None
    if machine is None:
        return False
    program = _assemble(_socket_rules(machine))
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    return int(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0)) == 0


_Step = tuple[int, int, str, str]  # code, operand, label if true, label if false ("": the next step)


def _socket_rules(machine: _Machine) -> list[tuple[str, _Step]]:
    """The filter as labelled steps; a plain list so that it can be read beside the comment of each block."""
    audit, open_socket, sendto, sendmsg, sendmmsg = machine
    sends = ((sendto, 3), (sendmsg, 2), (sendmmsg, 3))
    rules: list[tuple[str, _Step]] = [
        # Another architecture has other numbers, so none of its calls can be judged.
        ("", (_LOAD, _ARCHITECTURE, "", "")),
        ("", (_EQUALS, audit, "", "kill")),
        ("", (_LOAD, _NUMBER, "", "")),
        ("", (_AT_LEAST, 0x40000000, "deny", "")),  # the x32 numbers of x86-64
        ("", (_EQUALS, _IO_URING_SETUP, "deny", "")),
        ("", (_EQUALS, open_socket, "family", "")),
        *(("", (_EQUALS, number, f"send{flags}", "")) for number, flags in sends),
        ("allow", (_RETURN, _ALLOW, "", "")),
        ("deny", (_RETURN, _DENY, "", "")),
        ("kill", (_RETURN, _KILL, "", "")),
    ]
    # Jumps only go forward, so what is jumped to stands behind; each block ends in a verdict of its own.
    family: list[tuple[str, _Step]] = [
        ("family", (_LOAD, _argument(0), "", "")),
        ("", (_EQUALS, _socket.AF_NETLINK, "netlink", "")),
        ("", (_EQUALS, _socket.AF_INET, "type", "")),
        ("", (_EQUALS, _socket.AF_INET6, "type", "no")),
        ("netlink", (_LOAD, _argument(2), "", "")),
        ("", (_EQUALS, 0, "yes", "no")),
        ("type", (_LOAD, _argument(1), "", "")),
        ("", (_AND, 0xF, "", "")),
        ("", (_EQUALS, _socket.SOCK_STREAM, "protocol", "")),
        ("", (_EQUALS, _socket.SOCK_DGRAM, "protocol", "no")),
        ("protocol", (_LOAD, _argument(2), "", "")),  # no MPTCP or SCTP: Landlock's ports are those of TCP
        ("", (_EQUALS, 0, "yes", "")),
        ("", (_EQUALS, _socket.IPPROTO_TCP, "yes", "")),
        ("", (_EQUALS, _socket.IPPROTO_UDP, "yes", "no")),
    ]
    send: list[tuple[str, _Step]] = []
    for flags in (2, 3):
        send += [
            (f"send{flags}", (_LOAD, _argument(flags), "", "")),
            ("", (_ANY_BIT, _FAST_OPEN, "no", "yes")),
        ]
    end: list[tuple[str, _Step]] = [("yes", (_RETURN, _ALLOW, "", "")), ("no", (_RETURN, _DENY, "", ""))]
    return rules + family + send + end


def _assemble(rules: list[tuple[str, _Step]]) -> bytes:
    """Classic BPF: 8 bytes a step, jumps as distances."""
    places = {label: place for place, (label, _) in enumerate(rules) if label}
    code = b""
    for place, (_, (operation, operand, if_true, if_false)) in enumerate(rules):
        jumps = [places[label] - place - 1 if label else 0 for label in (if_true, if_false)]
        code += struct.pack("=HBBI", operation, *jumps, operand)
    return code


def probe(attempts: dict[str, list[str]]) -> dict[str, object]:
    """Try what must not work, from within the fence, and what must; say what worked.

    `attempts` and the answer: `read` (files), `list` (folders), `write` (folders to put a file into),
    `unix` (socket paths), `tcp` (loopback ports), `own` (files that must stay readable); the answer holds
    the index of each that worked. No attempt may import: the fence may have closed the library.
    """
    tries = {"read": _reads, "own": _reads, "list": _lists, "write": _writes, "unix": _unix, "tcp": _tcp}
    return {
        kind: [index for index, item in enumerate(attempts.get(kind, [])) if attempt(item)]
        for kind, attempt in tries.items()
    }


def _reads(path: str) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib is slow to import
            file.read(1)
    except OSError:
        return False
    return True


def _lists(path: str) -> bool:
    try:
        os.listdir(path)  # noqa: PTH208 - pathlib is slow to import
    except OSError:
        return False
    return True


def _writes(path: str) -> bool:
    name = os.path.join(path, f".{os.getpid()}.probe")  # noqa: PTH118
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return False
    os.unlink(name)  # noqa: PTH108
    return True


def _unix(path: str) -> bool:
    return _connects(_socket.AF_UNIX, path)


def _tcp(port: str) -> bool:
    return _connects(_socket.AF_INET, ("127.0.0.1", int(port)))


def _connects(family: int, address: str | tuple[str, int]) -> bool:
    try:
        client = _socket.socket(family, _socket.SOCK_STREAM)
    except OSError:
        return False
    try:
        client.settimeout(2)
        client.connect(address)
    except OSError:
        return False
    finally:
        client.close()
    return True


def main(arguments: list[str]) -> NoReturn:
    """`POLICY -- COMMAND...` or `POLICY --probe ATTEMPTS`, both `packed`, as the findings are.

    A policy holds `fence` (the fields of `Fence`, or null for none), `parent` (the process whose end ends
    this one) and `pid_file` (where this process, the leader of its own session, writes its number; or null).
    """
    policy = unpacked(arguments[0])
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if policy["pid_file"]:
        with open(policy["pid_file"], "w") as file:  # noqa: PTH123
            file.write(str(os.getpid()))
    os.closerange(3, 65536)
    applied: dict[str, object] = {}
    if policy["fence"]:
        try:
            applied = apply(Fence(**policy["fence"]))
        except OSError as error:
            _refuse(error.strerror or str(error))
    # Behind the change of user, which clears it. A parent that is already gone sends no signal.
    _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != policy["parent"]:
        _refuse("the process that asked for it is gone")
    if arguments[1] == "--probe":
        print(packed({**applied, **probe(unpacked(arguments[2]))}))
        sys.exit(0)
    command = arguments[2:]
    try:
        os.execve(command[0], command, os.environ)  # noqa: S606
    except OSError as error:
        _refuse(f"cannot run {command[0]}: {error.strerror}")


def packed(value: Any) -> str:
    """Plain values as one word of a command line; both ends are this file in one interpreter."""
    return marshal.dumps(value).hex()


def unpacked(word: str) -> Any:
    """What `packed` was given."""
    return marshal.loads(bytes.fromhex(word))  # noqa: S302 - our own word


def _refuse(reason: str) -> NoReturn:
    print(f"fence: {reason}", file=sys.stderr)
    sys.exit(REFUSED)
