"""The published JSON schemas are those of the types, and what is written keeps to them."""

from __future__ import annotations

import json
import runpy
from datetime import date
from typing import Any

import jsonschema
import pytest
from pydantic import TypeAdapter

from bccontam.plan import Plan, PlanRequest, build_plan
from bccontam.report.data import Request, build_report
from bccontam.report.shape import Report
from bccontam.store import to_json_line
from tests.support.builders import failed, group, make_entry, make_result
from tests.support.paths import ROOT

SCHEMA_TEXT = runpy.run_path(str(ROOT / "script" / "schemas"))["schema_text"]


def published(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("name", ["report", "plan", "result"])
def test_a_published_schema_is_that_of_the_types(name: str) -> None:
    assert (ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8") == SCHEMA_TEXT(name), (
        "run `.venv/bin/python script/schemas`"
    )
    jsonschema.Draft202012Validator.check_schema(published(name))


@pytest.mark.parametrize("cutoff", [None, date(2025, 6, 1), date(1999, 1, 1)])
def test_a_report_keeps_to_its_schema(cutoff: date | None) -> None:
    results = [
        *group(6, 9, "2024-01-01"),
        *group(1, 8, "2026-01-01"),
        failed("x", "2026-01-02"),
        make_result("u", ""),
    ]
    report = build_report(results, Request(cutoff=cutoff, reference=results, baseline=results))
    written = json.loads(TypeAdapter(Report).dump_json(report))
    jsonschema.validate(written, published("report"))
    assert {"verdict", "reason", "signal", "groups", "deltas", "schema_version"} <= set(written)
    if cutoff is None:
        assert written["signal"]["value"] is None
        assert written["groups"]["control"]["basename_hit_rate"] is None


def test_a_plan_and_a_result_keep_to_their_schemas() -> None:
    plan = build_plan([make_entry("a"), make_entry("b", patch="")], PlanRequest(cutoff=date(2025, 6, 1)))
    jsonschema.validate(json.loads(TypeAdapter(Plan).dump_json(plan)), published("plan"))
    for result in (make_result(predicted=("a.al",)), failed("b", "")):
        jsonschema.validate(json.loads(to_json_line(result)), published("result"))
