"""`bench.compare`: both sides get the same entries in turn, and a failure is counted, not timed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench.compare import Command, Side, main, parse_command, show, summary, turns
from bench.process import Ran
from tests.support.paths import ROOT

DEMO = ROOT / "bccontam" / "demo" / "dataset.jsonl"
FIRST = [json.loads(line)["instance_id"] for line in DEMO.read_text(encoding="utf-8").split("\n")[:3]]

PEER = """\
import json, os, sys, urllib.request
log, name, entry, url = sys.argv[1:5]
with open(log, "a") as file:
    print(name, entry, os.environ["OPENAI_BASE_URL"] == url, os.environ["OPENAI_API_KEY"], file=file)
asked = urllib.request.Request(
    url + "/chat/completions",
    json.dumps({"model": "m", "messages": [{"role": "user", "content": entry}]}).encode(),
    {"Content-Type": "application/json"},
)
with urllib.request.urlopen(asked) as answer:
    json.load(answer)["choices"][0]
if len(sys.argv) > 5 and entry == sys.argv[5]:
    sys.exit("cannot do " + entry)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A peer that asks the server and writes down what it was told."""
    path = tmp_path / "peer.py"
    path.write_text(PEER)
    return path


def command(script: Path, name: str, *more: str) -> str:
    words = [sys.executable, str(script), str(script.with_name("log")), name, "{instance_id}", "{base_url}"]
    return " ".join([*words, *more])


def lines(script: Path) -> list[list[str]]:
    return [line.split() for line in script.with_name("log").read_text().strip().split("\n")]


def compared(tmp_path: Path, ours: str | None, peer: str, *words: str) -> dict[str, object]:
    file = tmp_path / "figures.json"
    given = ["--peer", peer, "--dataset", str(DEMO), "--json", str(file), *words]
    main([*given, "--ours", ours] if ours else given)
    found = json.loads(file.read_text())
    assert isinstance(found, dict)
    return found


def test_both_sides_ask_the_same_entries_and_take_turns(script: Path, tmp_path: Path) -> None:
    found = compared(tmp_path, command(script, "A"), command(script, "B"), "--entries", "3", "--rounds", "2")
    assert found["entries"] == FIRST
    told = lines(script)
    first_round = [(name, entry) for entry in FIRST for name in "AB"]
    second_round = [(name, entry) for entry in FIRST for name in "BA"]
    assert [(name, entry) for name, entry, *_ in told] == first_round + second_round
    assert {tuple(line[2:]) for line in told} == {("True", "sk-bench")}
    assert found["pairs"] == 6


def test_a_failure_is_counted_and_never_timed(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    peer = command(script, "B", FIRST[0])
    found = compared(tmp_path, command(script, "A"), peer, "--entries", "2", "--rounds", "2")
    assert found["pairs"] == 2
    assert found["peer failures"] == [f"exit 1: cannot do {FIRST[0]}"] * 2
    assert found["ours failures"] == []
    assert f"peer failed 2 times, first with: exit 1: cannot do {FIRST[0]}" in capsys.readouterr().out


def test_ours_is_predict_on_the_one_entry(script: Path, tmp_path: Path) -> None:
    found = compared(tmp_path, None, command(script, "B"), "--entries", "1", "--rounds", "1")
    assert found["ours failures"] == []
    assert found["pairs"] == 1


def test_a_peer_that_always_fails_leaves_no_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(tmp_path, "true {instance_id}", "false {instance_id}", "--entries", "1", "--rounds", "2")
    assert found["pairs"] == 0
    wall = found["wall"]
    assert isinstance(wall, dict)
    assert (wall["peer"], wall["ratio"]) == (None, None)
    assert "peer failed 2 times, first with: exit 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("true", r"--peer: put {instance_id} where the command takes the entry's id\."),
        ("", r"--peer: put {instance_id}"),
        ("{instance_id} x", r"--peer: start the command with a program"),
        (
            "absent-program {instance_id}",
            r"--peer: there is no program 'absent-program' that could be started\.",
        ),
        ("'open {instance_id}", r"--peer: the command cannot be split into words: No closing quotation\."),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_command("peer", text)


@pytest.mark.parametrize(
    "words",
    [
        ("--peer", "absent-program {instance_id}"),
        ("--peer", "true"),
        ("--peer", "true {instance_id}", "--rounds", "0"),
        ("--peer", "true {instance_id}", "--dataset", "absent.jsonl"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("python -m bench.compare: ")
    assert "\n" not in said


def test_words_are_kept_whole_and_each_place_is_filled_once() -> None:
    words = parse_command(
        "peer", "sh -c 'a b' {instance_id} x={base_url} {other} {base_url}{instance_id}"
    ).words
    filled = Command("peer", words).filled({"instance_id": "{base_url}", "base_url": "URL"})
    assert filled[1:] == ["-c", "a b", "{base_url}", "x=URL", "{other}", "URL{base_url}"]


def test_who_goes_first_changes_with_the_round() -> None:
    assert list(turns(["e", "f"], 2)) == [
        (0, "e", 0),
        (0, "e", 1),
        (0, "f", 0),
        (0, "f", 1),
        (1, "e", 1),
        (1, "e", 0),
        (1, "f", 1),
        (1, "f", 0),
    ]


def test_the_ratio_is_that_of_pairs() -> None:
    ours, peer = Side(Command("ours", ("a",))), Side(Command("peer", ("b",)))
    for entry, (mine, theirs) in {"e": (1.0, 2.0), "f": (3.0, 3.0), "g": (4.0, 2.0)}.items():
        ours.runs[0, entry] = Ran(0, mine, mine, mine, "")
        peer.runs[0, entry] = Ran(0, theirs, theirs, theirs, "")
    ours.runs[1, "e"] = Ran(0, 99.0, 99.0, 99.0, "")
    found = summary(ours, peer)
    assert found["wall"]["ratio"] == [1.0, 0.5, 2.0]
    assert found["pairs"] == 3
    assert "1.00 (0.500–2.00)" in show(found)
