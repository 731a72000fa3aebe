from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.errors import SettingsError
from bccontam.selection import Selection, in_shard
from tests.support.builders import make_entry


@given(st.lists(st.text(min_size=1, max_size=20), unique=True), st.integers(1, 40))
def test_shards_are_disjoint_and_complete(ids: list[str], count: int) -> None:
    for identity in ids:
        assert sum(in_shard(identity, index, count) for index in range(1, count + 1)) == 1


def test_a_shard_does_not_depend_on_the_other_entries() -> None:
    assert [in_shard(f"acme__w-{i}", 2, 3) for i in range(6)] == [
        in_shard(f"acme__w-{i}", 2, 3) for i in range(6)
    ]


def chosen(patterns: str, ids: list[str]) -> list[str]:
    selection = Selection(patterns)
    return [entry.instance_id for entry in selection.filter(make_entry(i) for i in ids)]


def test_all_and_nothing_given_select_everything() -> None:
    assert chosen("all", ["a", "b"]) == ["a", "b"]
    assert chosen("", ["a", "b"]) == ["a", "b"]


def test_ids_and_globs_are_separated_by_commas_or_new_lines() -> None:
    ids = ["acme__w-1", "acme__w-2", "other__x-3"]
    assert chosen("acme__w-2\nother__*", ids) == ["acme__w-2", "other__x-3"]
    assert chosen("acme__w-1, acme__w-2", ids) == ["acme__w-1", "acme__w-2"]


def test_a_glob_does_not_match_a_part_of_an_id() -> None:
    assert chosen("acme__w-1", ["acme__w-10"]) == []


def test_a_pattern_that_matches_nothing_is_named() -> None:
    selection = Selection("acme__w-1,typo-*")
    list(selection.filter([make_entry("acme__w-1")]))
    with pytest.raises(SettingsError, match=r"'typo-\*'"):
        selection.check()


def test_given_ids_replace_the_patterns() -> None:
    assert "b" in Selection("all", ids={"b"})
    assert "a" not in Selection("all", ids={"b"})
    assert "a" not in Selection("all", ids=())
