"""One way out for every line: after it no text can act as a workflow command or move a terminal.

A runner reads commands from standard output and standard error alike: `::` at the start of a line, after
blanks, and `##[` anywhere in it. Secrets are masked and taken out before anything is shown.
"""

from __future__ import annotations

import re
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

Level = Literal["error", "warning", "notice"]

_LEGACY = re.compile(r"##(?=\[)")
_COMMAND = re.compile(r"^([\s\ufeff]*):(?=:)")
_LONGEST = 4_000
_MASK = "***"
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;"}


def printable(line: str) -> str:
    """One line of plain text: control and format characters as escapes, nothing a runner takes for a command."""
    shown = "".join(char if _is_plain(char) else _escape(char) for char in line)
    # A word joiner is not shown, and parts what a runner looks for.
    shown = _LEGACY.sub("#\u2060#", shown)
    return _COMMAND.sub("\\1:\u2060", shown)


def _is_plain(char: str) -> bool:
    return " " <= char <= "~" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _escape(char: str) -> str:
    plain = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    number = ord(char)
    return plain.get(char) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")


class Redactor:
    """Takes secrets out of text, also where it has been escaped as Markdown: `ghs\\_x` shows `ghs_x`.

    Those of fewer than four characters are left: they would blank out words.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {part for secret in secrets for part in _spellings(secret) if len(part) >= 4}
        self._secrets = sorted(found, key=lambda secret: (-len(secret), secret))
        self._pattern = re.compile("|".join(map(_as_shown, self._secrets)) or r"(?!)")

    def __call__(self, text: str) -> str:
        return self._pattern.sub(_MASK, text)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is taken out, the longest first."""
        return tuple(self._secrets)


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it is, and the lines of one that has several: a runner masks line by line."""
    yield secret.strip()
    for line in secret.splitlines():
        yield line.strip()


def _as_shown(secret: str) -> str:
    """A pattern for a secret whose characters may be escaped as `bccontam.report.markdown` escapes them."""
    return r"[\\\u2060]*".join(
        f"(?:{re.escape(char)}|{_ENTITIES[char]})" if char in _ENTITIES else re.escape(char)
        for char in secret
    )


class Log:
    """The lines of one run. Inside Actions, levels become annotations: one error, one warning of each kind.

    `write` takes a finished line without its line feed.
    """

    def __init__(
        self, write: Callable[[str], None], *, in_actions: bool, secrets: Iterable[str] = ()
    ) -> None:
        self._write = write
        self._in_actions = in_actions
        self._redact = Redactor(secrets)
        self._annotated: set[tuple[Level, str]] = set()
        if in_actions:
            for secret in self._redact.secrets:
                if "\n" not in secret and "\r" not in secret:
                    write(f"::add-mask::{_data(secret)}")

    def info(self, line: str) -> None:
        """A line for people."""
        self._write(printable(self._redact(line)))

    def notice(self, line: str, kind: str = "") -> None:
        """Something worth knowing; an annotation once for each kind."""
        self._annotate("notice", line, kind or line)

    def warning(self, line: str, kind: str = "") -> None:
        """Something to look at; an annotation once for each kind, a plain line after that."""
        self._annotate("warning", line, kind or line)

    def error(self, line: str) -> None:
        """What made the step fail; an annotation once in a run, a plain line after that."""
        self._annotate("error", line, "")

    @contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Lines that a runner folds under a title."""
        line = printable(self._redact(title))
        self._write(f"::group::{_data(line)}" if self._in_actions else line)
        try:
            yield
        finally:
            if self._in_actions:
                self._write("::endgroup::")

    def _annotate(self, level: Level, line: str, kind: str) -> None:
        shown = printable(self._redact(line))[:_LONGEST]
        if not self._in_actions or (level, kind) in self._annotated:
            self._write(f"{level}: {shown}")
        else:
            self._annotated.add((level, kind))
            self._write(f"::{level} title=bccontam::{_data(shown)}")

    def fault(self, error: BaseException) -> None:
        """A fault of ours: where it happened and its type. Its message may hold a gold path or an answer."""
        for frame in traceback.extract_tb(error.__traceback__):
            self.info(f"  at {frame.name} ({frame.filename.rpartition('/')[2]}:{frame.lineno})")
        self.error(f"Internal error: {type(error).__name__}. Please report this with the lines above.")


def _data(text: str) -> str:
    """The message of a workflow command, escaped as the runner decodes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
