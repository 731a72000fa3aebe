"""The set-up of the interpreter changes how long a start takes, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT


def run(code: str) -> str:
    """What a fresh interpreter prints that runs `code` in the block of the set-up."""
    source = "from bccontam.interpreter import lean_interpreter\nwith lean_interpreter():\n"
    source += "".join(f"    {line}\n" for line in code.split("\n"))
    command = [sys.executable, "-W", "error", "-c", source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_settings_are_imported_without_the_metadata_of_packages() -> None:
    assert run("import sys\nimport bccontam.settings\nprint('zipfile' in sys.modules)") == "False"


@pytest.mark.parametrize(
    "code",
    [
        "import importlib.metadata\nprint(importlib.metadata.version('click'))",
        "from importlib.metadata import version\nprint(version('click'))",
        "from importlib import metadata\nprint(metadata.version('click'))",
        "from importlib.metadata import distribution\nprint(distribution('click').version)",
        "import importlib.metadata._meta\nprint(importlib.metadata.version('click'))",
    ],
)
def test_metadata_can_be_read_all_the_same(code: str) -> None:
    from importlib.metadata import version

    assert run(code) == version("click")
    assert run(f"import bccontam.settings\n{code}") == version("click")


def test_entry_points_are_those_that_are_installed() -> None:
    code = (
        "from importlib.metadata import entry_points\nprint(len(entry_points(group='console_scripts')) > 0)"
    )
    assert run(code) == "True"


def test_a_metadata_module_that_is_there_already_stays() -> None:
    code = "import importlib.metadata as before"
    source = f"{code}\nfrom bccontam.interpreter import lean_interpreter\n"
    source += "with lean_interpreter():\n    import importlib.metadata as after\n    print(before is after)"
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"


def test_an_error_in_the_block_is_raised() -> None:
    with pytest.raises(AssertionError, match="KeyError"):
        run("raise KeyError('x')")
