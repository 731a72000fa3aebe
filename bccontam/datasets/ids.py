"""Which `instance_id` can be used: it names folders and stands in logs, so it must be safe in both.

Nothing is concluded from its form: benchmarks build their ids in many ways.
"""

from __future__ import annotations

import re

from bccontam.datasets.text import shown

_LONGEST = 200
_SEPARATORS = re.compile(r'[/\\:*?"<>|]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)


def check_id(value: object) -> str:
    """The id as text; a whole number is written out. Raises ValueError with the reason it cannot be used."""
    if value is None or value != value:
        raise ValueError("it has no instance_id")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("its instance_id is neither text nor a whole number")
    text = str(value)
    if not text.strip():
        raise ValueError("its instance_id is empty")
    if reason := _why_unsafe(text):
        raise ValueError(f"unsafe instance_id {shown(text)}: {reason}")
    return text


def _why_unsafe(text: str) -> str:
    if len(text) > _LONGEST or len(text.encode("utf-8", "replace")) > 255:
        return f"it is longer than {_LONGEST} characters"
    if not text.isprintable():
        return "it holds a control or another invisible character"
    if _SEPARATORS.search(text):
        return 'it holds one of / \\ : * ? " < > |, which file names cannot'
    if text[0] in ".-" or text[0].isspace():
        return "it starts with a dot, a dash or a blank"
    if text[-1] == "." or text[-1].isspace():
        return "it ends with a dot or a blank"
    if _DEVICE.fullmatch(text):
        return "it is the name of a device"
    return ""
