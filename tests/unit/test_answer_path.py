from __future__ import annotations

import json

import pytest

from bccontam.answer import parse_prediction
from bccontam.answer.path import MAX_PATH, clean_path
from tests.support.answers import ORDER, SHOP

REPO = "microsoft/BCApps"
WEB = f"https://github.com/{REPO}"
COMMIT = "4f2c0dbb9d5e6a7b8c9d0e1f2a3b4c5d6e7f8091"


def raw_items(*items: str) -> str:
    """A JSON array whose strings are written as they stand, escapes and all."""
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


@pytest.mark.parametrize(
    "suffix",
    [":12", ":10:3", ":12-40", ":L12", ":12:", "#L10", "#L10-L20", "#L10C3-L20C4", " (line 12)", " (lines 3-9)",
     ", line 12", " lines 3-9", " L12", "(12,5)", "@L5", "::Class.method", "#method", ":PostOrder()",
     " - procedure PostOrder", " — why", " (procedure PostOrder)", " -> PostOrder", " in PostOrder",
     " [modified]", " (new, see b.al)", " # comment", ": the table", "?plain=1", ".", ",", ";", "`", "**", ")",
     "\n::error::x", " "],
)  # fmt: skip
def test_what_follows_the_extension_is_cut(suffix: str) -> None:
    for path in ("src/a.py", ORDER):
        assert clean_path(path + suffix) == path


@pytest.mark.parametrize(
    "path",
    ["src/a#b.al", "app/(chat)/chat/[threadId].tsx", "app/[...slug]/page.tsx", "src/{a,b}.ts", "Foo (1).al",
     "src/Foo, Bar/X.al", "Company.Name (old)/File.cs", "src/v1.x - notes/a.md", ".github/workflows/ci.yml",
     ".env", "src/__init__.py", "LICENSE", "docs/100%discount.md", "src/Don't.al", "1. Intro/a.md",
     "src/R&copy.al", "Dapper/SqlMapper.cs"],
)  # fmt: skip
def test_what_belongs_to_a_name_stays(path: str) -> None:
    assert parse_prediction(json.dumps([path]), 3, "DapperLib/Dapper").paths == (path,)


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ("[ShpfyOrder.Table.al](src/App/A.al)", "src/App/A.al"),
        ("[shop](./src/App/A.al#L10 'x')", "src/App/A.al"),
        ("[src/App/A.al](https://example.invalid/docs)", "src/App/A.al"),
        ("`src/App/A.al`", "src/App/A.al"),
        ("**src/App/A.al**", "src/App/A.al"),
        ("<code>src/App/A.al</code>", "src/App/A.al"),
        ("<src/App/A.al>", "src/App/A.al"),
        ("- src/App/A.al", "src/App/A.al"),
        ("File path: src/App/A.al", "src/App/A.al"),
        ('"src/App/A.al/"', "src/App/A.al"),
        ("src/Orders/", "src/Orders"),
        ("src/A&amp;B.al", "src/A&B.al"),
        ("src/Subscription%20Billing/X.al", "src/Subscription Billing/X.al"),
        ("src/Sales\\_Post.al", "src/Sales_Post.al"),
        ("src/My\\ App/X.al", "src/My App/X.al"),
        ("\ufeffsrc/A.al\u200b", "src/A.al"),
        ("src/Subscription\u00a0Billing/X.al", "src/Subscription Billing/X.al"),
        ("ｓｒｃ／Ａｐｐ／Ｆｏｏ．ａｌ", "src/App/Foo.al"),
        ("src/cafe\u0301.al", "src/café.al"),
        ("src/\ud83d.al", "src/\ufffd.al"),
        ("src/a\x00.al", "src/a.al"),
        ("\x1b[36msrc/a.al\x1b[39m", "src/a.al"),
        ("src/App/../Base/./A.al", "src/Base/A.al"),
        ("../../src/A.al", "src/A.al"),
    ],
)
def test_wrappings_of_a_path_are_taken_off(item: str, path: str) -> None:
    assert clean_path(item) == path


@pytest.mark.parametrize(
    "item",
    ["", " ", ",", "...", "-", "N/A", "none", "Unknown", "a whole sentence", "x" * (MAX_PATH + 1),
     "x/" * MAX_PATH + "a.al", "https://example.com", f"{WEB}/issues/12", f"{WEB}/pull/12/files", "<|x|>a.al",
     "//", "\\"],
)  # fmt: skip
def test_what_is_no_path_is_dropped(item: str) -> None:
    assert clean_path(item) is None


@pytest.mark.parametrize(
    "url",
    [
        f"{WEB}/blob/main/{{}}",
        f"{WEB}/blob/main/{{}}?plain=1#L10",
        f"{WEB}/tree/{COMMIT}/{{}}",
        f"{WEB}/raw/refs/heads/main/{{}}",
        f"{WEB}/blame/main/{{}}#L3-L9",
        f"{WEB}/blob/releases/26.0/{{}}",
        f"{WEB}/blob/bc/26.0/{{}}",
        f"{WEB}/blob/users/me/topic/{{}}",
        f"{WEB}/{{}}",
        f"<{WEB}/blob/main/{{}}>",
        WEB.removeprefix("https://") + "/blob/main/{}",
        REPO + "/blob/main/{}",
        f"https://raw.githubusercontent.com/{REPO}/main/{{}}",
        f"https://raw.githubusercontent.com/{REPO}/refs/heads/main/{{}}",
        f"https://api.github.com/repos/{REPO}/contents/{{}}?ref=main",
        f"https://github.example.org/{REPO}/blob/main/{{}}",
        "https://gitlab.com/group/sub/BCApps/-/blob/main/{}#L1-2",
        f"https://gitlab.com/{REPO}/-/raw/main/{{}}?ref_type=heads",
        "https://dev.azure.com/org/proj/_git/BCApps?path=/{}&version=GBmain&line=10",
        f"https://bitbucket.org/{REPO}/src/main/{{}}",
        f"https://codeberg.org/{REPO}/src/branch/main/{{}}",
        f"https://cdn.jsdelivr.net/gh/{REPO}@main/{{}}",
        f"https://sourcegraph.com/github.com/{REPO}@main/-/blob/{{}}?L3",
        "file:///workspace/BCApps/{}",
        "file://localhost/{}",
        "vscode://file/workspace/BCApps/{}:10:3",
    ],
)
def test_the_url_of_a_file_gives_its_path(url: str) -> None:
    for path in (ORDER, ORDER.replace("Shopify", "Subscription Billing")):
        assert clean_path(url.format(path.replace(" ", "%20")), REPO) == path


def test_a_percent_encoded_query_gives_its_path() -> None:
    quoted = ORDER.replace("/", "%2F")
    assert clean_path(f"https://dev.azure.com/o/p/_git/r?path=%2F{quoted}&_a=contents") == ORDER


@pytest.mark.parametrize(
    "root",
    ["/", "./", "../", "//", "a/", "b/", "/testbed/", "/workspace/", "/workspace/BCApps/", "/repo/", "/app/",
     "/github/workspace/", "/home/user/repo/", "/home/runner/work/BCApps/BCApps/", "/workspaces/BCApps/",
     "/root/BCApps/", "/tmp/BCApps/", "/usr/src/app/", "/mnt/data/BCApps/", "/Users/me/source/repos/BCApps/",
     "~/projects/BCApps/", "$GITHUB_WORKSPACE/", "${workspaceFolder}/", "%CD%/", "<repo>/", ".../", "…/",
     "BCApps/", "microsoft/BCApps/", "BCApps-main/", "/BCApps/", "C:/repo/BCApps/", "C:/repo/", "c:/",
     "D:/a/BCApps/BCApps/", "D:/a/1/s/", "/home/vsts/work/1/s/", "/workspace/microsoft__BCApps__1.0/"],
)  # fmt: skip
def test_the_checkout_a_path_lies_in_is_dropped(root: str) -> None:
    assert clean_path(root + ORDER, REPO) == ORDER
    assert clean_path((root + ORDER).replace("/", "\\"), REPO) == ORDER


@pytest.mark.parametrize(
    "share", ["\\\\server\\share\\", "\\\\server\\share\\BCApps\\", "\\\\?\\C:\\repo\\BCApps\\"]
)
def test_a_windows_share_is_dropped(share: str) -> None:
    assert clean_path(share + ORDER.replace("/", "\\"), REPO) == ORDER


@pytest.mark.parametrize(
    ("repo", "item", "path"),
    [
        ("astropy/astropy", "astropy/io/fits/fitsrec.py", "astropy/io/fits/fitsrec.py"),
        ("astropy/astropy", "astropy/astropy/table/table.py", "astropy/table/table.py"),
        ("astropy/astropy", "/testbed/astropy/wcs/wcs.py", "astropy/wcs/wcs.py"),
        ("keras-team/keras", "keras/src/layers/layer.py", "keras/src/layers/layer.py"),
        ("pallets/flask", "flask/src/flask/app.py", "src/flask/app.py"),
        ("pallets/flask", "pallets/flask/src/flask/app.py", "src/flask/app.py"),
        ("scikit-learn/scikit-learn", "scikit-learn/scikit-learn/sklearn/base.py", "sklearn/base.py"),
        ("matplotlib/matplotlib", "/home/me/matplotlib/lib/matplotlib/axes.py", "lib/matplotlib/axes.py"),
        ("PlasmaPy/PlasmaPy", "PlasmaPy/plasmapy/formulary/a.py", "plasmapy/formulary/a.py"),
        ("DapperLib/Dapper", "Dapper/SqlMapper.cs", "Dapper/SqlMapper.cs"),
        ("microsoftInternal/NAV", "NAV/App/Layers/W1/X.al", "App/Layers/W1/X.al"),
        ("microsoftInternal/NAV", "App/Layers/W1/X.al", "App/Layers/W1/X.al"),
    ],
)
def test_the_name_of_a_repository_stays_where_it_may_be_a_directory(repo: str, item: str, path: str) -> None:
    assert clean_path(item, repo) == path


@pytest.mark.parametrize(
    ("item", "path"),
    [
        (r"src\tables\new\base\format.al", "src/tables/new/base/format.al"),
        (r"src\App\Foo.Table.al", "src/App/Foo.Table.al"),
        (r"src\utils\users\unit.al", "src/utils/users/unit.al"),
        (r"src\\App\\Foo.al", "src/App/Foo.al"),
        (r"src\\App\new\x.al", "src/App/new/x.al"),
        (r"src/tables\new.al", "src/tables/new.al"),
        (r"C:\repo\src\tables\x.al", "src/tables/x.al"),
        (r"\/src\/App\/Foo.al", "src/App/Foo.al"),
        (r"src\u002fcaf\u00e9.al", "src/café.al"),
        (r"src/\ud83d\ude00.al", "src/😀.al"),
        (r"src/\ud83d.al", "src/\ufffd.al"),
        (r"\tsrc/a.al\n", "src/a.al"),
        (r"src/a.al\n::set-output name=x::y", "src/a.al"),
        (r"\"src/a.al/\"", "src/a.al"),
    ],
)
def test_backslashes_that_json_would_turn_into_control_characters_are_separators(
    item: str, path: str
) -> None:
    assert parse_prediction(raw_items(item)).paths == (path,)


def test_a_string_with_several_files_is_several_items() -> None:
    assert parse_prediction(raw_items(f"{ORDER}, {SHOP}")).paths == (ORDER, SHOP)
    assert parse_prediction(raw_items(f"{ORDER}\\n{SHOP}")).paths == (ORDER, SHOP)
    assert parse_prediction(raw_items("src/Foo, Bar/X.al")).paths == ("src/Foo, Bar/X.al",)


def test_names_that_differ_by_case_are_two_paths() -> None:
    assert parse_prediction(raw_items("src/App/Foo.al", "SRC/APP/FOO.AL")).paths == (
        "src/App/Foo.al",
        "SRC/APP/FOO.AL",
    )
