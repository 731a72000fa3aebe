"""Parquet, with the optional extra `parquet` (pyarrow): rows in batches, of each the fields that are read.

Nothing passes through pandas or NumPy, whose missing values and times are not Python's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from bccontam.datasets.text import bad, shown_path
from bccontam.errors import DatasetError

_ROWS_AT_ONCE = 64

_BUFFER = 1 << 16
"""Bytes of a column read at a time; else pyarrow holds a whole row group, which may be the whole file."""

_EPOCH = date(1970, 1, 1)
_TICKS_A_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def read(file: Path, names: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """`("row 3", {name: value})` for every row and those `names` that the file has. Raises DatasetError."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DatasetError(
            f"{shown_path(file)} is a Parquet file, which needs pyarrow: in the checkout of bccontam run "
            "pip install '.[parquet]'."
        ) from None
    number = 0
    try:
        with pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False) as parquet:
            columns = [name for name in parquet.schema_arrow.names if name in names]
            for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=columns):
                values = {name: _values(batch.column(name), pa) for name in batch.schema.names}
                for index in range(batch.num_rows):
                    number += 1
                    yield f"row {number}", {name: column[index] for name, column in values.items()}
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        place = f"behind row {number}" if number else ""
        raise bad(file, place, f"damaged Parquet ({type(error).__name__}); fetch the file again") from None


def _values(column: Any, pa: Any) -> list[Any]:
    """A column's values as Python's own; times as UTC days, bytes as text."""
    if pa.types.is_timestamp(column.type):
        ticks = _TICKS_A_DAY[column.type.unit]
        return [_day(tick, ticks) for tick in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return [None if value is None else value.decode("utf-8") for value in column.to_pylist()]
    return list(column.to_pylist())


def _day(tick: int | None, ticks_a_day: int) -> date | None:
    """The UTC day of a timestamp, which Parquet counts from 1970; None outside of the calendar."""
    try:
        return None if tick is None else _EPOCH + timedelta(days=tick // ticks_a_day)
    except OverflowError:
        return None
