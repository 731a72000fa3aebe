from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bccontam.errors import StoreError
from bccontam.result import RunRecord
from bccontam.store import (
    SUFFIX,
    ResultStore,
    load_records,
    load_results,
    to_json_line,
    write_record,
)
from tests.support.builders import failed, hit, make_result, miss


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_result_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    result = make_result(
        predicted=("src/Größe.al",), raw_output='["src/Größe.al"]\u2028', seconds=0.5, copied=True
    )
    with ResultStore(tmp_path, "run") as store:
        store.append(result)
    assert list(load_results(tmp_path)) == [result]
    assert list(load_results(tmp_path / f"run{SUFFIX}")) == [result]


def test_a_result_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    with ResultStore(tmp_path, "run") as store:
        store.append(hit("a"))
        assert len(list(load_results(tmp_path))) == 1


def test_one_result_is_one_line_with_the_field_names_of_bc_bench(tmp_path: Path) -> None:
    row = json.loads(to_json_line(hit("a")))
    assert list(row)[:11] == [
        "instance_id",
        "model",
        "category",
        "created_at",
        "area",
        "top_k",
        "gold_files",
        "predicted_files",
        "score",
        "raw_output",
        "error",
    ]
    assert {"exact_hit", "basename_hit", "exact_recall", "basename_recall"} <= set(row["score"])
    assert isinstance(json.loads(to_json_line(hit("a", "")))["created_at"], str)


def test_a_half_written_last_line_is_dropped_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / f"run{SUFFIX}"
    path.write_bytes(to_json_line(hit("a")) + to_json_line(hit("b"))[:40])
    warnings: list[str] = []
    assert [r.instance_id for r in load_results(tmp_path, warn=warnings.append)] == ["a"]
    assert len(warnings) == 1


def test_a_resumed_store_starts_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / f"run{SUFFIX}"
    path.write_bytes(to_json_line(hit("a")) + to_json_line(hit("b"))[:40])
    with ResultStore(tmp_path, "run", warn=lambda _: None) as store:
        assert store.completed == {"a/0"}
        store.append(hit("b"))
    assert [r.instance_id for r in load_results(tmp_path)] == ["a", "b"]


def test_a_last_line_that_lacks_only_its_line_feed_is_kept(tmp_path: Path) -> None:
    path = tmp_path / f"run{SUFFIX}"
    path.write_bytes(to_json_line(hit("a")).rstrip(b"\n"))
    with ResultStore(tmp_path, "run") as store:
        assert store.completed == {"a/0"}
        store.append(hit("b"))
    assert [r.instance_id for r in load_results(tmp_path)] == ["a", "b"]


def test_a_broken_line_in_the_middle_is_named_without_its_text(tmp_path: Path) -> None:
    path = tmp_path / f"run{SUFFIX}"
    path.write_bytes(to_json_line(hit("a")) + b'{"instance_id": "SECRET-GOLD"}\n' + to_json_line(hit("b")))
    with pytest.raises(StoreError, match="line 2") as caught:
        list(load_results(tmp_path))
    assert "SECRET-GOLD" not in str(caught.value)


def test_an_error_that_was_asked_again_is_given_once_as_the_good_answer(tmp_path: Path) -> None:
    with ResultStore(tmp_path, "run") as store:
        store.append(failed("a"))
        store.append(hit("a"))
    with ResultStore(tmp_path, "other") as store:
        assert store.completed == {"a/0"}
        store.append(failed("a"))
    assert [r.error for r in load_results(tmp_path)] == [None]


def test_errors_are_not_completed(tmp_path: Path) -> None:
    with ResultStore(tmp_path, "run") as store:
        store.append(failed("a"))
        store.append(miss("b"))
    with ResultStore(tmp_path, "run") as store:
        assert store.completed == {"b/0"}


def test_two_writers_of_one_file_are_refused(tmp_path: Path) -> None:
    with (
        ResultStore(tmp_path, "run"),
        pytest.raises(StoreError, match="Another run"),
        ResultStore(tmp_path, "run"),
    ):
        pass


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="Cannot write results"), ResultStore(blocked / "results", "run"):
        pass


def test_nothing_at_the_path_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No stored results"):
        list(load_results(tmp_path / "absent"))


def test_lone_surrogates_are_stored_as_replacement_characters(tmp_path: Path) -> None:
    with ResultStore(tmp_path, "run") as store:
        store.append(replace(hit("a"), raw_output="caf\udce9"))
    [result] = load_results(tmp_path)
    assert "\udce9" not in result.raw_output
    assert result.raw_output.startswith("caf")


def test_a_row_of_bc_bench_is_completed_from_what_it_holds(tmp_path: Path) -> None:
    row = {
        "instance_id": "microsoft__BCApps-1",
        "model": "m",
        "category": "bug-fix",
        "created_at": "2025-11-26T21:22:42Z",
        "area": None,
        "top_k": 3,
        "gold_files": ["App/src/A.Table.al"],
        "predicted_files": ["src/src/A.Table.al"],
        "score": {"exact_hit": False, "basename_hit": True, "exact_recall": 0.0, "basename_recall": 1.0},
        "raw_output": "[...]",
        "error": None,
        "metrics": {"unknown": "fields are ignored"},
    }
    refused = row | {
        "instance_id": "x-2",
        "predicted_files": [],
        "raw_output": "I cannot tell which file it is.",
    }
    broken = row | {"instance_id": "x-3", "predicted_files": [], "error": "TimeoutExpired: 900 s"}
    path = tmp_path / f"all{SUFFIX}"
    path.write_text("\n".join(json.dumps(r) for r in (row, refused, broken)), encoding="utf-8")
    first, second, third = load_results(path)
    assert str(first.day) == "2025-11-26"
    assert first.score.basename_hit
    assert second.status == "refusal"
    assert second.scored
    assert third.status == "error"
    assert not third.scored


def test_run_records_come_back_and_leave_no_part_behind(tmp_path: Path) -> None:
    record = RunRecord(shard="2/3", unscorable=(("a", "no gold file in its patch"),), not_asked=4)
    write_record(tmp_path, "run.2-of-3", record)
    assert load_records(tmp_path) == [record]
    assert names(tmp_path) == ["run.2-of-3.run.json"]


def test_a_broken_run_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.run.json").write_text("{")
    with pytest.raises(StoreError, match=r"x\.run\.json"):
        load_records(tmp_path)
