"""A chat-completions server on loopback in a process of its own, so that its work is not counted as ours.

Run `python -m bench.server [--delay SECONDS]` to have one by hand: it prints its base URL and serves until
standard input ends.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.chat_server import ChatServer, Script, text
from tests.support.paths import ROOT


@contextmanager
def serving(module: str = "bench.server", *words: str) -> Iterator[str]:
    """The base URL of a server that `python -m MODULE WORDS` runs; it is ended with the block."""
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, "the loopback server did not start"
            yield url
        finally:
            process.kill()


@contextmanager
def answering(delay: float) -> Iterator[str]:
    """The base URL of a server whose every answer takes `delay` seconds."""
    with serving("bench.server", "--delay", str(delay)) as url:
        yield url


def serve(script: Script) -> None:
    """Serve until standard input ends."""
    with ChatServer(script) as chat:
        print(chat.url, flush=True)
        sys.stdin.read()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds of every answer")
    serve(text(delay=parser.parse_args().delay))


if __name__ == "__main__":
    main()
