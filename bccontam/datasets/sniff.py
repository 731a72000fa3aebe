"""What a file is, by its first bytes: Parquet, a JSON document, JSON lines, or no benchmark at all.

The name of the file counts for nothing: `.json` files hold lines and `.jsonl` files hold error pages.
"""

from __future__ import annotations

import codecs
import json
import re
from pathlib import Path
from typing import Literal

from bccontam.datasets.json_document import holds_rows
from bccontam.datasets.text import bad

Kind = Literal["parquet", "document", "lines"]

LFS_POINTER = b"version https://git-lfs.github.com/spec/"

_HEAD = 4096
_LEADING = re.compile(rb"\A(?:\s|\xef\xbb\xbf)+")
_PACKED = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
)
_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def kind_of(file: Path) -> Kind:
    """How to read the file. Raises DatasetError for what is no benchmark, with what it is instead."""
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith(b"PAR1"):
        return "parquet"
    _refuse(file, head)
    start = _start(head)
    if start.startswith(b"["):
        return "document"
    return "document" if start.startswith(b"{") and _is_one_object(file) else "lines"


def _refuse(file: Path, head: bytes) -> None:
    for magic, name in _PACKED:
        if head.startswith(magic):
            raise bad(file, "", f"it is packed ({name}), not text; unpack it first")
    if encoding := _wide_encoding(head):
        raise bad(file, "", f"it is encoded as {encoding}; save it as UTF-8")
    start = _start(head)
    if b"\0" in head and not start.startswith((b"{", b"[")):
        raise bad(file, "", "it is binary data, neither JSON nor Parquet")
    if start.startswith(LFS_POINTER):
        raise bad(
            file,
            "",
            "it is a Git LFS pointer, not the data; run `git lfs pull` or check out with `lfs: true`",
        )
    if start.startswith(b"<") and not start.startswith(b"<<<<<<<"):
        line = head.count(b"\n", 0, len(head) - len(start)) + 1
        raise bad(file, f"line {line}", 'it starts with "<": this is an HTML or XML page and not data')


def _start(text: bytes) -> bytes:
    """The text from its first character on that is no white space and no byte order mark."""
    return _LEADING.sub(b"", text, count=1)


def _wide_encoding(head: bytes) -> str:
    for mark, name in _ENCODINGS:
        if head.startswith(mark):
            return name
    # Without a mark: one of the two bytes of the first character is zero, and it is ASCII in any JSON.
    return "UTF-16 or UTF-32" if b"\0" in head[:2] and head[:2].strip(b"\0") else ""


def _is_one_object(file: Path) -> bool:
    """Whether the file is not lines but an object over several lines, or one that holds the rows."""
    with file.open("rb") as stream:
        first = b""
        while not first:
            first = _start(stream.readline()).rstrip()
    if first == b"{":
        return True
    try:
        return holds_rows(json.loads(first))
    except (ValueError, RecursionError):
        return False
