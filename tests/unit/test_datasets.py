from __future__ import annotations

import json
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.datasets import DatasetError, load_entries
from bccontam.entry import Entry
from tests.support.datasets import CASES, GOLD, PATCH, a_row, load, load_one, refusal, write
from tests.support.paths import SHARED, needs_shared, shared_cases

# --- cases from public reports ---

FILE_CASES = [case for case in shared_cases("datasets") if case.values[0]["input_file"]]
KNOWN_KEYS = {
    "rows", "gold", "ids", "id", "repo", "dates", "date", "problem_statement", "areas", "status", "scored",
    "warning", "exit", "strict", "bad_lines", "conflicting_ids", "files", "alt",
}  # fmt: skip


@pytest.mark.parametrize("case", FILE_CASES)
def test_a_file_from_a_public_report_reads_as_it_should(case: dict[str, Any]) -> None:
    expected = case["expected"]
    assert set(expected) <= KNOWN_KEYS
    file = SHARED / "cases" / case["input_file"]

    if "exit" in expected or "bad_lines" in expected:
        with pytest.raises(DatasetError) as caught:
            load_entries(file)
        _check_refusal(str(caught.value), file, expected)
        return
    warnings: list[str] = []
    entries = list(load_entries(file, warn=warnings.append))
    _check_entries(entries, " ".join(warnings), expected)


def _check_refusal(message: str, file: Path, expected: dict[str, Any]) -> None:
    assert file.name in message
    if "bad_lines" in expected:
        assert f"line {expected['bad_lines'][0]}:" in message
    for words in ("Git LFS pointer", "lfs: true", "no entries", "line 1"):
        if words in expected.get("exit", ""):
            assert words in message


def _check_entries(entries: list[Entry], warnings: str, expected: dict[str, Any]) -> None:
    by_id = {entry.instance_id: entry for entry in entries}
    assert len(entries) == len(by_id) == expected["rows"]
    for instance_id, paths in (
        expected.get("gold", {}).items() if isinstance(expected.get("gold"), dict) else ()
    ):
        assert [file.path for file in by_id[instance_id].gold_files] == paths
    if isinstance(expected.get("gold"), list):
        assert [file.path for file in entries[0].gold_files] == expected["gold"]
    for name, values in {
        "ids": [entry.instance_id for entry in entries],
        "id": entries[0].instance_id,
        "repo": entries[0].repo,
        "dates": [entry.created_at and entry.created_at.isoformat() for entry in entries],
        "date": entries[0].created_at and entries[0].created_at.isoformat(),
        "problem_statement": entries[0].problem_statement,
        "areas": dict(Counter(entry.area or "(none)" for entry in entries)),
        "scored": sum(not entry.unscorable for entry in entries),
        "files": len(by_id),
    }.items():
        if name in expected:
            assert values == expected[name]
    if "warning" in expected:
        assert expected["warning"] in warnings
    status = expected.get("status", {})
    if isinstance(status, str):
        assert all(entry.unscorable.startswith(status) for entry in entries)
        return
    for instance_id, words in status.items():
        if words.startswith("warning: "):
            assert words.removeprefix("warning: ") in warnings
            assert instance_id in warnings
        elif words.startswith("gold from headers"):
            assert [file.path for file in by_id[instance_id].gold_files] == [GOLD]
        else:
            assert by_id[instance_id].unscorable.startswith(words)


@needs_shared
def test_a_patch_of_binary_files_keeps_them_as_gold(tmp_path: Path) -> None:
    case = CASES["C082"]

    entry = load_one(tmp_path, patch=case["input"]["patch"])

    assert [file.path for file in entry.gold_files] == case["expected"]["gold"]
    kinds = {file.path: file.kind for file in entry.gold_files}
    assert kinds.items() >= case["expected"]["kinds"].items()


@needs_shared
def test_ids_of_other_benchmarks_are_accepted(tmp_path: Path) -> None:
    ids = CASES["C062"]["input"]

    entries, _ = load([a_row(number, instance_id=name) for number, name in enumerate(ids)], tmp_path)

    assert [entry.instance_id for entry in entries] == ids


# --- forms of a file ---

TWO = [a_row(1), a_row(2)]


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(map(json.dumps, TWO)),
        json.dumps(TWO),
        " \r\n" + json.dumps(TWO, indent=2).replace("\n", "\r\n") + "\n\n",
        json.dumps(TWO[:1]) + json.dumps(TWO[1:]),
        "\n".join(json.dumps(row, indent=4) for row in TWO),
        json.dumps({row["instance_id"]: row for row in TWO}),
        json.dumps({row["instance_id"]: {**row, "instance_id": None} for row in TWO}, indent=1),
        json.dumps({"version": "1.0", "data": TWO}),
        json.dumps({"instances": TWO}, indent=2),
        json.dumps({"features": [{"name": "x"}], "rows": [{"row_idx": 0, "row": row} for row in TWO]}),
        "".join(json.dumps(row) + "\r\n" for row in TWO),
        "\ufeff" + "\n\ufeff".join(map(json.dumps, TWO)) + "\n",
        "\ufeff\ufeff" + json.dumps(TWO),
        "\n \n\t\n" + "\n\n".join(map(json.dumps, TWO)) + "\n\n",
    ],
    ids=[
        "lines", "array", "pretty array", "two arrays", "pretty objects", "by id", "pretty by id",
        "list within", "pretty list within", "datasets server", "crlf", "marks", "marked array", "blanks",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["data.jsonl", "data.json", "data.parquet", "data"])
def test_the_content_decides_how_a_file_is_read_and_not_its_name(
    content: str, name: str, tmp_path: Path
) -> None:
    plain, _ = load(TWO, tmp_path, "plain.jsonl")

    entries, _ = load(content, tmp_path, name)

    assert entries == plain
    assert len(entries) == 2


def test_a_single_row_is_a_benchmark_in_any_form(tmp_path: Path) -> None:
    for text in (json.dumps(a_row()), json.dumps(a_row(), indent=2), json.dumps([a_row()])):
        assert [entry.instance_id for entry in load(text, tmp_path)[0]] == ["acme__Widgets-1"]


def test_an_array_longer_than_any_buffer_gives_the_same_entries_as_its_lines(tmp_path: Path) -> None:
    rows = [
        a_row(number, problem_statement='ä\\"\u2028\U0001f600[{,}]' * (number % 7 * 3_000))
        for number in range(60)
    ]
    rows.append(a_row(99, patch=PATCH + "+x" * 1_500_000))

    lines, _ = load(rows, tmp_path)
    array, _ = load(json.dumps(rows, ensure_ascii=False, indent=1), tmp_path, "data.json")

    assert array == lines
    assert len(array[-1].patch) > 3_000_000


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.text(max_size=40), min_size=1, max_size=5),
    chunk=st.integers(1, 50),
    indent=st.booleans(),
)
def test_an_array_reads_the_same_wherever_a_buffer_ends(
    texts: list[str], chunk: int, indent: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [a_row(number, problem_statement=text) for number, text in enumerate(texts)]
    folder = tmp_path_factory.mktemp("chunks")
    lines, _ = load(rows, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bccontam.datasets.json_document._CHUNK", chunk)
        array, _ = load(
            json.dumps(rows, ensure_ascii=False, indent=2 if indent else None), folder, "data.json"
        )

    assert array == lines


def test_line_separators_of_unicode_are_text(tmp_path: Path) -> None:
    text = "a\u2028b\u0085c\u2029d\x1e\x0c"

    entries, warnings = load(json.dumps(a_row(problem_statement=text), ensure_ascii=False), tmp_path)

    assert entries[0].problem_statement == text
    assert warnings == []


def test_several_files_are_one_benchmark_in_sorted_order(tmp_path: Path) -> None:
    for number in (2, 1, 3):
        write(tmp_path / f"part-{number}.jsonl", [a_row(number)])
    write(tmp_path / "other.jsonl", [a_row(4)])
    write(tmp_path / "part-0.jsonl" / "x", b"")

    entries = load_entries(str(tmp_path / "part-*.jsonl"))

    assert [entry.instance_id for entry in entries] == [f"acme__Widgets-{number}" for number in (1, 2, 3)]


def test_a_duplicate_across_files_is_one(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [a_row(1)])
    write(tmp_path / "b.jsonl", [a_row(1), a_row(2)])
    warnings: list[str] = []

    assert len(list(load_entries(tmp_path / "*.jsonl", warn=warnings.append))) == 2
    assert warnings == [f"{tmp_path}/b.jsonl: duplicate acme__Widgets-1 (identical), kept once."]

    write(tmp_path / "b.jsonl", [a_row(1, patch=PATCH + " \n")])
    with pytest.raises(DatasetError, match=r"b\.jsonl, line 1: conflicting .* line 1 of a\.jsonl"):
        load_entries(tmp_path / "*.jsonl")


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    assert len(load([a_row()], tmp_path, "data[1].jsonl")[0]) == 1


def test_warnings_go_to_the_log_unless_someone_listens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    list(load_entries(write(tmp_path / "data.jsonl", [a_row(), a_row()])))

    assert [(record.name, record.levelname) for record in caplog.records] == [("bccontam", "WARNING")]


# --- duplicates ---


def test_identical_rows_are_one_entry_and_told_about_once(tmp_path: Path) -> None:
    entries, warnings = load([a_row(1), a_row(2), a_row(1), a_row(2), a_row(2)], tmp_path)

    assert [entry.instance_id for entry in entries] == ["acme__Widgets-1", "acme__Widgets-2"]
    assert warnings == [
        f"{tmp_path}/data.jsonl: duplicate acme__Widgets-1 (identical) and 2 more, kept once."
    ]


def test_rows_that_differ_in_what_is_not_read_are_identical(tmp_path: Path) -> None:
    rows = [
        a_row(1),
        a_row(1, hints_text="x", base_commit="f", created_at="2025-03-01T08:00:00Z", metadata={}),
    ]

    assert len(load(rows, tmp_path)[0]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"patch": PATCH.replace("new", "newer")},
        {"problem_statement": "Another report."},
        {"created_at": "2025-04-01"},
        {"repo": "acme/other"},
        {"metadata": {"area": "sales"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_rows_of_one_id_that_differ_are_a_conflict(change: dict[str, Any], tmp_path: Path) -> None:
    message = refusal([a_row(1), a_row(2), a_row(1, **change)], tmp_path)

    assert "line 3: conflicting duplicate of acme__Widgets-1: line 1 has the same id" in message
    assert ("area" if "metadata" in change else next(iter(change))) in message


def test_a_number_and_its_text_are_the_same_id(tmp_path: Path) -> None:
    assert "conflicting duplicate of 42" in refusal(
        [a_row(instance_id=42), a_row(instance_id="42", patch="")], tmp_path
    )


def test_ids_that_differ_in_case_are_two_entries_and_worth_a_warning(tmp_path: Path) -> None:
    entries, warnings = load([a_row(instance_id="acme-1"), a_row(instance_id="ACME-1")], tmp_path)

    assert len(entries) == 2
    assert "differ in nothing but letter case: ACME-1" in warnings[0]


def test_of_a_key_that_stands_twice_the_last_value_counts(tmp_path: Path) -> None:
    text = json.dumps(a_row()).replace('"created_at"', '"created_at": "2024-01-01", "created_at"')

    for content in (text, f"[{text}]"):
        entries, warnings = load(content, tmp_path)
        assert entries[0].created_at == date(2025, 3, 1)
        assert len(warnings) == 1
        assert "duplicate key created_at of acme__Widgets-1 (line 1); the last value counts" in warnings[0]


# --- warnings ---


def test_every_kind_of_oddity_is_one_line_with_its_first_place_and_count(tmp_path: Path) -> None:
    content = "\ufeff" + json.dumps(a_row(1)) + "\r\n" + "\n\ufeff" + json.dumps(a_row(2)) + "\r\n\n"

    _, warnings = load(content, tmp_path)

    assert [warning.removeprefix(f"{tmp_path}/data.jsonl: ") for warning in warnings] == [
        "a byte order mark at the start of line 1 and 1 more; ignored.",
        "CRLF line ends in line 1 and 1 more; read as LF.",
        "blank: line 2 and 1 more; skipped.",
    ]


def test_dates_that_cannot_be_read_are_told_by_id_and_missing_ones_are_not(tmp_path: Path) -> None:
    dates = ["8/4/2026", "", None, "NaT", "20255-01-01", ..., True]

    entries, warnings = load([a_row(number, created_at=day) for number, day in enumerate(dates)], tmp_path)

    assert [entry.created_at for entry in entries] == [None] * 7
    assert warnings == [
        f"{tmp_path}/data.jsonl: created_at cannot be read as a date and counts as undated: "
        "acme__Widgets-0 and 2 more."
    ]


def test_hostile_ids_are_escaped_in_warnings(tmp_path: Path) -> None:
    name = "a##[error]%0Ab`é"

    _, warnings = load([a_row(instance_id=name, created_at="?")], tmp_path)

    assert "a\\x23\\x23\\x5berror\\x5d\\x250Ab\\x60\\xe9" in warnings[0]


# --- memory ---


@pytest.mark.parametrize("as_text", [lambda row: json.dumps(row) + "\n", None], ids=["lines", "array"])
def test_memory_does_not_grow_with_the_patches(
    as_text: Callable[[object], str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bccontam.datasets.json_document._CHUNK", 1 << 14)

    def peak(count: int) -> int:
        rows = [a_row(number, patch=PATCH + "+x" * 10_000) for number in range(count)]
        text = "".join(map(as_text, rows)) if as_text else json.dumps(rows)
        file = write(tmp_path / "data.json", text)
        del rows, text
        tracemalloc.start()
        try:
            assert sum(1 for _ in load_entries(file)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    few, many = peak(10), peak(200)

    assert many - few < 200_000  # 190 patches of 20 kB more: they would be 3.8 MB


def test_importing_the_readers_loads_no_parquet_library() -> None:
    import subprocess

    code = "import sys, bccontam.datasets; sys.exit('pyarrow' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
