"""The tables of README.md and docs/ that are made from action.yml and the code, so that nobody writes them twice.

A table stands between `<!-- table NAME ... -->` and `<!-- end -->`. `script/tables` writes them; a test checks
that none is old.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from bccontam.cli import COMMANDS, FLAG_NAMES
from bccontam.cutoffs import all_cutoffs
from bccontam.settings import Settings, default_text, flags, inputs
from tests.support.paths import ROOT

FILES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
MODES = tuple(name for name in COMMANDS if name != "demo")

_MARKED = re.compile(r"(<!-- table ([a-z-]+)\b[^>]*-->\n).*?(<!-- end -->)", re.DOTALL)


def render(page: str) -> str:
    """The page with every marked table as it should be. Raises KeyError for a table that nobody makes."""
    return _MARKED.sub(lambda mark: f"{mark[1]}\n{_TABLES[mark[2]]()}\n{mark[3]}", page)


def names(page: str) -> list[str]:
    """The marked tables of a page."""
    return [mark[1] for mark in _MARKED.findall(page)]


def inputs_table() -> str:
    """Every input of the action with its default and its sentence."""
    rows = (
        (f"`{name}`", _code(item["default"]), item["description"])
        for name, item in _metadata()["inputs"].items()
    )
    return _table(("input", "default", "meaning"), rows)


def outputs_table() -> str:
    """Every output of the action with its sentence."""
    rows = ((f"`{name}`", item["description"]) for name, item in _metadata()["outputs"].items())
    return _table(("output", "meaning"), rows)


def flags_table() -> str:
    """Which command of the command line has which flag; a flag without a link to an input says what it does."""
    of_mode = {mode: set(flags(mode)) for mode in MODES}
    rows = []
    for name in Settings.model_fields:
        marks = ["✓" if name in of_mode[mode] else "" for mode in MODES]
        if any(marks):
            rows.append((f"`--{FLAG_NAMES.get(name, name.replace('_', '-'))}`", *marks))
    return _table(("flag", *(f"`{mode}`" for mode in MODES)), rows)


def own_flags_table() -> str:
    """The flags that are no inputs of the action."""
    known = {name.replace("-", "_") for name in inputs()}
    rows = (
        (
            f"`--{FLAG_NAMES.get(name, name.replace('_', '-'))}`",
            _code(default_text(name)),
            str(field.description),
        )
        for name, field in Settings.model_fields.items()
        if name not in known
    )
    return _table(("flag", "default", "meaning"), rows)


def cutoffs_table() -> str:
    """What `cutoff: auto` knows."""
    rows = (
        (f"`{cutoff.model}`", cutoff.day.isoformat(), f"{cutoff.source}, read {cutoff.retrieved}")
        for cutoff in all_cutoffs()
    )
    return _table(("model", "last day it can know of", "source"), rows)


_TABLES = {
    "inputs": inputs_table,
    "outputs": outputs_table,
    "flags": flags_table,
    "own-flags": own_flags_table,
    "cutoffs": cutoffs_table,
}


def _metadata() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def main(words: list[str]) -> int:
    """Write the tables, or with `--check` only say which files hold old ones."""
    old: list[Path] = []
    for path in FILES:
        page = path.read_text(encoding="utf-8")
        if (wanted := render(page)) != page:
            old.append(path)
            if "--check" not in words:
                path.write_text(wanted, encoding="utf-8")
    for path in old:
        print(f"{path.relative_to(ROOT)}: {'old tables' if '--check' in words else 'written'}")
    return int(bool(old) and "--check" in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
