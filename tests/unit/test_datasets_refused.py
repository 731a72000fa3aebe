from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bccontam.datasets import DatasetError, load_entries
from bccontam.datasets.ids import check_id
from bccontam.datasets.text import shown
from tests.support.datasets import GOLD, PATCH, a_row, load_one, refusal, write

# --- files that cannot be used ---

LINE = json.dumps(a_row(1)) + "\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no entries"),
        (b" \n\r\n\t", "no entries"),
        (b"\xef\xbb\xbf", "no entries"),
        (b"[]", "no entries"),
        (b"[ \n ]\n", "no entries"),
        (b'{"data": []}', "no entries"),
        (b"{}", "no instance_id"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer"),
        (b"\n\n<html></html>", 'line 3: it starts with "<"'),
        (b"\xef\xbb\xbf<?xml version='1.0'?>", 'line 1: it starts with "<"'),
        (gzip.compress(LINE.encode()), "packed (gzip)"),
        (b"PK\x03\x04rest", "packed (zip)"),
        (b"BZh91AY", "packed (bzip2)"),
        (b"\xfd7zXZ\x00\x00", "packed (xz)"),
        (b"\x28\xb5\x2f\xfd\x00", "packed (zstd)"),
        (LINE.encode("utf-16"), "UTF-16"),
        (LINE.encode("utf-16-be"), "UTF-16"),
        (LINE.encode("utf-16-le"), "UTF-16"),
        (LINE.encode("utf-32"), "UTF-32"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary"),
        (b"\x00" * 100, "binary"),
        (b"instance_id,repo\na,b\n", "line 1: broken JSON at column 1"),
        (b"404: Not Found", "line 1: broken JSON"),
        (LINE.encode() + b"\n\n{oops}\n", "line 4: broken JSON at column 2"),
        (LINE.encode() + LINE.encode()[:-20], "line 2: broken JSON"),
        (LINE.encode() + LINE.encode()[:-20], "may be cut short"),
        (LINE.encode() + b"// " + LINE.encode(), "line 2: a comment"),
        (LINE.encode() + b"# more\n", "line 2: a comment"),
        (b"<<<<<<< HEAD\n" + LINE.encode(), "line 1: a merge conflict marker"),
        (LINE.encode() + b"=======\n", "line 2: a merge conflict marker"),
        (LINE.encode() + b"||||||| base\n", "line 2: a merge conflict marker"),
        (LINE.encode()[:-1] + b",\n", "line 1: broken JSON"),
        (LINE.encode()[:-1] + LINE.encode(), "line 1: broken JSON"),
        (LINE.encode().replace(b"fails", b"f\x00ils"), "line 1: broken JSON"),
        (LINE.encode().replace(b"fails", b"f\tils"), "line 1: broken JSON"),
        (LINE.encode() + LINE.encode("cp1252").replace(b"fails", b"f\xe4ils"), "line 2: not UTF-8 at byte"),
        (LINE.encode().replace(b"fails", b"f\xed\xa0\x80ils"), "line 1: not UTF-8"),
        (LINE.encode() + b'"text"\n', "line 2: this row is not a JSON object"),
        (LINE.encode() + b"null\n", "line 2: this row is not a JSON object"),
        (LINE.encode() + b"[1]\n", "line 2: this row is not a JSON object"),
        (b"[1]\n" + LINE.encode(), "line 1: this row is not a JSON object"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"instance_id": ' * 200_000, "nested too deeply"),
        (b'{"instance_id": "a", "version": ' + b"1" * 10_000 + b"}", "too many digits"),
        (b"[\n" + LINE.encode() + b",\n{oops}]", "line 4: broken JSON"),
        (b"[\n" + LINE.encode() + b"\n" + LINE.encode() + b"]", "line 4: broken JSON"),
        (b"[\n" + LINE.encode() + b",\n" + LINE.encode()[:-20], "line 4: broken JSON"),
        (b"[\n" + LINE.encode() + b",\n]", "line 4: broken JSON"),
        (b"[\n" + LINE.encode() + b",", "line 3: broken JSON"),
        (b"[\n" + LINE.encode(), "the file ends inside the array"),
        (b"[\n" + LINE.encode() + b"] rest", "line 3: broken JSON"),
        (b"[\n" + LINE.encode() + b",\n null]", "line 4: this row is not a JSON object"),
        (b"[\n" + LINE.encode() + b",\n\xff]", "line 4: not UTF-8"),
        (b'[{"instance_id": "\xe4', "line 1: not UTF-8"),
        (b"PAR1 but no more", "damaged Parquet"),
        (json.dumps({"acme-1": {"instance_id": "acme-2"}, "b": {}}), "another instance_id"),
        ('{"acme-1": {"repo": "a"}, "acme-1": {"repo": "b"}}', "two rows under one key, acme-1"),
        (json.dumps({"instance_id": {"0": "a"}, "patch": {"0": PATCH}}), "neither text nor a whole number"),
        (json.dumps({"rows": [{"row_idx": 0, "row": {}, "truncated_cells": ["patch"]}]}), "cut long cells"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_benchmark_is_refused_with_its_reason(
    content: bytes | str, words: str, tmp_path: Path
) -> None:
    assert words in refusal(content, tmp_path)


@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 20])
def test_the_place_in_an_array_is_right_wherever_a_buffer_ends(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bccontam.datasets.json_document._CHUNK", chunk)
    row = json.dumps(a_row())

    one_line = refusal(f"[{row}, {row}, {{oops}}]", tmp_path)
    two_lines = refusal(f"[{row},\n {row}, {{oops}}]", tmp_path)

    assert f"line 1: broken JSON at column {len(row) * 2 + 7} " in one_line
    assert f"line 2: broken JSON at column {len(row) + 5} " in two_lines


def test_a_zip_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.jsonl", LINE)

    with pytest.raises(DatasetError, match="zip"):
        load_entries(file)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "no usable name"),
        ("  ", "no usable name"),
        ("a\0b", "no usable name"),
        ("absent.jsonl", "does not exist"),
        ("absent-*.jsonl", "No file matches"),
        (".", "is a folder"),
        ("x" * 300, "cannot be read: File name too long"),
    ],
)
def test_a_path_without_a_file_is_refused(
    path: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(DatasetError, match=words):
        load_entries(path)


def test_a_pipe_is_refused_because_it_cannot_be_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(DatasetError, match="no regular file"):
        load_entries(tmp_path / "pipe")


def test_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").symlink_to(tmp_path / "gone")

    with pytest.raises(DatasetError, match="does not exist"):
        load_entries(tmp_path / "data.jsonl")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "data.jsonl", [a_row()])

    def refuse(*_: object) -> None:  # root may read everything, so the file's mode would not do
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(DatasetError, match="cannot be read: Permission denied"):
        load_entries(file)


def test_an_error_in_the_last_line_is_raised_before_the_first_entry_is_given(tmp_path: Path) -> None:
    content = "".join(json.dumps(a_row(number)) + "\n" for number in range(900)) + "{\n"
    file = write(tmp_path / "data.jsonl", content)

    with pytest.raises(DatasetError, match="line 901"):
        load_entries(file)


def test_a_file_that_breaks_between_the_passes_still_ends_in_one_sentence(tmp_path: Path) -> None:
    file = write(tmp_path / "data.jsonl", [a_row(1)])
    entries = load_entries(file)
    file.unlink()

    with pytest.raises(DatasetError, match=r"data\.jsonl cannot be read: No such file"):
        list(entries)


def test_no_sentence_repeats_the_data(tmp_path: Path) -> None:
    secret = "src/Secret/Gold.Codeunit.al"
    row = json.dumps(a_row(patch=PATCH.replace(GOLD, secret)))

    for content in (
        row + "\n" + row[:-1],
        f"[{row}, {row[:-1]}",
        row + "\n//" + row,
        row.replace('", "', '" "'),
    ):
        assert "Secret" not in refusal(content, tmp_path)


# --- ids ---

UNSAFE = [
    "../../../etc", "/etc/passwd", "a/b", "a\\b", "..", ".", ".hidden", "-rf", "C:evil", "a:b", "a*", "a?",
    "a|b", '"a"', "a<b", "a\0", "a\nb", "a\x1b[31m", "a\u202eb", "a\u2028b", "a\ud800", " a", "a ", "a.",
    "\u00a0", "con", "NUL.txt", "com1", "x" * 201, "ä" * 130,
]  # fmt: skip


@pytest.mark.parametrize("instance_id", UNSAFE, ids=ascii)
def test_an_id_that_is_unsafe_as_a_folder_name_is_refused(instance_id: str, tmp_path: Path) -> None:
    message = refusal([a_row(1), a_row(instance_id=instance_id)], tmp_path)

    assert "line 2:" in message
    assert "instance_id" in message
    assert message.isascii() or not str(tmp_path).isascii()
    assert message.isprintable()


@pytest.mark.parametrize(
    "instance_id",
    [..., None, "", "  ", True, 1.5, float("nan"), ["a"], {"a": 1}],
    ids=lambda value: type(value).__name__,
)
def test_a_row_without_a_usable_id_is_refused(instance_id: object, tmp_path: Path) -> None:
    assert "line 1: it" in refusal([a_row(instance_id=instance_id)], tmp_path)


@pytest.mark.parametrize(
    "instance_id", ["007", "1e5", "42", "a b", "Ünicode-1", "a.b_c-d@2", "con__fig-1", "x" * 200]
)
def test_an_id_is_kept_as_it_stands(instance_id: str) -> None:
    assert check_id(instance_id) == instance_id


def test_a_whole_number_is_written_out_as_an_id(tmp_path: Path) -> None:
    assert load_one(tmp_path, instance_id=42).instance_id == "42"


@given(st.text(max_size=60))
def test_a_shown_id_is_plain_ascii_that_no_log_can_misread(text: str) -> None:
    message = shown(text)

    assert message.isascii()
    assert message.isprintable() or message == ""
    assert not set(message) & set("#:%<>`|*[]")
