"""Where the shared test material lies: beside the checkout, absent on a user's machine.

Tests that need it take `SHARED` through `needs_shared`; in CI the folder is always there and must be.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("BCCONTAM_SHARED", ROOT.parent / "shared"))

if os.environ.get("CI") == "true" and not SHARED.is_dir() and not os.environ.get("GITHUB_ACTIONS"):
    raise RuntimeError(f"the shared test material is missing at {SHARED}; in CI its tests must run")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared test material is not here")

BC_BENCH = SHARED / "data" / "bc-bench" / "bcbench.jsonl"
SWE_BENCH_JSONL = SHARED / "data" / "swe-bench-verified" / "test.jsonl"
SWE_BENCH_PARQUET = SHARED / "data" / "swe-bench-verified" / "test.parquet"
LOC_BENCH = SHARED / "data" / "loc-bench" / "test.jsonl"


def shared_cases(name: str) -> list[Any]:
    """The cases of `cases/NAME.jsonl` as pytest parameters with their ids; empty where it is absent."""
    path = SHARED / "cases" / f"{name}.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    return [pytest.param(row, id=row["id"]) for row in rows]
