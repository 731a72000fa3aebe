"""The real parts that `script/test --real` installs, and what a test does when one is not there.

A test skips with the reason, so that the quick suite needs Python packages only. With BCCONTAM_REQUIRE_REAL=1
it fails instead: a check that was promised must not pass by being left out.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bccontam.errors import AskError


def need_real(present: object, what: str) -> None:
    """Go on if `present` is true; else skip, or fail when the real parts are required."""
    if present:
        return
    reason = f"{what} is not here; script/test --real installs it"
    if os.environ.get("BCCONTAM_REQUIRE_REAL") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def real_copilot_cli() -> Path:
    """The Copilot CLI binary; skips or fails the test when there is none."""
    from bccontam.models.copilot_common import find_cli

    try:
        return find_cli(None, os.environ)
    except AskError:
        need_real(None, "The Copilot CLI")
        raise
