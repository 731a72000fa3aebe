"""The Copilot CLI through `github-copilot-sdk`: one fenced process for the run, one session a question.

The system prompt is ours alone, no tool is offered and no custom instruction is read; what still stands in
front of our prompt is one line, `<current_datetime>...</current_datetime>`, which cannot be switched off. It
makes one attempt: the CLI would retry by itself, and the session is ended before it does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from bccontam.errors import AskError
from bccontam.models.base import Answer, Condition, ModelError, Question
from bccontam.models.copilot_common import CopilotRuntime, header_pairs, sendable
from bccontam.models.copilot_events import Transcript, error_from_text
from bccontam.sandbox import Isolation, Workspace, end, fresh_workspace

_START_SECONDS = 60.0  # until the process answers
_TIDY_SECONDS = 5.0  # to delete a session; a process that takes longer is replaced
_STOPPED = "The run was stopped before this question was answered."


class CopilotModel:
    """Asks through one fenced CLI process. Constructing it proves the fence; the first question starts it.

    `token` is a GitHub token with Copilot requests (None: none, as for a server of the user's own that
    `environ` names in COPILOT_PROVIDER_BASE_URL). `files` and `folders` are what the process must not be able
    to read. Raises AskError when it cannot run at all.
    """

    backend = "copilot"

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
        try:
            import copilot  # noqa: F401
        except ImportError as error:
            raise AskError(
                "The backend copilot needs the package github-copilot-sdk: in the checkout of bccontam run "
                "pip install '.[copilot]'."
            ) from error
        # The SDK logs whole tracebacks with what the CLI printed; what matters is in our errors.
        log = logging.getLogger("copilot")
        log.handlers = [logging.NullHandler()]
        log.propagate = False
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
        self._process: _Process | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._close_lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        # The CLI ends with the thread that started it, so this one thread lives as long as the run.
        self._thread = threading.Thread(target=self._loop.run_forever, name="copilot", daemon=True)
        self._thread.start()

    @property
    def condition(self) -> Condition:
        """No tools; nothing but our system prompt."""
        return self._runtime.condition("ours")

    def ask(self, question: Question, timeout: float) -> Answer:
        """One attempt, at most `timeout` seconds. Raises ModelError."""
        if not question.system.strip():
            raise ModelError(
                "bad-request", "The backend copilot needs a system prompt to put in place of its own."
            )
        with self._close_lock:
            if self._closed:
                raise ModelError("connection", _STOPPED)
            future = asyncio.run_coroutine_threadsafe(self._ask(question, timeout), self._loop)
        try:
            return future.result()
        except CancelledError:
            raise ModelError("connection", _STOPPED) from None

    def close(self) -> None:
        """Kill the process; questions in flight end with an error."""
        with self._close_lock:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._runtime.close()

    async def _shut(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._process is not None:
            await self._process.stop()
        await self._loop.shutdown_default_executor()

    async def _ask(self, question: Question, timeout: float) -> Answer:
        started = time.monotonic()
        system, prompt = sendable(question.system), sendable(question.prompt)
        transcript = Transcript(system, prompt, self._runtime.scrub)
        try:
            async with asyncio.timeout(timeout):
                process = await self._running()
                await process.converse(system, prompt, transcript)
        except TimeoutError:
            transcript.fail("timeout", f"No answer within {timeout:g} seconds.")
        except OSError as error:
            transcript.fail("unavailable", f"The Copilot CLI cannot be run: {error.strerror}.")
        return transcript.answer(time.monotonic() - started)

    async def _running(self) -> _Process:
        """The process, started when there is none or the last one is gone."""
        async with self._starting:
            if self._process is not None and self._process.gone.is_set():
                await self._process.stop()
                self._process = None
            if self._process is None:
                self._process = await _Process.start(self._runtime)
            return self._process


class _Process:
    """One running CLI and its folders. `gone` is set when it ended, or must not be used any more."""

    def __init__(self, runtime: CopilotRuntime) -> None:
        self.gone = asyncio.Event()
        self._runtime = runtime
        self._folders = ExitStack()
        self._workspace: Workspace = self._folders.enter_context(fresh_workspace(runtime.sandbox.uid))
        self._client: Any = None
        self._pid: int | None = None
        self._exit_watch: int | None = None
        self._waiting: set[asyncio.Event] = set()
        self._tidying: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(cls, runtime: CopilotRuntime) -> _Process:
        """Raises ModelError when the CLI does not come up; then nothing of it is left running."""
        process = cls(runtime)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await process._start()
        except Exception as error:  # noqa: BLE001 - the SDK raises plain exceptions
            await process.stop()
            raise error_from_text(str(error), "unavailable", runtime.scrub) from None
        except BaseException:
            await process.stop()
            raise
        return process

    async def _start(self) -> None:
        from copilot import CopilotClient, RuntimeConnection

        pid_file = self._workspace.root / "pid"
        python, *arguments = self._runtime.sandbox.launcher(self._workspace, pid_file)
        command = (*arguments, "--", str(self._runtime.binary))
        self._client = CopilotClient(
            connection=RuntimeConnection.for_stdio(path=python, args=command),
            env=self._runtime.environment(self._workspace),
            working_directory=str(self._workspace.work),
            base_directory=str(self._workspace.state),
            mode="empty",
            log_level="none",
        )
        await self._client.start()
        self._pid = int(pid_file.read_text())
        # A process that dies sends no event, so its end is watched for (from Linux 5.3 on).
        with suppress(OSError):
            self._exit_watch = os.pidfd_open(self._pid)
            asyncio.get_running_loop().add_reader(self._exit_watch, self._ended)

    def _ended(self) -> None:
        self.gone.set()
        if self._exit_watch is not None:
            asyncio.get_running_loop().remove_reader(self._exit_watch)
        for waiting in self._waiting:
            waiting.set()

    async def converse(self, system: str, prompt: str, transcript: Transcript) -> None:
        """One question in a session of its own, until the transcript is settled or the process is gone."""
        settled = asyncio.Event()
        loop = asyncio.get_running_loop()

        def note(event: Any) -> None:
            transcript.add(event.raw_type or event.type.value, event.data.to_dict())
            if transcript.settled:
                loop.call_soon_threadsafe(settled.set)

        session = None
        self._waiting.add(settled)
        try:
            session = await self._client.create_session(
                model=self._runtime.model,
                provider=_provider(self._runtime.provider),
                system_message={"mode": "replace", "content": system},
                available_tools=[],
                skip_custom_instructions=True,
                enable_config_discovery=False,
                infinite_sessions={"enabled": False},
                capi={"enable_web_socket_responses": False},
                streaming=False,
                on_event=note,
            )
            await session.send(prompt)
            await settled.wait()
            if not transcript.settled:
                transcript.fail("connection", "The Copilot CLI ended while the question was in flight.")
        except Exception as error:  # noqa: BLE001 - the SDK raises plain exceptions; all end this question only
            transcript.fail_by_text(str(error))
        finally:
            self._waiting.discard(settled)
            if not self.gone.is_set():
                tidying = asyncio.create_task(self._tidy(session))
                self._tidying.add(tidying)
                tidying.add_done_callback(self._tidying.discard)

    async def _tidy(self, session: Any) -> None:
        """End and forget a session. A process that cannot, or never made the session, is not used again."""
        try:
            async with asyncio.timeout(_TIDY_SECONDS):
                await self._client.delete_session(session.session_id)
        except Exception:  # noqa: BLE001 - whatever went wrong, the remedy is a new process
            self._ended()

    async def stop(self) -> None:
        """Kill the process and remove its folders."""
        if self._exit_watch is not None:
            asyncio.get_running_loop().remove_reader(self._exit_watch)
            os.close(self._exit_watch)
            self._exit_watch = None
        # Once it is gone the SDK may have taken its exit status, and its number is free.
        leader = None if self.gone.is_set() else self._pid
        self.gone.set()
        await asyncio.to_thread(end, leader, self._workspace)
        if self._client is not None:
            child = getattr(self._client, "_cli_process", None)
            with suppress(Exception):
                await self._client.force_stop()
            # The SDK leaves the pipes open, three descriptors for each process of the run.
            for stream in (child.stdin, child.stdout, child.stderr) if child else ():
                stream.close()
        for tidying in self._tidying:
            tidying.cancel()
        await asyncio.gather(*self._tidying, return_exceptions=True)
        self._folders.close()


def _provider(settings: Mapping[str, str]) -> dict[str, Any] | None:
    """The SDK's form of COPILOT_PROVIDER_*, which the CLI itself reads only for its own prompt mode."""
    if "COPILOT_PROVIDER_BASE_URL" not in settings:
        return None
    fields = {name.removeprefix("COPILOT_PROVIDER_").lower(): value for name, value in settings.items()}
    keep = ("type", "base_url", "api_key", "bearer_token", "wire_api", "model_id", "wire_model")
    provider: dict[str, Any] = {"type": "openai", **{name: fields[name] for name in keep if name in fields}}
    for name in ("max_prompt_tokens", "max_output_tokens"):
        if fields.get(name, "").isdecimal():
            provider[name] = int(fields[name])
    if "headers" in fields:
        provider["headers"] = dict(header_pairs(fields["headers"]))
    if "azure_api_version" in fields:
        provider["azure"] = {"api_version": fields["azure_api_version"]}
    return provider
