from __future__ import annotations

import builtins
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bccontam.datasets import DatasetError, load_entries
from tests.support.datasets import PATCH, a_row, load, refusal


def write_parquet(file: Path, columns: dict[str, Any]) -> Path:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), file)
    return file


def parquet_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_parquet_gives_the_same_entries_as_json_lines(tmp_path: Path) -> None:
    rows = [a_row(number, metadata={"area": "Sales"}, patch=PATCH.split("\n")) for number in range(200)]
    lines, _ = load(rows, tmp_path)

    assert list(load_entries(write_parquet(tmp_path / "data.jsonl", parquet_columns(rows)))) == lines


def test_times_in_parquet_are_utc_days_in_any_unit_and_zone(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    days = [datetime(2025, 3, 1, 23, 30, 0, 123456, tzinfo=UTC), None, datetime(1960, 1, 1, 1, tzinfo=UTC)]
    rows = parquet_columns([a_row(1), a_row(2), a_row(3)])
    for number, unit in enumerate([("s", None), ("ms", "UTC"), ("us", "America/New_York"), ("ns", None)]):
        column = pa.array(days, pa.timestamp("us", "UTC")).cast(pa.timestamp(*unit), safe=False)
        file = write_parquet(tmp_path / f"{number}.parquet", {**rows, "created_at": column})

        found = [entry.created_at for entry in load_entries(file)]
        assert found == [date(2025, 3, 1), None, date(1960, 1, 1)]


def test_nanoseconds_and_days_beyond_the_calendar_do_no_harm(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for unit, ticks, day in (("ns", 1740823200123456789, date(2025, 3, 1)), ("s", 10**15, None)):
        column = pa.array([ticks], pa.int64()).cast(pa.timestamp(unit))
        file = write_parquet(
            tmp_path / f"{unit}.parquet", {**parquet_columns([a_row()]), "created_at": column}
        )

        assert [entry.created_at for entry in load_entries(file)] == [day]


@pytest.mark.parametrize("kind", ["large_string", "binary", "large_binary", "string_view"])
def test_text_in_parquet_may_have_any_physical_type(kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    row = parquet_columns([a_row()])
    columns = {name: pa.array(values).cast(getattr(pa, kind)()) for name, values in row.items()}
    lines, _ = load([a_row()], tmp_path)

    assert list(load_entries(write_parquet(tmp_path / "data.parquet", columns))) == lines


def test_parquet_without_rows_or_ids_is_refused(tmp_path: Path) -> None:
    empty: dict[str, list[str]] = {name: [] for name in a_row()}
    for columns, words in ((empty, "no entries"), ({"x": [1]}, "row 1: it has no instance_id")):
        with pytest.raises(DatasetError, match=words):
            load_entries(write_parquet(tmp_path / "data.parquet", columns))


def test_damaged_parquet_is_refused_in_one_sentence(tmp_path: Path) -> None:
    rows = [a_row(number, problem_statement=os.urandom(2_000).hex()) for number in range(200)]
    content = write_parquet(tmp_path / "whole.parquet", parquet_columns(rows)).read_bytes()
    middle = len(content) // 2

    for damaged in (content[:-100], content[: middle - 5_000] + b"\xff" * 10_000 + content[middle + 5_000 :]):
        assert "damaged Parquet" in refusal(damaged, tmp_path, "data.parquet")


def test_parquet_without_the_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_parquet(tmp_path / "data.parquet", parquet_columns([a_row()]))
    really = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return really(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)

    with pytest.raises(DatasetError, match=r"needs pyarrow: .* pip install '\.\[parquet\]'"):
        load_entries(file)


def test_a_bad_row_in_parquet_is_named_by_its_number(tmp_path: Path) -> None:
    rows = [a_row(number) for number in range(150)]
    rows[99]["instance_id"] = "../x"

    with pytest.raises(DatasetError, match="row 100: unsafe instance_id"):
        load_entries(write_parquet(tmp_path / "data.parquet", parquet_columns(rows)))
