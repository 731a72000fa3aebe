from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.errors import StoreError
from bccontam.github.files import SUMMARY_BYTES, write_outputs, write_summary
from tests.support.paths import shared_cases
from tests.support.runner import read_outputs


def written(tmp_path: Path, outputs: dict[str, str]) -> dict[str, str]:
    path = tmp_path / "output"
    path.write_text("")
    write_outputs({"GITHUB_OUTPUT": str(path)}, outputs)
    with path.open(encoding="utf-8", newline="") as file:
        return read_outputs(file.read())


@pytest.mark.parametrize(
    "value", ["", "signal", "-0.25", "a\nEOF\nhit-rate=0\nx<<EOF\ny", "a\r\nb\rc", "x=y<<z", "größe"]
)
def test_a_value_comes_back_whole_and_alone(tmp_path: Path, value: str) -> None:
    assert written(tmp_path, {"verdict": value, "p-value": "1"}) == {"verdict": value, "p-value": "1"}


@given(st.text(max_size=40))
def test_any_value_comes_back(value: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        assert set(written(Path(folder), {"verdict": value})) == {"verdict"}


CASES = [case for case in shared_cases("github") if case.values[0]["id"] == "D055"]


@pytest.mark.parametrize("case", CASES)
def test_a_fixed_delimiter_in_a_value_ends_nothing(tmp_path: Path, case: dict[str, Any]) -> None:
    assert written(tmp_path, {"answer": case["input"]["value"]}) == case["expected"]["outputs_parsed_back"]


def test_outputs_are_appended_after_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("earlier<<x\n1\nx\n")
    write_outputs({"GITHUB_OUTPUT": str(path)}, {"later": "2"})
    assert read_outputs(path.read_text()) == {"earlier": "1", "later": "2"}


def test_without_a_runner_nothing_is_written(tmp_path: Path) -> None:
    write_outputs({}, {"verdict": "signal"})
    assert write_summary({}, "page") is False
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="GITHUB_OUTPUT"):
        write_outputs({"GITHUB_OUTPUT": str(tmp_path)}, {"verdict": "signal"})


def test_a_summary_is_written_unless_the_runner_would_drop_it(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    assert write_summary(environ, "x" * (SUMMARY_BYTES + 1)) is False
    assert write_summary(environ, "page caf\udce9")
    assert path.read_text() == "page caf\\udce9\n"
