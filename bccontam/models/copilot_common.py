"""What both Copilot backends share: where the CLI is, what its process is given, and the proof of its fence.

The CLI is the native binary of the npm packages `@github/copilot-linux-x64` and `-arm64`; no Node is needed.
It unpacks some 235 MB at its first start; that is done once, here, and shared read-only.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import bccontam
from bccontam.errors import AskError
from bccontam.models.base import Condition
from bccontam.models.chat_reply import Scrub
from bccontam.sandbox import (
    CERTIFICATES,
    PROXIES,
    Isolation,
    Sandbox,
    Workspace,
    clean_environment,
    fresh_workspace,
    make_sandbox,
    prove,
    temp_base,
)

TOKEN = "COPILOT_GITHUB_TOKEN"  # noqa: S105 - the name of the variable
# A server of the user's own in place of GitHub's, and a GitHub of the user's own.
PROVIDER = (
    "COPILOT_OFFLINE",
    "COPILOT_PROVIDER_TYPE",
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_HEADERS",
    "COPILOT_PROVIDER_WIRE_API",
    "COPILOT_PROVIDER_AZURE_API_VERSION",
    "COPILOT_PROVIDER_MODEL_ID",
    "COPILOT_PROVIDER_WIRE_MODEL",
    "COPILOT_PROVIDER_MAX_PROMPT_TOKENS",
    "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
)
HOSTS = ("GH_HOST", "COPILOT_GH_HOST")
_SECRETS = ("COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN")
_PLACES = (
    Path("/opt/copilot/copilot"),  # our image
    Path(bccontam.__file__).resolve().parents[1] / ".cache" / "copilot" / "copilot",  # script/install-copilot
)
_HOW = (
    "install it with `npm install @github/copilot` (or script/install-copilot in a checkout) "
    "and name the binary in COPILOT_CLI_PATH"
)


def find_cli(given: Path | None, environ: Mapping[str, str]) -> Path:
    """The native binary: the one given, COPILOT_CLI_PATH, the image's, the checkout's, or that of `PATH`.

    Raises AskError with one sentence on how to get it.
    """
    named = given or (Path(environ["COPILOT_CLI_PATH"]) if environ.get("COPILOT_CLI_PATH") else None)
    if named is not None:
        binary = _native(named)
        if binary is None:
            raise AskError(f"{named} is no native Copilot CLI binary for Linux: {_HOW}.")
        return binary
    on_path = shutil.which("copilot", path=environ.get("PATH", os.defpath))
    for place in (*_PLACES, *([Path(on_path)] if on_path else [])):
        binary = _native(place)
        if binary is not None:
            return binary
    raise AskError(f"The Copilot CLI was not found: {_HOW}.")


def _native(path: Path) -> Path | None:
    """The ELF binary at `path`, or the one that the Node script at `path` would start."""
    with suppress(OSError):
        place = path.resolve(strict=True)
        packages = (folder / "@github" for folder in place.parents if folder.name == "node_modules")
        names = [place, *(found for folder in packages for found in folder.glob("copilot-linux-*/copilot"))]
        for name in names:
            with name.open("rb") as file:
                if file.read(4) == b"\x7fELF" and os.access(name, os.X_OK):
                    return name
    return None


class CopilotRuntime:
    """The CLI with its cache, its sandbox and the proof of it, for one run.

    `environ` is the caller's whole environment, of which an allow-list is used. `files` and `folders` are
    what the process must not be able to read: the dataset and the workspace. Raises AskError when there is no
    CLI, or when the isolation is required and does not hold.
    """

    def __init__(
        self,
        *,
        model: str,
        token: str | None,
        isolation: Isolation,
        environ: Mapping[str, str],
        cli_path: Path | None,
        files: Sequence[Path],
        folders: Sequence[Path],
        landlock_abi: int | None,
    ) -> None:
        self.model = model
        self.binary = find_cli(cli_path, environ)
        self.provider = {name: environ[name] for name in PROVIDER if environ.get(name)}
        self._environ = environ
        self._token = token
        headers = (value for _, value in header_pairs(self.provider.get("COPILOT_PROVIDER_HEADERS", "")))
        known = (token, *map(self.provider.get, _SECRETS), *headers, *_logins(environ))
        self.scrub = Scrub(text for text in known if text)
        self._own_cache: TemporaryDirectory[str] | None = None
        self.cache = self._find_cache()
        try:
            _warm(self.binary, self.cache)
            certificates = (environ.get(name, "") for name in CERTIFICATES)
            self.sandbox: Sandbox = make_sandbox(
                isolation,
                execute=(self.binary, self.cache),
                read=[Path(part) for paths in certificates for part in paths.split(os.pathsep) if part],
                ports=_ports(environ),
                abi=landlock_abi,
            )
            self.proof = prove(self.sandbox, files, folders)
        except BaseException:
            self.close()
            raise

    def environment(self, workspace: Workspace) -> dict[str, str]:
        """The whole environment of the CLI. It holds one GitHub token at most."""
        extra = {
            "COPILOT_HOME": str(workspace.state),
            "COPILOT_CACHE_HOME": str(self.cache),
            "COPILOT_MODEL": self.model,
            **self.provider,
            **{name: self._environ[name] for name in HOSTS if self._environ.get(name)},
            **({TOKEN: self._token} if self._token else {}),
        }
        return clean_environment(self._environ, workspace, extra)

    def condition(self, prompt_owner: str) -> Condition:
        """How the condition is enforced, with what the proof found."""
        return Condition(0, self.proof.sandbox, self.proof.text, prompt_owner)

    def close(self) -> None:
        """Remove what was unpacked for this run alone."""
        if self._own_cache is not None:
            self._own_cache.cleanup()
            self._own_cache = None

    def _find_cache(self) -> Path:
        """Where the parts are unpacked, or were by script/install-copilot.

        The user's cache folder is of no use to another user, so root without such a folder unpacks for this run.
        """
        beside = self.binary.parent / "cache"
        if self._environ.get("COPILOT_CACHE_HOME"):
            return Path(self._environ["COPILOT_CACHE_HOME"]).resolve()
        if (beside / "pkg").is_dir():
            return beside
        home = self._environ.get("XDG_CACHE_HOME") or (self._environ.get("HOME") or "~") + "/.cache"
        if os.geteuid() != 0 and Path(home).is_absolute():
            return Path(home) / "bccontam" / "copilot"
        self._own_cache = TemporaryDirectory(prefix="cache-", dir=temp_base(), ignore_cleanup_errors=True)
        Path(self._own_cache.name).chmod(0o755)
        return Path(self._own_cache.name)


def sendable(text: str) -> str:
    """`text` as UTF-8 can carry it: lone surrogates, which JSON allows, become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def header_pairs(text: str) -> Iterator[tuple[str, str]]:
    """The headers of COPILOT_PROVIDER_HEADERS: `Name: Value`, one a line."""
    for line in text.replace("\\n", "\n").split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip() and value.strip():
            yield name.strip(), value.strip()


def _logins(environ: Mapping[str, str]) -> Iterator[str]:
    """User names with passwords of proxies, as they stand in the address, and the passwords alone."""
    for name in PROXIES:
        for value in (environ.get(name, ""), environ.get(name.lower(), "")):
            login = value.rpartition("@")[0].rpartition("//")[2]
            yield from (login, login.partition(":")[2])


def _ports(environ: Mapping[str, str]) -> list[int]:
    """TCP ports the CLI may connect to: its server's, and those of the configured proxies."""
    addresses = [environ.get(name) or environ.get(name.lower(), "") for name in PROXIES if name != "NO_PROXY"]
    base_url = environ.get("COPILOT_PROVIDER_BASE_URL", "")
    if not (base_url and environ.get("COPILOT_OFFLINE", "").lower() in ("true", "1")):
        addresses.append("https://github.com")
    ports = set()
    for address in filter(None, [*addresses, base_url]):
        try:
            parts = urlsplit(address if "://" in address else f"http://{address}")
            ports.add(parts.port or (443 if parts.scheme in ("https", "wss") else 80))
        except ValueError as error:
            raise AskError(
                "A proxy or COPILOT_PROVIDER_BASE_URL in the environment is no address with a valid port."
            ) from error
    return sorted(ports)


def _warm(binary: Path, cache: Path) -> None:
    """Unpack the CLI's parts into `cache` once; a second process waits for the first."""
    facts = binary.stat()
    wanted = f"{facts.st_size} {int(facts.st_mtime)}"
    with suppress(OSError):
        if (cache / "warm").read_text().strip() == wanted:
            return
    if cache.is_dir() and not os.access(cache, os.W_OK):
        return
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(cache / ".lock"), fresh_workspace() as workspace:
            # Without the fence: no model, no prompt and no token, it only unpacks itself.
            subprocess.run(  # noqa: S603
                [binary, "--version", "--no-auto-update"],
                cwd=workspace.work,
                env=clean_environment({}, workspace, {"COPILOT_CACHE_HOME": str(cache)}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=300,
                check=True,
                umask=0o022,
            )
            (cache / "warm").write_text(wanted)
    except (OSError, subprocess.SubprocessError) as error:
        raise AskError(
            f"The Copilot CLI at {binary} does not start with its cache in {cache} ({type(error).__name__}): {_HOW}."
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
