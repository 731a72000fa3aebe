from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.answer import parse_prediction
from bccontam.errors import PromptError
from bccontam.prompts import SHIPPED, Prompt, delimiter_for, lint_prompt, load_prompt
from tests.support.builders import make_entry


@pytest.mark.parametrize("name", SHIPPED)
def test_the_statement_goes_in_unchanged_between_two_delimiters(name: str) -> None:
    statement = "# Title\r\n\n  indented\n\n\nlast {{ repo }} {% raw %} <b>&amp;</b> line \n"
    user = load_prompt(name).render(make_entry(problem_statement=statement), 3).user
    line = delimiter_for(statement)
    assert f"{line}\n{statement}\n{line}" in user


@given(st.text(max_size=200))
def test_the_delimiter_cannot_occur_in_the_statement_and_is_the_same_on_every_run(statement: str) -> None:
    assert delimiter_for(statement) not in statement
    assert delimiter_for(statement) == delimiter_for(statement)


def test_a_statement_that_holds_its_own_delimiter_gets_another() -> None:
    first = delimiter_for("text")
    assert delimiter_for(f"text{first}") not in f"text{first}"


def test_the_al_prompt_says_what_is_needed_and_no_more() -> None:
    rendered = load_prompt("al").render(make_entry(repo="contoso/Harbour"), 3)
    for words in (
        "Business Central",
        "contoso/Harbour",
        "<ObjectName>.<ObjectType>.al",
        "at most 3 paths",
        "JSON array",
    ):
        assert words in rendered.user
    assert "No source code is available" in rendered.user


def test_the_generic_prompt_says_nothing_of_al() -> None:
    rendered = load_prompt("generic").render(make_entry(), 1)
    assert "Business Central" not in rendered.user
    assert "at most 1 path," in rendered.user


def test_the_paper_prompt_asks_for_one_path_and_its_answer_parses() -> None:
    assert "one file path" in load_prompt("paper").render(make_entry(), 3).user
    answer = (
        "<discussion>\nThe tables module.\n</discussion>\n<response>\nastropy/table/table.py\n</response>"
    )
    assert parse_prediction(answer).paths == ("astropy/table/table.py",)


def test_only_the_statement_and_the_repository_of_an_entry_reach_the_prompt() -> None:
    entry = make_entry("acme__SECRET-ID-7", "src/Hidden.Table.al", area="SECRET-AREA")
    for name in SHIPPED:
        rendered = load_prompt(name).render(entry, 3)
        assert "SECRET" not in rendered.system + rendered.user
        assert "Hidden" not in rendered.system + rendered.user


def test_the_example_of_the_shipped_prompts_reads_as_an_echo() -> None:
    line = next(line for line in load_prompt("al").render(make_entry(), 3).user.split("\n") if '["' in line)
    assert parse_prediction(line[line.index("[") :]).status == "echo"


@pytest.mark.parametrize("name", ["al", "generic"])
def test_a_prompt_that_names_a_gold_file_fails_the_lint(name: str) -> None:
    fine = make_entry("acme__w-1", "src/Sales/Post.Codeunit.al")
    given_away = make_entry("acme__w-2", "Other/Folder/FOO.Table.al")
    lint_prompt(load_prompt(name), [fine])
    with pytest.raises(PromptError, match="acme__w-2") as caught:
        lint_prompt(load_prompt(name), [fine, given_away])
    assert "foo.table" not in str(caught.value).lower()


@pytest.mark.parametrize(
    "header",
    [
        "a/x/FOO.Table.al",
        '"a/x/F\\117O.Table.al"',
        "a/x/Fo\u200bo.Table.al",
        "a\\x\\Foo.Table.al",
    ],
    ids=["other letters", "octal escapes", "an invisible letter", "backslashes"],
)
def test_the_lint_sees_a_gold_file_however_the_patch_spells_it(header: str) -> None:
    new = header.replace("a/", "b/", 1)
    patch = f"diff --git {header} {new}\n--- {header}\n+++ {new}\n@@ -1 +1 @@\n-one\n+two\n"
    entry = make_entry("acme__w-3", patch=patch)
    assert [Path(file.path.replace("\\", "/")).suffix for file in entry.gold_files] == [".al"]
    with pytest.raises(PromptError, match="acme__w-3"):
        lint_prompt(load_prompt("al"), [entry])


def test_another_wording_is_another_version() -> None:
    assert Prompt("p", "a").version != Prompt("p", "b").version
    assert load_prompt("al").version == load_prompt("al").version


def test_an_own_template_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.j2"
    path.write_text("{% block user %}Which {{ top_k }} files?\n{{ problem_statement }}\n{% endblock %}")
    rendered = load_prompt(str(path)).render(make_entry(problem_statement="It fails."), 2)
    assert rendered.user == "Which 2 files?\nIt fails."
    assert rendered.system == ""


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{% block user %}{{ problem_statement }", "line 1"),
        ("Which files?", "no block `user`"),
        ("{% block user %}Which files?{% endblock %}", "unchanged"),
        ("{% block user %}{{ problem_statement }} {{ gold }}{% endblock %}", "gold"),
        ("{% block user %}{{ problem_statement | upper }}{% endblock %}", "unchanged"),
        ("{% block user %}{{ problem_statement.__class__.__mro__ }}{% endblock %}", "fails on"),
    ],
)
def test_a_template_that_cannot_be_used_is_one_sentence(source: str, reason: str) -> None:
    with pytest.raises(PromptError, match=reason):
        Prompt("mine", source).render(make_entry(), 3)


def test_an_unknown_prompt_names_the_shipped_ones() -> None:
    with pytest.raises(PromptError, match="al, generic, paper"):
        load_prompt("absent")
