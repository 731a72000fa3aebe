from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.errors import SettingsError
from bccontam.plan import PlanRequest, build_plan
from bccontam.report.data import Request, build_report
from bccontam.report.render import COMMENT_BYTES, render_plan, render_report
from bccontam.report.shape import Change, Report
from bccontam.result import RunRecord
from tests.support.builders import failed, group, hit, make_entry, make_result, miss
from tests.support.paths import ROOT

CUTOFF = date(2025, 6, 1)
TEMPLATES = ROOT / "bccontam" / "report" / "templates"


def report_on(*results: object, **fields: object) -> Report:
    made = list(results) or [*group(60, 89, "2024-01-01"), *group(3, 12, "2026-01-01")]
    return build_report(made, Request(**({"cutoff": CUTOFF} | fields)))  # type: ignore[arg-type]


def html(markdown: str) -> str:
    rendered: str = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    return rendered


def test_a_report_begins_with_the_verdict_its_number_and_the_sizes_of_the_groups() -> None:
    first, _, second = render_report(report_on()).split("\n")[:3]
    assert first == "## Benchmark memorisation: signal"
    assert "+42.4 pts" in second
    assert "89 older and 12 control entries" in second


def test_the_parts_of_a_report_stand_in_their_order() -> None:
    page = render_report(
        report_on(changes=[Change("e2024-01-01-0", "modified")], baseline=[hit("a", "2024-01-01")])
    )
    parts = [
        "## Benchmark memorisation",
        "Next: ",
        "| older | control |",
        "```mermaid",
        "### This pull request",
        "### Does it survive?",
        "### How it was asked",
        "<details>",
    ]
    positions = [page.index(part) for part in parts]
    assert positions == sorted(positions)
    assert (
        page.index("<summary>Every entry")
        < page.index("<summary>Method and caveats")
        < page.index("arXiv:2506.12286")
    )


@pytest.mark.parametrize("reveal", [False, True])
def test_every_table_is_a_table_with_as_many_cells_in_each_row(reveal: bool) -> None:
    page = render_report(
        report_on(
            changes=[Change("e2024-01-01-0", "added")],
            reference=group(9, 89, "2024-01-01"),
            reveal_answers=reveal,
        )
    )
    tables = len(re.findall(r"^\| :?-", page, re.MULTILINE))
    assert html(page).count("<table>") == tables
    assert "| :---" not in html(page)
    assert not re.search(r"<p>[^<]*\|", html(page))
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_an_undefined_number_is_a_dash_and_never_zero() -> None:
    page = render_report(report_on(hit("a", "2024-01-01")))
    row = next(line for line in page.split("\n") if line.startswith("| **basename hit** |"))
    [_, older, control, difference, _] = row.strip("| ").split(" | ")
    assert older.startswith("100.0")
    assert (control, difference) == ("–", "–")


def test_a_comment_leaves_out_whole_rows_and_says_how_many() -> None:
    report = report_on(*group(900, 1500, "2024-01-01"), *group(100, 500, "2026-01-01"))
    page = render_report(report, limit=COMMENT_BYTES)
    assert len(page.encode()) <= COMMENT_BYTES
    shown = len(re.findall(r"^\| `e20", page, re.MULTILINE))
    left_out = int(re.search(r"([\d,]+) more entries are left out", page)[1].replace(",", ""))  # type: ignore[index]
    assert len(page.encode()) > 0.97 * COMMENT_BYTES
    assert shown + left_out == 2000
    assert page.count("<details>") == page.count("</details>")


def test_a_report_that_fits_is_whole() -> None:
    report = report_on()
    assert render_report(report, limit=COMMENT_BYTES) == render_report(report)


def test_hostile_names_stay_text_everywhere() -> None:
    evil = "<img src=x>|`@octo` #1 [a](https://e.invalid)\n# Owned <!-- bccontam -->"
    results = [
        make_result(
            f"{evil}{i}", day, model=evil, repo=evil, area=evil, backend=evil, prompt=evil, sandbox=evil
        )
        for i, day in enumerate(("2024-01-01", "2026-01-01", evil))
    ]
    report = build_report(
        results,
        Request(cutoff=CUTOFF, cutoff_source=evil, reveal_answers=True, changes=[Change(evil, "added")]),
        [RunRecord(unscorable=((evil, evil),))],
    )
    page = render_report(report)
    rendered = html(page)
    assert "<img" not in rendered
    assert set(re.findall(r"<a [^>]*>", rendered)) == {'<a href="https://arxiv.org/abs/2506.12286">'}
    assert "<!--" not in page
    assert "Owned" not in "".join(re.findall(r"<h\d>.*?</h\d>", rendered))


def test_paths_are_shown_only_when_answers_are_revealed() -> None:
    results = [hit("a", "2024-01-01"), miss("b", "2026-01-01")]
    assert "a.Table.al" not in render_report(report_on(*results))
    assert "a.Table.al" in render_report(report_on(*results, reveal_answers=True))


def test_an_own_template_overrides_a_block_and_its_values_are_escaped() -> None:
    source = "{% extends 'report.md.j2' %}{% block title %}# {{ report.subject.models[0] }}{% endblock %}"
    page = render_report(report_on(make_result("a", "2024-01-01", model="*m*")), template=source)
    assert page.startswith("# \\*m\\*")
    assert "### How it was asked" in page


@pytest.mark.parametrize(
    "source",
    [
        "{% block title %}",
        "{{ nothing }}",
        "{{ report.nothing }}",
        "{{ report | nothing }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ report.__class__ }}",
        "{% include '/etc/passwd' %}",
        "{% extends '../../settings.py' %}",
        "{{ 1 / 0 }}",
        "{{ report.groups + 1 }}",
        "{{ report.verdict | points }}",
        "{% for i in range(10 ** 9) %}{% endfor %}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
    ],
)
def test_a_template_that_cannot_be_used_is_one_sentence(source: str) -> None:
    with pytest.raises(SettingsError, match=r"^template: cannot be used.*\.$"):
        render_report(report_on(hit("a", "2024-01-01")), template=source)


def test_a_template_over_the_limit_gives_way_to_the_shipped_report() -> None:
    report = report_on()
    long = f"{{% extends 'report.md.j2' %}}{{% block title %}}{'x' * 60_000}{{% endblock %}}"
    page = render_report(report, limit=COMMENT_BYTES, template=long)
    assert page == render_report(report, limit=COMMENT_BYTES)


def test_a_template_with_rows_of_its_own_is_kept_under_the_limit_too() -> None:
    report = report_on(*group(900, 1500, "2024-01-01"), *group(100, 500, "2026-01-01"))
    source = (
        "{% extends 'report.md.j2' %}{% block entries %}"
        "{% for row in entry_rows %}* {{ row.instance_id | code }} {{ row.basename_hit | mark }}\n{% endfor %}"
        "{{ entries_left_out }} left out{% endblock %}"
    )
    page = render_report(report, limit=30_000, template=source)
    assert 29_900 < len(page.encode()) <= 30_000
    assert page.count("* `") + int(re.findall(r"(\d+) left out", page)[0]) == 2000


def test_every_block_can_be_replaced() -> None:
    shipped = (TEMPLATES / "report.md.j2").read_text(encoding="utf-8")
    blocks = re.findall(r"{% block (\w+) %}", shipped)
    assert blocks == [
        "title",
        "verdict",
        "table",
        "chart",
        "changes",
        "sensitivity",
        "condition",
        "entries",
        "method",
    ]
    for name in blocks:
        source = f"{{% extends 'report.md.j2' %}}{{% block {name} %}}MINE{{% endblock %}}"
        assert "MINE" in render_report(report_on(), template=source)


WIDEST = "\U0001f600" * 400


@pytest.mark.parametrize("name", [WIDEST, "|" * 400, "\u202e" * 400, "`" * 400, "&" * 400])
def test_names_of_any_length_keep_a_comment_under_its_limit(name: str) -> None:
    results = [
        make_result(
            f"{name}{i}",
            "2024-01-01" if i % 2 else "2026-01-01",
            predicted=(f"{name}.al", "b.al", "c.al"),
            gold=tuple(f"{name}{n}.al" for n in range(12)),
            **dict.fromkeys(
                ("model", "backend", "prompt", "sandbox", "self_test", "prompt_owner", "repo"), f"{i}{name}"
            ),
        )
        for i in range(30)
    ]
    undated = [replace(result, instance_id=f"u{result.instance_id}", created_at="") for result in results]
    request = Request(
        cutoff=CUTOFF,
        cutoff_source=name,
        reveal_answers=True,
        changes=[Change(f"{name}{i}", "modified") for i in range(30)],
    )
    record = RunRecord(unscorable=tuple((f"{i}{name}", name) for i in range(50)))
    report = build_report([*results, *undated], request, [record])
    for limit in (COMMENT_BYTES, 30_000):
        page = render_report(report, limit=limit)
        assert len(page.encode()) <= limit
        assert "left out here" in page
        assert html(page).count("<table>") == len(re.findall(r"^\| :?-", page, re.MULTILINE))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=30)), min_size=1, max_size=6),
    st.integers(9_000, 60_000),
)
def test_any_names_stay_text_under_any_limit(names: list[tuple[str, str]], limit: int) -> None:
    results = [
        make_result(
            f"{i}{name}", "2024-01-01" if i % 2 else "2026-01-01", repo=repo, leakage=repo, model=name
        )
        for i, (name, repo) in enumerate(names)
    ]
    page = render_report(report_on(*results), limit=limit)
    assert len(page.encode()) <= limit
    rendered = html(page)
    assert not re.search(r"<(?:img|script|input)\b", rendered)
    assert rendered.count("<table>") == len(re.findall(r"^\| :?-", page, re.MULTILINE))
    assert len(re.findall(r"<a ", rendered)) == 1


def test_changed_entries_are_shown_before_others_when_there_is_little_room() -> None:
    report = report_on(
        *group(900, 1500, "2024-01-01"), changes=[Change(f"e2024-01-01-{n}", "added") for n in range(900)]
    )
    page = render_report(report, limit=COMMENT_BYTES)
    assert "more changed entries are left out here" in page
    assert re.search(r"1,[45]\d\d more entries are left out here", page)


def test_errors_undated_and_unscorable_entries_are_listed() -> None:
    results = [hit("a", "2024-01-01"), failed("b", "2026-01-01"), hit("undated-1", "")]
    record = RunRecord(unscorable=(("broken-1", "no gold file in its patch"),), not_asked=3)
    page = render_report(build_report(results, Request(cutoff=CUTOFF), [record]))
    assert "`undated-1`" in page
    assert "`broken-1`" in page
    assert "3 not asked" in page
    assert "| error |" in page


def test_a_plan_is_said_in_tables() -> None:
    entries = [make_entry("a"), make_entry("b|c", patch="")]
    page = render_plan(build_plan(entries, PlanRequest(cutoff=CUTOFF)))
    assert "1 question would be asked" in page
    assert "b\\|c" in page
    assert html(page).count("<table>") == 4
