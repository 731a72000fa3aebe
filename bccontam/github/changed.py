"""Which entries a pull request adds, changes or removes: the dataset at its base and at its head, entry by entry.

Both are read as datasets are, so that what only moves lines, keys or line ends is no change. The base is the
commit where the head has gone its own way: what changed on the base branch meanwhile is not the pull request's.
"""

from __future__ import annotations

import glob
import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from bccontam.datasets import load_entries
from bccontam.entry import Entry
from bccontam.errors import DatasetError
from bccontam.github.client import ApiError, Client, Patience
from bccontam.github.objects import ApiObjects, Blob, GitObjects, Objects, UnavailableError

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_STATEMENTS = "problemstatement"
_README = "README.md"
_LONGEST_NAME = 255

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """Two commits (full ids) of `repository` (OWNER/NAME), checked out at `workspace` or known to the API.

    `dataset` (a file or a glob) and `problem_statements` (a folder, or empty) are as the inputs name them,
    relative to the workspace. `head_repository` is the fork that a pull request comes from, if any.
    """

    workspace: Path
    dataset: str
    problem_statements: str
    base_sha: str
    head_sha: str
    api_url: str
    token: str
    repository: str
    head_repository: str = ""

    def __repr__(self) -> str:
        return f"ChangeRequest({self.repository}, {self.dataset!r}, {self.base_sha}...{self.head_sha})"


@dataclass(frozen=True, slots=True)
class ChangedEntries:
    """Ids of entries in the order of the dataset: at the head, and for those removed at the base."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[str, ...]:
        """Those that can be asked about: added or modified."""
        return self.added + self.modified


@dataclass(frozen=True, slots=True)
class _Paths:
    """Dataset and statements relative to the repository's root, with `/`; `statements` empty when not given."""

    dataset: str
    statements: str


@dataclass(frozen=True, slots=True)
class _Side:
    """The files of one commit: those of the dataset, and the problem statements by path."""

    dataset: Mapping[str, Blob]
    readmes: Mapping[str, Blob]


def find_changes(
    request: ChangeRequest, *, warn: Warn | None = None, patience: Patience | None = None
) -> ChangedEntries:
    """Compare base and head: from git's objects when the checkout has them, else through the API.

    An entry is modified when its problem statement, gold patch or date is another. A dataset that did not exist
    or could not be read at the base makes every entry an added one. Raises DatasetError when the head's dataset
    cannot be read, a path leads out of the repository, or neither checkout nor API has the commits.
    """
    warn = warn or logging.getLogger("bccontam").warning
    if not _SHA.fullmatch(request.base_sha) or not _SHA.fullmatch(request.head_sha):
        raise DatasetError("Changed entries need two commits to compare; use `entries: all` on this event.")
    workspace = Path(os.path.realpath(request.workspace))
    git = GitObjects.find(_existing_folder(request, workspace), workspace)
    paths = _paths(request, git.top if git else workspace)
    reasons = ["there is no git checkout"]
    if git is not None:
        try:
            git.require(request.base_sha, request.head_sha)
            base = git.merge_base(request.base_sha, request.head_sha)
            if base:
                return _compare(git, paths, base, request.head_sha, warn)
            reasons = ["the checkout does not reach back to where the head has gone its own way"]
        except UnavailableError as error:
            reasons = [str(error)]
    try:
        return _ask_api(request, paths, warn, patience)
    except (UnavailableError, ApiError) as error:
        reasons.append(str(error))
    if git is not None:
        try:
            return _compare(git, paths, request.base_sha, request.head_sha, _with(warn, _NO_MERGE_BASE))
        except UnavailableError:
            pass
    raise DatasetError(
        f"Cannot tell which entries changed ({'; '.join(reasons)}): check out with `fetch-depth: 0`, or give the "
        "job `permissions: contents: read` and the step `github-token`."
    )


_NO_MERGE_BASE = (
    "Where the pull request branched off is unknown, so entries that changed on the base branch since then count "
    "as changed too; check out with `fetch-depth: 0`."
)


def _with(warn: Warn, sentence: str) -> Warn:
    warn(sentence)
    return warn


def _ask_api(request: ChangeRequest, paths: _Paths, warn: Warn, patience: Patience | None) -> ChangedEntries:
    names = [request.repository, *filter(None, [request.head_repository])]
    if not all(_REPOSITORY.fullmatch(name) for name in names):
        raise UnavailableError("the repository has no usable name")
    with Client(request.api_url, request.token, patience) as client:
        objects = ApiObjects(client, request.repository, request.head_repository)
        base = objects.merge_base(request.base_sha, request.head_sha)
        if not base:
            warn(_NO_MERGE_BASE)
        return _compare(objects, paths, base or request.base_sha, request.head_sha, warn)


# Where things are.


def _existing_folder(request: ChangeRequest, workspace: Path) -> Path:
    """The deepest folder above the dataset that is there: a checkout may lie in a folder of the workspace."""
    folder = workspace
    for part in _inside(request, workspace, request.dataset, "dataset").split("/")[:-1]:
        if not (folder / part).is_dir() or (folder / part).is_symlink():
            break
        folder /= part
    return folder


def _paths(request: ChangeRequest, top: Path) -> _Paths:
    statements = request.problem_statements
    return _Paths(
        dataset=_inside(request, top, request.dataset, "dataset"),
        statements=_inside(request, top, statements, "folder of problem statements") if statements else "",
    )


def _inside(request: ChangeRequest, top: Path, name: str, what: str) -> str:
    """A path of the workspace relative to the repository's root. Raises DatasetError when it leads out."""
    given = request.workspace.absolute()
    path = ".."
    if name and "\0" not in name:
        path = os.path.relpath(Path(os.path.realpath(given), os.path.relpath(given / name, given)), top)
    if path in (".", "..") or path.startswith("../"):
        raise DatasetError(
            f"The {what} {name!r} is not in the repository, so its changes cannot be told; name one that is, or use "
            "`entries: all`."
        )
    return path


def _side(objects: Objects, commit: str, paths: _Paths) -> _Side:
    dataset = _dataset_files(objects, commit, paths.dataset)
    folders = [paths.statements] if paths.statements else sorted({_beside(path) for path in dataset})
    readmes = {
        path: blob
        for folder in folders
        for path, blob in objects.below(commit, folder).items()
        if _is_readme(path.removeprefix(f"{folder}/")) and _is_plain(path)
    }
    return _Side({path: blob for path, blob in dataset.items() if _is_plain(path)}, readmes)


def _dataset_files(objects: Objects, commit: str, pattern: str) -> dict[str, Blob]:
    """The file, or the files of a glob; a name that exists is not taken for a pattern, as with real files."""
    file = objects.file(commit, pattern)
    if file is not None:
        return {pattern: file}
    if not glob.has_magic(pattern):
        return {}
    parts = pattern.split("/")
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    folder = "/".join(parts[:fixed])
    return {
        path: blob
        for path, blob in objects.below(commit, folder).items()
        if _matches(path.split("/")[fixed:], parts[fixed:])
    }


def _matches(parts: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[start:], pattern[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _beside(dataset: str) -> str:
    folder = dataset.rpartition("/")[0]
    return f"{folder}/{_STATEMENTS}" if folder else _STATEMENTS


def _is_readme(path: str) -> bool:
    """`<instance_id>/README.md`; in another case it is none, and the reader says so."""
    folder, _, name = path.partition("/")
    return bool(folder) and name.casefold() == _README.casefold()


def _is_plain(path: str) -> bool:
    """Whether a checkout could have this path; a tree made by hand may hold others."""
    return all(
        part not in ("", ".", "..") and len(os.fsencode(part)) <= _LONGEST_NAME for part in path.split("/")
    )


# What they say.


def _compare(objects: Objects, paths: _Paths, base: str, head: str, warn: Warn) -> ChangedEntries:
    before, after = _side(objects, base, paths), _side(objects, head, paths)
    if not after.dataset:
        raise DatasetError(f"No dataset {paths.dataset} is in commit {head[:12]}; give a file that is.")
    for path, blob in after.dataset.items():
        if blob.is_link:
            raise DatasetError(
                f"The dataset {path} is a symbolic link in commit {head[:12]}: name the file it points to."
            )
    if before == after:
        return ChangedEntries()
    with tempfile.TemporaryDirectory(prefix="bccontam-") as scratch:
        _write_sides(objects, before, after, Path(scratch), warn)
        new = _fingerprints(Path(scratch, "head"), paths, after)
        old: dict[str, str] = {}
        if before.dataset:
            try:
                old = _fingerprints(Path(scratch, "base"), paths, before)
            except DatasetError as error:
                warn(f"The dataset at the base cannot be read, so all entries count as added: {error}")
    return ChangedEntries(
        added=tuple(name for name in new if name not in old),
        modified=tuple(name for name, value in new.items() if old.get(name, value) != value),
        removed=tuple(name for name in old if name not in new),
    )


def _write_sides(objects: Objects, before: _Side, after: _Side, scratch: Path, warn: Warn) -> None:
    """Write what has to be read as files: the datasets, and the problem statements that differ.

    A statement that is the same on both sides is left out on both. One whose content need not be known, or that
    is one too many to ask for, is written as its id.
    """
    differing = sorted(
        path
        for path in before.readmes.keys() | after.readmes.keys()
        if before.readmes.get(path) != after.readmes.get(path)
    )
    # With a folder on one side only, the other side's statements are in its rows, and may say the same.
    one_folder = not before.readmes or not after.readmes
    both = [path for path in differing if one_folder or (path in before.readmes and path in after.readmes)]
    readable = frozenset(both[: objects.most_reads // 2])
    if len(both) > len(readable):
        warn(f"More than {len(readable):,} problem statements differ; the others count as changed unread.")
    copies: dict[str, list[Path]] = {}
    for name, side in (("base", before), ("head", after)):
        root = scratch / name
        root.mkdir()
        for path, blob in side.dataset.items():
            copies.setdefault(blob.sha, []).append(root / path)
        for path in differing:
            if path not in side.readmes:
                continue
            sha = side.readmes[path].sha
            if path in readable:
                copies.setdefault(sha, []).append(root / path)
            else:
                _write(root / path, sha.encode())
    for sha, data in objects.read(copies):
        for target in copies[sha]:
            _write(target, data)


def _write(target: Path, data: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except OSError as error:
        raise DatasetError(
            f"Cannot write a copy of {target.name} into {target.parent}: {error.strerror}."
        ) from None


def _fingerprints(root: Path, paths: _Paths, side: _Side) -> dict[str, str]:
    """The fingerprint of each entry of one side, in the order of its dataset. Raises DatasetError."""
    folder = None
    if paths.statements:
        folder = root / paths.statements
        folder.mkdir(parents=True, exist_ok=True)
    for path in side.readmes:
        (root / path).parent.parent.mkdir(parents=True, exist_ok=True)
    contents = {path.split("/")[-2]: blob.sha for path, blob in side.readmes.items()}
    dataset = paths.dataset
    where = root / dataset if dataset in side.dataset else Path(glob.escape(str(root)), dataset)
    try:
        return {
            entry.instance_id: _fingerprint(entry, contents.get(entry.instance_id, ""))
            for entry in _quietly(where, folder)
        }
    except DatasetError as error:
        raise DatasetError(str(error).replace(f"{root}/", "")) from None


def _quietly(dataset: Path, statements: Path | None) -> Iterator[Entry]:
    """The entries without remarks on how the files look: whoever reads the dataset itself makes those."""
    return load_entries(dataset, statements, warn=lambda _: None)


def _fingerprint(entry: Entry, content: str) -> str:
    """What an entry asks, its answer and its day. Of a statement that cannot be read, `content` is the id."""
    day = entry.created_at.isoformat() if entry.created_at else None
    unread = (content or entry.statement_problem) if entry.statement_problem else ""
    said = json.dumps([day, entry.problem_statement, unread, entry.patch, entry.patch_problem])
    return hashlib.sha256(said.encode()).hexdigest()
