from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bccontam.errors import DatasetError
from bccontam.github.changed import ChangedEntries
from tests.support.changes import DATASET, Files, Finder, name, rows, statement
from tests.support.datasets import a_row
from tests.support.git_repo import GitRepo
from tests.support.paths import BC_BENCH, needs_shared

pytestmark = pytest.mark.usefixtures("no_proxy")

NOTHING = ChangedEntries()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "origin")


@pytest.fixture(params=["git", "api"])
def source(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def find(repo: GitRepo, source: str, tmp_path: Path) -> Iterator[Finder]:
    finder = Finder(repo, source, tmp_path / "workspace")
    with finder.server:
        yield finder


def test_added_modified_and_removed_entries_in_the_order_of_the_dataset(find: Finder) -> None:
    after = (
        rows(9) + rows(3, created_at="2025-03-02") + rows(2, patch=a_row()["patch"].replace("+new", "+newer"))
    )
    after += rows(8) + rows(1, problem_statement="It fails.") + rows(4)
    found = find.change({DATASET: rows(1, 2, 3, 4, 5, 6)}, {DATASET: after})
    assert found == ChangedEntries(
        added=(name(9), name(8)), modified=(name(3), name(2), name(1)), removed=(name(5), name(6))
    )
    assert found.asked == (name(9), name(8), name(3), name(2), name(1))
    assert not find.warnings


def test_what_an_entry_is_not_asked_about_is_no_change(find: Finder) -> None:
    before = rows(1, 2, 3)
    shuffled = [dict(reversed(json.loads(line).items())) for line in reversed(before.split("\n")[:-1])]
    more = [row | {"hints_text": "look there", "version": "2", "area": "Sales"} for row in shuffled]
    after = "\ufeff" + "".join(f"{json.dumps(row, indent=None)}\r\n\r\n" for row in more)
    assert find.change({DATASET: before}, {DATASET: after}) == NOTHING


def test_the_same_commit_changes_nothing(find: Finder) -> None:
    base = find.repo.commit({DATASET: rows(1)})
    assert find(base, base) == NOTHING


def test_other_files_change_nothing_and_no_content_is_read(find: Finder) -> None:
    files: Files = {DATASET: rows(1), statement(1): "It fails.", "README.md": "hello"}
    assert find.change(files, {"README.md": "good bye", "dataset/notes.md": "new"}) == NOTHING
    assert find.blobs == 0


def test_what_changed_on_the_base_branch_meanwhile_is_not_the_pull_requests(find: Finder) -> None:
    fork_point = find.repo.commit({DATASET: rows(1, 2, 3)})
    base = find.repo.commit({DATASET: rows(1, 3, 4) + rows(2, problem_statement="On main.")})
    find.repo.branch("topic", fork_point)
    head = find.repo.commit({DATASET: rows(1, 2) + rows(3, problem_statement="By the pull request.")})
    assert find(base, head) == ChangedEntries(modified=(name(3),))


def test_a_dataset_that_did_not_exist_at_the_base_is_all_added(find: Finder) -> None:
    assert find.change({"README.md": "hello"}, {DATASET: rows(1, 2)}).added == (name(1), name(2))
    assert not find.warnings


@pytest.mark.parametrize(
    "broken", ["{", '[{"no": "id"}]', "", "version https://git-lfs.github.com/spec/v1\n"]
)
def test_a_dataset_that_was_broken_at_the_base_is_all_added_with_a_warning(find: Finder, broken: str) -> None:
    assert find.change({DATASET: broken}, {DATASET: rows(1, 2)}).added == (name(1), name(2))
    (warning,) = find.warnings
    assert "at the base" in warning
    assert "bccontam-" not in warning
    assert DATASET in warning


def test_a_dataset_that_is_broken_at_the_head_is_refused_by_its_own_name(find: Finder) -> None:
    with pytest.raises(DatasetError) as caught:
        find.change({DATASET: rows(1)}, {DATASET: rows(1) + "{"})
    assert str(caught.value).startswith(f"{DATASET}, line 2: ")


def test_a_dataset_that_is_not_in_the_head_is_refused(find: Finder) -> None:
    with pytest.raises(DatasetError, match=r"No dataset .* is in commit"):
        find.change({DATASET: rows(1)}, {DATASET: None, "x": "y"})


def test_a_dataset_that_is_a_symbolic_link_is_refused(find: Finder) -> None:
    base = find.repo.commit({"data/real.jsonl": rows(1)})
    (find.repo.folder / "dataset").mkdir()
    (find.repo.folder / DATASET).symlink_to("../data/real.jsonl")
    with pytest.raises(DatasetError, match="symbolic link"):
        find(base, find.repo.commit({}))


def test_problem_statements_in_a_folder_count(find: Finder) -> None:
    before: Files = {DATASET: rows(1, 2, 3, 4, 5), **{statement(n): f"Report {n}." for n in (1, 2, 3, 4)}}
    after: Files = {
        statement(1): "Report 1, edited.",
        statement(2): "Report 2.\r\n".replace("\r\n", ""),
        statement(3): None,
        statement(5): "Report 5.",
        statement(6): "Of no entry.",
        "dataset/problemstatement/README.md": "About the folder.",
    }
    assert find.change(before, after) == ChangedEntries(modified=(name(1), name(3), name(5)))
    if find.source == "api":
        assert find.blobs == 3  # the dataset, which is one blob on both sides, and one statement twice


def test_line_ends_of_a_problem_statement_are_no_change(find: Finder) -> None:
    before: Files = {DATASET: rows(1), statement(1): "One.\nTwo.\n"}
    assert find.change(before, {statement(1): "\ufeffOne.\r\nTwo.\r\n"}) == NOTHING


def test_statements_that_only_move_into_a_folder_are_no_change(find: Finder) -> None:
    texts = {statement(number): f"Posting order {number} fails." for number in (1, 2)}
    assert find.change({DATASET: rows(1, 2, 3)}, texts) == ChangedEntries(modified=(name(3),))


def test_a_folder_of_problem_statements_can_be_named(find: Finder) -> None:
    before: Files = {DATASET: rows(1, 2), statement(1, "texts"): "One.", statement(2, "texts"): "Two."}
    after: Files = {statement(2, "texts"): "Two, edited.", statement(1): "Not looked at."}
    assert find.change(before, after, problem_statements="./texts/") == ChangedEntries(modified=(name(2),))


def test_a_named_folder_that_is_new_makes_every_statement_new(find: Finder) -> None:
    before: Files = {DATASET: rows(1)}
    after: Files = {statement(1, "texts"): "One."}
    assert find.change(before, after, problem_statements="texts").modified == (name(1),)


def test_statements_that_cannot_be_read_are_told_apart_by_their_content(find: Finder) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n"
    before: Files = {DATASET: rows(1, 2), statement(1): pointer.format("a" * 64), statement(2): b"\xff\xfe"}
    after: Files = {statement(1): pointer.format("b" * 64), "x": "y"}
    assert find.change(before, after) == ChangedEntries(modified=(name(1),))


@pytest.mark.parametrize(
    ("pattern", "added", "modified"),
    [
        ("data/*.jsonl", (3,), (2,)),
        ("data/**/*.jsonl", (3, 5), (2,)),
        ("**/*.jsonl", (3, 5), (2,)),
        ("data/[ab].jsonl", (), (2,)),
        ("d?ta/c*", (3,), ()),
        ("./data/../data/*.jsonl", (3,), (2,)),
    ],
)
def test_globs_of_datasets(
    find: Finder, pattern: str, added: tuple[int, ...], modified: tuple[int, ...]
) -> None:
    before: Files = {
        "data/a.jsonl": rows(1),
        "data/b.jsonl": rows(2),
        statement(2, "data/problemstatement"): "Two.",
    }
    after: Files = {
        "data/b.jsonl": rows(2, created_at="2024-01-01"),
        "data/c.jsonl": rows(3),
        "data/deep/er/d.jsonl": rows(5),
        "data/.hidden.jsonl": rows(6),
        "data/notes.txt": "no dataset",
    }
    found = find.change(before, after, dataset=pattern)
    assert found == ChangedEntries(added=tuple(map(name, added)), modified=tuple(map(name, modified)))


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(find: Finder) -> None:
    found = find.change(
        {"x": "y"}, {"data[1].jsonl": rows(1), "data1.jsonl": rows(2)}, dataset="data[1].jsonl"
    )
    assert found.added == (name(1),)


def test_a_dataset_at_the_root(find: Finder) -> None:
    found = find.change(
        {"b.jsonl": rows(1)}, {"problemstatement/acme__Widgets-1/README.md": "New."}, dataset="b.jsonl"
    )
    assert found.modified == (name(1),)


def test_a_dataset_of_more_than_a_megabyte(find: Finder) -> None:
    many = [a_row(number, problem_statement=f"Report {number}. " + "word " * 800) for number in range(400)]
    before = "".join(f"{json.dumps(row)}\n" for row in many)
    many[399]["problem_statement"] += "and more"
    assert len(before) > 1_500_000
    found = find.change({DATASET: before}, {DATASET: "".join(f"{json.dumps(row)}\n" for row in many)})
    assert found == ChangedEntries(modified=(name(399),))


@needs_shared
def test_a_real_benchmark(find: Finder) -> None:
    """BC-Bench as it is: a statement edited, an entry taken out, one put back with another date."""
    find.repo.folder.joinpath("dataset").mkdir()
    shutil.copytree(BC_BENCH.parent / "problemstatement", find.repo.folder / "dataset" / "problemstatement")
    subprocess.run(["chmod", "-R", "u+w", find.repo.folder], check=True)
    lines = BC_BENCH.read_text(encoding="utf-8").split("\n")[:-1]
    ids = [json.loads(line)["instance_id"] for line in lines]
    other = json.dumps(json.loads(lines[5]) | {"created_at": "2020-01-01"})
    base = find.repo.commit({"dataset/bcbench.jsonl": "".join(f"{line}\n" for line in lines)})
    after = [*lines[1:5], other, *lines[6:]]
    readme = f"dataset/problemstatement/{ids[50]}/README.md"
    text = (find.repo.folder / readme).read_text(encoding="utf-8")
    head = find.repo.commit(
        {"dataset/bcbench.jsonl": "".join(f"{line}\n" for line in after), readme: f"{text}\nMore."}
    )
    found = find(base, head, dataset="dataset/bcbench.jsonl")
    assert found == ChangedEntries(modified=(ids[5], ids[50]), removed=(ids[0],))
    assert len(find.server.requests) <= 13
