"""One spelling for a path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.paths import basename, normalize_path, suffix

HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab./\\\"'` \t\n\u00a0\u2003\u200b\u2028\ufeff\u1fef\u0301\u00e9\u201cx\0\udce9"),
        st.characters(),
    ),
    max_size=16,
)

SPELLINGS = {
    "src/App/Foo.Table.al": "src/App/Foo.Table.al",
    "./src/x.al": "src/x.al",
    "././/src/./x.al": "src/x.al",
    "/src//x.al/": "src/x.al",
    "src\\App\\Foo.al": "src/App/Foo.al",
    ".\\src\\x.al": "src/x.al",
    "src\\\\x.al": "src/x.al",
    '"src/x.al"': "src/x.al",
    "`src/x.al`": "src/x.al",
    " '\"src/x.al/\"' \n": "src/x.al",
    "\u201csrc/x.al\u201d": "src/x.al",
    "\ufeffsrc/x.al\u200b": "src/x.al",
    "src/x\u200b.al": "src/x.al",
    "src/Subscription\u00a0Billing/X.al": "src/Subscription Billing/X.al",
    "src/cafe\u0301.al": "src/caf\u00e9.al",
    ".env": ".env",
    "./.env": ".env",
    ".github/workflows/ci.yml": ".github/workflows/ci.yml",
    "...": "...",
    "../../etc/passwd": "../../etc/passwd",
    "src/../x.al": "src/../x.al",
    "a/src/x.al": "src/x.al",
    "b/src/x.al": "src/x.al",
    "./a/src/x.al": "src/x.al",
    "a\\src\\x.al": "src/x.al",
    "A/src/x.al": "A/src/x.al",
    "ab/src/x.al": "ab/src/x.al",
    "src/a/x.al": "src/a/x.al",
    "a/b/core.py": "core.py",
    "a": "a",
    "b/": "b",
    "a/b": "b",
    "my file .al": "my file .al",
    "it's.al": "it's.al",
    "src/two\nlines.al": "src/two\nlines.al",
    "src/caf\udce9.al": "src/caf\udce9.al",
    "": "",
    " ./ ": "",
    "/": "",
    '"': "",
}


@pytest.mark.parametrize(("path", "expected"), SPELLINGS.items())
def test_a_path_has_one_spelling(path: str, expected: str) -> None:
    assert normalize_path(path) == expected


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_normalising_twice_changes_nothing(path: str) -> None:
    once = normalize_path(path)
    assert normalize_path(once) == once


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_a_normalised_path_has_no_empty_or_dot_component_and_no_backslash(path: str) -> None:
    normal = normalize_path(path)
    assert "\\" not in normal
    assert normal == "" or not {"", "."} & set(normal.split("/"))


@settings(max_examples=100, deadline=None)
@given(HOSTILE)
def test_every_spelling_of_a_path_has_the_same_basename_and_suffix(path: str) -> None:
    for other in (normalize_path(path), f'"./{path}"', f" {path}/ ", f"/{path}"):
        assert basename(other) == basename(path)
        assert suffix(other) == suffix(path)


@settings(max_examples=200, deadline=None)
@given(HOSTILE, st.text("ab.-_/", max_size=6))
def test_a_basename_is_the_last_component_of_the_normalised_path(folder: str, name: str) -> None:
    path = f"{folder}{name}"
    assert basename(path) == normalize_path(path).rpartition("/")[2].lower()


@pytest.mark.parametrize("part", ["/. ", '"/', "a/", " ", "x/", "\u200b\\"])
def test_a_long_hostile_path_is_normalised(part: str) -> None:
    path = part * 100_000 + '"'
    assert len(normalize_path(path)) <= len(path)


def test_basename_is_the_lower_cased_file_name() -> None:
    assert basename("src\\App\\Foo.Table.AL/") == "foo.table.al"
    assert basename("") == ""


def test_suffix_is_the_lower_cased_end_of_a_path() -> None:
    assert suffix("App/Layers/W1/Base/Foo.Table.al") == "w1/base/foo.table.al"
    assert suffix("App/Layers/W1/Base/Foo.Table.al", depth=1) == "foo.table.al"
    assert suffix("Foo.al", depth=3) == "foo.al"
