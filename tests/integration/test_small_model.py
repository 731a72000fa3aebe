"""Ten real entries asked of a real small model, over HTTP and into a real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from bccontam.datasets import load_entries
from bccontam.entry import Entry
from bccontam.facts import FactFinder
from bccontam.models.openai import OpenAIModel
from bccontam.probe import ProbeSettings, run_probe
from bccontam.prompts import load_prompt
from bccontam.store import ResultStore, load_results
from tests.support.paths import BC_BENCH, needs_shared
from tests.support.real import need_real
from tests.support.small_model import NAME, small_model, weights


def ten_short_entries() -> list[Entry]:
    """The entries with the shortest reports: a model on two cores reads some 200 tokens a second."""
    entries = [entry for entry in load_entries(BC_BENCH) if not entry.unscorable]
    return sorted(entries, key=lambda entry: len(entry.problem_statement))[:10]


@pytest.mark.real
@needs_shared
def test_ten_real_entries_are_answered_by_a_real_model_and_stored(tmp_path: Path) -> None:
    need_real(weights(), "The small model")
    entries = ten_short_entries()
    with small_model() as url:
        model = OpenAIModel(url, "", NAME, temperature=0.0, json_schema=True, max_tokens=300)
        settings = ProbeSettings(concurrency=2, timeout=300.0)
        with ResultStore(tmp_path, "small") as store:
            first = run_probe(
                entries, model, store, load_prompt("al"), settings, facts=FactFinder(3), total=10
            )
        with ResultStore(tmp_path, "small") as store:
            second = run_probe(entries, model, store, load_prompt("al"), settings, facts=FactFinder(3))
        model.close()
    results = list(load_results(tmp_path))
    assert {result.instance_id for result in results} == {entry.instance_id for entry in entries}
    assert (first.asked, first.errors, len(results)) == (10, 0, 10)
    assert (second.asked, second.reused) == (0, 10)
    assert first.input_tokens == sum(result.input_tokens or 0 for result in results)
    for result in results:
        assert result.model == NAME
        assert (result.tools_sent, result.sandbox, result.prompt_owner) == (0, "no process", "ours")
        assert (result.input_tokens or 0) > 100
        assert (result.output_tokens or 0) > 0
        assert result.finish_reason in ("stop", "length")
        assert result.status in ("ok", "truncated", "empty", "echo")
        assert len(result.predicted_files) <= 3
        assert result.predicted_files or result.status != "ok"
    assert sum(result.status in ("ok", "echo") for result in results) >= 8
