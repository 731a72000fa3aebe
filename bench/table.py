"""The figures of one run of the suite as a table, as Markdown and as JSON, and JSON read again.

`python -m bench` prints and writes them; nothing is measured or judged here but a value against its target.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bench.figure import Figure, Growth
from bench.machine import Machine

START, END = "<!-- figures: python -m bench --markdown FILE --into PAGE -->", "<!-- end of figures -->"
HEAD = ("what", "measured", "target", "met?")


@dataclass(frozen=True, slots=True)
class Results:
    """One run: figures with the name of their row, growth tables, and what they were measured on."""

    machine: Machine
    figures: tuple[tuple[str, Figure], ...]
    growth: tuple[Growth, ...]


def number(value: float) -> str:
    """Three digits that count, or whole with commas from 100 on."""
    if value >= 100:
        return f"{value:,.0f}"
    places = 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{places}f}"


def quantity(value: float, unit: str) -> str:
    """A value with its unit; counts, ratios and exponents stand alone."""
    if unit == "processes":
        return f"{value:g}"
    return number(value) if unit in ("ratio", "exponent") else f"{number(value)} {unit}"


def limit(figure: Figure) -> str:
    """The target as it was set."""
    if figure.target is None:
        return ""
    unit = "" if figure.unit in ("processes", "ratio", "exponent") else f" {figure.unit}"
    return f"≤ {figure.target:g}{unit}"


def measured(figure: Figure) -> str:
    """Median and range, or that there is none and why."""
    if figure.value is None:
        return f"not measured: {figure.note}"
    text = quantity(figure.value, figure.unit)
    if figure.runs > 1 and figure.low is not None and figure.high is not None:
        text += f" ({number(figure.low)}–{number(figure.high)})" if figure.unit != "processes" else ""
    return text


def cells(figure: Figure) -> tuple[str, str, str, str]:
    """One row: what, measured, target, met."""
    name = f"{figure.name} ({figure.note})" if figure.note and figure.value is not None else figure.name
    met = {True: "yes", False: "no", None: ""}[figure.met]
    return name, measured(figure), limit(figure), met


def growth_cells(growth: Growth) -> list[tuple[str, ...]]:
    """A row a size, then the exponents."""
    rows = [
        (f"{size:,}", f"{number(wall)} s", f"{number(cpu)} s", f"{number(memory)} MB")
        for size, wall, cpu, memory in zip(
            growth.sizes, growth.wall, growth.cpu, growth.megabytes, strict=True
        )
    ]
    return [*rows, ("exponent", *(f"{value:.2f}" for value in growth.exponents))]


def growth_head(growth: Growth) -> tuple[str, ...]:
    """The head of its table."""
    return f"{growth.what}: entries", "wall", "CPU", "peak memory"


def as_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns in line, for a terminal."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def text(results: Results) -> str:
    """Everything, for a terminal."""
    parts = [results.machine.sentence, as_text(HEAD, [cells(figure) for _, figure in results.figures])]
    parts += [as_text(growth_head(growth), growth_cells(growth)) for growth in results.growth]
    return "\n\n".join(parts)


def markdown(results: Results) -> str:
    """Everything, for a page."""
    parts = [f"Measured on: {results.machine.sentence}."]
    parts += [as_markdown(HEAD, [cells(figure) for _, figure in results.figures])]
    parts += [as_markdown(growth_head(growth), growth_cells(growth)) for growth in results.growth]
    return "\n\n".join(parts)


def put_between_marks(page: str, new: str) -> str:
    """The page with `new` between its marks. Raises ValueError when it has none."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError(f"the page lacks the line {END if start else START}")
    return f"{before}{start}\n\n{new}\n\n{end}{after}"


def to_json(results: Results) -> str:
    """Everything with what follows from it: whether a target is met, and the exponents."""
    document = {
        "machine": asdict(results.machine),
        "figures": [{"row": row, **asdict(figure), "met": figure.met} for row, figure in results.figures],
        "growth": [
            {
                **asdict(growth),
                "exponents": dict(zip(("wall", "cpu", "megabytes"), growth.exponents, strict=True)),
            }
            for growth in results.growth
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def from_json(data: str) -> Results:
    """What `to_json` wrote. Raises ValueError for anything else."""
    try:
        document = json.loads(data)
        return Results(
            Machine(**_known(Machine, document["machine"])),
            tuple((row["row"], Figure(**_known(Figure, row))) for row in document["figures"]),
            tuple(_growth(row) for row in document["growth"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError("no results of the suite") from error


def merged(old: Results, new: Results) -> Results:
    """`old` with the rows that `new` measured in place of its own. Raises ValueError for another program's."""
    if (old.machine.commit, old.machine.cpu) != (new.machine.commit, new.machine.cpu):
        raise ValueError(
            f"those figures are of commit {old.machine.commit} on {old.machine.cpu}, so nothing is added"
        )
    rows: dict[str, list[Figure]] = {}
    for row, figure in old.figures:
        rows.setdefault(row, []).append(figure)
    rows |= {row: [] for row, _ in new.figures}
    for row, figure in new.figures:
        rows[row].append(figure)
    figures = tuple((row, figure) for row, found in rows.items() for figure in found)
    return Results(old.machine, figures, new.growth or old.growth)


def read(path: Path) -> Results:
    """Results in a file. Raises OSError or ValueError."""
    return from_json(path.read_text(encoding="utf-8"))


def _growth(row: dict[str, Any]) -> Growth:
    columns = (tuple(row[name]) for name in ("sizes", "wall", "cpu", "megabytes"))
    return Growth(row["what"], *columns)


def _known(kind: type[Machine] | type[Figure], row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a row that this kind has."""
    return {field.name: row[field.name] for field in fields(kind)}
