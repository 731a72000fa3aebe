"""Predicted paths times gold paths."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.paths import normalize_path
from bccontam.score import Score, score_prediction
from tests.support.paths import SHARED, needs_shared

MISS = Score(False, False, 0.0, 0.0)
PATHS = st.lists(
    st.one_of(
        st.sampled_from(
            ["x.al", "X.al", "src/x.al", "a/src/x.al", "app/src/x.al", "lib/y.al", "./lib\\y.al", "", "/"]
        ),
        st.text(alphabet="abxX./\\ \u00a0", max_size=6),
    ),
    max_size=6,
)


@needs_shared
def test_every_stored_answer_scores_as_an_independent_implementation_has_it() -> None:
    text = (SHARED / "conformance" / "scores.jsonl").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.split("\n") if line]
    assert len(rows) == 606
    metrics = ("exact_hit", "basename_hit", "exact_recall", "basename_recall")
    for row in rows:
        score = score_prediction(row["predicted_files"], row["gold_files"])
        assert {name: getattr(score, name) for name in metrics} == {name: row[name] for name in metrics}, row


def test_an_exact_path_hits_on_every_metric() -> None:
    assert score_prediction(["src/x.al"], ["src/x.al"]) == Score(True, True, 1.0, 1.0, True, 1.0)


def test_exact_heeds_case_and_the_others_do_not() -> None:
    score = score_prediction(["SRC/x.al"], ["src/X.al"])
    assert (score.exact_hit, score.basename_hit, score.suffix_hit) == (False, True, True)


def test_another_root_folder_hits_on_the_suffix_only() -> None:
    score = score_prediction(["src/Apps/W1/Shop/X.al"], ["App/Apps/W1/Shop/X.al"])
    assert score == Score(False, True, 0.0, 1.0, True, 1.0)


def test_the_suffix_depth_decides_how_much_of_a_path_must_agree() -> None:
    predicted, gold = ["one/Shop/X.al"], ["two/Shop/X.al"]
    assert not score_prediction(predicted, gold).suffix_hit
    assert score_prediction(predicted, gold, suffix_depth=2).suffix_hit


def test_recall_is_the_share_of_distinct_gold_that_was_predicted() -> None:
    gold = ["src/x.al", "src/y.al", "lib/X.al", "src/x.al"]
    score = score_prediction(["src/x.al", "wrong.al"], gold)
    assert score.exact_recall == 1 / 3
    assert score.basename_recall == 1 / 2


def test_wrong_guesses_cost_nothing() -> None:
    gold = ["src/x.al"]
    assert score_prediction(["w.al", "v.al", "src/x.al"], gold) == score_prediction(["src/x.al"], gold)


def test_a_diff_prefix_in_an_answer_does_not_matter() -> None:
    for predicted in ("a/src/x.al", "b/src/x.al", "src/x.al"):
        assert score_prediction([predicted], ["src/x.al"]).exact_hit


def test_a_gold_file_below_a_real_directory_a_can_be_hit() -> None:
    for predicted in ("a/core.py", normalize_path("a/core.py"), "a/a/core.py", "b/a/core.py"):
        assert score_prediction([predicted], ["a/core.py"]).exact_hit


def test_nothing_predicted_or_no_gold_is_a_miss() -> None:
    assert score_prediction([], ["x.al"]) == MISS
    assert score_prediction(["x.al"], []) == MISS
    assert score_prediction([], []) == MISS
    assert score_prediction([""], ["", "/"]) == MISS


@settings(max_examples=200, deadline=None)
@given(PATHS, PATHS)
def test_a_score_is_what_its_definition_says(predicted: list[str], gold: list[str]) -> None:
    def recall(guesses: set[str], truths: set[str]) -> float:
        truths, guesses = truths - {""}, guesses - {""}
        return len(guesses & truths) / len(truths) if truths else 0.0

    guesses = {normalize_path(path) for path in predicted}
    truths = {normalize_path(path) for path in gold}
    score = score_prediction(predicted, gold)
    assert score.exact_recall == recall(guesses, truths)
    assert score.basename_recall == recall(
        {path.split("/")[-1].lower() for path in guesses}, {path.split("/")[-1].lower() for path in truths}
    )
    assert score.suffix_recall == recall(
        {"/".join(path.split("/")[-3:]).lower() for path in guesses},
        {"/".join(path.split("/")[-3:]).lower() for path in truths},
    )


@settings(max_examples=200, deadline=None)
@given(PATHS, PATHS)
def test_a_hit_is_never_less_than_its_recall_and_recalls_are_shares(
    predicted: list[str], gold: list[str]
) -> None:
    score = score_prediction(predicted, gold)
    for hit, recall in (
        (score.exact_hit, score.exact_recall),
        (score.basename_hit, score.basename_recall),
        (score.suffix_hit, score.suffix_recall),
    ):
        assert 0.0 <= recall <= hit
        assert hit == (recall > 0)
    assert score.exact_hit <= score.suffix_hit <= score.basename_hit


@settings(max_examples=200, deadline=None)
@given(PATHS, PATHS)
def test_order_duplicates_and_spellings_do_not_matter(predicted: list[str], gold: list[str]) -> None:
    score = score_prediction(predicted, gold)
    assert score_prediction(predicted[::-1] * 2, gold[::-1] * 2) == score
    assert score_prediction([normalize_path(path) for path in predicted], gold) == score
    named = [path for path in gold if normalize_path(path)]
    respelled = score_prediction([f"./{path}/" for path in predicted], [f"b/{path}" for path in named])
    named = [path for path in gold if normalize_path(path)]
    respelled = score_prediction([f"./{path}/" for path in predicted], [f"b/{path}" for path in named])
    assert respelled == score_prediction(predicted, named)
