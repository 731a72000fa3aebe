from __future__ import annotations

import io
import sys
from dataclasses import replace
from typing import Any

import pytest

from bccontam.contamination import Signal
from bccontam.report.shape import Report
from bccontam.terminal import WIDTH, show_report, wrapped
from tests.support.reports import EVIL, shapes

SHAPES = shapes()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(report: Report, monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    show_report(report)
    return out.getvalue()


@pytest.mark.parametrize("forced", ["", "1"])
def test_a_pipe_gets_no_colour_even_when_it_is_forced(forced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    if forced:
        monkeypatch.setenv("FORCE_COLOR", forced)
    assert "\x1b" not in shown(SHAPES["signal"].report(), monkeypatch, terminal=False)


def test_a_terminal_gets_colour_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    report = SHAPES["signal"].report()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31msignal" in shown(report, monkeypatch, terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in shown(report, monkeypatch, terminal=True)


def test_the_verdict_is_the_first_line_and_the_next_step_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(SHAPES["no-signal"].report(), monkeypatch, terminal=False).split("\n")
    assert lines[0] == "no signal"
    assert any(line.startswith("Next: ") for line in lines)


def test_the_widest_numbers_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    report = SHAPES["signal"].report()
    wide: dict[str, Any] = {"scored": 12_345_678, "error_count": 1_234_567}
    for metric in ("basename", "suffix", "exact"):
        wide |= {f"{metric}_hit_rate": 1.0, f"{metric}_interval": (1.0, 1.0)}
    widest = replace(report.groups.pre, **wide)
    signals = [Signal(signal.metric, -1.0, -1.0, -1.0, 0.5) for signal in report.signals]
    groups = replace(report.groups, pre=widest, control=widest)
    text = shown(replace(report, groups=groups, signals=signals), monkeypatch, terminal=False)
    assert max(map(len, text.split("\n"))) <= WIDTH
    assert "12,345,678" in text


def test_hostile_words_cannot_act_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    report = replace(SHAPES["signal"].report(), reason=f"{EVIL}\x1b[2J\x07::error::x", cautions=[EVIL])
    text = shown(report, monkeypatch, terminal=False)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert not any(line.lstrip().startswith("::") for line in text.split("\n"))


def test_a_line_does_not_part_a_number_from_what_belongs_to_it() -> None:
    sentence = "x" * 9 + " +17.3 pts, 95 % interval [−3.1, 29.2], p = .049 and 5 % more"
    for width in range(14, 40):
        lines = wrapped(sentence, width).split("\n")
        assert max(map(len, lines)) <= width
        joined = "\n".join(lines)
        for whole in ("+17.3 pts,", "95 %", "[−3.1, 29.2],", "p = .049", "5 %"):
            assert whole in joined
