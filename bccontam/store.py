"""Results on disk: JSON lines in files named `*.file-path-identification.jsonl`.

A result is on disk before the next question is asked, a half-written last line is dropped, and a question
that was answered is not asked again. BC-Bench's own result files load too. Nothing here scores or judges.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bccontam.answer import Status, parse_prediction
from bccontam.errors import StoreError
from bccontam.result import Result, RunRecord
from bccontam.score import score_prediction

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SUFFIX = ".file-path-identification.jsonl"

Warn = Callable[[str], None]


def load_results(path: str | Path, *, warn: Warn | None = None) -> Iterator[Result]:
    """Stored results of a file, or of every result file below a folder, ours or BC-Bench's.

    A question answered twice (an error that was asked again) is given once: the last good answer, else the
    last error. Raises StoreError when there is nothing at `path` or a line other than a half-written last
    one cannot be read.
    """
    path = Path(path)
    warn = warn or logging.getLogger("bccontam").warning
    if path.is_file():
        files = [path]
    elif path.is_dir():
        files = sorted(path.rglob(f"*{SUFFIX}"))
    else:
        raise StoreError(f"No stored results at {path}: give a results file or a folder of *{SUFFIX} files.")
    latest: dict[object, Result] = {}
    for file in files:
        for number, result in enumerate(_read(file, warn)):
            identity = result.fingerprint or (file, number)
            known = latest.get(identity)
            if known is None or known.error is not None or result.error is None:
                latest[identity] = result
    yield from latest.values()


def _read(file: Path, warn: Warn) -> Iterator[Result]:
    adapter = _adapter()
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        try:
            result = adapter.validate_json(line)
        except ValueError as error:
            if not line.endswith(b"\n"):
                warn(
                    f"{file.name}: the half-written last line was dropped; its question will be asked again."
                )
                return
            raise StoreError(
                f"{file}, line {number}: not a stored result ({_first_problem(error)}); "
                "restore the file or delete that line."
            ) from error
        yield result if result.fingerprint else _complete(result)


def _lines(file: Path) -> Iterator[bytes]:
    """The lines with their line feeds, one at a time: a whole file of results may be large."""
    try:
        with file.open("rb") as lines:
            yield from lines
    except OSError as error:
        raise StoreError(f"Cannot read the stored results in {file}: {error.strerror}.") from error


def _complete(result: Result) -> Result:
    """A result written by BC-Bench, with what it does not hold derived from what it does."""
    status: Status = "ok"
    if result.error is not None:
        status = "error"
    elif not result.predicted_files:
        status = parse_prediction(result.raw_output, result.top_k).status
        status = "unparsed" if status in ("ok", "truncated") else status
    score = score_prediction(result.predicted_files[: result.top_k], result.gold_files)
    return replace(result, status=status, score=score)


def _first_problem(error: ValueError) -> str:
    """What pydantic found wrong, without the offending text: it may be hostile or secret."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return type(error).__name__
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])


@cache
def _adapter() -> TypeAdapter[Result]:
    from pydantic import TypeAdapter

    return TypeAdapter(Result)


class ResultStore:
    """One results file that a run appends to, in a folder that may hold others of the same run.

    Use as a context manager. Appending is thread-safe and durable: the line is synced to disk before the
    call returns. A second writer of the same file is refused (StoreError), as is a folder that cannot be
    written.
    """

    def __init__(self, folder: Path, name: str, *, warn: Warn | None = None) -> None:
        self.folder = folder
        self.path = folder / f"{name}{SUFFIX}"
        self._warn = warn
        self._lock = threading.Lock()
        self._file: int | None = None
        self.completed: set[str] = set()

    def __enter__(self) -> ResultStore:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise StoreError(
                f"Another run is writing {self.path}; wait for it or choose another results-dir."
            ) from error
        except OSError as error:
            self.close()
            raise StoreError(
                f"Cannot write results to {self.path}: {error.strerror}; choose another results-dir."
            ) from error
        self._end_last_line()
        self.completed = {
            result.fingerprint
            for result in load_results(self.folder, warn=self._warn)
            if result.fingerprint and result.error is None
        }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file; safe to call twice."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def append(self, result: Result) -> None:
        """Write one result as one line and sync it to disk. Raises StoreError when that fails."""
        line = to_json_line(result)
        with self._lock:
            if self._file is None:
                raise StoreError(f"{self.path} is closed: open the store before appending to it.")
            try:
                written = 0
                while written < len(line):
                    written += os.write(self._file, line[written:])
                os.fsync(self._file)
            except OSError as error:
                raise StoreError(
                    f"Cannot write results to {self.path}: {error.strerror}; what was stored before is kept."
                ) from error

    def _end_last_line(self) -> None:
        """Cut a half-written last line, so that the next result starts on a line of its own."""
        data = self.path.read_bytes()
        if not data or data.endswith(b"\n"):
            return
        assert self._file is not None
        start = data.rfind(b"\n") + 1
        try:
            _adapter().validate_json(data[start:])
        except ValueError:
            os.ftruncate(self._file, start)
        else:
            os.write(self._file, b"\n")


def to_json_line(result: Result) -> bytes:
    """One result as UTF-8 JSON with its line feed; lone surrogates become U+FFFD."""
    adapter = _adapter()
    try:
        return adapter.dump_json(result) + b"\n"
    except ValueError:
        return adapter.dump_json(_encodable(result)) + b"\n"


def _encodable(result: Result) -> Result:
    def clean(value: object) -> object:
        if isinstance(value, str):
            return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        if isinstance(value, tuple):
            return tuple(clean(item) for item in value)
        return value

    names = (
        "raw_output",
        "predicted_files",
        "gold_files",
        "naming_files",
        "listed_files",
        "error",
        "model",
        "area",
    )
    return replace(result, **{name: clean(getattr(result, name)) for name in names})  # type: ignore[arg-type]


RECORD_SUFFIX = ".run.json"


def write_record(folder: Path, name: str, record: RunRecord) -> None:
    """Leave what a run did not ask beside its results, whole or not at all."""
    from pydantic import TypeAdapter

    path = folder / f"{name}{RECORD_SUFFIX}"
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(TypeAdapter(RunRecord).dump_json(record) + b"\n")
        part.replace(path)
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error.strerror}.") from error


def load_records(folder: Path) -> list[RunRecord]:
    """The records of every run in a folder of results; none for a single file or BC-Bench's results."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(RunRecord)
    records = []
    for path in sorted(folder.rglob(f"*{RECORD_SUFFIX}")) if folder.is_dir() else ():
        try:
            records.append(adapter.validate_json(path.read_bytes()))
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} is no record of a run: delete it and run that shard again.") from error
    return records
