"""A GitHub that we did not write: `emulate`, started on loopback with one repository and an installed app.

`script/install-emulate` brings it. People and the app get tokens; everything else a test makes through PyGithub,
as a user of GitHub would.
"""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from github import Auth, Github, GithubIntegration

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from github.Repository import Repository

BINARY = ROOT / ".cache" / "emulate" / "emulate"

APP_ID, INSTALLATION = 4711, 100
_TOKENS = {"octocat": "octocat-token", "visitor": "visitor-token"}
_LONGEST_START = 30.0


@dataclass(frozen=True)
class Emulator:
    """A running one: its GITHUB_API_URL and the app's private key."""

    url: str
    key: str = field(repr=False)

    def github(self, login: str = "octocat") -> Github:
        """A client of one of the people."""
        return Github(
            auth=Auth.Token(_TOKENS[login]),
            base_url=self.url,
            seconds_between_requests=None,
            seconds_between_writes=None,
            retry=None,
        )

    def token(self, login: str = "octocat") -> str:
        """The token of one of the people."""
        return _TOKENS[login]

    def repository(self, name: str, login: str = "octocat") -> Repository:
        """A repository by its full name, as one of the people sees it."""
        with self.github(login) as github:
            return github.get_repo(name)

    def app_token(self, permissions: Mapping[str, str]) -> str:
        """A new installation token with these permissions, as a job's own token has."""
        with GithubIntegration(auth=Auth.AppAuth(APP_ID, self.key), base_url=self.url, retry=None) as app:
            return app.get_access_token(INSTALLATION, permissions=dict(permissions)).token


@contextmanager
def emulator() -> Iterator[Emulator]:
    """Start one with octocat, visitor, octocat/widgets and an app; stop it in the end.

    Raises RuntimeError when it does not start.
    """
    url = f"http://127.0.0.1:{_free_port()}"
    key = _private_key()
    app = {
        "app_id": APP_ID,
        "slug": "rw-app",
        "name": "An app",
        "private_key": key,
        "permissions": {"pull_requests": "write", "issues": "write", "contents": "read"},
        "installations": [
            {"installation_id": INSTALLATION, "account": "octocat", "repository_selection": "all"}
        ],
    }
    seed = {
        "tokens": {token: {"login": login, "scopes": ["repo", "user"]} for login, token in _TOKENS.items()},
        "github": {
            "users": [{"login": login} for login in _TOKENS],
            "repos": [{"owner": "octocat", "name": "widgets", "auto_init": True}],
            "apps": [app],
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.yaml"
        path.write_text(json.dumps(seed))  # JSON is YAML
        command = [str(BINARY), "--service", "github", "--port", url.rpartition(":")[2], "--base-url", url]
        process = subprocess.Popen(
            [*command, "--seed", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        with process:
            try:
                _wait_for(url, process)
                yield Emulator(url, key)
            finally:
                process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    end = time.monotonic() + _LONGEST_START
    while process.poll() is None and time.monotonic() < end:
        try:
            with socket.create_connection((host, int(port)), timeout=1):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"{BINARY} does not start")


def _private_key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    plain = serialization.NoEncryption()
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain
    ).decode()
