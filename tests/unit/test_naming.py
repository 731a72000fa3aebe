"""The naming floor: what a convention alone proposes, and the search over a list of real paths."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bccontam.models.base import Model, Question
from bccontam.models.naming import FileIndex, NamingModel, propose_files


def first(statement: str, convention: str = "al") -> str:
    return propose_files(statement, 1, convention=convention)[0]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ('Codeunit 80 "Sales-Post" rounds wrongly', "SalesPost.Codeunit.al"),
        ('codeunit "Sales-Post" rounds wrongly', "SalesPost.Codeunit.al"),
        ("page Sales Invoice is empty", "SalesInvoice.Page.al"),
        ("On the Sales Invoice page nothing is shown", "SalesInvoice.Page.al"),
        ("Open the **Sustainability Thing** page", "SustainabilityThing.Page.al"),
        ('the table "Sales Header" is locked', "SalesHeader.Table.al"),
        ("the “Item Thing” table", "ItemThing.Table.al"),
        ('Report "Exchange Production BOM Item" fails', "ExchangeProductionBOMItem.Report.al"),
        ('query "Top Customers" is slow', "TopCustomers.Query.al"),
        ('XMLport "Export Contacts" fails', "ExportContacts.XmlPort.al"),
        ('enum "Sales Thing Kind" lacks a value', "SalesThingKind.Enum.al"),
        ('interface "Price Source" lacks a method', "PriceSource.Interface.al"),
        ('the permission set "D365 Basic" is too small', "D365Basic.PermissionSet.al"),
        ('table extension "Sales Thing" lacks a field', "SalesThing.TableExt.al"),
        ('page extension "Sales Thing" lacks a field', "SalesThing.PageExt.al"),
        ('tableextension 50100 "Sales Thing" lacks a field', "SalesThing.TableExt.al"),
    ],
)
def test_a_name_beside_an_object_type_is_a_file_of_that_type(statement: str, name: str) -> None:
    assert first(statement) == name


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("The sales invoice is wrong", "SalesInvoice.Page.al"),
        ("the sales credit memos are wrong", "SalesCreditMemo.Page.al"),
        ("an item journal cannot be posted", "ItemJournal.Page.al"),
        ("fields of the sales header are lost", "SalesHeader.Table.al"),
        ("the reservation entry is wrong", "ReservationEntry.Table.al"),
        ("the purchase invoice line is wrong", "PurchaseLine.Table.al"),
        ("the general ledger setup is wrong", "GeneralLedgerSetup.Table.al"),
        ("the planning worksheet is slow", "PlanningWorksheet.Page.al"),
        ("the opportunity list is empty", "OpportunityList.Page.al"),
    ],
)
def test_a_noun_tells_what_kind_of_object_its_words_name(statement: str, name: str) -> None:
    assert first(statement).lower() == name.lower()


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("Customer Ledger Entries are wrong", "CustomerLedgerEntries.Page.al"),
        ("Customer Ledger Entries are wrong", "CustomerLedgerEntry.Table.al"),
        ("the blanket sales order is wrong", "SalesHeader.Table.al"),
        ("the blanket sales order is wrong", "SalesLine.Table.al"),
        ("the customer card is wrong", "Customer.Table.al"),
        ("the general journal is wrong", "GenJournalLine.Table.al"),
        ("the service contract is wrong", "ServiceContractHeader.Table.al"),
        ("the inventory setup is wrong", "InventorySetup.Page.al"),
        ('Choose "Create Interaction".', "CreateInteraction.Page.al"),
        ("![Create Interaction](./x.png)", "CreateInteraction.Codeunit.al"),
        ("Fails since Approval Comments exist", "ApprovalComments.Page.al"),
    ],
)
def test_the_objects_behind_a_name_are_proposed_too(statement: str, name: str) -> None:
    assert name.lower() in [path.lower() for path in propose_files(statement, 10)]


def test_the_first_object_of_a_call_stack_goes_before_a_page_that_is_mentioned_once() -> None:
    statement = (
        'It fails\nOn the Item Card page.\nAL call stack:\n"Report Selections"(Table 77).Print line 3 - Base'
    )
    assert first(statement) == "ReportSelections.Table.al"


def test_a_file_name_in_the_report_goes_before_everything_else() -> None:
    statement = "The Sales Order page, the Sales Order page, see HeadlineMgt.Codeunit.al"
    assert first(statement) == "HeadlineMgt.Codeunit.al"


def test_the_title_weighs_more_than_the_text_below_it() -> None:
    statement = "# Title: the sales order\n\nthe item journal and the item journal"
    assert first(statement).lower() == "salesorder.page.al"


def test_a_name_over_30_characters_is_abbreviated() -> None:
    statement = "Report Reconcile Customer and Vendor Accounts shows wrong amounts"
    assert first(statement) == "ReconcileCustAndVendAccs.Report.al"


def test_a_name_that_only_ends_a_longer_one_gives_way_to_it() -> None:
    proposed = propose_files("the item tracking line, again the item tracking line", 10)
    assert [name.lower() for name in proposed] == ["itemtrackingline.table.al"]


def test_an_order_to_do_something_is_no_part_of_a_name() -> None:
    assert first("1. Open Sales Invoice page").lower() == "salesinvoice.page.al"
    assert first("1. Create a new Sales Invoice").lower() == "salesinvoice.page.al"


def test_no_break_and_zero_width_characters_do_not_hide_a_name() -> None:
    assert first('table "Sales\u00a0Head\u200ber"') == "SalesHeader.Table.al"


@pytest.mark.parametrize("statement", ["", " \n\n", "nothing is said here", "…", "页面"])
@pytest.mark.parametrize("convention", ["al", "generic"])
def test_a_report_without_names_proposes_nothing(statement: str, convention: str) -> None:
    assert propose_files(statement, 3, convention=convention) == ()


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ('  File "/usr/lib/python3.9/site-packages/pkg/core/things.py", line 3', "pkg/core/things.py"),
        ("C:\\Python\\Lib\\site-packages\\pkg\\core\\things.py:12: error", "pkg/core/things.py"),
        ("https://host/o/r/blob/abc123/pkg/core/things.py#L5", "pkg/core/things.py"),
        ("see `pkg/core/things.py`.", "pkg/core/things.py"),
        ("tests/test_things.py fails", "things.py"),
        ("pkg.core.things.Thing is wrong", "pkg/core/things.py"),
        ("`pkg.core.things.build()` is wrong", "pkg/core/things.py"),
        ("the module pkg.core.things is wrong", "pkg/core/things.py"),
        ("build_things returns nothing", "build_things.py"),
        ("ThingBuilder returns nothing", "thing_builder.py"),
    ],
)
def test_a_module_is_named_by_its_path_its_dotted_name_or_its_contents(statement: str, path: str) -> None:
    assert first(statement, "generic") == path


def test_a_file_of_pythons_own_library_is_not_proposed() -> None:
    statement = 'File "/usr/lib/python3.9/json/decoder.py", line 3'
    assert propose_files(statement, 3, convention="generic") == ()


def test_the_last_frame_of_a_traceback_goes_first() -> None:
    statement = 'It fails\nFile "pkg/outer.py", line 3\nFile "pkg/inner.py", line 9'
    assert propose_files(statement, 3, convention="generic") == ("pkg/inner.py", "pkg/outer.py")


@settings(max_examples=100)
@given(st.text(max_size=300), st.integers(0, 5), st.sampled_from(["al", "generic"]))
def test_any_text_gives_at_most_top_k_different_names(statement: str, top_k: int, convention: str) -> None:
    proposed = propose_files(statement, top_k, convention=convention)
    assert len(proposed) <= top_k
    assert len({name.lower() for name in proposed}) == len(proposed)
    assert proposed == propose_files(statement, top_k, convention=convention)


@pytest.mark.parametrize(
    "unit",
    ["A-", "a/", ".py", "a.", "Aa", "a_", "table ", "(table 1)", '"Get A B ', " line", "A of ", "(", '"'],
)
def test_a_long_hostile_report_is_read_to_its_end(unit: str) -> None:
    statement = unit * (100_000 // len(unit)) + '\nthe "Sales Header" table, pkg/core/things.py'
    assert len(propose_files(statement, 3)) <= 3
    assert len(propose_files(statement, 3, convention="generic")) <= 3


# --- the backend


def question(statement: str, top_k: int = 3) -> Question:
    return Question("acme__App-1", "acme/App", statement, system="", prompt="", top_k=top_k)


def test_the_backend_answers_with_a_json_array_of_what_is_proposed() -> None:
    model: Model = NamingModel()
    answer = model.ask(question('the table "Sales Header" and the Sales Invoice page', top_k=2), timeout=1)
    assert json.loads(answer.text) == ["SalesHeader.Table.al", "SalesInvoice.Page.al"]
    assert (model.backend, model.model, answer.model) == ("naming", "naming", "naming")
    model.close()


def test_the_backend_sends_nothing_anywhere() -> None:
    condition = NamingModel().condition
    assert (condition.tools_sent, condition.sandbox) == (0, "no process")


def test_the_backend_follows_the_convention_and_the_file_list_it_is_given() -> None:
    statement = "pkg.core.things.Thing is wrong"
    generic = NamingModel("generic").ask(question(statement), timeout=1)
    assert json.loads(generic.text) == ["pkg/core/things.py"]
    listed = NamingModel("al", FileIndex.from_lines(["lib/things.py"])).ask(question(statement), timeout=1)
    assert json.loads(listed.text) == ["lib/things.py"]


def test_a_report_without_names_is_answered_with_an_empty_array() -> None:
    assert NamingModel().ask(question(""), timeout=1).text == "[]"


# --- a list of real paths


def test_the_path_whose_name_shares_the_rarest_words_comes_first() -> None:
    index = FileIndex.from_lines(
        [
            "src/SalesHeader.Table.al",
            "src/SalesLine.Table.al",
            "src/ItemCard.Page.al",
            "src/SalesPost.Codeunit.al",
        ]
    )
    assert index.search("# Posting\nthe sales line is wrong", 2)[0] == "src/SalesLine.Table.al"
    assert index.search("the item card", 5) == ("src/ItemCard.Page.al",)


def test_a_path_that_shares_no_word_with_the_report_is_never_given() -> None:
    assert FileIndex.from_lines(["src/SalesHeader.Table.al"]).search("nothing of the kind", 3) == ()
    assert FileIndex.from_lines([]).search("sales header", 3) == ()


def test_a_single_path_can_be_found() -> None:
    assert FileIndex.from_lines(["src/Header.al"]).search("the headers", 3) == ("src/Header.al",)


def test_folders_decide_between_files_of_the_same_name() -> None:
    index = FileIndex.from_lines(["app/purchase/models.py", "app/sales/models.py"])
    assert index.search("the models of sales", 1) == ("app/sales/models.py",)


def test_a_short_name_wins_over_a_long_one_with_the_same_words() -> None:
    index = FileIndex.from_lines(["a/SalesHeaderArchiveExtendedText.al", "a/SalesHeader.al"])
    assert index.search("sales header", 1) == ("a/SalesHeader.al",)


def test_lines_are_read_as_git_prints_them() -> None:
    lines = [
        '"src/Gr\\303\\266\\303\\237e.Table.al"\n',
        '"src/Quote\\"Mark\\tTab.Page.al"\n',
        "src/Plain Name.Page.al\r\n",
        ".\\src\\Windows.Page.al",
        "",
        "src/Plain Name.Page.al",
        "z/One.al\0z/Two.al\0",
    ]
    index = FileIndex.from_lines(lines)
    assert len(index) == 6
    found = {
        path
        for word in ("größe", "quote", "plain", "windows", "one", "two")
        for path in index.search(word, 1)
    }
    assert found == {
        "src/Größe.Table.al",
        'src/Quote"Mark\tTab.Page.al',
        "src/Plain Name.Page.al",
        "src/Windows.Page.al",
        "z/One.al",
        "z/Two.al",
    }


def test_the_order_of_equally_good_paths_is_that_of_the_list() -> None:
    assert FileIndex.from_lines(["b/Header.al", "a/Header.al"]).search("header", 2) == (
        "b/Header.al",
        "a/Header.al",
    )


def test_a_word_in_every_path_of_a_long_list_still_finds_some() -> None:
    index = FileIndex.from_lines(f"src/Thing{number}.al" for number in range(12_000))
    assert len(index.search("the thing", 3)) == 3


def test_a_rare_word_is_found_in_a_list_of_50_000_paths() -> None:
    shuffled = random.Random(1)
    words = ["Sales", "Item", "Job", "Ledger", "Post", "Line", "Card"]
    lines = [f"src/{''.join(shuffled.sample(words, 3))}{number}.al" for number in range(50_000)]
    lines[31_415] = "src/UnheardOfThing.al"
    index = FileIndex.from_lines(lines)
    assert index.search("the sales item ledger line, post card, job, and an unheard of thing", 1) == (
        "src/UnheardOfThing.al",
    )


def test_the_file_list_replaces_the_convention() -> None:
    index = FileIndex.from_lines(["x/SalesHeader.Table.al"])
    assert propose_files("the sales header", 3, file_list=index) == ("x/SalesHeader.Table.al",)
