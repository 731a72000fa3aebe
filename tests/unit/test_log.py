from __future__ import annotations

import html
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.github.log import Log, Redactor, printable
from bccontam.report.markdown import code, text, visible
from tests.support.runner_log import commands

HOSTILE = (
    "::add-mask::e\n  ::error file=x::boom\nsrc/a ##[error]fake\n##[group]x\n::set-output name=hit::1\n"
    "::stop-commands::t\r::warning::w\u2028::notice::n\x85::debug::d \x1b[31mred \x1b]8;;https://e.invalid\x07x"
)


def make_log(*, in_actions: bool = True, secrets: tuple[str, ...] = ()) -> tuple[Log, list[str]]:
    lines: list[str] = []
    return Log(lines.append, in_actions=in_actions, secrets=secrets), lines


def test_the_reader_of_the_tests_sees_the_commands_of_raw_text() -> None:
    assert {name for name, _ in commands(HOSTILE)} >= {
        "add-mask",
        "error",
        "group",
        "set-output",
        "stop-commands",
    }


@pytest.mark.parametrize("piece", [HOSTILE, *HOSTILE.split("\n")])
def test_no_text_can_act_as_a_command(piece: str) -> None:
    assert commands(printable(piece)) == []
    log, lines = make_log()
    log.info(piece)
    assert commands("\n".join(lines)) == []


@pytest.mark.parametrize("piece", [HOSTILE, *HOSTILE.split("\n")])
def test_inside_an_annotation_only_ours_is_a_command(piece: str) -> None:
    log, lines = make_log()
    log.warning(piece)
    log.error(piece)
    assert [name for name, _ in commands("\n".join(lines))] == ["warning", "error"]


@given(st.text(alphabet="#[:] \n\r\t\ufeff\u2028\x85group", max_size=40))
def test_no_mixture_of_marks_is_a_command(piece: str) -> None:
    assert commands(printable(piece)) == []


@given(st.text(max_size=60))
def test_a_line_is_one_line_without_control_characters_and_can_be_written(piece: str) -> None:
    shown = printable(piece)
    shown.encode("utf-8")
    assert "\n" not in shown
    assert "\r" not in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown


def test_bidirectional_text_is_made_visible() -> None:
    assert printable("a\u202eb") == "a\\u202eb"


def test_an_ordinary_line_is_left_as_it_is() -> None:
    line = "Asked 101, reused 0 stored answers: 12:30, std::vector, C:\\x, größe"
    assert printable(line) == line


def test_one_error_and_one_warning_of_each_kind_are_annotations() -> None:
    log, lines = make_log()
    for number in range(3):
        log.warning(f"statement {number} is long", "long statement")
        log.error(f"failed {number}")
    log.warning("another", "other kind")
    names = [name for name, _ in commands("\n".join(lines))]
    assert sorted(names) == ["error", "warning", "warning"]
    assert "warning: statement 2 is long" in lines


def test_the_message_of_an_annotation_is_escaped_as_the_runner_decodes_it() -> None:
    log, lines = make_log()
    log.error("100 %0A done")
    assert lines == ["::error title=bccontam::100 %250A done"]


def test_outside_actions_there_are_no_commands() -> None:
    log, lines = make_log(in_actions=False, secrets=("hush-hush",))
    log.warning("careful")
    with log.group("asking"):
        log.info("hush-hush")
    assert lines == ["warning: careful", "asking", "***"]


def test_groups_are_closed_even_after_a_failure() -> None:
    log, lines = make_log()
    with pytest.raises(ValueError, match="x"), log.group("asking ::error::x"):
        raise ValueError("x")
    assert lines[0].startswith("::group::asking")
    assert lines[-1] == "::endgroup::"


def test_secrets_are_masked_first_and_never_shown() -> None:
    log, lines = make_log(secrets=("ghs_secret%1", "line-one\nline-two"))
    assert "::add-mask::ghs_secret%251" in lines
    masked = len(lines)
    log.info("token ghs_secret%1 and line-two")
    log.error("token ghs_secret%1")
    assert not any("ghs_secret" in line or "line-two" in line for line in lines[masked:])


def test_the_longest_secret_is_taken_out_first_and_short_ones_are_left() -> None:
    redact = Redactor(["abcd", "abcdefgh", "x", ""])
    assert redact("abcdefgh x abcd") == "*** x ***"


@pytest.mark.parametrize("shown", [text, code, visible])
@pytest.mark.parametrize(
    "secret", ["ghs_a_B*c|d", "key<&>`x`", "back\\slash|x", "@octo#12:x", "0123456789abcdef"]
)
def test_a_secret_is_taken_out_of_markdown_as_well(shown: Callable[[str], str], secret: str) -> None:
    page = shown(f"before {secret} after")
    left = Redactor([secret])(page)
    assert "before" in left
    assert "*** after" in left
    assert secret.replace("\\", "") not in html.unescape(left.replace("\\", "").replace("\u2060", ""))


def test_without_secrets_nothing_is_taken_out() -> None:
    assert Redactor([])("a page") == "a page"


def test_a_fault_of_ours_is_safe_lines_without_values() -> None:
    log, lines = make_log(secrets=("hush-hush",))
    try:
        raise RuntimeError("boom hush-hush src/Gold.Page.al\n::error::x")
    except RuntimeError as error:
        log.fault(error)
    assert [name for name, _ in commands("\n".join(lines[1:]))] == ["error"]
    assert not any("hush-hush" in line or "Gold" in line for line in lines[1:])
    assert "RuntimeError" in lines[-1]
