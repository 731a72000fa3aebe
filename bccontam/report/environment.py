"""How the shipped templates are loaded: strictly, compiled once like Python's own files, and a user's in a sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

TEMPLATES = Path(__file__).parent / "templates"


def make_environment(
    finalize: Callable[[object], object], *, autoescape: bool, sandboxed: bool = False
) -> Environment:
    """An environment over the shipped templates. `finalize` sees every value that is printed.

    `sandboxed` is for a template of the user's; our own needs none, which takes half the time.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    make = SandboxedEnvironment if sandboxed else Environment
    return make(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=autoescape,
        finalize=finalize,
        bytecode_cache=None if sandboxed else _compiled(),
    )


def _compiled() -> BytecodeCache | None:
    """A cache of compiled templates beside them, where Python would keep its own; None where that cannot be."""
    from jinja2 import FileSystemBytecodeCache

    folder = TEMPLATES / "__pycache__"
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None
