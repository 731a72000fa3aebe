"""The rows of the suite that drive the real Copilot CLI against a server on loopback, by SDK and by process.

They are rows of `python -m bench`. No GitHub is asked: the CLI is told to use the bench's own server. Without
the binary the rows say so.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

from bccontam.errors import AskError
from bccontam.models.copilot_cli import FLAGS
from bccontam.models.copilot_common import CopilotRuntime, find_cli
from bccontam.sandbox import fresh_workspace
from bench.figure import Figure, Growth, figure
from bench.options import Options, UnavailableError
from bench.predict import copilot_command, dataset_of_101, predicted
from bench.process import Ran, run_ok
from bench.server import answering

ENTRIES = 16
CLI_ENTRIES = 40
"""More, so that the start of our program is a small part of the wall time."""
CONCURRENCY = 4
MODEL = "test-model"
PROMPT = "Which files fix this?\n\nPosting fails at times.\n"


def sdk(options: Options) -> Iterator[Figure | Growth]:
    """`copilot`: one process for all questions. Processor time is ours and the CLI's."""
    binary = the_binary()
    runs: list[Ran] = []
    processes: list[float] = []
    with answering(0.0) as url:
        dataset, entries = dataset_of_101(options.folder)
        for _ in range(options.long_runs):
            with counted(binary, url) as seen:
                runs.append(_asked("copilot", dataset, url, options, ENTRIES))
            processes.append(len(seen))
    note = f"{ENTRIES} {entries}, the whole command, the CLI included"
    per_entry = [ran.cpu / ENTRIES for ran in runs]
    yield figure(f"copilot (SDK), concurrency {CONCURRENCY}: CPU per entry", "s", per_entry, note)
    yield figure("copilot (SDK): CLI processes", "processes", processes)
    yield figure("copilot (SDK): wall", "s", [ran.wall for ran in runs])
    yield figure("copilot (SDK): peak memory of the largest process", "MB", [ran.peak_mb for ran in runs])


def cli(options: Options) -> Iterator[Figure | Growth]:
    """`copilot-cli`, one process a question, against bare processes of the same CLI with the same flags.

    Alone, a CLI keeps more than one core busy while it starts, so its wall time over the cores cannot be
    reached, and several at once slow each other. What our program adds shows beside as many bare ones, as many
    at a time, which take turns with it.
    """
    the_binary()
    cores = len(os.sched_getaffinity(0))
    alone, together, runs = [], [], []
    with answering(0.0) as url, bare_cli(url) as ask:
        dataset, entries = dataset_of_101(options.folder)
        for _ in range(options.runs):  # a ratio of two times that vary needs several pairs
            alone += [ask() for _ in range(4)][1:]
            runs.append(_asked("copilot-cli", dataset, url, options, CLI_ENTRIES))
            together.append(at_once(ask))
    bound = median(ran.cpu for ran in alone) * CLI_ENTRIES / cores
    literal = median(ran.wall for ran in alone) * CLI_ENTRIES / cores
    pairs = [ran.wall / bare for ran, bare in zip(runs, together, strict=True)]
    walls = [ran.wall for ran in runs]
    name = f"copilot-cli, concurrency {CONCURRENCY}: wall over"
    note = f"{CLI_ENTRIES} {entries}, {cores} cores, the whole command"
    yield figure(f"{name} that of bare CLIs", "ratio", pairs, note)
    yield figure(f"{name} the CLI's own CPU × entries / cores", "ratio", [wall / bound for wall in walls])
    yield figure(f"{name} the CLI's own wall × entries / cores", "ratio", [wall / literal for wall in walls])
    yield figure("copilot-cli: wall", "s", walls)
    yield figure("bare CLIs, as many at a time: wall", "s", together)
    per_entry = [ran.cpu / CLI_ENTRIES for ran in runs]
    yield figure("copilot-cli: CPU per entry, the CLI included", "s", per_entry)
    yield figure("the CLI alone, one question: wall", "s", [ran.wall for ran in alone])
    yield figure("the CLI alone, one question: CPU", "s", [ran.cpu for ran in alone])


def at_once(ask: Callable[[], Ran]) -> float:
    """Seconds of all entries by bare CLIs, as many at a time as our program has."""
    start = time.perf_counter()
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        for asked in [pool.submit(ask) for _ in range(CLI_ENTRIES)]:
            asked.result()
    return time.perf_counter() - start


def the_binary() -> Path:
    """The real CLI. Raises UnavailableError."""
    try:
        return find_cli(None, os.environ)
    except AskError as error:
        raise UnavailableError("no Copilot CLI here: script/install-copilot gets it") from error


def environment(url: str) -> dict[str, str]:
    """This environment, with the CLI told to use our server and no other."""
    provider = {"COPILOT_PROVIDER_BASE_URL": url, "COPILOT_PROVIDER_API_KEY": "sk-bench"}
    return {**os.environ, "COPILOT_OFFLINE": "true", **provider}


@contextmanager
def bare_cli(url: str) -> Iterator[Callable[[], Ran]]:
    """A function that asks one CLI one question with our flags: no fence, nothing of ours but the environment."""
    runtime = CopilotRuntime(
        model=MODEL,
        token=None,
        isolation="off",
        environ=environment(url),
        cli_path=None,
        files=(),
        folders=(),
        landlock_abi=None,
    )
    command = [str(runtime.binary), *FLAGS, f"--model={MODEL}"]

    def ask() -> Ran:
        with fresh_workspace(runtime.sandbox.uid) as workspace:
            prompt = workspace.root / "prompt"
            prompt.write_text(PROMPT, encoding="utf-8")
            return run_ok(command, env=runtime.environment(workspace), cwd=workspace.work, stdin=prompt)

    try:
        yield ask
    finally:
        runtime.close()


@contextmanager
def counted(binary: Path, url: str) -> Iterator[set[int]]:
    """The numbers of the processes of this binary, told of this server, that ran while the block did."""
    seen: set[int] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            seen.update(_running(binary, url))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def _running(binary: Path, url: str) -> set[int]:
    told = f"COPILOT_PROVIDER_BASE_URL={url}\0".encode()
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "exe").samefile(binary) and told in (folder / "environ").read_bytes():
                found.add(int(folder.name))
    return found


def _asked(backend: str, dataset: Path, url: str, options: Options, count: int) -> Ran:
    """Ask by the command, into a folder of its own."""
    results = options.fresh()
    command = copilot_command(backend, dataset, results, model=MODEL, entries=count, concurrency=CONCURRENCY)
    return predicted(command, results, count, environment(url))
