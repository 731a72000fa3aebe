from __future__ import annotations

import json
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bccontam.answer import EXAMPLE_PATHS, Prediction, parse_prediction
from bccontam.answer.path import MAX_PATH
from tests.support.answers import BILLING, ORDER

FRAGMENTS = st.sampled_from(
    ["[", "]", "{", "}", "(", ")", '"', "'", "“", "”", "`", "```json\n", "\\", '\\"', "\\n", "\\ud83d", ",",
     ":", "//", "/*", "#", "\n", "\t", "- ", "| ", "**", ORDER, "a.al", "b/c.al", "App\\Foo.al", "x y/Z.al",
     '"path":', "file: ", "null", "<think>", "</think>", "<answer>", "<file>", "&quot;", "&amp;", "%20",
     "%2541", "C:\\repo\\", "../", "~/", ":12", "::f", "https://github.com/o/r/blob/main/src/a.al", " - ",
     "\u200b", "\u00a0", "\ud83d", "\x1b[0m", "\x00", "[32m", *EXAMPLE_PATHS, "Final answer:", "I cannot"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(codec=None)),
    st.lists(FRAGMENTS, max_size=14).map("".join),
    st.lists(st.lists(FRAGMENTS, max_size=5).map("".join), max_size=4).map(json.dumps),
)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(-1, 5), st.sampled_from([None, "o/r", "", "astropy/astropy"]))
@example("\ud83d", 3, None)
def test_any_text_gives_bounded_clean_paths(text: str, top_k: int, repo: str | None) -> None:
    paths = parse_prediction(text, top_k, repo).paths
    assert len(paths) == len(set(paths)) <= max(top_k, 0)
    for path in paths:
        assert 0 < len(path) <= MAX_PATH
        assert path.encode("utf-8")
        assert "Cc" not in map(unicodedata.category, path)
        assert "\\" not in path
        assert not path.startswith(("/", "./"))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
@example(f"- {BILLING}\n")
def test_paths_written_as_json_read_as_the_same_paths(text: str) -> None:
    paths = parse_prediction(text).paths
    for ascii_only in (True, False):
        again = parse_prediction(json.dumps(paths, ensure_ascii=ascii_only))
        assert again == Prediction(paths, "ok" if paths else "empty")
