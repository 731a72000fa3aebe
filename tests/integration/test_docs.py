"""README and docs say what is so: tables, commands, workflows, links, error texts, examples, numbers.

Blocks marked `sh` are run, in one folder for each page; those marked `sh checked` need a network, a model or too much
time, and only their words are checked.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from bccontam import __version__, stats
from bccontam.answer import Status
from bccontam.cli import COMMANDS, FLAG_NAMES
from bccontam.demo import demo_settings
from bccontam.entry import Entry
from bccontam.models.base import ErrorKind, Question
from bccontam.result import Result
from bccontam.settings import Settings, default_text, flags, inputs, make_settings
from tests.support import doc_tables
from tests.support.doc_blocks import Block, blocks, headings, links, prose, spans
from tests.support.paths import ROOT
from tests.support.real import need_real

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))]
PAGES += sorted(DOCS.glob("*.md"))
DEMO = ROOT / "bccontam" / "demo"
BIN = Path(sys.executable).parent

SAID_BY_OTHERS = {
    "Resource not accessible by integration",  # GitHub's API, to a token that may not
    "Container action is only supported on Linux",  # the runner
}
OTHERS_FLAGS = {"--available-tools=none", "--available-tools=", "--help", "--real", "--strict"}


def by_page(path: Path) -> str:
    return str(path.relative_to(ROOT))


def every_block(info: str) -> list[Any]:
    """The blocks of all pages whose fence says exactly this."""
    found = (block for page in PAGES for block in blocks(page))
    return [pytest.param(block, id=block.place) for block in found if block.info == info]


# Tables.


def test_no_table_is_old() -> None:
    for page in doc_tables.FILES:
        text = page.read_text(encoding="utf-8")
        assert doc_tables.render(text) == text, f"{page.name}: run script/tables"
    assert doc_tables.names(README.read_text(encoding="utf-8")) == ["inputs", "outputs"]


def table(page: Path, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, its header and rule left out."""
    below = page.read_text(encoding="utf-8").partition(f"# {heading}\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert lines is not None, f"no table below {heading}"
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[0].strip().split("\n")[2:]
    ]


def test_the_inputs_are_those_of_the_metadata_and_of_the_settings() -> None:
    declared = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    rows = {name.strip("`"): (default.strip("`"), said) for name, default, said in table(README, "Inputs")}
    assert list(rows) == list(declared) == list(inputs())
    for name, sentence in inputs().items():
        default = declared[name]["default"]
        assert rows[name] == (default, sentence)
        assert default == default_text(name.replace("-", "_")) or name == "github-token"


def test_the_outputs_are_those_of_the_metadata() -> None:
    declared = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["outputs"]
    rows = {name.strip("`"): said for name, said in table(README, "Outputs")}
    assert rows == {name: item["description"] for name, item in declared.items()}


def test_the_flags_are_those_of_the_commands() -> None:
    rows = {row[0].strip("`"): row[1:] for row in table(DOCS / "action.md", "Flags")}
    for place, mode in enumerate(doc_tables.MODES):
        marked = {flag for flag, marks in rows.items() if marks[place] == "✓"}
        assert marked == {f"--{FLAG_NAMES.get(name, name.replace('_', '-'))}" for name in flags(mode)}


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("A result", [field.name for field in dataclasses.fields(Result)]),
        ("Statuses", list(get_args(Status))),
        ("Kinds of errors", [*get_args(ErrorKind), "internal"]),
    ],
)
def test_the_tables_of_a_result_have_every_name_and_no_other(heading: str, names: list[str]) -> None:
    rows = [row[0].strip("`") for row in table(DOCS / "results.md", heading)]
    assert sorted(rows) == sorted(names)


def test_the_published_figures_of_the_statistics_are_what_the_code_computes() -> None:
    for row in table(DOCS / "statistics.md", "3. The cutoff and the signal"):
        k1, n1, k2, n2 = map(int, re.findall(r"\d+", row[0]))
        between = stats.newcombe_interval(k1, n1, k2, n2)
        assert between is not None
        said = [float(number.replace("−", "-")) for number in re.findall(r"−?\.\d+", row[3])]
        assert said == pytest.approx(between, abs=0.0006)
        assert float(row[1]) == pytest.approx(stats.fisher(k1, n1, k2, n2), abs=0.0006)
        assert float(row[2]) == pytest.approx(stats.boschloo(k1, n1, k2, n2), abs=0.0006)
    rates = (0.01, 0.05, 0.10, 0.20, 0.30, 0.50)
    for row in table(DOCS / "statistics.md", "5. Minimum detectable effect"):
        n1, n2 = map(int, row[0].split("/"))
        for rate, said_points in zip(rates, row[1:], strict=True):
            effect = stats.minimum_detectable_effect(n1, n2, rate)
            assert effect is not None
            assert abs(100 * effect - int(said_points)) <= 1, row


# Commands.


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has: the program in .venv/bin, a benchmark, stored answers, and no network is needed."""
    made = tmp_path_factory.mktemp("reader")
    (made / ".venv").mkdir()
    (made / ".venv" / "bin").symlink_to(BIN)
    (made / "dataset").mkdir()
    shutil.copy(DEMO / "dataset.jsonl", made / "dataset" / "bcbench.jsonl")
    shutil.copy(DEMO / "answers.jsonl", made / "answers.jsonl")
    return made


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=by_page)
def test_every_command_runs_as_it_is_written(page: Path, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "reader", symlinks=True)
    for block in blocks(page, "sh"):
        done = subprocess.run(
            ["sh", "-eu", "-c", block.text],
            cwd=tmp_path / "reader",
            env={"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{block.place}: {done.stdout}{done.stderr}"


def commands(block: Block) -> Iterator[list[str]]:
    """The simple commands of a block as words."""
    for line in block.text.replace("\\\n", " ").split("\n"):
        words = shlex.split(line, comments=True)
        if words and words[0] != "export":
            yield words


@pytest.mark.parametrize("block", every_block("sh checked"))
def test_every_command_names_scripts_and_flags_that_exist(block: Block) -> None:
    subprocess.run(["sh", "-n", "-c", block.text], check=True)
    for words in commands(block):
        if words[0] == ".venv/bin/python":
            words = words[1:]
        if words[0].startswith("script/"):
            assert (ROOT / words[0]).is_file(), words
        elif words[0] == "-m":
            assert {word for word in words if word.startswith("--")} <= bench_flags(words[1]), words
        elif words[0] == ".venv/bin/bccontam":
            assert words[1] in COMMANDS
            check_flags(words[1], words[2:])
        else:
            assert words[0] in (".venv/bin/pip", "gh"), words
            assert all((ROOT / word).is_file() for word in words if word.startswith("requirements/"))


def bench_flags(module: str) -> set[str]:
    """The flags of a benchmark that is run as `python -m MODULE`."""
    file = ROOT / ("bench/__main__.py" if module == "bench" else f"{module.replace('.', '/')}.py")
    return set(re.findall(r'add_argument\(\s*"(--[a-z-]+)"', file.read_text("utf-8")))


def check_flags(mode: str, words: list[str]) -> None:
    """The flags of a command make valid settings; a flag without a value is a true one."""
    known = {f"--{FLAG_NAMES.get(name, name.replace('_', '-'))}": name for name in flags(mode)}
    given: dict[str, str] = {"mode": mode}
    rest = list(words)
    while rest:
        name = known[rest.pop(0)]
        given[name] = rest.pop(0) if rest and not rest[0].startswith("--") else "true"
    make_settings(given)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a clone of this checkout has: the files that are no build product."""
    made = tmp_path / "bccontam"
    ignored = shutil.ignore_patterns(".git", ".venv", ".cache", ".*_cache", "__pycache__", "*-results", "out")
    shutil.copytree(ROOT, made, ignore=ignored)
    return made


def run_script(checkout: Path, name: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "script" / name],
        cwd=checkout.parent,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_first_command_shows_a_report_where_all_is_installed(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "bin").symlink_to(BIN)
    shutil.copy(checkout / "requirements" / "demo.txt", checkout / ".venv" / ".installed-demo")
    done = run_script(checkout, "demo", {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(checkout)})
    assert done.returncode == 0, done.stderr
    assert "signal" in done.stdout
    assert (checkout / "demo-results" / "report.md").is_file()


@pytest.mark.real
def test_the_first_command_shows_a_report_from_nothing(checkout: Path) -> None:
    import os

    need_real(os.environ.get("BCCONTAM_REQUIRE_REAL") == "1", "A network with Python packages")
    environ = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = run_script(checkout, "demo", {**environ, "PYTHON": sys._base_executable})  # type: ignore[attr-defined]
    assert done.returncode == 0, done.stderr
    assert (checkout / "demo-results" / "report.md").is_file()


# Workflows.


def tool(name: str, *words: str | Path, folder: Path = ROOT) -> None:
    done = subprocess.run(
        [BIN / name, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def whole_workflow(text: str) -> str:
    """A workflow as it is, or one made around a step, a called workflow or a job's permissions."""
    loaded = yaml.safe_load(text)
    if isinstance(loaded, dict) and "jobs" in loaded:
        return text
    job: dict[str, Any] = {"permissions": {"contents": "read"}}
    if isinstance(loaded, list):
        job |= {"runs-on": "ubuntu-24.04", "environment": "contamination", "steps": loaded}
    elif "uses" in loaded:
        job |= loaded | {"permissions": {"contents": "read", "pull-requests": "write"}}
    else:
        job |= loaded | {"runs-on": "ubuntu-24.04", "steps": [{"run": "true"}]}
    workflow = {"name": "a", "on": "push", "permissions": {}, "jobs": {"a": job}}
    return yaml.safe_dump(workflow, sort_keys=False)


@pytest.mark.parametrize("block", every_block("yaml"))
def test_every_workflow_is_one_and_gives_inputs_that_exist(block: Block, tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    path = folder / "workflow.yml"
    # What is pinned by a tag here is pinned by the commit of the release in a user's workflow.
    text = whole_workflow(block.text)
    path.write_text(
        re.sub(r"(uses: bccontam/bccontam\S*)@v[\d.]+", rf"\1@{'a' * 40}", text), encoding="utf-8"
    )
    tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", path)
    tool("zizmor", "--offline", "--no-progress", "--quiet", "--no-config", path)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    tool("actionlint", "-no-color", path, folder=tmp_path)
    for version in re.findall(r"uses: bccontam/bccontam\S*@v(\S+)", text):
        assert version == __version__
    known = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    for job in yaml.safe_load(text)["jobs"].values():
        for step in job.get("steps", ()):
            if str(step.get("uses", "")).startswith("bccontam/bccontam@"):
                assert set(step.get("with", {})) <= set(known)
        if called := re.fullmatch(r"bccontam/bccontam/(\S+)@\S+", job.get("uses", "")):
            workflow = yaml.safe_load((ROOT / called[1]).read_text(encoding="utf-8"))
            assert set(job.get("with", {})) <= set(workflow[True]["workflow_call"]["inputs"])


def test_actions_of_others_are_pinned_as_in_the_examples() -> None:
    pinned = re.compile(r"uses: ([\w-]+/[\w./-]+@[0-9a-f]{40} # v\S+)")
    examples = {
        pin for path in (ROOT / "examples").glob("*.yml") for pin in pinned.findall(path.read_text("utf-8"))
    }
    said = {pin for page in PAGES for block in blocks(page, "yaml") for pin in pinned.findall(block.text)}
    assert said
    assert said <= examples


def test_every_example_is_in_the_readme() -> None:
    targets = set(links(README))
    assert {f"examples/{path.name}" for path in (ROOT / "examples").glob("*.yml")} <= targets


# Texts.


@pytest.mark.parametrize("page", PAGES, ids=by_page)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    for target in links(page):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        if anchor:
            assert anchor in {heading.anchor for heading in headings(path)}, target


@cache
def said_by_the_code() -> list[str]:
    """Every text in the program; a value that is put into one is a NUL."""
    texts = []
    for path in sorted((ROOT / "bccontam").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
                texts.append("".join(map(str, parts)))
    return texts


def error_headings() -> list[str]:
    found = headings(README)
    start = next(number for number, heading in enumerate(found) if heading.text == "When it says")
    texts = []
    for heading in found[start + 1 :]:
        if heading.level < 3:
            break
        texts.append(heading.text)
    return texts


def test_every_error_that_has_a_heading_is_one_that_the_program_says() -> None:
    texts = error_headings()
    assert len(texts) > 15
    for text in texts:
        pattern = ".*".join(map(re.escape, text.split("…")))
        assert text in SAID_BY_OTHERS or any(re.search(pattern, said) for said in said_by_the_code()), text


def test_every_flag_that_is_named_exists() -> None:
    known = {f"--{FLAG_NAMES.get(name, name.replace('_', '-'))}" for mode in COMMANDS for name in flags(mode)}
    cli = set(re.findall(r"--[a-z-]+", (ROOT / "bccontam/models/copilot_cli.py").read_text("utf-8")))
    known |= bench_flags("bench") | bench_flags("bench.compare")
    for page in PAGES:
        for span in spans(page):
            for flag in re.findall(r"(?<!\S)--[a-z][a-z-]*=?[a-z]*", span):
                assert flag in known | cli | OTHERS_FLAGS, f"{page.name}: {flag}"


def test_every_file_of_the_house_is_there() -> None:
    named = {
        span for page in PAGES for span in spans(page) if span.startswith(("bccontam/", "script/", "tests/"))
    }
    assert len(named) > 30
    for span in named:
        assert (ROOT / span.split()[0]).exists(), span


def test_the_blocks_of_the_report_are_those_that_the_page_names() -> None:
    section = prose(DOCS / "action.md").partition("## A template of your own")[2].partition("\n## ")[0]
    listed = " ".join(section.split()).partition("replaces blocks of it:")[2].partition(". It runs")[0]
    source = (ROOT / "bccontam" / "report" / "templates" / "report.md.j2").read_text(encoding="utf-8")
    assert re.findall(r"`(\w+)`", listed) == re.findall(r"\{%-? block (\w+)", source)


# Examples.


@pytest.fixture(scope="module")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report of the demo, as a value."""
    from bccontam.commands import predict
    from bccontam.reporting import report_on_store
    from bccontam.terminal import terminal_effects

    settings = demo_settings(str(tmp_path_factory.mktemp("demo")))
    predicted = predict(settings, terminal_effects())
    [reported] = report_on_store(settings, terminal_effects(), own=predicted.experiment)
    return reported.report


def test_the_worked_example_has_the_numbers_of_the_demo(demo_report: Any) -> None:
    from bccontam import wording

    older, control, signal = demo_report.groups.pre, demo_report.groups.control, demo_report.signal
    naming = {floor.group: wording.rate(floor.naming_rate) for floor in demo_report.floors}
    hits = [round(group.basename_hit_rate * group.scored) for group in (older, control)]
    text = README.read_text(encoding="utf-8")
    assert (
        f"Of {older.scored} older entries {hits[0]} are hit, of {control.scored} control entries {hits[1]}"
        in text
    )
    for number in (
        f"{hits[0]}/{older.scored} − {hits[1]}/{control.scored}",
        f"{wording.rate(older.basename_hit_rate)} − {wording.rate(control.basename_hit_rate)}",
        wording.points(signal.value),
        wording.interval(signal.low, signal.high),
        wording.p_value(signal.p_value),
        naming["pre"],
        naming["control"],
    ):
        assert number in text, number
    assert demo_report.verdict == "signal"
    page = (DOCS / "method.md").read_text(encoding="utf-8").replace("\n", " ")
    rows = {row.name: row.signal.value for row in demo_report.sensitivity}
    for name in (
        "statement leaks nothing",
        "exact metric",
        "first path only (hit@1)",
        "unusable answers as hits",
    ):
        assert f"{wording.points(rows[name]).removesuffix(' pts')} points" in page, name
    assert f"{round(older.exact_hit_rate * older.scored)} ({wording.rate(older.exact_hit_rate)})" in page


def test_the_worked_example_is_scored_as_it_says() -> None:
    from bccontam.score import score_prediction

    section = README.read_text(encoding="utf-8").partition("### A worked example")[2].partition("\n## ")[0]
    gold, *predicted = re.findall(r"^    (\S+\.al)$", section, re.MULTILINE)
    rows = [json.loads(line) for line in (DEMO / "answers.jsonl").read_text("utf-8").split("\n") if line]
    [answer] = [row["raw_output"] for row in rows if row["instance_id"] == "contoso__HarbourSuite-1029"]
    assert json.loads(answer) == predicted
    score = score_prediction(predicted, [gold])
    assert (score.basename_hit, score.suffix_hit, score.exact_hit) == (True, False, False)


def test_the_example_of_a_backend_answers() -> None:
    from bccontam.answer import parse_prediction

    [source] = [block.text for block in blocks(DOCS / "extending.md", "python") if "Model" in block.text]
    names: dict[str, Any] = {}
    exec(compile(source, "extending.md", "exec"), names)
    model = names["FirstWordModel"]()
    question = Question("a-1", "o/r", "Posting fails", "", "", 3)
    assert parse_prediction(model.ask(question, 1.0).text).paths == ("src/Posting.al",)
    assert {"backend", "model", "condition", "ask", "close"} <= set(dir(model))


def test_the_example_of_a_layout_reads_a_row() -> None:
    from types import SimpleNamespace

    from bccontam.datasets.layout import make_entry

    [source] = [block.text for block in blocks(DOCS / "extending.md", "python") if "FIELDS" in block.text]
    names: dict[str, Any] = {}
    exec(compile(source, "extending.md", "exec"), names)
    layout = SimpleNamespace(**names)
    row = {
        "task_id": "t-1",
        "project": "o/r",
        "opened": "2025-03-01",
        "fix": "--- a/x.al\n+++ b/x.al\n@@ -1 +1 @@\n-a\n+b\n",
        "issue_text": "It fails.",
    }
    assert layout.matches(row)
    assert set(row) == set(layout.FIELDS)
    entry = make_entry(layout.fields(row))
    assert (entry.instance_id, str(entry.created_at), entry.unscorable) == ("t-1", "2025-03-01", "")


def test_the_example_of_a_prompt_renders() -> None:
    from bccontam.prompts import Prompt

    [source] = [block.text for block in blocks(DOCS / "extending.md", "jinja prompt")]
    entry = Entry(instance_id="a", repo="o/r", created_at=None, problem_statement="It fails.", patch="")
    rendered = Prompt("mine", source).render(entry, 3)
    assert rendered.system.startswith("You name")
    assert "It fails." in rendered.user


def test_the_example_of_a_template_renders(demo_report: Any) -> None:
    from bccontam.report.render import render_report

    [source] = [block.text for block in blocks(DOCS / "action.md", "jinja report")]
    page = render_report(demo_report, template=source)
    assert page.startswith("## Contamination of our benchmark: signal")
    assert len(page) > 1000


def test_the_example_of_reading_results_runs(
    demo_report: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bccontam.commands import predict
    from bccontam.terminal import terminal_effects

    predict(demo_settings(str(tmp_path / "contamination-results")), terminal_effects())
    monkeypatch.chdir(tmp_path)
    [source] = [block.text for block in blocks(DOCS / "results.md", "python")]
    exec(compile(source, "results.md", "exec"), {})
    rates = [float(number) for number in capsys.readouterr().out.split()]
    assert rates == [
        demo_report.groups.pre.basename_hit_rate,
        demo_report.groups.control.basename_hit_rate,
    ]


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    kinds = {block.info for page in PAGES for block in blocks(page)}
    assert kinds <= {"sh", "sh checked", "yaml", "python", "jinja prompt", "jinja report"}


# The rest.


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert f"\n## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for version in re.findall(r"bccontam/bccontam(?:/\S+)?[@:]v?(\d+\.\d+\.\d+)", text):
            assert version == __version__, page.name


def test_the_citation_has_the_form_of_one() -> None:
    tool("check-jsonschema", "--builtin-schema", "vendor.citation-file-format", ROOT / "CITATION.cff")


def test_the_defaults_that_the_pages_state_are_those_of_the_settings() -> None:
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name, said in re.findall(r"`([a-z-]+)` \((\d[\d,]*)\)", text):
        if name in inputs():
            assert said.replace(",", "") == str(Settings.model_fields[name.replace("-", "_")].default), name
