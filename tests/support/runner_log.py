"""What a runner would make of a log: the workflow commands it would carry out, read as the runner reads them."""

from __future__ import annotations

import re

_V2 = re.compile(r"^\s*::([A-Za-z][\w-]*)(?:\s([^:]*(?::(?!:)[^:]*)*))?::(.*)$")
_V1 = re.compile(r"##\[([A-Za-z][\w-]*)[^\]]*\]")


def commands(log: str) -> list[tuple[str, str]]:
    """`(command, message)` of every line; both spellings, also behind lone carriage returns."""
    found = []
    for line in re.split(r"\r\n|\n|\r", log):
        if match := _V2.match(line):
            found.append((match[1], match[3]))
        elif match := _V1.search(line):
            found.append((match[1], line))
    return found
