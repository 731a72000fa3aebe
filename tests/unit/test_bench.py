"""The parts of the benchmarks that measure nothing: fits, tables, the list of rows, what an interrupted run says."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import __main__ as command_line
from bench import suite
from bench.figure import Figure, Growth, figure, growth_exponent, missing
from bench.machine import Machine, cpu_model, this_machine
from bench.options import Options, UnavailableError
from bench.process import CommandError, run_ok, run_timed
from bench.suite import ROWS, Row, chosen, measure
from bench.table import (
    END,
    START,
    Results,
    as_markdown,
    as_text,
    cells,
    from_json,
    growth_cells,
    markdown,
    merged,
    number,
    put_between_marks,
    quantity,
    text,
    to_json,
)
from tests.support.copilot import wait_until
from tests.support.paths import ROOT

MACHINE = Machine("A processor", 2, 16.0, "Linux 6.1 x86_64", "3.11.9", "2026-01-02", "0123456789", 0.25)
GROWTH = Growth("report", (1_000, 10_000), (1.0, 10.0), (0.5, 50.0), (40.0, 40.0))
RESULTS = Results(
    MACHINE,
    (
        ("a", replace(figure("wall", "s", [1.0, 3.0, 2.0], "real"), target=2.5)),
        ("a", figure("CPU", "s", [0.5])),
        ("b", Figure("start", "s", 1.2, note="no Docker Engine answers here")),
    ),
    (GROWTH,),
)
MODULES = sorted(path.stem for path in (ROOT / "bench").glob("*.py") if path.stem != "__init__")
COMMANDS = [name for name in MODULES if "def main(" in (ROOT / "bench" / f"{name}.py").read_text()]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_can_be_imported_and_says_what_it_is_for(name: str) -> None:
    assert importlib.import_module(f"bench.{name}").__doc__


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "launcher"])
def test_every_command_says_how_it_is_started(name: str) -> None:
    words = "python -m bench" if name == "__main__" else f"python -m bench.{name}"
    assert words in (importlib.import_module(f"bench.{name}").__doc__ or "")


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_its_power(power: float) -> None:
    sizes = (1_000, 3_162, 10_000, 100_000)
    assert growth_exponent(sizes, [7 * size**power for size in sizes]) == pytest.approx(power)


def test_a_cost_with_a_fixed_part_grows_less_than_linearly() -> None:
    sizes = (1_000, 10_000, 100_000)
    assert 0 < growth_exponent(sizes, [5_000 + size for size in sizes]) < 1


def test_a_figure_is_the_median_with_its_range() -> None:
    found = figure("wall", "s", [3.0, 1.0, 2.0])
    assert (found.value, found.low, found.high, found.runs) == (2.0, 1.0, 3.0, 3)


@pytest.mark.parametrize(
    ("value", "target", "met"), [(1.0, 1.0, True), (1.01, 1.0, False), (None, 1.0, None), (1.0, None, None)]
)
def test_a_target_is_the_highest_good_value(
    value: float | None, target: float | None, met: bool | None
) -> None:
    assert Figure("x", "s", target, value).met is met


def test_what_is_missing_keeps_its_target_and_says_why() -> None:
    found = missing(Figure("start", "s", 1.2, 1.0, 1.0, 1.0, 5, "old"), "no engine")
    assert found == Figure("start", "s", 1.2, note="no engine")
    assert cells(found) == ("start", "not measured: no engine", "≤ 1.2 s", "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0421, "0.042"),
        (1.0, "1.00"),
        (2.345, "2.35"),
        (12.34, "12.3"),
        (321.4, "321"),
        (21_000.0, "21,000"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(1.5, "s", "1.50 s"), (1.0, "processes", "1"), (1.04, "ratio", "1.04"), (0.98, "exponent", "0.980")],
)
def test_counts_and_ratios_have_no_unit(value: float, unit: str, shown: str) -> None:
    assert quantity(value, unit) == shown


def test_a_row_of_the_table_shows_median_range_target_and_whether_it_is_met() -> None:
    assert cells(RESULTS.figures[0][1]) == ("wall (real)", "2.00 s (1.00–3.00)", "≤ 2.5 s", "yes")
    assert cells(RESULTS.figures[1][1]) == ("CPU", "0.500 s", "", "")


def test_a_target_that_is_not_met_says_no() -> None:
    assert cells(Figure("wall", "s", 1.0, 2.0, 2.0, 2.0, 1))[3] == "no"


def test_columns_of_a_text_table_are_in_line() -> None:
    assert as_text(("what", "s"), [("a", "1"), ("longer", "22")]) == "what    s\na       1\nlonger  22"


def test_a_bar_in_a_name_does_not_split_a_cell() -> None:
    assert as_markdown(("what",), [("a | b",)]) == "| what |\n| --- |\n| a \\| b |"


def test_the_growth_table_ends_with_the_exponents() -> None:
    assert growth_cells(GROWTH)[-1] == ("exponent", "1.00", "2.00", "0.00")


@pytest.mark.parametrize("show", [text, markdown])
def test_both_tables_hold_everything(show: object) -> None:
    assert callable(show)
    shown = show(RESULTS)
    for part in ("A processor", "2.00 s (1.00–3.00)", "no Docker Engine answers here", "10,000", "exponent"):
        assert part in shown


def test_json_is_read_back_as_it_was_written() -> None:
    assert from_json(to_json(RESULTS)) == RESULTS
    document = json.loads(to_json(RESULTS))
    assert [row["met"] for row in document["figures"]] == [True, None, None]
    assert document["growth"][0]["exponents"]["cpu"] == pytest.approx(2.0)


@pytest.mark.parametrize("data", ["{}", "[]", "no JSON", '{"machine": {}, "figures": [], "growth": []}'])
def test_other_json_is_refused(data: str) -> None:
    with pytest.raises(ValueError):
        from_json(data)


def test_rows_measured_again_take_the_place_of_the_old_ones() -> None:
    new = Results(MACHINE, (("a", figure("wall", "s", [9.0])), ("c", figure("other", "s", [1.0]))), ())
    both = merged(RESULTS, new)
    assert both.figures == (new.figures[0], RESULTS.figures[2], new.figures[1])
    assert both.growth == RESULTS.growth


def test_rows_of_another_commit_are_not_mixed_in() -> None:
    with pytest.raises(ValueError, match="of commit 0123456789"):
        merged(RESULTS, replace(RESULTS, machine=replace(MACHINE, commit="fedcba9876")))


def test_the_tables_go_between_the_marks_of_a_page() -> None:
    page = f"before\n\n{START}\n\nold\n\n{END}\n\nafter\n"
    assert put_between_marks(page, "new") == f"before\n\n{START}\n\nnew\n\n{END}\n\nafter\n"


@pytest.mark.parametrize("page", ["nothing", START, END])
def test_a_page_without_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="the page lacks the line"):
        put_between_marks(page, "new")


def test_the_page_of_the_documentation_has_the_marks() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert put_between_marks(page, "new") != page


def test_the_machine_is_described_without_names() -> None:
    import platform

    machine = this_machine()
    assert machine.cores >= 1
    assert machine.memory_gb > 0
    assert sys.version.startswith(machine.python)
    assert platform.node() not in machine.sentence
    assert str(ROOT) not in machine.sentence


def test_the_processor_is_the_first_that_is_named() -> None:
    assert cpu_model("processor\t: 0\nmodel name\t: Fast 9000\nmodel name\t: Other\n") == "Fast 9000"


def test_a_processor_without_a_name_is_called_unknown() -> None:
    assert cpu_model("processor : 0\n").startswith("unknown ")


PROMISED = {figure.name: (figure.unit, figure.target) for row in ROWS for figure in row.promised}
"""Every figure that has a target; below are the targets as they were set."""


@pytest.mark.parametrize(
    ("part", "unit", "target"),
    [
        ("CPU per entry, 101 entries", "ms", 5),
        ("wall, 101 entries, 200 ms model", "s", 1.10 * 7 * 0.2 + 0.6),
        ("copilot (SDK), concurrency 4: CPU per entry", "s", 0.5),
        ("copilot (SDK): CLI processes", "processes", 1),
        ("copilot-cli, concurrency 4: wall over that of bare CLIs", "ratio", 1.05),
        ("container start to first question", "s", 1.2),
        ("import bccontam", "ms", 100),
        ("bccontam --version", "ms", 150),
        ("report on 101 results, wall", "s", 0.4),
        ("21,000 entries of SWE-bench shape by naming, wall", "s", 60),
        ("21,000 entries of SWE-bench shape by naming, peak memory", "MB", 300),
        ("report on 100,000 results, 1 an entry, wall", "s", 10),
        ("report on 100,000 results, 1 an entry, peak memory", "MB", 400),
        ("report on 100,000 results, 5 an entry, wall", "s", 10),
        ("report on 100,000 results, 5 an entry, peak memory", "MB", 400),
        ("predict by naming, 1,000 to 100,000 entries: growth of wall", "exponent", 1.1),
        ("predict by naming, 1,000 to 100,000 entries: growth of peak memory", "exponent", 1.1),
        ("report, 1,000 to 100,000 entries: growth of wall", "exponent", 1.1),
        ("report, 1,000 to 100,000 entries: growth of peak memory", "exponent", 1.1),
    ],
)
def test_the_suite_holds_every_target(part: str, unit: str, target: float) -> None:
    [found] = [facts for name, facts in PROMISED.items() if name.startswith(part)]
    assert found[0] == unit
    assert found[1] == pytest.approx(target)


def test_names_of_rows_are_unique() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert len(PROMISED) == sum(len(row.promised) for row in ROWS)


def test_a_name_that_is_no_row_is_refused_with_the_rows_there_are() -> None:
    with pytest.raises(ValueError, match=r"There is no row 'nope'; the rows are cpu, wall, .*growth\."):
        chosen(["cpu", "nope"], quick=False)


def test_only_chooses_and_quick_leaves_out_what_is_slow() -> None:
    assert [row.name for row in chosen(["growth", "cpu"], quick=False)] == ["cpu", "growth"]
    assert chosen([], quick=False) == list(ROWS)
    assert [row.name for row in chosen([], quick=True)] == ["cpu", "wall", "start", "report-101"]


def row(items: list[Figure | Growth], error: Exception | None = None) -> Row:
    """A row that gives these and then fails, if it is to."""

    def measured(options: Options) -> Iterator[Figure | Growth]:
        yield from items
        if error is not None:
            raise error

    return Row("made", "for the test", measured, (Figure("wall", "s", 2.0), Figure("CPU", "s", 1.0)))


def test_the_suite_sets_the_targets_of_what_a_row_measured(tmp_path: Path) -> None:
    items: list[Figure | Growth] = [figure(name, "s", [1.5]) for name in ("wall", "CPU", "other")]
    found = [item for _, item in measure([row([*items, GROWTH])], Options(tmp_path))]
    assert [(item.name, item.target, item.met) for item in found if isinstance(item, Figure)] == [
        ("wall", 2.0, True),
        ("CPU", 1.0, False),
        ("other", None, None),
    ]
    assert found[-1] == GROWTH


@pytest.mark.parametrize(
    "error", [UnavailableError("no binary"), CommandError("no binary"), OSError("no binary")]
)
def test_what_could_not_be_measured_says_why_and_the_next_row_goes_on(
    error: Exception, tmp_path: Path
) -> None:
    rows = [row([figure("wall", "s", [1.0])], error), row([], None)]
    found = [item for _, item in measure(rows, Options(tmp_path)) if isinstance(item, Figure)]
    assert [(item.name, item.value, item.note) for item in found] == [
        ("wall", 1.0, ""),
        ("CPU", None, "no binary"),
        ("wall", None, "the row does not measure it"),
        ("CPU", None, "the row does not measure it"),
    ]


def run_main(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", *map(str, words)])
    command_line.main()


def test_the_list_names_every_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_main(monkeypatch, "--list")
    listed = [line.split()[0] for line in capsys.readouterr().out.strip().split("\n")]
    assert listed == [row.name for row in ROWS]


@pytest.mark.parametrize("words", [("--only", "nope"), ("--runs", "0"), ("--markdown", "absent.json")])
def test_a_command_line_that_makes_no_sense_is_refused(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_main(monkeypatch, *words)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_a_run_writes_json_and_its_markdown_goes_into_a_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suite, "ROWS", (row([figure("wall", "s", [1.0])]),))
    file, page = tmp_path / "new" / "figures.json", tmp_path / "page.md"
    run_main(monkeypatch, "--json", file)
    assert "1.00 s" in capsys.readouterr().out
    assert [name for name, _ in from_json(file.read_text()).figures] == ["made", "made"]
    page.write_text(f"{START}\n{END}\n")
    run_main(monkeypatch, "--markdown", file, "--into", page)
    assert "| wall | 1.00 s | ≤ 2 s | yes |" in page.read_text()
    run_main(monkeypatch, "--markdown", file)
    assert "| wall | 1.00 s | ≤ 2 s | yes |" in capsys.readouterr().out


def test_a_command_is_timed_by_itself() -> None:
    ran = run_timed([sys.executable, "-c", "x = bytearray(150_000_000); import sys; sys.exit(3)"])
    assert ran.code == 3
    assert 150 < ran.peak_mb < 250
    assert ran.wall > 0
    assert ran.cpu > 0


def test_a_failure_is_the_first_line_of_what_it_said() -> None:
    ran = run_timed(["sh", "-c", "printf '\\n one\\ntwo\\n' >&2; exit 4"])
    assert ran.failure == "exit 4: one"
    with pytest.raises(CommandError, match="exit 4: one"):
        run_ok(["sh", "-c", "echo one >&2; exit 4"])


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ran = run_timed(["sh", "-c", f"sleep 600 & echo $! > {file}; wait"], timeout=0.5)
    assert ran.timed_out
    assert ran.failure == "took too long and was ended"
    stat = Path(f"/proc/{file.read_text().strip()}/stat")
    wait_until(lambda: not stat.exists() or stat.read_text().rpartition(") ")[2][0] in "ZX")


def test_a_command_that_is_not_there_cannot_be_started() -> None:
    with pytest.raises(OSError, match="absent cannot be started: No such file"):
        run_timed(["absent"])
