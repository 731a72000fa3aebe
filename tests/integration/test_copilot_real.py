"""The real Copilot CLI and SDK against a loopback server: what is sent, what comes back, what is left.

Both backends, fenced and not. Offline: the CLI is told to use our server and no other.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from bccontam.fence import landlock_abi
from bccontam.models.base import Question
from bccontam.models.copilot_common import find_cli
from bccontam.sandbox import Sandbox, clean_environment, end, fresh_workspace, make_sandbox, open_to_all
from tests.support import chat_server
from tests.support.chat_server import ChatServer, Reply, Request
from tests.support.copilot import (
    BACKENDS,
    FENCED,
    ISOLATIONS,
    KEY,
    QUESTION,
    TOKEN,
    Make,
    error_of,
    messages,
    model_maker,
    offline,
    running,
    wait_until,
)
from tests.support.paths import ROOT
from tests.support.real import real_copilot_cli

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def cli() -> Path:
    return real_copilot_cli()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=ISOLATIONS)
def isolation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(cli: Path) -> Iterator[Make]:
    with model_maker(cli) as make:
        yield make


def test_the_cli_is_the_one_that_the_sdk_was_made_for(cli: Path) -> None:
    from copilot._cli_version import CLI_VERSION

    script = (ROOT / "script" / "install-copilot").read_text()
    assert f"\nVERSION={CLI_VERSION}\n" in script
    shown = subprocess.run([cli, "--version"], capture_output=True, text=True, timeout=60).stdout
    assert f"GitHub Copilot CLI {CLI_VERSION}." in shown


def test_an_answer_arrives_with_its_usage_and_its_condition(make: Make, backend: str, isolation: str) -> None:
    with ChatServer(chat_server.text(model="test-model-2026-01-01")) as server:
        model = make(backend, server, isolation=isolation)
        answer = model.ask(QUESTION, 60)
        assert answer.text == chat_server.ANSWER
        # The CLI tells the id that the server returned through the SDK only.
        assert answer.model == ("test-model-2026-01-01" if backend == "copilot" else "test-model")
        assert (answer.input_tokens, answer.output_tokens) == (100, 20)
        assert answer.finish_reason == "stop"
        assert len(server.questions) == 1
        assert server.questions[0].headers["authorization"] == f"Bearer {KEY}"
        condition = model.condition
    assert condition.tools_sent == 0
    assert (condition.prompt_owner == "ours") == (backend == "copilot")
    if isolation == "require":
        assert condition.sandbox.startswith(f"landlock abi {landlock_abi()}")
        assert condition.self_test == "passed"
    if isolation == "off":
        assert (condition.sandbox, condition.self_test) == ("none", "not run")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The current folder is a repository full of instructions, and so is HOME; gives such an environment."""
    repository, home = tmp_path / "secretorg-checkout", tmp_path / "secrethome"
    for name in (
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".github/instructions/all.instructions.md",
        ".github/agents/helper.agent.md",
        ".github/skills/helper/SKILL.md",
        "extra/AGENTS.md",
    ):
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = "---\nname: helper\ndescription: MARKER\n---\n" if "helper" in name else ""
        path.write_text(f"{head}MARKER of {name}\n")
    (home / ".copilot").mkdir(parents=True)
    (home / ".copilot" / "copilot-instructions.md").write_text("MARKER of HOME\n")
    for command in (
        ["init", "-q"],
        ["remote", "add", "origin", "https://github.com/secretorg/secretrepo.git"],
    ):
        subprocess.run(["git", *command], cwd=repository, check=True, env={"PATH": os.environ["PATH"]})
    monkeypatch.chdir(repository)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "COPILOT_CUSTOM_INSTRUCTIONS_DIRS": str(repository / "extra"),
        "COPILOT_ALLOW_ALL": "true",
        "GITHUB_REPOSITORY": "secretorg/secretrepo",
        "GITHUB_WORKSPACE": str(repository),
        "GITHUB_TOKEN": "ghs_secrettoken",
        "ACTIONS_RUNTIME_TOKEN": "secrettoken",
    }


def test_the_request_holds_our_words_and_no_context(
    make: Make, backend: str, isolation: str, checkout: dict[str, str]
) -> None:
    with ChatServer() as server:
        make(backend, server, checkout, isolation=isolation).ask(QUESTION, 60)
        (request,) = server.questions
    assert not request.body.get("tools")
    sent = json.dumps([request.body, request.headers])
    for marker in ("MARKER", "secretorg", "secretrepo", "secrethome", "secrettoken"):
        assert marker not in sent
    system, user = (message["content"] for message in messages(request))
    date = re.match(r"<current_datetime>[^<>]+</current_datetime>\n\n", user)
    assert date is not None
    if backend == "copilot":
        assert system == QUESTION.system
        assert user[date.end() :] == QUESTION.prompt
    else:
        assert re.search(r"Current working directory: \S*/run-\w{8}/work\n", system)
        assert "Not a git repository" in system
        assert user[date.end() :] == f"{QUESTION.system}\n\n{QUESTION.prompt}"


def test_without_our_flags_and_folders_the_cli_sends_all_of_it(cli: Path, checkout: dict[str, str]) -> None:
    """The control: the markers and the tools are there to be sent."""
    with ChatServer() as server:
        environ = {**checkout, **offline(server), "COPILOT_MODEL": "m"}
        subprocess.run(
            [cli, "-p", "hi"], env=environ, capture_output=True, timeout=60, stdin=subprocess.DEVNULL
        )
        sent = json.dumps(server.questions[0].body)
    assert "MARKER of AGENTS.md" in sent
    assert "secretorg/secretrepo" in sent
    assert len(server.questions[0].body["tools"]) > 5


@pytest.fixture
def secret() -> Iterator[Path]:
    """A file that any user can read."""
    folder = Path("/tmp") / f"gold-{os.getpid()}"
    folder.mkdir(mode=0o755)
    path = folder / "secret.txt"
    path.write_text("MARKER\n")
    path.chmod(0o644)
    yield path
    path.unlink()
    folder.rmdir()


def after(path: Path) -> Callable[[int, Request], Reply]:
    """A model that asks for a file by every tool it may have, then answers."""
    script = [
        chat_server.tool_call("view", {"path": str(path)}, call_id="a"),
        chat_server.tool_call(
            "bash", {"command": f"cat {path}", "description": "read", "mode": "sync"}, call_id="b"
        ),
        chat_server.tool_call(
            "grep", {"pattern": "MARK", "path": str(path), "output_mode": "content"}, call_id="c"
        ),
        chat_server.text(),
    ]
    return lambda number, request: script[min(number, 3)]


def results(server: ChatServer) -> str:
    """What tools told the model."""
    return json.dumps([m for request in server.questions for m in messages(request) if m["role"] == "tool"])


def test_a_model_that_asks_for_a_tool_is_an_error_and_gets_nothing(
    make: Make, backend: str, isolation: str, secret: Path
) -> None:
    with ChatServer(after(secret)) as server:
        error = error_of(make(backend, server, isolation=isolation))
        assert (error.kind, error.retryable) == ("tool-request", False)
        assert "(view)" in str(error)
        assert "MARKER" not in results(server)


def all_tools(cli: Path, sandbox: Sandbox, server: ChatServer) -> None:
    """The CLI with every tool and every permission, in a sandbox of ours."""
    with fresh_workspace(sandbox.uid) as workspace:
        extra = {
            **offline(server),
            "COPILOT_MODEL": "m",
            "COPILOT_HOME": str(workspace.state),
            "COPILOT_CACHE_HOME": str(cli.parent / "cache"),
        }
        command = [str(cli), "-p", "Go on.", "--allow-all-tools", "--allow-all-paths", "--no-auto-update"]
        env = clean_environment({}, workspace, extra)
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with sandbox.start(workspace, command, env, **quiet) as process:
            try:
                process.wait(60)
            finally:
                end(None, workspace)


def test_even_with_all_tools_the_fence_keeps_the_secret(cli: Path, secret: Path) -> None:
    if not landlock_abi():
        pytest.skip("this kernel offers no Landlock")
    with ChatServer(after(secret)) as server:
        ports = (server.port,)
        sandbox = make_sandbox("require", execute=[cli, cli.parent / "cache"], ports=ports)
        all_tools(cli, sandbox, server)
        told = results(server)
    assert "MARKER" not in told
    assert told.lower().count("permission denied") >= 2


def test_with_all_tools_and_no_fence_the_model_has_the_secret(cli: Path, secret: Path) -> None:
    """The control of the test above."""
    with ChatServer(after(secret)) as server:
        all_tools(cli, Sandbox("off", None), server)
        assert "MARKER" in results(server)


def test_questions_in_flight_at_once_get_their_own_answers(make: Make, backend: str) -> None:
    def echo(number: int, request: Request) -> Reply:
        return chat_server.text(request.prompt.rpartition(" ")[2], delay=1)

    with ChatServer(echo) as server:
        model = make(backend, server)
        questions = [
            Question("id", "repo", "", QUESTION.system, f"Say nothing but {number}", 3) for number in range(4)
        ]
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda question: model.ask(question, 60).text, questions))
        assert server.most_in_flight > 1
    assert answers == [str(number) for number in range(4)]


def test_one_process_serves_all_questions_of_the_sdk_and_forgets_each(make: Make) -> None:
    with ChatServer() as server:
        model = make("copilot", server)
        model.ask(QUESTION, 60)
        before = running(server)
        model.ask(QUESTION, 60)
        assert running(server) == before
        assert [len(messages(request)) for request in server.questions] == [2, 2]
        state = Path(f"/proc/{before[0]}/environ").read_bytes().split(b"\0COPILOT_HOME=")[1].split(b"\0")[0]
        stored = Path(os.fsdecode(state), "session-state")
        wait_until(lambda: not list(stored.glob("*/events.jsonl")), 10)


@pytest.mark.skipif(landlock_abi() < 2, reason="needs a kernel with Landlock")
def test_the_cli_works_behind_the_oldest_fence(make: Make, backend: str) -> None:
    with ChatServer() as server:
        model = make(backend, server, landlock_abi=1)
        assert model.ask(QUESTION, 60).text == chat_server.ANSWER
        assert model.condition.sandbox.startswith("landlock abi 1")


def test_a_plain_user_gets_the_same_answer_behind_the_same_fence(cli: Path) -> None:
    """The whole program as another user, who can neither change the uid nor write beside the binary."""
    python = "/usr/bin/python3"
    if os.geteuid() != 0 or not Path(python).exists() or not landlock_abi() or not open_to_all(ROOT):
        pytest.skip(f"needs root, Landlock, {python} and a checkout that any user can read")
    code = (
        "import sys\nif sys.version_info < (3, 11): sys.exit('old')\n"
        "from bccontam.models.base import Question\nfrom bccontam.models.copilot_cli import CopilotCliModel\n"
        "model = CopilotCliModel(model='test-model', isolation='require')\n"
        "print(model.ask(Question('id', 'repo', '', 'You name files.', 'Which?', 3), 60).text)\n"
        "print(model.condition.sandbox, model.condition.self_test)\n"
    )
    with ChatServer() as server:
        env = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "COPILOT_CLI_PATH": str(cli)}
        done = subprocess.run(
            [python, "-c", code],
            cwd="/",
            env={**env, **offline(server)},
            user=1000,
            group=1000,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=60,
        )
    if done.stderr.strip() == "old":
        pytest.skip(f"{python} is older than Python 3.11")
    assert done.stdout.split("\n")[0] == chat_server.ANSWER, done.stderr
    assert done.stdout.split("\n")[1] == f"landlock abi {landlock_abi()}, socket filter passed"


def test_github_is_asked_for_through_the_proxy_of_the_user(cli: Path, backend: str) -> None:
    """The way to the real Copilot as far as it goes without a network: the token is taken, the proxy is asked."""
    asked: list[str] = []

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    asked.append(connection.recv(4096).split(b"\r\n")[0].decode())
                    connection.sendall(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")

    from bccontam.models.copilot import CopilotModel
    from bccontam.models.copilot_cli import CopilotCliModel

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        environ = {"HTTPS_PROXY": f"http://127.0.0.1:{listener.getsockname()[1]}"}
        kind = CopilotModel if backend == "copilot" else CopilotCliModel
        model = kind(model="gpt-5-mini", token=TOKEN, isolation=FENCED, environ=environ, cli_path=cli)
        try:
            error = error_of(model)
        finally:
            model.close()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
    assert {line.split()[0] for line in asked} == {"CONNECT"}
    assert any(".githubcopilot.com:443" in line for line in asked)
    assert TOKEN not in str(error)


def test_the_binary_behind_an_npm_script_is_found(cli: Path, tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "@github"
    (package / "copilot-linux-x64").mkdir(parents=True)
    (package / "copilot-linux-x64" / "copilot").symlink_to(cli)
    (package / "copilot").mkdir()
    loader = package / "copilot" / "npm-loader.js"
    loader.write_text("#!/usr/bin/env node\n")
    loader.chmod(0o755)
    assert find_cli(loader, {}).samefile(cli)


def test_two_runs_unpack_one_cache_once(cli: Path, tmp_path: Path) -> None:
    from bccontam.models import copilot_common

    cache = tmp_path / "cache"
    threads = [threading.Thread(target=copilot_common._warm, args=(cli, cache)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(cache.glob("pkg/*/*/app.js"))) == 1
    assert (cache / "warm").read_text() == f"{cli.stat().st_size} {int(cli.stat().st_mtime)}"
