"""Files of a commit, from git's objects in the checkout or from GitHub's API: two sources behind one Protocol.

Nothing is fetched, checked out or run from the repository. Which files matter, and what they say, is decided in
`bccontam.github.changed`.
"""

from __future__ import annotations

import base64
import binascii
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from bccontam.github.client import ApiError, Client

_SECONDS = 120
"""Longest time that one git command may take."""


class UnavailableError(Exception):
    """A source that does not have what is needed; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit: its content's id, and git's mode (`120000` for a symbolic link)."""

    sha: str
    mode: str

    @property
    def is_link(self) -> bool:
        """Whether it only names another file."""
        return self.mode == "120000"


class Objects(Protocol):
    """Commits and their files; paths are relative to the repository's root, with `/`.

    Methods raise UnavailableError.
    """

    most_reads: int
    """How many blobs may be read."""

    def merge_base(self, base: str, head: str) -> str:
        """The commit from which `head` has gone its own way; empty when it cannot be told."""

    def file(self, commit: str, path: str) -> Blob | None:
        """The file at a path."""

    def below(self, commit: str, folder: str) -> Mapping[str, Blob]:
        """All files below a folder (empty: the root) by path; empty when there is no such folder."""

    def read(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The contents of blobs."""


class GitObjects:
    """Objects of a checkout, read with the `git` program."""

    most_reads = 1_000_000

    def __init__(self, top: Path, ceiling: Path) -> None:
        self.top = top
        self._environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CEILING_DIRECTORIES": str(ceiling),
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
        }

    @classmethod
    def find(cls, folder: Path, workspace: Path) -> GitObjects | None:
        """The checkout that a folder inside the workspace belongs to; None without one or without git."""
        here = cls(folder, workspace.parent)
        try:
            top = here._run("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
        except UnavailableError:
            return None
        return cls(Path(top), workspace.parent) if top else None

    def require(self, *commits: str) -> None:
        """Raises UnavailableError unless the commits are in the checkout."""
        for commit in commits:
            try:
                self._run("cat-file", "-e", f"{commit}^{{commit}}")
            except UnavailableError:
                raise UnavailableError(f"the checkout lacks commit {commit[:12]}") from None

    def merge_base(self, base: str, head: str) -> str:
        try:
            return self._run("merge-base", base, head).decode().split("\n")[0]
        except UnavailableError:
            return ""  # a shallow checkout does not reach back so far, or there is none

    def file(self, commit: str, path: str) -> Blob | None:
        return self._list(commit, path).get(path)

    def below(self, commit: str, folder: str) -> Mapping[str, Blob]:
        return self._list(commit, f"{folder}/" if folder else "", "-r")

    def _list(self, commit: str, path: str, *flags: str) -> dict[str, Blob]:
        listing = self._run("ls-tree", "-z", *flags, commit, *(["--", path] if path else []))
        found = {}
        for line in listing.decode("utf-8", "surrogateescape").split("\0"):
            about, _, name = line.partition("\t")
            mode, _, rest = about.partition(" ")
            kind, _, sha = rest.partition(" ")
            if kind == "blob":
                found[name] = Blob(sha, mode)
        return found

    def read(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(shas)
        answer = self._run("cat-file", "--batch", stdin="".join(f"{sha}\n" for sha in wanted).encode())
        start = 0
        for sha in wanted:
            end = answer.find(b"\n", start)
            header = answer[start:end].split()
            if len(header) != 3 or not header[2].isdigit():
                raise UnavailableError(f"the checkout lacks file content {sha[:12]}")
            start = end + 1 + int(header[2])
            yield sha, answer[end + 1 : start]
            start += 1

    def _run(self, *words: str, stdin: bytes = b"") -> bytes:
        """Output of a git command that neither asks, fetches nor runs anything of the repository's."""
        # The workspace belongs to the runner's user, and this is another one: `safe.directory`.
        options = [
            "safe.directory=*",
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "protocol.allow=never",
            # Folders that a commit fills can look like a bare repository; only a real `.git` counts.
            "safe.bareRepository=explicit",
        ]
        command = ["git", *(word for option in options for word in ("-c", option)), *words]
        try:
            done = subprocess.run(  # noqa: S603 - fixed words and checked ids
                command, cwd=self.top, env=self._environ, input=stdin, capture_output=True, timeout=_SECONDS
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise UnavailableError(f"git cannot be run ({type(error).__name__})") from None
        if done.returncode:
            raise UnavailableError(f"git {words[0]} failed")
        return done.stdout


class ApiObjects:
    """Objects of a repository on GitHub. Whole trees are listed at once; a blob costs a request."""

    most_reads = 200

    def __init__(self, client: Client, repository: str, head_repository: str = "") -> None:
        self._client = client
        self._repository = repository
        self._repositories = list(dict.fromkeys(filter(None, (repository, head_repository))))
        self._trees: dict[tuple[str, bool], dict[str, tuple[str, Blob]]] = {}
        self._roots: dict[str, str] = {}

    def merge_base(self, base: str, head: str) -> str:
        # The second page of one commit each: without the diff, which is on the first.
        parameters = {"per_page": 1, "page": 2}
        path = f"/repos/{quote(self._repository)}/compare/{base}...{head}"
        try:
            found = self._client.get(path, parameters)
        except ApiError as error:
            if error.is_missing:
                return ""
            raise UnavailableError(f"GitHub did not compare the commits ({error})") from None
        sha = _at(found, "merge_base_commit", "sha")
        return sha if isinstance(sha, str) else ""

    def file(self, commit: str, path: str) -> Blob | None:
        folder, _, name = path.rpartition("/")
        kind, blob = self._tree(self._folder(commit, folder)).get(name, ("", None))
        return blob if kind == "blob" else None

    def below(self, commit: str, folder: str) -> Mapping[str, Blob]:
        listed = self._tree(self._folder(commit, folder), recursive=True)
        prefix = f"{folder}/" if folder else ""
        return {f"{prefix}{name}": blob for name, (kind, blob) in listed.items() if kind == "blob"}

    def read(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for sha in shas:
            found = self._get(f"git/blobs/{sha}")
            content, encoding = _at(found, "content"), _at(found, "encoding")
            if not isinstance(content, str) or encoding not in ("base64", "utf-8"):
                raise UnavailableError(f"GitHub gives no content for {sha[:12]}")
            try:
                yield sha, base64.b64decode(content) if encoding == "base64" else content.encode()
            except (binascii.Error, ValueError):
                raise UnavailableError(f"GitHub gives broken content for {sha[:12]}") from None

    def _folder(self, commit: str, folder: str) -> str:
        """The tree of a folder; empty when there is none."""
        if commit not in self._roots:
            sha = _at(self._get(f"git/commits/{commit}"), "tree", "sha")
            if not isinstance(sha, str):
                raise UnavailableError(f"GitHub does not know commit {commit[:12]}")
            self._roots[commit] = sha
        tree = self._roots[commit]
        for part in filter(None, folder.split("/")):
            kind, found = self._tree(tree).get(part, ("", None))
            tree = found.sha if found is not None and kind == "tree" else ""
        return tree

    def _tree(self, sha: str, *, recursive: bool = False) -> dict[str, tuple[str, Blob]]:
        """What a tree lists: `(kind, object)` by name, or by path when it is recursive."""
        if not sha:
            return {}
        if (sha, recursive) not in self._trees:
            found = self._get(f"git/trees/{sha}", {"recursive": 1} if recursive else {})
            entries = _at(found, "tree")
            if not isinstance(entries, list) or _at(found, "truncated") is True:
                raise UnavailableError("GitHub does not list a folder of this size")
            self._trees[sha, recursive] = {
                str(_at(entry, "path")): (
                    str(_at(entry, "type")),
                    Blob(str(_at(entry, "sha")), str(_at(entry, "mode"))),
                )
                for entry in entries
            }
        return self._trees[sha, recursive]

    def _get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> Any:
        """An object of the repository, or of the fork that the pull request comes from."""
        failure: ApiError | None = None
        for repository in self._repositories:
            try:
                return self._client.get(f"/repos/{quote(repository)}/{path}", parameters)
            except ApiError as error:
                failure = failure or error
                if not error.is_missing:
                    break
        raise UnavailableError(f"GitHub does not give {path[:24]} ({failure})")


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
