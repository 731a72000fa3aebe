from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bccontam.datasets import STATEMENT_LIMIT, DatasetError, load_entries
from bccontam.datasets.layout import Fields
from bccontam.datasets.rows import LAYOUTS
from bccontam.entry import Entry
from tests.support.datasets import CASES, PATCH, a_row, load, load_one, refusal, write
from tests.support.paths import needs_shared

# --- fields ---


def test_what_no_layout_names_never_reaches_an_entry(tmp_path: Path) -> None:
    secrets = dict.fromkeys(("hints_text", "test_patch", "title", "body", "gold", "FAIL_TO_PASS"), "SECRET")

    entry = load_one(tmp_path, **secrets)

    assert "SECRET" not in repr(entry)
    assert not {name for layout in LAYOUTS for name in layout.FIELDS} & set(secrets)


def test_a_patch_as_a_list_of_lines_is_joined(tmp_path: Path) -> None:
    assert load_one(tmp_path, patch=PATCH.split("\n")[:-1]).patch == PATCH
    assert load_one(tmp_path, patch=PATCH.splitlines(keepends=True)).patch == PATCH


@pytest.mark.parametrize("patch", [7, {"a": 1}, [1], [None], True], ids=repr)
def test_a_patch_that_is_no_text_makes_its_entry_unscorable(patch: object, tmp_path: Path) -> None:
    assert load_one(tmp_path, patch=patch).unscorable == "invalid patch: it is not text"


@pytest.mark.parametrize("patch", [..., None, "", " \n", [], float("nan")], ids=repr)
def test_a_missing_patch_is_listed_as_no_gold(patch: object, tmp_path: Path) -> None:
    assert load_one(tmp_path, patch=patch).unscorable.startswith("no gold")


@pytest.mark.parametrize("statement", [..., None, "", " \n", float("nan"), []], ids=repr)
def test_a_missing_statement_is_listed(statement: object, tmp_path: Path) -> None:
    assert load_one(tmp_path, problem_statement=statement).unscorable.startswith("no problem statement")


def test_a_statement_that_is_no_text_is_listed(tmp_path: Path) -> None:
    assert load_one(tmp_path, problem_statement={"a": 1}).unscorable == "no problem statement: it is not text"


def test_the_statement_of_a_row_is_kept_as_it_stands(tmp_path: Path) -> None:
    text = "  # T\r\n\r\n\tText \u00a0\u200b\n\n![](a.png)\r"

    entry = load_one(tmp_path, problem_statement=text)

    assert entry.problem_statement == text
    assert entry.images == 1
    assert not entry.statement_cut


def test_a_statement_over_the_limit_is_cut_with_a_visible_mark(tmp_path: Path) -> None:
    whole = load_one(tmp_path, problem_statement="x" * STATEMENT_LIMIT)
    cut = load_one(tmp_path, problem_statement="x" * (STATEMENT_LIMIT + 1))

    assert (len(whole.problem_statement), whole.statement_cut) == (STATEMENT_LIMIT, False)
    assert cut.statement_cut
    assert cut.problem_statement.startswith("x" * STATEMENT_LIMIT + "\n\n[cut here")
    assert len(cut.problem_statement) < STATEMENT_LIMIT + 200


def test_lone_surrogates_become_replacement_characters_and_pairs_stay(tmp_path: Path) -> None:
    row = (
        json.dumps(a_row())
        .replace("Posting", r"\ud800\ude00 \ud83d\ude00 \udc00 Posting")
        .replace("old", r"\udfffold")
    )

    (entry,), _ = load(row, tmp_path)

    assert entry.problem_statement.startswith("\U00010200 \U0001f600 \ufffd Posting")
    assert "-\ufffdold" in entry.patch


@pytest.mark.parametrize(
    ("metadata", "area"),
    [
        (..., None),
        (None, None),
        ("sales", None),
        ([], None),
        ({}, None),
        ({"area": None}, None),
        ({"area": "  "}, None),
        ({"area": []}, None),
        ({"area": {"a": 1}}, None),
        ({"area": True}, None),
        ({"area": " Sales\t"}, "sales"),
        ({"area": "STRASSE ß"}, "strasse ss"),
        ({"area": ["Finance", " sales", None, ""]}, "finance, sales"),
        ({"area": "a|b <img>"}, "a|b <img>"),
        ({"area": "two\nlines"}, "two lines"),
        ({"area": 7}, "7"),
    ],
    ids=repr,
)
def test_areas_are_groups(metadata: object, area: str | None, tmp_path: Path) -> None:
    assert load_one(tmp_path, metadata=metadata).area == area


def test_a_row_without_a_repository_has_none(tmp_path: Path) -> None:
    assert load_one(tmp_path, repo=...).repo == ""
    assert load_one(tmp_path, repo=["a"]).repo == ""


def test_a_constant_that_only_python_writes_is_read_as_missing(tmp_path: Path) -> None:
    (entry,), warnings = load(json.dumps(a_row(created_at=float("nan"), patch=float("nan"))), tmp_path)

    assert (entry.created_at, entry.patch, warnings) == (None, "", [])


# --- Multi-SWE-bench ---


@pytest.mark.parametrize("kind", [list, dict])
def test_a_new_layout_is_one_module_and_one_line(
    kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = ModuleType("golden")
    layout.FIELDS = ("task", "golden_patch", "report")  # type: ignore[attr-defined]
    layout.matches = lambda row: "golden_patch" in row  # type: ignore[attr-defined]
    layout.fields = lambda row: Fields(  # type: ignore[attr-defined]
        instance_id=row["task"], patch=row["golden_patch"], problem_statement=row["report"]
    )
    monkeypatch.setattr("bccontam.datasets.rows.LAYOUTS", (layout, *LAYOUTS))
    row = {"task": "acme-1", "golden_patch": PATCH, "report": "It fails."}

    entries, _ = load([row, a_row()] if kind is list else json.dumps([row, a_row()]), tmp_path)

    assert [entry.instance_id for entry in entries] == ["acme-1", "acme__Widgets-1"]
    assert not any(entry.unscorable for entry in entries)


def a_record(**fields: Any) -> dict[str, Any]:
    issues = [
        {"number": 7, "title": "Wrong total", "body": "Rounding is off."},
        {"number": 8, "title": "Again", "body": None},
    ]
    record = {"org": "acme", "repo": "widgets", "number": 501, "title": "fix Post", "body": "Edit Post"}
    return {**record, "fix_patch": PATCH, "resolved_issues": issues, "hints": "SECRET", **fields}


def test_a_multi_swe_bench_record_is_made_of_its_issues_alone(tmp_path: Path) -> None:
    (entry,), _ = load([a_record()], tmp_path)

    assert (entry.instance_id, entry.repo, entry.created_at) == ("acme__widgets-501", "acme/widgets", None)
    assert entry.problem_statement == "Wrong total\n\nRounding is off.\n\nAgain"
    assert entry.patch == PATCH


@pytest.mark.parametrize("issues", [None, [], "text", [None], [{"title": None}]], ids=repr)
def test_a_record_without_an_issue_has_no_statement(issues: object, tmp_path: Path) -> None:
    (entry,), _ = load([a_record(resolved_issues=issues)], tmp_path)

    assert entry.problem_statement == ""
    assert "title" not in repr(entry)


@pytest.mark.parametrize("change", [{"org": "../x"}, {"number": None}, {"repo": None}, {"org": ""}], ids=repr)
def test_a_record_without_a_usable_name_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    assert "line 1:" in refusal([a_record(**change)], tmp_path)


def test_a_record_that_has_an_id_keeps_it(tmp_path: Path) -> None:
    (entry,), _ = load([a_record(instance_id="acme__widgets-501-b", number=None)], tmp_path)

    assert entry.instance_id == "acme__widgets-501-b"


# --- statements in a folder ---


def load_with_readme(tmp_path: Path, content: bytes | None, name: str = "README.md") -> Entry:
    folder = tmp_path / "problemstatement" / "acme__Widgets-1"
    folder.mkdir(parents=True)
    if content is not None:
        (folder / name).write_bytes(content)
    return load_one(tmp_path, problem_statement=...)


@needs_shared
def test_readmes_from_a_public_report_have_their_status(tmp_path: Path) -> None:
    case = CASES["C069"]

    for number, (text, status) in enumerate(
        zip(case["input"]["README.md"], case["expected"]["status"], strict=True)
    ):
        content = None if text == "(absent)" else text.encode()
        entry = load_with_readme(tmp_path / str(number), content)
        assert entry.unscorable.startswith(status.removeprefix("error: ").replace("ok", ""))
        assert bool(entry.unscorable) == (status != "ok")
    assert entry.problem_statement == "# T\n\nText\n"


def test_a_folder_beside_the_file_holds_the_statements(tmp_path: Path) -> None:
    write(tmp_path / "problemstatement" / "acme__Widgets-1" / "README.md", b"From the folder.")

    assert load_one(tmp_path).problem_statement == "From the folder."


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_that_is_given_wins(kind: Callable[[Path], str | Path], tmp_path: Path) -> None:
    write(tmp_path / "problemstatement" / "acme__Widgets-1" / "README.md", b"Beside.")
    write(tmp_path / "elsewhere" / "acme__Widgets-1" / "README.md", b"Elsewhere.")
    file = write(tmp_path / "data.jsonl", [a_row()])

    (entry,) = load_entries(file, kind(tmp_path / "elsewhere"))
    (beside,) = load_entries(file, "")

    assert entry.problem_statement == "Elsewhere."
    assert beside.problem_statement == "Beside."


@pytest.mark.parametrize("name", ["absent", "data.jsonl"])
def test_a_given_folder_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "data.jsonl", [a_row()])

    with pytest.raises(DatasetError, match="folder of problem statements"):
        load_entries(file, tmp_path / name)


def test_a_missing_readme_names_the_folder(tmp_path: Path) -> None:
    assert load_with_readme(tmp_path, None).unscorable == (
        "missing statement: no README.md in problemstatement/acme__Widgets-1"
    )


@pytest.mark.parametrize("name", ["readme.md", "README.MD", "Readme.md"])
def test_a_readme_in_other_case_names_the_folder_and_the_file_seen(name: str, tmp_path: Path) -> None:
    reason = load_with_readme(tmp_path, b"Text", name).unscorable

    assert reason == f"missing statement: problemstatement/acme__Widgets-1 holds {name}, not README.md"


def test_a_folder_in_other_case_is_named(tmp_path: Path) -> None:
    write(tmp_path / "problemstatement" / "ACME__widgets-1" / "README.md", b"Text")

    assert "there is ACME__widgets-1" in load_one(tmp_path).unscorable
    assert "no folder problemstatement/x-2" in load_one(tmp_path, instance_id="x-2").unscorable


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Größe".encode("cp1252"), "is not UTF-8"),
        ("Text".encode("utf-16"), "is not UTF-8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a Git LFS pointer"),
        (b"", "no problem statement"),
        (b"![](./a.png)\n", "image only"),
    ],
)
def test_a_readme_without_text_makes_its_entry_unscorable(content: bytes, words: str, tmp_path: Path) -> None:
    entry = load_with_readme(tmp_path, content)

    assert words in entry.unscorable


def test_a_readme_is_cut_at_the_limit_whatever_its_characters_weigh(tmp_path: Path) -> None:
    for number, (piece, size) in enumerate(
        (("x", 1), ("€", 1), ("\U0001f600", 1), ("\r\n", 1), ("\U0001f600\r\n", 2))
    ):
        text = "\ufeff" + piece * (STATEMENT_LIMIT // size)
        whole = load_with_readme(tmp_path / f"whole-{number}", text.encode())
        cut = load_with_readme(tmp_path / f"cut-{number}", (text + "\U0001f600").encode())
        huge = load_with_readme(tmp_path / f"huge-{number}", (text * 5).encode())

        assert (len(whole.problem_statement), whole.statement_cut) == (STATEMENT_LIMIT, False)
        assert cut.statement_cut
        assert huge.statement_cut
        assert cut.problem_statement[:STATEMENT_LIMIT] == whole.problem_statement


def test_nothing_outside_of_the_folder_is_read_through_a_link(tmp_path: Path) -> None:
    write(tmp_path / "secret" / "README.md", b"SECRET")
    folder = tmp_path / "problemstatement"
    folder.mkdir()
    (folder / "acme__Widgets-1").symlink_to(tmp_path / "secret")
    (folder / "acme__Widgets-2").mkdir()
    (folder / "acme__Widgets-2" / "README.md").symlink_to(tmp_path / "secret" / "README.md")

    entries, _ = load([a_row(1), a_row(2)], tmp_path)

    assert ["leads out of its folder" in entry.unscorable for entry in entries] == [True, True]
    assert "SECRET" not in repr(entries)


def test_a_folder_of_statements_may_be_a_link_itself(tmp_path: Path) -> None:
    write(tmp_path / "real" / "acme__Widgets-1" / "README.md", b"Text")
    (tmp_path / "problemstatement").symlink_to(tmp_path / "real")

    assert load_one(tmp_path).problem_statement == "Text"
