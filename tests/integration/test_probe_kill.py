"""A run that is killed, at any moment and as often as one likes, loses nothing that was answered."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bccontam.store import load_results
from tests.support import chat_server as chat
from tests.support.chat_server import ChatServer, Reply, Request
from tests.support.paths import ROOT

COUNT = 200
CONCURRENCY = 4
KILLS = 20
GUARD = 60.0


def start(server: ChatServer, folder: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tests.support.probe_driver",
        server.url,
        str(folder),
        str(COUNT),
        str(CONCURRENCY),
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(
    process: subprocess.Popen[str], number: signal.Signals | None = None
) -> tuple[int, dict[str, Any], str]:
    """Exit code, what the run printed (nothing when it was killed), and its messages."""
    if number is not None:
        process.send_signal(number)
    out, err = process.communicate(timeout=GUARD)
    return process.returncode, json.loads(out) if out else {}, err


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GUARD
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def entry_of(request: Request) -> str:
    found = re.search(r"Report number (\d+), no more", request.prompt)
    assert found
    return f"e-{found[1]}"


def answered(folder: Path) -> set[str]:
    if not folder.is_dir():
        return set()
    return {
        result.instance_id for result in load_results(folder, warn=lambda _: None) if result.error is None
    }


def stored_lines(folder: Path) -> Counter[str]:
    (path,) = folder.glob("*.jsonl")
    return Counter(json.loads(line)["instance_id"] for line in path.read_bytes().split(b"\n") if line)


def test_a_run_killed_twenty_times_has_each_answer_once_and_asks_no_answered_question_again(
    tmp_path: Path,
) -> None:
    moments = random.Random(20250301)
    folder = tmp_path / "results"
    with ChatServer(chat.text(delay=0.01)) as server:
        for _ in range(KILLS):
            stored = answered(folder)
            before = len(server.questions)
            process = start(server, folder)
            enough = before + moments.randrange(2 * (COUNT // KILLS) - 4)
            until(lambda enough=enough: len(server.questions) >= enough)  # type: ignore[misc]
            time.sleep(moments.uniform(0.0, 0.03))
            code, _, _ = end(process, signal.SIGKILL)
            assert code == -signal.SIGKILL
            assert answered(folder) >= stored
            assert not stored & {entry_of(request) for request in server.questions[before:]}
        stored = answered(folder)
        assert 0 < len(stored) < COUNT
        before = len(server.questions)
        code, outcome, messages = end(start(server, folder))
        last = [entry_of(request) for request in server.questions[before:]]
    assert (code, messages) == (0, "")
    assert outcome == {"asked": COUNT - len(stored), "reused": len(stored), "not_asked": 0}
    assert not stored & set(last)
    assert stored_lines(folder) == Counter({f"e-{number}": 1 for number in range(COUNT)})


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_asked_to_stop_keeps_every_answer_it_was_given(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with ChatServer(chat.text(delay=0.02)) as server:
        process = start(server, tmp_path)
        until(lambda: len(server.questions) >= 30)
        returned, outcome, messages = end(process, number)
        asked = {entry_of(request) for request in server.questions}
        assert (returned, messages) == (code, "")
        assert answered(tmp_path) == asked
        assert outcome == {"asked": len(asked), "reused": 0, "not_asked": COUNT - len(asked)}
        assert len(asked) < COUNT
        _, outcome, _ = end(start(server, tmp_path))
        assert outcome == {"asked": COUNT - len(asked), "reused": len(asked), "not_asked": 0}
        assert len(server.questions) == COUNT


def test_a_run_asked_to_stop_does_not_wait_for_a_server_that_hangs(tmp_path: Path) -> None:
    def script(number: int, request: Request) -> Reply:
        return chat.text() if number < 20 else chat.hang()

    with ChatServer(script) as server:
        process = start(server, tmp_path)
        until(lambda: len(server.questions) == 20 + CONCURRENCY)
        code, outcome, messages = end(process, signal.SIGTERM)
    assert (code, messages) == (143, "")
    assert outcome == {"asked": 20, "reused": 0, "not_asked": COUNT - 20}
    assert len(answered(tmp_path)) == 20
