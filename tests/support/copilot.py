"""The real Copilot CLI and the backends that drive it, offline: they talk to a server of the test and no other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bccontam.fence import landlock_abi
from bccontam.models.base import Model, ModelError, Question
from bccontam.sandbox import Isolation
from tests.support.chat_server import ChatServer, Request

TOKEN = "ghs_abcdefghijklmnop"
KEY = "sk-loopback-0123456789abcdef"
QUESTION = Question(
    instance_id="microsoft__repo-1",
    repo="microsoft/repo",
    problem_statement="It fails.",
    system="You name files.",
    prompt="Which files fix this?\n\nIt fails with “ÄÖ” when posting.",
    top_k=3,
)
BACKENDS = ("copilot", "copilot-cli")
ISOLATIONS: tuple[Isolation, ...] = ("require", "off") if landlock_abi() else ("auto", "off")
FENCED = ISOLATIONS[0]

Make = Callable[..., Model]


def make_model(
    backend: str, server: ChatServer, environ: Mapping[str, str] = os.environ, **options: Any
) -> Model:
    from bccontam.models.copilot import CopilotModel
    from bccontam.models.copilot_cli import CopilotCliModel

    kind = CopilotModel if backend == "copilot" else CopilotCliModel
    options = {"isolation": FENCED, **options}
    return kind(model="test-model", environ={**environ, **offline(server)}, **options)


@contextmanager
def model_maker(cli: Path) -> Iterator[Make]:
    """Gives a function that makes models like `make_model`; whatever was made is closed at the end."""
    with ExitStack() as stack:

        def make(*arguments: Any, **options: Any) -> Model:
            model = make_model(*arguments, **{"cli_path": cli, **options})
            stack.callback(model.close)
            return model

        yield make


def offline(server: ChatServer) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": server.url,
        "COPILOT_PROVIDER_API_KEY": KEY,
    }


def running(server: ChatServer) -> list[int]:
    """Processes that were told of this server: the CLI's, by their environment."""
    marker = f"COPILOT_PROVIDER_BASE_URL={server.url}\0".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return sorted(found)


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def error_of(model: Model, timeout: float = 60.0) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.ask(QUESTION, timeout)
    return caught.value


def messages(request: Request) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = request.body["messages"]
    return found
