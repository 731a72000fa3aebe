"""Keyword search over real paths: the naming floor for somebody who knows the repository's file names.

Pure: whoever has the list of paths reads it. It knows no gold patch and no file's content.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nlargest

from bccontam.naming import TITLE_WEIGHT, Report

_MOST_READ = 10_000
"""Entries of the word lists read for one question, weightiest words first: it bounds the time of a search."""
_MOST_RANKED = 50
_FOLDER_SHARE = 0.1


class FileIndex:
    """Real paths, searched by the words of a problem statement.

    A path scores by the words of its file name that stand in the statement: each counts by its rarity in the
    list, log((paths + 1) / paths with it), and `TITLE_WEIGHT` times as much from the title. The sum is
    divided by the square root of what the whole name is worth, so that no name wins by its length; the words
    of its folders add a tenth of theirs. Built once, then only read: threads may share it.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        places = [path.rpartition("/") for path in self._paths]
        names = [_words(name) for _, _, name in places]
        self._folder_words = {folder: _words(folder) for folder in {folder for folder, _, _ in places}}
        times: Counter[str] = Counter()
        self._with_word: dict[str, list[int]] = {}
        for number, (words, (folder, _, _)) in enumerate(zip(names, places, strict=True)):
            times.update(words | self._folder_words[folder])
            for word in words:
                self._with_word.setdefault(word, []).append(number)
        self._rarity = {word: math.log((len(names) + 1) / count) for word, count in times.items()}
        self._scale = [math.sqrt(math.fsum(map(self._rarity.__getitem__, words))) for words in names]

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> FileIndex:
        """From a list of repository paths, one a line, as `git ls-files` prints them (also with `-z`)."""
        paths = (_path_of_line(path) for line in lines for path in line.split("\0"))
        return cls(path for path in paths if path)

    def __len__(self) -> int:
        return len(self._paths)

    def search(self, problem_statement: str, top_k: int) -> tuple[str, ...]:
        """At most `top_k` paths of the list, best first; each has a word of its name in the statement."""
        weights = self._weights(Report.read(problem_statement))
        matched = self._matched(weights)
        scores = {
            number: matched[number] / self._scale[number] + _FOLDER_SHARE * self._folders(number, weights)
            for number in nlargest(max(_MOST_RANKED, top_k), matched, key=matched.__getitem__)
        }
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return tuple(self._paths[number] for number in best[:top_k])

    def _weights(self, report: Report) -> dict[str, float]:
        """What each word of the report is worth that stands in a path of the list."""
        title = _words(report.text[: report.title_end])
        found = self._rarity.keys() & _words(report.text)
        return {word: self._rarity[word] * (TITLE_WEIGHT if word in title else 1) for word in sorted(found)}

    def _matched(self, weights: Mapping[str, float]) -> dict[int, float]:
        """The worth of the words that each path's file name shares with the report."""
        matched: dict[int, float] = {}
        left = _MOST_READ
        for word in sorted(weights, key=weights.__getitem__, reverse=True):
            numbers = self._with_word.get(word, [])
            left -= len(numbers)
            if left < 0 and matched:
                break
            weight = weights[word]
            for number in numbers:
                matched[number] = matched.get(number, 0) + weight
        return matched

    def _folders(self, number: int, weights: Mapping[str, float]) -> float:
        folder = self._paths[number].rpartition("/")[0]
        return math.fsum(weights.get(word, 0) for word in self._folder_words[folder])


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_CONTROL = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def _words(text: str) -> frozenset[str]:
    """The words of a text or a path, split at capitals too, in lower case and the singular."""
    return frozenset(map(_singular, {word.lower() for word in _WORD.findall(text)}))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _path_of_line(line: str) -> str:
    """A path as git prints it: in double quotes, with escaped bytes, where it holds unusual characters."""
    line = line.rstrip("\r\n")
    if len(line) > 1 and line[0] == line[-1] == '"':
        raw = _ESCAPE.sub(_byte_of, line[1:-1].encode("utf-8", "surrogatepass"))
        return raw.decode("utf-8", "replace")
    return line.replace("\\", "/").removeprefix("./").rstrip("/")


def _byte_of(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _CONTROL.get(code, code)
