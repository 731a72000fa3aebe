"""JSON lines: one object a line, lines ended by LF alone.

U+2028, U+0085 and their like are text here, never line ends, and line numbers are those of an editor: blank
lines count. Source: jsonlines.org.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from bccontam.datasets.json_text import BROKEN, Decoder, reason
from bccontam.datasets.notes import BLANK_LINE, BYTE_ORDER_MARK, CRLF, Notes
from bccontam.datasets.text import bad

_CONFLICT_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_COMMENTS = (b"//", b"#", b"/*", b"--")


def read(file: Path, notes: Notes | None) -> Iterator[tuple[str, object]]:
    """`("line 3", value)` for every line that is not blank, one line held at a time. Raises DatasetError."""
    decoder = Decoder(file, notes)
    with file.open("rb") as stream:
        for number, raw in enumerate(stream, 1):
            place = f"line {number}"
            line = raw.strip(b" \t\r\n")
            while line.startswith(codecs.BOM_UTF8):
                line = line.removeprefix(codecs.BOM_UTF8).strip(b" \t\r\n")
                if notes:
                    notes.add(file, BYTE_ORDER_MARK, place)
            if notes and raw.endswith(b"\r\n"):
                notes.add(file, CRLF, place)
            if line:
                yield place, _value(line, decoder, file, place, is_whole=raw.endswith(b"\n"))
            elif notes:
                notes.add(file, BLANK_LINE, place)


def _value(line: bytes, decoder: Decoder, file: Path, place: str, *, is_whole: bool) -> object:
    if line.startswith(_CONFLICT_MARKERS):
        raise bad(file, place, "a merge conflict marker; resolve the conflict first")
    if line.startswith(_COMMENTS):
        raise bad(file, place, "a comment, which JSON lines do not have; take the line out")
    try:
        return decoder.decode(line.decode("utf-8"), place)
    except UnicodeDecodeError as error:
        raise bad(
            file, place, f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8"
        ) from None
    except BROKEN as error:
        hint = "" if is_whole else "; this is the last line, and the file may be cut short"
        raise bad(file, place, reason(error) + hint) from None
