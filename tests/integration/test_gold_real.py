"""Gold files of real patches: three benchmarks, and whatever git writes for random changes."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bccontam.gold import extract_gold_files
from tests.support.paths import BC_BENCH, LOC_BENCH, SWE_BENCH_JSONL, needs_shared

# --- benchmarks -----------------------------------------------------------------------------------------


def patches(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as rows:
        for row in rows:
            yield json.loads(row)["patch"]


def new_names(patch: str) -> list[str]:
    """The names of the `diff --git` lines: the benchmarks hold plain `a/` and `b/` headers only."""
    names = []
    for line in re.findall(r"(?m)^diff --git (.*)$", patch):
        halves = re.fullmatch(r"a/(.+) b/\1", line)
        names.append(halves[1] if halves else line.split(" b/")[1])
    return list(dict.fromkeys(names))


@needs_shared
@pytest.mark.parametrize(("benchmark", "rows"), [(BC_BENCH, 101), (SWE_BENCH_JSONL, 500), (LOC_BENCH, 560)])
def test_gold_of_a_real_benchmark_is_what_its_git_lines_name(benchmark: Path, rows: int) -> None:
    warnings: list[str] = []
    count = 0
    for patch in patches(benchmark):
        expected = new_names(patch)
        assert expected
        assert [file.path for file in extract_gold_files(patch, warnings.append)] == expected
        count += 1
    assert count == rows
    assert warnings == []


# --- git round trip -------------------------------------------------------------------------------------

ODD_NAMES = [
    b"plain.al",
    b"my file.al",
    b" lead.al",
    b"trail ",
    b"tab\there.al",
    b"two\nlines.al",
    b"return\rs.al",
    b'quo"te.al',
    b"back\\slash.al",
    "café.al".encode(),
    b"caf\xe9.al",
    "日本.al".encode(),
    "separator\u2028.al".encode(),
    b"x b/y.al",
    b"lib b",
    b"this and that.png",
    b"a",
    b"b",
    b"b b/b b",
    b"x x",
    b"--- a",
    b"+++ b",
    b"diff --git a b",
    b"rename from x",
    b"x => y",
    b"2024-01-01 10:00:00",
    b".env",
    b"#",
    b"-",
]
FOLDERS = [
    b"",
    b"",
    b"src/",
    b"a/",
    b"b/",
    b"i/",
    b"w/",
    b"old/",
    b"my dir/",
    b"d b/",
    b"x and y/",
    "ü/".encode(),
]
ODD_LINES = [
    b"one",
    b"two",
    b"three",
    b"-- a/q.sql",
    b"++ b/q.sql",
    b"--- a/evil.al",
    b"+++ b/evil.al",
    b"@@ -1 +1 @@",
    b"diff --git a/x b/x",
    b"rename from a",
    b"Binary files a and b differ",
    b"***************",
    b"\\ No newline at end of file",
    b"lone\rreturn",
    b"crlf\r",
    b"\x0c",
    "\u2028".encode(),
    "\x85".encode(),
    b"\xef\xbb\xbfdiff --git a/q b/q",
    b"\x1b[31mred",
    b"caf\xe9",
    b"",
    b" ",
]
OPTIONS: list[tuple[list[str], list[str]]] = [
    ([], []),
    (["-M"], []),
    (["-M30", "-C", "--find-copies-harder"], []),
    (["-B", "-M"], []),
    (["-R", "-M"], []),
    (["-U0", "-M"], []),
    (["--binary", "--full-index", "-M"], []),
    (["--no-prefix", "-M"], []),
    (["--no-prefix", "--no-renames"], ["core.quotePath=false"]),
    (["--src-prefix=src://", "--dst-prefix=dst://", "-M"], []),
    (["--src-prefix=old/", "--dst-prefix=newer/"], []),
    (["-M"], ["diff.mnemonicPrefix=true"]),
    (["-M", "-U0"], ["core.quotePath=false"]),
]
KIND_LETTERS = {"added": "A", "deleted": "D", "renamed": "R", "copied": "C"}


class Repository:
    """A scratch repository that no configuration of the user reaches."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q")

    def git(self, *arguments: str, settings: tuple[str, ...] = ()) -> str:
        options = [option for setting in settings for option in ("-c", setting)]
        identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        done = subprocess.run(
            ["git", *options, *arguments],
            cwd=self.root,
            env=environment | identity,
            check=True,
            capture_output=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape")

    def files(self) -> list[Path]:
        names = self.git("ls-files", "-z", "--cached", "--others").split("\0")
        return [path for name in sorted(set(names)) if name and os.path.lexists(path := self.root / name)]

    def free_path(self, dice: random.Random) -> Path | None:
        path = self.root / os.fsdecode(dice.choice(FOLDERS) + dice.choice(ODD_NAMES))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return None
        return None if os.path.lexists(path) else path

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x", "--allow-empty")

    def change(self, dice: random.Random) -> None:
        """One random operation on the working tree."""
        files = self.files()
        operation = dice.choice(
            ["add", "add", "edit", "edit", "delete", "move", "move", "copy", "chmod", "link"]
        )
        target = self.free_path(dice)
        if operation == "add" or not files:
            if target:
                target.write_bytes(content(dice))
            return
        path = dice.choice(files)
        if operation == "delete":
            path.unlink()
        elif operation == "move" and target:
            path.rename(target)
        elif operation == "link":
            path.unlink()
            path.symlink_to("somewhere")
        elif path.is_symlink():
            return
        elif operation == "copy" and target:
            shutil.copy(path, target)
        elif operation == "chmod":
            path.chmod(0o644 if os.access(path, os.X_OK) else 0o755)
        elif operation == "edit":
            lines = path.read_bytes().split(b"\n")
            lines[dice.randrange(len(lines))] = dice.choice(ODD_LINES)
            lines.insert(dice.randrange(len(lines) + 1), dice.choice(ODD_LINES))
            path.write_bytes(b"\n".join(lines))


def content(dice: random.Random) -> bytes:
    form = dice.random()
    if form < 0.1:
        return b""
    if form < 0.2:
        return dice.randbytes(60) + b"\0"
    body = b"\n".join(dice.choice(ODD_LINES) for _ in range(dice.randrange(1, 25)))
    return body + (b"\n" if dice.random() < 0.8 else b"")


def by_status(listing: str) -> list[tuple[str, str | None, str]]:
    """`--name-status -z` as (letter, old name of a rename or copy, name); T, a change of type, as M."""
    fields = iter(listing.split("\0")[:-1])
    files = []
    for field in fields:
        letter = "M" if field[0] == "T" else field[0]
        old = next(fields) if letter in "RC" else None
        files.append((letter, old, next(fields)))
    return files


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@pytest.mark.parametrize("seed", range(4))
def test_gold_of_random_changes_is_what_git_itself_names(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    repository = Repository(tmp_path)
    for _ in range(12):
        repository.change(dice)
    repository.commit()
    seen = 0
    for _ in range(5):
        for _ in range(5):
            repository.change(dice)
        repository.git("add", "-A")
        for options, settings in OPTIONS:
            diff = ("diff", "--cached", *options)
            patch = repository.git(*diff, settings=tuple(settings))
            warnings: list[str] = []
            files = extract_gold_files(patch, warnings.append)
            names = repository.git(*diff, "--name-only", "-z").split("\0")[:-1]
            assert [file.path for file in files] == names, (options, settings)
            kinds = [(KIND_LETTERS.get(file.kind, "M"), file.old_path, file.path) for file in files]
            assert kinds == by_status(repository.git(*diff, "--name-status", "-z")), (options, settings)
            assert warnings == []
            seen += len(files)
        repository.commit()
    assert seen > 200


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_gold_of_a_merge_is_what_its_combined_diff_names(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    names = ["m.al", "caf\u00e9 x.al", "src/tab\there.al"]

    def write(text: str) -> None:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"line {number} {text}\n" for number in range(9)), encoding="utf-8")

    write("base")
    repository.commit()
    repository.git("branch", "other")
    write("one")
    repository.commit()
    repository.git("checkout", "-q", "other")
    write("two")
    repository.commit()
    repository.git("merge", "-q", "-s", "ours", "--no-commit", "-")
    write("both")
    repository.commit()
    for style in ("--cc", "-c"):
        patch = repository.git("show", style)
        assert "@@@" in patch
        assert sorted(file.path for file in extract_gold_files(patch)) == sorted(names)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_gold_of_a_mail_series_is_what_its_commits_touch(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit()
    for name in ("first.al", "my dir/second.al", "third b/x.al"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("one\ntwo\n", encoding="utf-8")
        repository.commit()
    series = repository.git("format-patch", "--stdout", "--root", "HEAD")
    assert series.count("\n-- \n") == 3
    assert [file.path for file in extract_gold_files(series)] == [
        "first.al",
        "my dir/second.al",
        "third b/x.al",
    ]
    log = repository.git("log", "-p", "--stat")
    assert [file.path for file in extract_gold_files(log)] == ["third b/x.al", "my dir/second.al", "first.al"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@pytest.mark.parametrize(
    ("form", "expected"),
    [("short", ["my dep", "x.al"]), ("log", ["my dep", "x.al"]), ("diff", ["my dep/inner.al", "x.al"])],
)
def test_gold_of_a_submodule_is_its_path_or_what_changed_in_it(
    form: str, expected: list[str], tmp_path: Path
) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.mkdir()
    outer.mkdir()
    dependency, repository = Repository(inner), Repository(outer)
    (inner / "inner.al").write_text("one\n", encoding="utf-8")
    dependency.commit()
    allowed = ("protocol.file.allow=always",)
    repository.git("submodule", "--quiet", "add", str(inner), "my dep", settings=allowed)
    (outer / "x.al").write_text("one\n", encoding="utf-8")
    repository.commit()
    (inner / "inner.al").write_text("two\n", encoding="utf-8")
    dependency.commit()
    repository.git("submodule", "--quiet", "update", "--remote", settings=allowed)
    (outer / "x.al").write_text("two\n", encoding="utf-8")
    repository.git("add", "-A")
    files = extract_gold_files(repository.git("diff", "--cached", f"--submodule={form}"))
    assert [file.path for file in files] == expected
    assert [file.submodule for file in files] == [form != "diff", False]
