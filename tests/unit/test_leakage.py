"""What a problem statement gives away: grades of gold files, and answers copied out of the question."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.leakage import copied_from_question, gold_grades, leak_check_text, leakage_grade
from tests.support.paths import needs_shared, shared_cases

POST = "src/Sales/Post.Codeunit.al"


def cases(*ids: str) -> list[Any]:
    return [case for case in shared_cases("datasets") if case.id in ids]


@needs_shared
@pytest.mark.parametrize("case", cases("C072"))
def test_no_break_and_zero_width_characters_are_folded_for_the_check(case: dict[str, Any]) -> None:
    assert leak_check_text(case["input"]) == case["expected"]["leak_check_text"]


@needs_shared
@pytest.mark.parametrize("case", cases("C074"))
def test_a_file_name_in_a_stack_trace_is_a_basename_leak(case: dict[str, Any]) -> None:
    given = case["input"]
    assert leakage_grade(given["problem_statement"], given["gold"]) == case["expected"]["leaked"]


@needs_shared
@pytest.mark.parametrize("case", cases("C075"))
def test_each_gold_file_has_its_own_grade_and_a_plain_word_is_weak(case: dict[str, Any]) -> None:
    given = case["input"]
    names = {"object": "object-name"}
    expected = {path: names.get(grade, grade) for path, grade in case["expected"]["leaked"].items()}
    assert gold_grades(given["problem_statement"], given["gold"]) == expected
    assert leakage_grade(given["problem_statement"], given["gold"]) == "object-name"


@pytest.mark.parametrize(
    "statement",
    [
        "See src/Sales/Post.Codeunit.al.",
        "See src\\Sales\\Post.Codeunit.al, line 3",
        '{"file": "src\\\\Sales\\\\Post.Codeunit.al"}',
        "See SRC/sales/POST.codeunit.AL",
        "--- a/src/Sales/Post.Codeunit.al\t2025-01-01",
        "at /home/me/repo/src/Sales/Post.Codeunit.al:12",
        "C:\\repo\\src\\Sales\\Post.Codeunit.al(12)",
        "https://host/o/r/blob/main/src/Sales/Post.Codeunit.al#L12-L14",
        "`src/Sales/Post.Codeunit.al`",
        "_src/Sales/Post.Codeunit.al_",
        "src/Sales/\u200bPost.Codeunit.al",
    ],
)
def test_a_gold_path_in_any_spelling_is_a_path_leak(statement: str) -> None:
    assert leakage_grade(statement, [POST]) == "path"


def test_a_path_with_blanks_is_found_in_a_link_and_behind_no_break_spaces() -> None:
    gold = ["src/Apps/Subscription Billing/Contract Line.Table.al"]
    assert leakage_grade("https://h/src/Apps/Subscription%20Billing/Contract%20Line.Table.al", gold) == "path"
    assert leakage_grade("src/Apps/Subscription\u00a0Billing/Contract\u202fLine.Table.al", gold) == "path"


@pytest.mark.parametrize(
    "statement",
    [
        "Stack: Post.Codeunit.al(40)",
        "in post.codeunit.al",
        "other/folder/Post.Codeunit.al",
        "…Post.Codeunit.al",
        "- Post.Codeunit.al - fails",
        "(Post.Codeunit.al).",
        "_Post.Codeunit.al_",
        "**Post.Codeunit.al**",
        "mysrc/Sales/Post.Codeunit.al",
    ],
)
def test_a_gold_file_name_as_a_whole_name_is_a_basename_leak(statement: str) -> None:
    assert leakage_grade(statement, [POST]) == "basename"


@pytest.mark.parametrize(
    "statement",
    [
        "MyPost.Codeunit.al",
        "Sales-Post.Codeunit.al",
        "Old.Post.Codeunit.al",
        "2Post.Codeunit.al",
        "Post.Codeunit.alx",
        "Post.Codeunit.al.bak",
        "Post.Codeunit",
        "Post",
        "",
    ],
)
def test_a_piece_of_another_name_is_no_leak(statement: str) -> None:
    assert leakage_grade(statement, [POST]) == "none"


@pytest.mark.parametrize(
    ("statement", "gold", "grade"),
    [
        ("edit package/__init__.py", "other/__init__.py", "basename"),
        ("see tests/test_models.py", "app/models.py", "basename"),
        ("fails in models.py.", "app/models.py", "basename"),
        ("the class models.Model", "app/models.py", "object-name"),
        ("a base class", "app/base.py", "none"),
        ("see database.py", "app/base.py", "none"),
        ("see Makefile", "Makefile", "path"),
    ],
)
def test_file_names_of_other_languages_are_whole_names_too(statement: str, gold: str, grade: str) -> None:
    assert leakage_grade(statement, [gold]) == grade


@pytest.mark.parametrize(
    "statement",
    [
        "the Sales Header table",
        "sales-header",
        "SALES_HEADER",
        "Sales\u00a0Header",
        "Sa\u200bles Header",
        "x salesheaders",
    ],
)
def test_an_object_name_is_found_whatever_stands_between_its_words(statement: str) -> None:
    assert leakage_grade(statement, ["a/SalesHeader.Table.al"]) == "object-name"
    assert leakage_grade(statement, ["a/Sales Header.Table.al"]) == "object-name"


def test_a_stem_of_fewer_than_six_letters_is_no_object_name() -> None:
    assert leakage_grade("the item", ["a/Item.Table.al"]) == "none"
    assert leakage_grade("the 123 item", ["a/Item123.Table.al"]) == "none"
    assert leakage_grade("the vendor", ["a/Vendor.Table.al"]) == "object-name"


def test_the_stem_ends_at_the_first_dot() -> None:
    assert leakage_grade("the sales line", ["a/SalesLine.TableExt.al"]) == "object-name"
    assert leakage_grade("ignore the gitignored file", [".gitignore"]) == "none"


def test_the_strongest_grade_of_any_gold_file_is_the_entrys() -> None:
    gold = ["x/Untold.Page.al", "x/SalesHeader.Table.al", "x/Nowhere.Codeunit.al", "y/Given.Report.al"]
    assert leakage_grade("the sales header", gold) == "object-name"
    assert leakage_grade("the sales header in Nowhere.Codeunit.al", gold) == "basename"
    assert leakage_grade("the sales header in Nowhere.Codeunit.al, y/Given.Report.al", gold) == "path"


def test_no_gold_file_leaks_nothing() -> None:
    assert leakage_grade("anything", []) == "none"
    assert gold_grades("anything", []) == {}


@pytest.mark.parametrize(
    ("predicted", "statement", "copied"),
    [
        ([POST], "see src\\sales\\post.codeunit.al", True),
        ([POST], "see Post.Codeunit.al(40)", True),
        (["a/Other.Page.al", POST], "see Post.Codeunit.al", True),
        ([POST], "see MyPost.Codeunit.al", False),
        ([POST], "the codeunit Post", False),
        ([POST], "", False),
        ([], "see Post.Codeunit.al", False),
        (["", "/", "."], "a / b . c", False),
    ],
)
def test_an_answer_copied_out_of_the_question_is_flagged(
    predicted: list[str], statement: str, copied: bool
) -> None:
    assert copied_from_question(predicted, statement) is copied


components = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_. é-]{0,8}[A-Za-z0-9])?", fullmatch=True)


@settings(max_examples=150)
@given(st.text(max_size=60), st.lists(components, min_size=1, max_size=4), st.text(max_size=60))
def test_a_path_set_off_by_blanks_is_always_found(before: str, parts: list[str], after: str) -> None:
    path = "/".join(parts)
    assert leakage_grade(f"{before} {path} {after}", [path]) == "path"
    assert copied_from_question([path], f"{before} {path.upper()} {after}")


@settings(max_examples=150)
@given(st.text(), st.lists(st.text()))
def test_any_text_at_all_has_a_grade(statement: str, gold: list[str]) -> None:
    assert leakage_grade(statement, gold) in {"path", "basename", "object-name", "none"}
    assert copied_from_question(gold, statement) in {True, False}


@pytest.mark.parametrize("unit", ["post.codeunit.al", "xpost.codeunit.al", "%41", "\u200b", "/", "\\", "é_"])
def test_a_long_hostile_statement_is_still_graded(unit: str) -> None:
    statement = unit * (100_000 // len(unit))
    assert leakage_grade(statement, [POST]) in {"basename", "none"}
    assert not copied_from_question(["src/Nowhere.Page.al"], statement)
