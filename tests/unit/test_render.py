from __future__ import annotations

import re
from datetime import date

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from bccontam.errors import SettingsError
from bccontam.plan import PlanRequest, build_plan
from bccontam.report.data import Change, Report, Request, build_report
from bccontam.report.render import COMMENT_BYTES, render_plan, render_report
from bccontam.result import RunRecord
from tests.support.builders import failed, group, hit, make_entry, make_result, miss

CUTOFF = date(2025, 6, 1)


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
        "| group |",
        "```mermaid",
        "### This pull request",
        "### Does it survive?",
        "### How it was asked",
        "<details>",
    ]
    positions = [page.index(part) for part in parts]
    assert positions == sorted(positions)
    assert "arXiv:2506.12286" in page


def test_every_table_is_a_table() -> None:
    page = render_report(
        report_on(changes=[Change("e2024-01-01-0", "added")], reference=group(9, 89, "2024-01-01"))
    )
    tables = len(re.findall(r"^\| :?-", page, re.MULTILINE))
    assert html(page).count("<table>") == tables
    assert "| :---" not in html(page)


def test_an_undefined_number_is_a_dash_and_never_zero() -> None:
    page = render_report(report_on(hit("a", "2024-01-01")))
    row = next(line for line in page.split("\n") if line.startswith("| control |"))
    assert "0.0 %" not in row
    assert "–" in row


def test_a_comment_leaves_out_whole_rows_and_says_how_many() -> None:
    report = report_on(*group(900, 1500, "2024-01-01"), *group(100, 500, "2026-01-01"))
    page = render_report(report, limit=COMMENT_BYTES)
    assert len(page.encode()) <= COMMENT_BYTES
    shown = len(re.findall(r"^\| `e20", page, re.MULTILINE))
    left_out = int(re.search(r"([\d,]+) more entries are left out", page)[1].replace(",", ""))  # type: ignore[index]
    assert shown > 400
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
    assert "<a " not in rendered
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
        "{{ ''.__class__.__mro__ }}",
        "{% include '/etc/passwd' %}",
        "{% extends '../../settings.py' %}",
    ],
)
def test_a_template_that_cannot_be_used_is_one_sentence(source: str) -> None:
    with pytest.raises(SettingsError, match="template: cannot be used"):
        render_report(report_on(hit("a", "2024-01-01")), template=source)


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
