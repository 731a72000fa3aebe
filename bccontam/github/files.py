"""The runner's file commands: step outputs and the job summary.

Values go out whole and cannot end early; nothing is written where the runner named no file.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from bccontam.errors import StoreError

SUMMARY_BYTES = 1_000_000
"""Most bytes of a job summary; the runner drops one of more than 1,048,576 whole."""


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append step outputs to GITHUB_OUTPUT, each between random delimiters that its value does not hold.

    Raises StoreError when the file cannot be written.
    """
    _append(environ, "GITHUB_OUTPUT", "".join(_heredoc(name, value) for name, value in outputs.items()))


def write_summary(environ: Mapping[str, str], page: str) -> bool:
    """Append to the job summary. False when there is no place for it or it is too large to be shown.

    Raises StoreError when the file cannot be written.
    """
    path = environ.get("GITHUB_STEP_SUMMARY", "")
    if not path or len(_utf8(page)) > SUMMARY_BYTES:
        return False
    _append(environ, "GITHUB_STEP_SUMMARY", page if page.endswith("\n") else f"{page}\n")
    return True


def _heredoc(name: str, value: str) -> str:
    while True:
        delimiter = f"ghadelimiter_{secrets.token_hex(16)}"
        if delimiter not in value and delimiter not in name:
            return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(environ: Mapping[str, str], variable: str, text: str) -> None:
    path = environ.get(variable, "")
    if not path or not text:
        return
    try:
        with Path(path).open("ab") as file:
            file.write(_utf8(text))
    except OSError as error:
        raise StoreError(
            f"Cannot write {variable} ({error.strerror}); is this step run by a runner?"
        ) from error


def _utf8(text: str) -> bytes:
    """UTF-8 that never fails: lone surrogates, as file names that are not UTF-8 have them, become escapes."""
    return text.encode("utf-8", "backslashreplace")
