"""Leakage, copied answers and the naming floor on the real benchmarks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bccontam.answer import parse_prediction
from bccontam.datasets import load_entries
from bccontam.entry import Entry
from bccontam.file_index import FileIndex
from bccontam.leakage import copied_from_question, leakage_grade
from bccontam.models.base import Question
from bccontam.models.naming import NamingModel, propose_files
from bccontam.score import score_prediction
from tests.support.paths import BC_BENCH, LOC_BENCH, SWE_BENCH_JSONL, needs_shared

pytestmark = needs_shared


def entries_of(dataset: Path) -> list[Entry]:
    return list(load_entries(dataset))


def gold_of(entry: Entry) -> list[str]:
    return [file.path for file in entry.gold_files]


def grades_of(dataset: Path) -> Counter[str]:
    return Counter(leakage_grade(entry.problem_statement, gold_of(entry)) for entry in entries_of(dataset))


def test_bc_bench_leaks_one_path_one_basename_and_28_object_names() -> None:
    assert grades_of(BC_BENCH) == {"path": 1, "basename": 1, "object-name": 28, "none": 71}


def test_the_two_plain_leaks_of_bc_bench_are_the_known_entries() -> None:
    leaks = {
        entry.instance_id: grade
        for entry in entries_of(BC_BENCH)
        if (grade := leakage_grade(entry.problem_statement, gold_of(entry))) in {"path", "basename"}
    }
    assert leaks == {"microsoft__BCApps-4699": "path", "microsoftInternal__NAV-224668": "basename"}


def test_swe_bench_verified_leaks_a_path_or_basename_in_133_entries() -> None:
    """117 paths: 107 as they stand, and ten written with the separators of Windows."""
    grades = grades_of(SWE_BENCH_JSONL)
    assert grades["path"] == 117
    assert grades["path"] + grades["basename"] == 133


def test_107_gold_paths_of_swe_bench_verified_stand_in_the_statement_character_by_character() -> None:
    verbatim = [
        entry
        for entry in entries_of(SWE_BENCH_JSONL)
        if any(path in entry.problem_statement for path in gold_of(entry))
    ]
    assert len(verbatim) == 107
    assert {leakage_grade(entry.problem_statement, gold_of(entry)) for entry in verbatim} == {"path"}


def test_the_gold_files_of_a_leaking_entry_count_as_copied_and_of_no_other() -> None:
    for entry in entries_of(BC_BENCH):
        leaks = leakage_grade(entry.problem_statement, gold_of(entry)) in {"path", "basename"}
        assert copied_from_question(gold_of(entry), entry.problem_statement) is leaks


def test_the_naming_convention_alone_finds_a_quarter_of_bc_bench() -> None:
    entries = entries_of(BC_BENCH)
    hits = [
        score_prediction(propose_files(entry.problem_statement, 3), gold_of(entry)).basename_hit
        for entry in entries
    ]
    assert (sum(hits), len(hits)) == (28, 101)


def test_module_names_alone_find_a_third_of_loc_bench() -> None:
    entries = entries_of(LOC_BENCH)
    hits = [
        score_prediction(
            propose_files(entry.problem_statement, 3, convention="generic"), gold_of(entry)
        ).basename_hit
        for entry in entries
    ]
    assert 0.33 < sum(hits) / len(hits) < 0.37


def test_a_list_of_real_paths_lifts_the_floor() -> None:
    entries = entries_of(BC_BENCH)
    index = FileIndex.from_lines(sorted({path for entry in entries for path in gold_of(entry)}))
    hits = [
        score_prediction(index.search(entry.problem_statement, 3), gold_of(entry)).exact_hit
        for entry in entries
    ]
    assert sum(hits) > 60


def test_every_answer_of_the_naming_backend_reads_back_as_its_own_paths() -> None:
    model = NamingModel()
    for entry in entries_of(BC_BENCH):
        question = Question(entry.instance_id, entry.repo, entry.problem_statement, "", "", top_k=3)
        answer = model.ask(question, timeout=1)
        assert parse_prediction(answer.text, top_k=3).paths == propose_files(entry.problem_statement, 3)
