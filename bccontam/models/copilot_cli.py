"""The Copilot CLI, one process a question: the condition that published results of this benchmark used.

The CLI's own agent prompt (some 7,500 characters, with the path of an empty working directory, the operating
system and the date) stands in front of ours, so its scores are another experiment than those of `copilot`.
The prompt goes in on standard input; what comes out is read as JSON lines. It makes one attempt: the CLI
would retry by itself, and is stopped before it does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bccontam.models.base import Answer, Condition, Question
from bccontam.models.copilot_common import CopilotRuntime, sendable
from bccontam.models.copilot_events import Transcript
from bccontam.sandbox import Isolation, Workspace, end, fresh_workspace, wait_unreaped

# `--available-tools=` (empty) would offer every tool; a name that no tool has offers none.
FLAGS = (
    "--output-format=json",
    "--stream=off",
    "--available-tools=none",
    "--disable-builtin-mcps",
    "--no-custom-instructions",
    "--no-ask-user",
    "--no-color",
    "--no-auto-update",
    "--disable-client-telemetry",
    "--disallow-temp-dir",
    "--log-level=none",
)
_LONGEST_OUTPUT = 100_000_000
_EXIT_SECONDS = 5.0  # to exit after its last line
_CLOSING_SECONDS = 0.5  # until `close` is noticed
_STOPPED = "The run was stopped before this question was answered."


class CopilotCliModel:
    """Asks through one fenced CLI process a question. Constructing it proves the fence.

    `token` is a GitHub token with Copilot requests (None: none, as for a server of the user's own that
    `environ` names in COPILOT_PROVIDER_BASE_URL). `files` and `folders` are what the process must not be able
    to read. Raises AskError when it cannot run at all.
    """

    backend = "copilot-cli"

    def __init__(
        self,
        *,
        model: str,
        token: str | None = None,
        isolation: Isolation = "auto",
        environ: Mapping[str, str] | None = None,
        cli_path: Path | None = None,
        files: Sequence[Path] = (),
        folders: Sequence[Path] = (),
        landlock_abi: int | None = None,
    ) -> None:
        self.model = model
        self._runtime = CopilotRuntime(
            model=model,
            token=token,
            isolation=isolation,
            environ=os.environ if environ is None else environ,
            cli_path=cli_path,
            files=files,
            folders=folders,
            landlock_abi=landlock_abi,
        )
        self._closing = threading.Event()

    @property
    def condition(self) -> Condition:
        """No tools; the CLI's own prompt in front."""
        return self._runtime.condition("the Copilot CLI's agent prompt")

    def ask(self, question: Question, timeout: float) -> Answer:
        """One attempt, at most `timeout` seconds. Raises ModelError."""
        started = time.monotonic()
        prompt = sendable("\n\n".join(text for text in (question.system, question.prompt) if text.strip()))
        transcript = Transcript(None, prompt, self._runtime.scrub)
        try:
            with fresh_workspace(self._runtime.sandbox.uid) as workspace:
                (workspace.root / "prompt").write_text(prompt, encoding="utf-8", newline="")
                with self._process(workspace) as process:
                    self._follow(process, transcript, started + timeout)
                    if not transcript.settled:
                        transcript.fail("timeout", f"No answer within {timeout:g} seconds.")
                    elif not transcript.failed:
                        wait_unreaped(process.pid, _EXIT_SECONDS)
                if not transcript.failed:
                    _complete(transcript, workspace, process.returncode)
        except OSError as error:
            transcript.fail("unavailable", f"The Copilot CLI cannot be run: {error.strerror}.")
        return transcript.answer(time.monotonic() - started)

    def close(self) -> None:
        """Kill what is in flight; those questions end with an error."""
        self._closing.set()
        self._runtime.close()

    @contextlib.contextmanager
    def _process(self, workspace: Workspace) -> Iterator[subprocess.Popen[bytes]]:
        """A running CLI. Whatever happens, nothing of it runs afterwards, and its exit status is known."""
        command = [str(self._runtime.binary), *FLAGS, f"--model={self.model}"]
        env = self._runtime.environment(workspace)
        with (
            (workspace.root / "prompt").open("rb") as prompt,
            (workspace.root / "stderr").open("wb") as errors,
        ):
            process = self._runtime.sandbox.start(
                workspace, command, env, stdin=prompt, stdout=subprocess.PIPE, stderr=errors
            )
        with process:
            try:
                yield process
            finally:
                end(process.pid, workspace)

    def _follow(self, process: subprocess.Popen[bytes], transcript: Transcript, deadline: float) -> None:
        """Feed the transcript line by line until it is settled, the output ends or the time is up."""
        assert process.stdout is not None
        output = process.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN | select.POLLHUP)
        pending: list[bytes] = []
        total = 0
        while not transcript.settled and (left := deadline - time.monotonic()) > 0:
            if self._closing.is_set():
                transcript.fail("connection", _STOPPED)
            elif poll.poll(1000 * min(left, _CLOSING_SECONDS)):
                data = os.read(output, 1 << 20)
                *lines, rest = data.split(b"\n")
                for line in lines:
                    _add_line(transcript, b"".join(pending) + line)
                    pending.clear()
                pending.append(rest)
                total += len(data)
                if not data:
                    # The end; the exit status and standard error say why if no line did.
                    transcript.add("result", {})
                elif total > _LONGEST_OUTPUT:
                    transcript.fail("bad-response", "The Copilot CLI printed more than 100 MB.")


def _add_line(transcript: Transcript, line: bytes) -> None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return
    if isinstance(event, dict) and isinstance(event.get("type"), str):
        data = event.get("data")
        transcript.add(event["type"], data if isinstance(data, dict) else {})


def _complete(transcript: Transcript, workspace: Workspace, status: int) -> None:
    """Only exit status 0 is an answer. The stored session adds the token counts."""
    for events in workspace.state.glob("session-state/*/events.jsonl"):
        for line in events.read_bytes().split(b"\n"):
            if b'"session.usage_record"' in line:
                _add_line(transcript, line)
    if status != 0:
        errors = (workspace.root / "stderr").read_text(encoding="utf-8", errors="replace")
        transcript.fail_by_text(errors.strip().rpartition("\n")[2])
