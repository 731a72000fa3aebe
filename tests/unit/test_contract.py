"""The action's metadata, the settings model and the command line say the same."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

import bccontam
from bccontam.cli import COMMANDS, FLAG_NAMES, program
from bccontam.settings import Settings, default_text, flags, inputs, make_settings
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def metadata() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def test_the_inputs_of_the_metadata_are_the_settings_in_the_same_order(metadata: dict[str, Any]) -> None:
    assert list(metadata["inputs"]) == list(inputs())


def test_every_input_has_the_same_sentence_and_a_quoted_default(metadata: dict[str, Any]) -> None:
    for name, description in inputs().items():
        declared = metadata["inputs"][name]
        assert declared["description"] == description
        assert isinstance(declared["default"], str)
        expected = "${{ github.token }}" if name == "github-token" else default_text(name.replace("-", "_"))
        assert declared["default"] == expected, name
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)


def test_the_defaults_of_the_metadata_are_valid_and_mean_what_the_model_means(
    metadata: dict[str, Any],
) -> None:
    given = {name: item["default"] for name, item in metadata["inputs"].items()} | {
        "mode": "report",
        "github-token": "",
    }
    assert make_settings(given) == make_settings({"mode": "report"})


def test_every_output_has_a_sentence(metadata: dict[str, Any]) -> None:
    assert len(metadata["outputs"]) == 17
    assert all(
        item["description"].endswith((".", "none was written.")) for item in metadata["outputs"].values()
    )


def test_the_action_runs_in_docker_and_passes_its_schema(metadata: dict[str, Any]) -> None:
    assert metadata["runs"]["using"] == "docker"
    words = ("--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml"))
    subprocess.run([sys.executable, "-m", "check_jsonschema", *words], check=True, capture_output=True)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "demo"])
def test_a_command_has_the_flags_of_its_mode_with_the_words_of_the_inputs(command: str) -> None:
    import click

    made = program.get_command(click.Context(program), command)
    assert made is not None
    options = {option.opts[0] for option in made.params}
    assert options == {f"--{FLAG_NAMES.get(name, name.replace('_', '-'))}" for name in flags(command)}


def test_every_setting_is_an_input_or_a_flag() -> None:
    reachable = {name.replace("-", "_") for name in inputs()} | {
        flag for mode in COMMANDS for flag in flags(mode)
    }
    assert reachable == set(Settings.model_fields)


def test_importing_the_package_loads_nothing_else_and_the_version_needs_only_click() -> None:
    code = "import sys; import bccontam; print(sorted(m for m in sys.modules if m.startswith('bccontam')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "['bccontam']"
    code = (
        "import sys; import bccontam.cli; heavy = {'pydantic', 'requests', 'github', 'jinja2', 'rich', 'pyarrow', "
        "'copilot', 'unidiff', 'asyncio'}; print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
    assert re.fullmatch(r"\d+\.\d+\.\d+", bccontam.__version__)
