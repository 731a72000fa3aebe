"""One benchmark instance, and the UTC calendar day it became public.

Pure: readers in `bccontam.datasets` make entries; what can be derived from an entry is derived here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

from bccontam.errors import PatchError
from bccontam.gold import GoldFile, extract_gold_files

_MOMENT = re.compile(
    r"""
    (?P<year>[0-9]{4})
    (?: (?P<sign>[-/]) (?P<month>[0-9]{1,2}) (?P=sign) (?P<day>[0-9]{1,2})
      | (?P<basic_month>[0-9]{2}) (?P<basic_day>[0-9]{2})
      | -?W(?P<week>[0-9]{2})-?(?P<weekday>[1-7])
    )
    (?: Z
      | (?: T | [ ]+ )
        (?P<hour>[0-9]{1,2}) (?: :?(?P<minute>[0-9]{2}) (?: :?(?P<second>[0-9]{2}) (?: [.,][0-9]+ )? )? )?
        [ ]* (?: Z | (?:UTC|GMT)? (?: (?P<offset_sign>[+\-\u2212])
                                      (?P<offset_hours>[0-9]{2}) (?: :?(?P<offset_minutes>[0-9]{2}) )?
                                      (?: [ ]UTC )? )? )
    )?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_NUMBER = re.compile(r"([0-9]{1,20})(?:\.[0-9]*)?(e\+?[0-9]{1,2})?", re.IGNORECASE | re.ASCII)
_LONGEST_DATE = 64
_NO_DATE = frozenset({"", "-", "n/a", "na", "nan", "nat", "nil", "none", "null", "tbd", "unknown"})

_EPOCH = date(1970, 1, 1)
_EPOCH_UNITS = (1, 10**3, 10**6, 10**9)
_FIRST_SECOND = (date(1990, 1, 1) - _EPOCH).days * 86_400
_LAST_SECOND = (date(2100, 1, 1) - _EPOCH).days * 86_400

_IMAGE = re.compile(r"!\[[^\[\]]*\][(\[]|<img\b", re.IGNORECASE)
_NOT_TEXT = re.compile(
    r"""
      !\[[^\[\]]*\] (?: \( (?: [^()] | \([^()]*\) )* \) | \[[^\[\]]*\] )   # Markdown images
    | \]\( [^()]* \)                                                       # targets of links around them
    | ^[ ]{0,3} \[ [^\[\]\n]+ \]: [^\n]*$                                  # targets of reference images
    | <[^<>]*>                                                             # HTML
    """,
    re.VERBOSE | re.MULTILINE,
)


def parse_created_at(value: object) -> date | None:
    """The UTC calendar day of a `created_at` in any form that occurs, or None when undated. Never raises.

    - Year first, `2025-03-01`, `2025/3/1`, basic `20250301` and week `2025-W09-6` (ISO 8601; a week or a
      month alone is no day), alone or with a time after `T` or a blank. A time without an offset is UTC; one
      with an offset is converted, which may move the day; `24:00` is the next day; the fraction may be of any
      length.
    - An epoch in seconds, milliseconds, microseconds or nanoseconds, as number or digits, where it falls into
      the years 1990 to 2099. In that range no epoch has 8, 12 or 14 digits, so those are basic dates
      (`20250301`, with `hhmm` or `hhmmss` behind), as number or digits.
    - `datetime` and `date` objects, as Parquet gives them.

    Everything else is None: null, `NaT`, `TBD`, `0000-00-00`, a day that does not exist, a year of five
    digits, and `8/4/2026`, which is April in one country and August in another. Digits are ASCII digits.
    """
    try:
        return _day_of(value)
    except (ValueError, OverflowError):
        return None


def is_missing_date(value: object) -> bool:
    """Whether a `created_at` only says that there is no date, as opposed to one that cannot be read."""
    if isinstance(value, str):
        text = value.strip().casefold()
        return text in _NO_DATE or text.startswith("0000-00-00")
    return value is None or (isinstance(value, float | datetime) and value != value)


def _day_of(value: object) -> date | None:
    if isinstance(value, datetime):
        return (value if value.utcoffset() is None else value.astimezone(UTC)).date()
    if isinstance(value, date):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return _day_of_number(value)
    if isinstance(value, float):
        return _day_of_number(int(value)) if math.isfinite(value) else None
    if isinstance(value, str):
        return _day_of_text(value.strip())
    return None


def _day_of_text(text: str) -> date | None:
    if len(text) > _LONGEST_DATE:
        return None
    if number := _NUMBER.fullmatch(text):
        return _day_of_number(int(float(text)) if number[2] else int(number[1]))
    match = _MOMENT.fullmatch(text)
    return _day_of_match(match) if match else None


def _day_of_number(number: int) -> date | None:
    """The day of an epoch in the unit that makes it plausible, or of a basic date written as a number."""
    for unit in _EPOCH_UNITS:
        if _FIRST_SECOND <= number // unit < _LAST_SECOND:
            return _EPOCH + timedelta(days=number // unit // 86_400)
    if not 10**7 <= number < 10**14:
        return None
    digits = str(number)
    match = _MOMENT.fullmatch(f"{digits[:8]}T{digits[8:]}" if len(digits) in (12, 14) else digits)
    return _day_of_match(match) if match else None


def _day_of_match(match: re.Match[str]) -> date | None:
    year = int(match["year"])
    if match["week"]:
        day = date.fromisocalendar(year, int(match["week"]), int(match["weekday"]))
    else:
        day = date(year, int(match["month"] or match["basic_month"]), int(match["day"] or match["basic_day"]))
    if not match["hour"]:
        return day
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if not (hour < 24 and minute < 60 and second <= 60) and (hour, minute, second) != (24, 0, 0):
        return None
    offset_hours, offset_minutes = int(match["offset_hours"] or 0), int(match["offset_minutes"] or 0)
    if offset_hours >= 24 or offset_minutes >= 60:
        return None
    offset = offset_hours * 60 + offset_minutes
    # Minutes decide the day; so a leap second (23:59:60) stays in its own.
    utc_minutes = hour * 60 + minute + (-offset if match["offset_sign"] == "+" else offset)
    return day + timedelta(days=utc_minutes // (24 * 60))


@dataclass(frozen=True)
class Entry:
    """One benchmark instance.

    `created_at` is a UTC day or None (undated); `patch` is the gold patch as text. `statement_problem` and
    `patch_problem` are the reader's reasons why there is no usable problem statement or patch, empty when it
    knows of none; `statement_cut` says that the statement was cut at the documented limit.
    """

    instance_id: str
    repo: str
    created_at: date | None
    problem_statement: str
    patch: str
    area: str | None = None
    statement_problem: str = ""
    statement_cut: bool = False
    patch_problem: str = ""

    @cached_property
    def gold_files(self) -> tuple[GoldFile, ...]:
        """Gold files in order of first occurrence. Raises PatchError when the patch cannot be read."""
        return tuple(extract_gold_files(self.patch))

    @property
    def images(self) -> int:
        """How many Markdown and HTML images the problem statement holds; the model sees their text only."""
        return sum(1 for _ in _IMAGE.finditer(self.problem_statement))

    @cached_property
    def unscorable(self) -> str:
        """Why this entry is not asked and stands in no rate; empty when it can be scored."""
        return self._why_no_gold() or self.statement_problem or self._why_no_statement()

    def _why_no_gold(self) -> str:
        if self.patch_problem:
            return self.patch_problem
        if not self.patch.strip():
            return "no gold: its patch is missing or empty"
        if "\0" in self.patch:
            return "invalid patch: it holds a NUL character"
        try:
            return "" if self.gold_files else "no gold: its patch names no file"
        except PatchError as error:
            return f"invalid patch: {error}"

    def _why_no_statement(self) -> str:
        if "\0" in self.problem_statement:
            return "invalid problem statement: it holds a NUL character"
        if _has_words(self.problem_statement):
            has_text = not self.images or _has_words(_NOT_TEXT.sub("", self.problem_statement))
            return "" if has_text else "image only: its problem statement holds no text"
        return "no problem statement: it is missing or empty"


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)
