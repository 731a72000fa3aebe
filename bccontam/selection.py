"""Which entries this run is about: by id or glob, and by shard.

Pure. A shard is stable: it depends on an entry's id and the number of shards, not on the rest of the dataset.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from fnmatch import translate

from bccontam.entry import Entry
from bccontam.errors import SettingsError


def in_shard(instance_id: str, index: int, count: int) -> bool:
    """Whether an entry belongs to shard `index` (1-based) of `count`; shards are disjoint and complete."""
    digest = hashlib.sha256(instance_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % count == index - 1


class Selection:
    """The entries to ask: `all`, a set of ids, or patterns separated by commas or new lines."""

    def __init__(
        self, patterns: str = "all", *, ids: Collection[str] | None = None, shard: tuple[int, int] = (1, 1)
    ) -> None:
        """`ids`, when given, replaces the patterns (the changed entries of a pull request)."""
        self._ids = None if ids is None else frozenset(ids)
        self._shard = shard
        names = [name.strip() for name in re.split(r"[,\n]", patterns) if name.strip()]
        everything = self._ids is not None or names in ([], ["all"])
        self._patterns = {} if everything else {name: re.compile(translate(name)) for name in names}
        self._unmatched = set(self._patterns)

    def __contains__(self, instance_id: str) -> bool:
        if self._ids is not None and instance_id not in self._ids:
            return False
        if self._patterns:
            matching = [name for name, pattern in self._patterns.items() if pattern.match(instance_id)]
            self._unmatched.difference_update(matching)
            if not matching:
                return False
        return in_shard(instance_id, *self._shard)

    def filter(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The selected entries of a stream, in its order."""
        return (entry for entry in entries if entry.instance_id in self)

    def check(self) -> None:
        """After a whole pass: raises SettingsError naming patterns that no entry matched."""
        if self._unmatched:
            names = ", ".join(repr(name) for name in sorted(self._unmatched)[:5])
            raise SettingsError(
                f"entries: nothing in the dataset matches {names}; use ids or globs of its entries."
            )
