"""Time and memory of reading hostile answers: 10 MB of every kind of text that a reader may choke on.

Run `python -m bench.answer [MEGABYTES]`. Prints one line a kind: seconds, extra memory at the peak, status, paths.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from collections.abc import Iterator

from bccontam.answer import parse_prediction

UNITS = {
    "open brackets": "[",
    "open braces": "{",
    "open round brackets with quotes": '("',
    "nested objects": '{"a":',
    "nested arrays with a string": '["a",',
    "nested arrays of objects": '[{"path":',
    "empty arrays": "[]",
    "empty arrays on lines": "[]\n",
    "empty strings in an array": '"",',
    "double quotes": '"',
    "single quotes": "'",
    "typographic quotes": "“",
    "quotes that do not close": '"a ',
    "single quotes that do not close": "'a ",
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "unicode escapes": "\\u0041",
    "lone surrogate escapes": "\\ud83d",
    "backticks": "`",
    "code spans": "`a` ",
    "fences": "```json\n",
    "think tags": "<think>",
    "closing think tags": "</think>",
    "answer tags": "<answer>",
    "tags": "<a>",
    "open angle brackets": "<",
    "tag with attributes": '<a b="c"',
    "digits": "9",
    "signs and digits": "-1,",
    "bullets": "- ",
    "bullet lines": "- a\n",
    "numbered lines": "1. \n",
    "line breaks": "\n",
    "blanks": " ",
    "carriage returns": "\r",
    "commas": ",",
    "slashes": "/",
    "slash words": "a/",
    "dots": ".",
    "extensions": ".al",
    "file lines": "a.al\n",
    "path lines": "- src/a.al\n",
    "code span lines": "- `src/a.al` x\n",
    "labels": "path: ",
    "table cells": "| a.b ",
    "comment starts": "/*",
    "line comments": "//",
    "hashes": "#",
    "escape characters": "\x1b",
    "colour sequences": "\x1b[0m",
    "title sequences": "\x1b]0;",
    "unfinished sequences": "\x1b[",
    "zero-width spaces": "\u200b",
    "no-break spaces": "\u00a0",
    "byte order marks": "\ufeff",
    "lone surrogates": "\ud83d",
    "emoji": "\U0001f600",
    "entities": "&quot;",
    "ampersands": "&",
    "percent signs": "%",
    "encoded percent signs": "%25",
    "links": "[a](b)",
    "open links": "[a](",
    "events": '{"type":"assistant.message","data":{"content":"x"}}\n',
    "channels": "<|channel|>final<|message|>",
    "wide brackets": "［",
    "urls": "https://github.com/a/b/blob/",
    "refusals": "I cannot ",
    "refusal starts": "not enough more ",
    "bold": "**a",
    "colons": ":",
    "equals": "a=",
    "closing brackets": "]",
    "mixed brackets": "[{(",
    "keys": '"a":',
    "prose": "The order page shows the wrong amount. ",
    "colour codes as text": "[1;",
}

IN_LISTS = (
    '"",',
    '"a",',
    '"a/',
    "a.al,",
    "'a',",
    "“a”,",
    "a ",
    '\\"',
    "`a`,",
    '"a" "',
    "{},",
    "[],",
    "//",
    "/*",
    "k:",
    "🙂,",
    ")",
    '"a.al"',
)
"""Units repeated after an opening bracket and between quotes."""


def inputs(size: int) -> Iterator[tuple[str, str]]:
    """Named texts of about `size` characters."""
    for name, unit in UNITS.items():
        yield name, unit * (size // len(unit))
    for unit in IN_LISTS:
        yield f"after a bracket: {unit}", "[" + unit * (size // len(unit))
        yield f"in an object: {unit}", '{"files": [' + unit * (size // len(unit)) + "]}"
    yield "one path", '["' + "a" * size + '.al"]'
    yield "one word", "a" * size
    count = size // 42
    rows = [f"src/App/m{number:06d}/File{number:06d}.Codeunit.al" for number in range(count)]
    yield "valid array", json.dumps(rows)
    yield "valid array, pretty", json.dumps(rows, indent=2)
    yield "valid objects", json.dumps([{"path": row, "line": 1} for row in rows])
    yield "lines", "\n".join(rows)
    yield "bullets", "".join(f"- `{row}` because\n" for row in rows)
    yield "arrays on lines", "".join(f'["{row}"]\n' for row in rows)
    yield "arrays in prose", "".join(f'x ["{row}"] y\n' for row in rows)
    yield (
        "many spellings of one path",
        json.dumps(["./" * (number % 9) + "a.al" + " " * (number % 97) for number in range(size // 60)]),
    )
    yield "junk items", json.dumps([f"some words {number}" for number in range(size // 20)])
    yield "junk lists", "".join(f'x ["some words {number}"] y ' for number in range(size // 28))
    yield "encoded twice", json.dumps(json.dumps(rows))
    yield "reasoning, then an answer", "<think>" + "hm [x] " * (size // 7) + '</think>["src/a.al"]'
    yield (
        "prose around an answer",
        "words [1] " * (size // 20) + '\n["src/a.al"]\n' + "more words " * (size // 22),
    )
    yield "brackets, then an answer", "[" * size + '\n["src/a.al"]'


def main() -> None:
    size = int(float(sys.argv[1]) * 1_000_000) if len(sys.argv) > 1 else 10_000_000
    slowest = largest = 0.0
    for name, text in inputs(size):
        start = time.perf_counter()
        prediction = parse_prediction(text, 3)
        seconds = time.perf_counter() - start
        tracemalloc.start()
        parse_prediction(text, 3)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        slowest, largest = max(slowest, seconds), max(largest, peak)
        print(f"{seconds:6.2f} s {peak:6.1f} MB  {prediction.status:9} {len(prediction.paths)}  {name!a}")
    print(f"slowest {slowest:.2f} s, largest {largest:.1f} MB above the text itself")


if __name__ == "__main__":
    main()
