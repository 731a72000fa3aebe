"""Sizes and times of the image: what it adds to its base, what a pull moves, what a step that does nothing takes.

`python -m bench.container [--runs 15] [--pull]`: with the running Docker Engine, through the same runner as the tests.
`--pull` packs the layers as a registry would, which takes a minute. Nothing here decides whether a figure is good
enough.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from bench.options import UnavailableError
from tests.support.chat_server import ChatServer
from tests.support.container import ContainerRunner, base_image, build, docker, image_size
from tests.support.paths import ROOT

CLI = "/opt/copilot/copilot"
WARM = "-warm"


def seconds(*words: str) -> float:
    """Wall time of a command of the engine's client."""
    start = time.perf_counter()
    subprocess.run([docker(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def no_op(image: str, runs: int) -> list[float]:
    """`mode: report` on no results, as the runner starts it."""
    with tempfile.TemporaryDirectory() as folder:
        runner = ContainerRunner(image, Path(folder))
        found = [runner.run({"mode": "report"}) for _ in range(runs)]
        runner.take_back()
    assert {ran.code for ran in found} == {2}
    return [ran.seconds for ran in found]


def first_question(runs: int) -> list[float]:
    """Seconds from `docker run` of the slim image to the first question at a server on loopback.

    Raises UnavailableError where no Docker Engine answers.
    """
    try:
        docker()
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        raise UnavailableError("no Docker Engine answers here") from error
    image = build("slim")
    return [_first_question(image) for _ in range(runs + 1)][1:]


def _first_question(image: str) -> float:
    with tempfile.TemporaryDirectory() as folder, ChatServer() as server:
        runner = ContainerRunner(image, Path(folder), network="host")
        dataset = ROOT / "bccontam" / "demo" / "dataset.jsonl"
        (runner.workspace / "dataset.jsonl").write_bytes(dataset.read_bytes())
        inputs = {"mode": "predict", "dataset": "dataset.jsonl", "backend": "openai", "max-requests": "1"}
        inputs |= {"base-url": server.url, "api-key": "sk-bench", "model": "m", "github-token": ""}
        running = runner.start(inputs)
        ran = running.wait()
        assert server.questions, ran.log
        return server.questions[0].at - running.started


def starts(image: str, runs: int) -> tuple[list[float], list[float]]:
    """The first and the second start of the Copilot CLI in a container."""
    script = (
        "import subprocess, time\n"
        "for _ in range(2):\n"
        "    start = time.perf_counter()\n"
        f"    subprocess.run(['{CLI}', '--version', '--no-auto-update'], stdout=subprocess.DEVNULL, check=True)\n"
        "    print(time.perf_counter() - start)\n"
    )
    words = ["run", "--rm", "--network", "none", "--env", "COPILOT_CACHE_HOME=/opt/copilot/cache"]
    words += ["--entrypoint", "python3", image, "-c", script]
    found = [
        subprocess.run([docker(), *words], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(runs)
    ]
    return [float(first) for first, _ in found], [float(second) for _, second in found]


def warmed(image: str) -> str:
    """The image with what the CLI unpacks already in it."""
    tag = f"{image}{WARM}"
    lines = f"FROM {image}\nENV COPILOT_CACHE_HOME=/opt/copilot/cache\nRUN {CLI} --version --no-auto-update\n"
    subprocess.run(
        [docker(), "build", "--quiet", "--network", "none", "--tag", tag, "-"],
        input=lines.encode(),
        capture_output=True,
        check=True,
    )
    return tag


def packed_size(image: str) -> int:
    """Bytes of the image as a registry's client moves them, near enough: all layers in one gzip stream."""
    with tempfile.TemporaryFile() as file:
        with (
            subprocess.Popen([docker(), "save", image], stdout=subprocess.PIPE) as process,
            gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed,
        ):
            assert process.stdout is not None
            while block := process.stdout.read(1 << 20):
                packed.write(block)
        return file.tell()


def show(name: str, value: float, unit: str) -> None:
    """One line."""
    print(f"{name:48} {value:8.2f} {unit}")


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--pull", action="store_true", help="also what a pull moves")
    given = parser.parse_args()
    base, full, slim = base_image(), build("full"), build("slim")
    warm = warmed(full)
    for name, image in (("slim", slim), ("full", full), ("full, CLI unpacked", warm)):
        show(f"{name}: over the base", (image_size(image) - image_size(base)) / 1e6, "MB")
    if given.pull:
        for name, image in (("base", base), ("slim", slim), ("full", full), ("full, CLI unpacked", warm)):
            show(f"{name}: packed", packed_size(image) / 1e6, "MB")
    empty = [
        seconds("run", "--rm", "--network", "none", "--entrypoint", "/bin/true", slim)
        for _ in range(given.runs)
    ]
    show("slim: docker run to the first question, median", statistics.median(first_question(5)), "s")
    show("the engine alone (/bin/true)", statistics.median(empty), "s")
    for name, image in (("slim", slim), ("full", full)):
        times = no_op(image, given.runs)
        show(f"{name}: report on no results, median", statistics.median(times), "s")
        show(f"{name}: report on no results, slowest", max(times), "s")
    first, second = starts(full, 5)
    show("Copilot CLI: first start in a container", statistics.median(first), "s")
    show("Copilot CLI: second start", statistics.median(second), "s")
    show("Copilot CLI: first start, unpacked in the image", statistics.median(starts(warm, 5)[0]), "s")


if __name__ == "__main__":
    main()
