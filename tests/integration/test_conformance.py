"""Agreement with an independent implementation on stored answers to 101 real entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bccontam.answer import parse_prediction
from bccontam.contamination import HIT, Aggregate, aggregate, compare, split_by_cutoff
from bccontam.datasets import load_entries
from bccontam.score import score_prediction
from bccontam.store import load_results
from tests.support.paths import BC_BENCH, SHARED, needs_shared

pytestmark = needs_shared
FIELDS = (
    "count",
    "scored",
    "error_count",
    "exact_hit_rate",
    "basename_hit_rate",
    "mean_exact_recall",
    "mean_basename_recall",
)


def expected_aggregates() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        (SHARED / "conformance" / "aggregate.json").read_text(encoding="utf-8")
    )
    return loaded


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answers as a folder of results in the benchmark's own layout, one file an entry."""
    folder = tmp_path_factory.mktemp("results")
    entries = {entry.instance_id: entry for entry in load_entries(BC_BENCH)}
    for answer in expected_aggregates()["answers"]:
        entry = entries[answer["instance_id"]]
        gold = [file.path for file in entry.gold_files]
        predicted = list(parse_prediction(answer["raw_output"], 3).paths)
        score = score_prediction(predicted, gold)
        row = {
            "instance_id": entry.instance_id,
            "model": "stored-model",
            "category": "bug-fix",
            "created_at": str(entry.created_at),
            "area": entry.area,
            "top_k": 3,
            "gold_files": gold,
            "predicted_files": predicted,
            "score": {
                name: getattr(score, name)
                for name in ("exact_hit", "basename_hit", "exact_recall", "basename_recall")
            },
            "raw_output": answer["raw_output"],
            "error": answer["error"],
        }
        path = folder / f"{entry.instance_id}.file-path-identification.jsonl"
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder


def assert_agrees(found: Aggregate, expected: dict[str, Any]) -> None:
    assert {name: getattr(found, name) for name in FIELDS} == {name: expected[name] for name in FIELDS}


def test_every_row_is_scored_as_there() -> None:
    lines = (SHARED / "conformance" / "scores.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert len(rows) == 606
    for row in rows:
        prediction = parse_prediction(row["raw_output"], 3)
        assert list(prediction.paths) == row["predicted_files"], row["raw_output"]
        score = score_prediction(prediction.paths, row["gold_files"])
        for name in ("exact_hit", "basename_hit", "exact_recall", "basename_recall"):
            assert getattr(score, name) == row[name]


def test_the_aggregate_of_all_results_agrees(stored: Path) -> None:
    assert_agrees(aggregate(load_results(stored)), expected_aggregates()["all"])


@pytest.mark.parametrize("cutoff", ["2024-06-01", "2025-01-01", "2025-06-01", "2025-09-15", "2026-01-01"])
def test_the_aggregates_at_every_cutoff_agree(stored: Path, cutoff: str) -> None:
    expected = expected_aggregates()["cutoffs"][cutoff]
    split = split_by_cutoff(load_results(stored), cutoff)
    assert_agrees(aggregate(split.pre), expected["pre"])
    if expected["control"]["scored"] == 0:
        # By design: where a group is empty there is no rate and no signal, not the other group's rate.
        assert aggregate(split.control).basename_hit_rate is None
        assert compare(split.pre, split.control, HIT["basename"], "basename").value is None
        return
    assert_agrees(aggregate(split.control), expected["control"])
    for metric in ("basename", "exact"):
        signal = compare(split.pre, split.control, HIT[metric], metric)
        assert signal.value == pytest.approx(expected[f"{metric}_signal"], abs=1e-15)
