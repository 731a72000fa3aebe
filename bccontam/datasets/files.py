"""Which files a dataset path names. Opens none of them."""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path

from bccontam.datasets.text import shown_path
from bccontam.errors import DatasetError


def find_files(path: str | os.PathLike[str]) -> list[Path]:
    """The file, or the files of a glob in sorted order; a name that exists is not taken for a pattern.

    Raises DatasetError where there is none, or where it is no file that can be read twice.
    """
    text = os.fspath(path)
    name = shown_path(Path(text)) if text.strip() else ""
    if not name or "\0" in text:
        raise DatasetError("The dataset has no usable name: give a file or a pattern like data/*.jsonl.")
    if os.path.lexists(text) or not glob.has_magic(text):
        return [_regular(Path(text), name)]
    files = [Path(match) for match in sorted(_matches(text)) if not is_folder(Path(match))]
    if not files:
        raise DatasetError(f"No file matches the dataset pattern {name}; give a file or another pattern.")
    return [_regular(file, shown_path(file)) for file in files]


def _matches(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True)  # noqa: PTH207


def is_folder(path: Path) -> bool:
    """Whether there is a folder; False as well for a name that no folder can have."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _regular(file: Path, name: str) -> Path:
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        raise DatasetError(
            f"The dataset {name} does not exist: give a file or a pattern like data/*.jsonl."
        ) from None
    except OSError as error:
        raise DatasetError(f"The dataset {name} cannot be read: {error.strerror}.") from None
    if stat.S_ISDIR(mode):
        raise DatasetError(
            f"The dataset {name} is a folder: name a file in it, or a pattern like {name}/*.jsonl."
        )
    if not stat.S_ISREG(mode):
        raise DatasetError(
            f"The dataset {name} is no regular file, and it is read twice: save it as a file first."
        )
    return file
