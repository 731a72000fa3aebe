"""Small git repositories for tests: write files, commit, branch, clone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ENVIRON = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "octocat",
    "GIT_AUTHOR_EMAIL": "octocat@example.invalid",
    "GIT_COMMITTER_NAME": "octocat",
    "GIT_COMMITTER_EMAIL": "octocat@example.invalid",
    "GIT_AUTHOR_DATE": "2025-03-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2025-03-01T00:00:00Z",
}


class GitRepo:
    """A repository in a folder, with `main` checked out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.run("init", "-q", "-b", "main")
        self.run("config", "uploadpack.allowAnySHA1InWant", "true")
        self.run("config", "uploadpack.allowFilter", "true")

    def run(self, *words: str, cwd: Path | None = None) -> str:
        """Output of a git command."""
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.folder, env=_ENVIRON, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    def commit(self, files: Mapping[str, str | bytes | None]) -> str:
        """Write files (None: remove it, and a folder with all in it) and commit; the commit's id."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.run("add", "-A")
        self.run("commit", "-q", "--allow-empty", "-m", "change")
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.run("rev-parse", "HEAD")

    def branch(self, name: str, start: str) -> None:
        """Check out a new branch."""
        self.run("checkout", "-q", "-b", name, start)

    def clone(self, folder: Path, *commits: str, depth: int = 0, partial: bool = False) -> Path:
        """A checkout of these commits only, as actions/checkout makes it: history cut at `depth`, 0 for all."""
        folder.mkdir(parents=True)
        self.run("init", "-q", cwd=folder)
        self.run("remote", "add", "origin", f"file://{self.folder}", cwd=folder)
        flags = [f"--depth={depth}"] if depth else []
        flags += ["--filter=blob:none"] if partial else []
        self.run("fetch", "-q", *flags, "origin", *commits, cwd=folder)
        if not partial:
            self.run("checkout", "-q", "--detach", commits[0], cwd=folder)
        return folder
