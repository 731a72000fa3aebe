"""Measures the program and says which of its targets are met: one table, and the same as JSON.

Run it as `python -m bench [--list] [--only NAME...] [--quick] [--runs N] [--json FILE] [--markdown [FILE]]`.
All rows take some ten minutes on two cores; `script/engine python -m bench` also starts a Docker Engine where
it can. It fails for no figure: its exit status says only whether it could run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.figure import Figure, Growth
from bench.machine import this_machine
from bench.options import Options
from bench.suite import ROWS, Row, chosen, measure
from bench.table import Results, cells, markdown, merged, put_between_marks, read, text, to_json
from tests.support.paths import ROOT

OUT = ROOT / "bench" / "out"


def main() -> None:
    """Read the command line."""
    parser = _parser()
    given = parser.parse_args()
    try:
        if given.list:
            _list()
        elif isinstance(given.markdown, Path):
            _show_markdown(read(given.markdown), given.into)
        else:
            rows = chosen(given.only, given.quick)
            with tempfile.TemporaryDirectory(prefix="bccontam-bench-") as folder:
                results = run(rows, Options(Path(folder), given.runs))
            if given.add_to is not None:
                results = merged(read(given.add_to), results)
            _write(
                given.add_to or given.json or OUT / f"{results.machine.date}-{results.machine.commit}.json",
                results,
            )
            print()
            if given.markdown is None:
                print(text(results))
            else:
                _show_markdown(results, given.into)
    except (OSError, ValueError) as error:
        parser.error(str(error))


def run(rows: list[Row], options: Options) -> Results:
    """Measure, and say every figure as it is ready."""
    machine = this_machine()
    print(machine.sentence, flush=True)
    figures: list[tuple[str, Figure]] = []
    growth: list[Growth] = []
    for name, item in measure(rows, options):
        if isinstance(item, Growth):
            growth.append(item)
        else:
            figures.append((name, item))
            print(f"  {name}: {': '.join(cells(item)[:2])}", file=sys.stderr, flush=True)
    return Results(machine, tuple(figures), tuple(growth))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="say which rows there are")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these rows")
    parser.add_argument(
        "--quick", action="store_true", help="leave out what takes long or needs more than Python"
    )
    parser.add_argument("--runs", type=_positive, default=5, help="runs of what is short (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go (bench/out/…json)")
    parser.add_argument(
        "--markdown",
        nargs="?",
        const="",
        type=lambda name: Path(name) if name else "",
        metavar="FILE",
        help="print Markdown; with FILE, of these figures, and measure nothing",
    )
    parser.add_argument(
        "--add-to", type=Path, metavar="FILE", help="put these rows in the place of those in FILE"
    )
    parser.add_argument("--into", type=Path, metavar="PAGE", help="put the Markdown between the page's marks")
    return parser


def _positive(value: str) -> int:
    count = int(value)
    if count < 1:
        raise ValueError(value)
    return count


def _list() -> None:
    for row in ROWS:
        print(f"{row.name:15} {row.about}{' (slow)' if row.slow else ''}")


def _show_markdown(results: Results, page: Path | None) -> None:
    if page is None:
        print(markdown(results))
    else:
        page.write_text(
            put_between_marks(page.read_text(encoding="utf-8"), markdown(results)), encoding="utf-8"
        )


def _write(file: Path, results: Results) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(to_json(results), encoding="utf-8")
    print(f"\nwrote {file}", file=sys.stderr)


if __name__ == "__main__":
    main()
