"""The suite: every row of it, what its figures must not exceed, and the run that fills them in.

Run it as `python -m bench`. A row that cannot be measured here, or whose command fails, says why in place of
its figures; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bench import clis, container, large, small
from bench.figure import Figure, Growth, figure, missing
from bench.options import Options, UnavailableError
from bench.process import CommandError

Measure = Callable[[Options], Iterator[Figure | Growth]]


@dataclass(frozen=True, slots=True)
class Row:
    """One part of the suite. `promised` are the figures that have a target; `slow` ones --quick leaves out."""

    name: str
    about: str
    measure: Measure
    promised: tuple[Figure, ...]
    slow: bool = False


def _container(options: Options) -> Iterator[Figure | Growth]:
    seconds = container.first_question(options.runs)
    yield figure("container start to first question", "s", seconds, "slim image, `docker run` to the server")


ROWS = (
    Row(
        "cpu",
        "our processor time for an entry, with an instant model behind `openai`",
        small.cpu_per_entry,
        (Figure("CPU per entry, 101 entries, openai, instant model", "ms", 5.0),),
    ),
    Row(
        "wall",
        "wall time of 101 entries with a 200 ms model at concurrency 16",
        small.wall,
        # 1.10 times the ideal, seven rounds of 200 ms, and 0.6 s to start.
        (Figure("wall, 101 entries, 200 ms model, concurrency 16", "s", 2.14),),
    ),
    Row(
        "copilot",
        "the real Copilot CLI through the SDK at concurrency 4",
        clis.sdk,
        (
            Figure("copilot (SDK), concurrency 4: CPU per entry", "s", 0.5),
            Figure("copilot (SDK): CLI processes", "processes", 1.0),
        ),
        slow=True,
    ),
    Row(
        "copilot-cli",
        "the real Copilot CLI, one process a question, at concurrency 4",
        clis.cli,
        (Figure("copilot-cli, concurrency 4: wall over that of bare CLIs", "ratio", 1.05),),
        slow=True,
    ),
    Row(
        "container",
        "from `docker run` to the first question",
        _container,
        (Figure("container start to first question", "s", 1.2),),
        slow=True,
    ),
    Row(
        "start",
        "`import bccontam` and `bccontam --version`",
        small.starts,
        (
            Figure("import bccontam, wall", "ms", 100.0),
            Figure("bccontam --version, wall", "ms", 150.0),
        ),
    ),
    Row(
        "report-101",
        "`report` on 101 results",
        small.report,
        (
            Figure("report on 101 results, wall", "s", 0.4),
            Figure("report on 101 results, CPU", "s", 0.4),
        ),
    ),
    Row(
        "entries-21000",
        "21,000 entries of SWE-bench shape (300 MB): read, gold, leakage, score by `naming`",
        large.predict,
        (
            Figure("21,000 entries of SWE-bench shape by naming, wall", "s", 60.0),
            Figure("21,000 entries of SWE-bench shape by naming, peak memory", "MB", 300.0),
        ),
        slow=True,
    ),
    Row(
        "results-100000",
        "100,000 results: `report` with sensitivity, sweep and permutations",
        large.report,
        tuple(
            Figure(f"report on 100,000 results, {samples} an entry, {what}", unit, target)
            for samples in (1, large.SAMPLES)
            for what, unit, target in (("wall", "s", 10.0), ("peak memory", "MB", 400.0))
        ),
        slow=True,
    ),
    Row(
        "growth",
        "time and memory from 1,000 to 100,000 entries, of predict and of report",
        large.growth,
        tuple(
            Figure(f"{what}, 1,000 to 100,000 entries: growth of {unit}", "exponent", 1.1)
            for what in ("predict by naming", "report")
            for unit in ("wall", "CPU", "peak memory")
        ),
        slow=True,
    ),
)


def chosen(only: Sequence[str], quick: bool) -> list[Row]:
    """The rows of these names, or all; without the slow ones if `quick`. Raises ValueError for a name that is none."""
    names = [row.name for row in ROWS]
    unknown = [name for name in only if name not in names]
    if unknown:
        raise ValueError(f"There is no row {unknown[0]!r}; the rows are {', '.join(names)}.")
    return [row for row in ROWS if (not only or row.name in only) and not (quick and row.slow)]


def measure(rows: Sequence[Row], options: Options) -> Iterator[tuple[str, Figure | Growth]]:
    """Every figure as it is ready, with its row's name and with its target."""
    for row in rows:
        wanted = {promised.name: promised for promised in row.promised}
        reason = "the row does not measure it"
        try:
            for item in row.measure(options):
                if isinstance(item, Figure) and item.name in wanted:
                    yield row.name, replace(item, target=wanted.pop(item.name).target)
                else:
                    yield row.name, item
        except (UnavailableError, CommandError, OSError) as error:
            reason = str(error)
        for promised in wanted.values():
            yield row.name, missing(promised, reason)
