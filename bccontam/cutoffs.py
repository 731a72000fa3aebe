"""When a model's knowledge ends: the small table behind `--cutoff auto`.

Facts with their source, nothing derived. A model that is not in the table has no cutoff here: a wrong date
would be worse than none, so a sibling ("gpt-5-mini") or a fine-tune never borrows one.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The last day a model can know anything about, as its source states it.

    `model` is the model id, without a vendor's prefix or a snapshot's date. `day` belongs to what the model
    may know; where the source names a month alone (`precision`) it is that month's last day. `retrieved` is
    the day the source was read. What a vendor calls the knowledge cutoff may be earlier than the last data it
    trained on.
    """

    model: str
    day: date
    precision: Literal["day", "month"]
    source: str
    retrieved: date


_CATALOGUE: Final = "models.dev catalogue"
_CATALOGUE_READ: Final = date(2026, 7, 2)
_CARDS_READ: Final = date(2026, 12, 1)

# model id, knowledge cutoff (a day, or a month alone), source, when the source was read
_TABLE: Final = (
    ("gpt-4o", "2023-09", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-4.1", "2024-04", _CATALOGUE, _CATALOGUE_READ),
    ("o3", "2024-05", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-5", "2024-09-30", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-5.1", "2024-09-30", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-5.2", "2025-08-31", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-5.3", "2025-08-31", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-5.4", "2025-08-31", _CATALOGUE, _CATALOGUE_READ),
    ("gpt-5.5", "2025-12-01", _CATALOGUE, _CATALOGUE_READ),
    ("claude-haiku-4.5", "2025-02-28", _CATALOGUE, _CATALOGUE_READ),
    ("claude-opus-4.5", "2025-03-31", _CATALOGUE, _CATALOGUE_READ),
    ("claude-opus-4.6", "2025-05-31", _CATALOGUE, _CATALOGUE_READ),
    ("claude-opus-4.7", "2026-01-31", _CATALOGUE, _CATALOGUE_READ),
    ("claude-sonnet-4.5", "2025-07-31", _CATALOGUE, _CATALOGUE_READ),
    ("claude-sonnet-4.6", "2025-08-31", _CATALOGUE, _CATALOGUE_READ),
    ("claude-sonnet-5", "2026-01-31", _CATALOGUE, _CATALOGUE_READ),
    ("llama-3.1-8b-instruct", "2023-12", "Meta, Llama 3.1 model card", _CARDS_READ),
    ("llama-3.1-70b-instruct", "2023-12", "Meta, Llama 3.1 model card", _CARDS_READ),
    ("llama-3.1-405b-instruct", "2023-12", "Meta, Llama 3.1 model card", _CARDS_READ),
    ("llama-3.3-70b-instruct", "2023-12", "Meta, Llama 3.3 model card", _CARDS_READ),
    ("llama-4-scout-17b-16e-instruct", "2024-08", "Meta, Llama 4 model card", _CARDS_READ),
    ("llama-4-maverick-17b-128e-instruct", "2024-08", "Meta, Llama 4 model card", _CARDS_READ),
)

# Who may stand before a model's own id, as in "openai/gpt-5" or "openrouter/anthropic/claude-opus-4.5".
# Another name may be somebody's fine-tune, which knows more than the model it is named after.
_VENDORS: Final = frozenset(
    {
        "anthropic",
        "azure",
        "azure-openai",
        "azure_ai",
        "bedrock",
        "copilot",
        "github",
        "github-copilot",
        "meta",
        "meta-llama",
        "models",
        "openai",
        "openrouter",
        "vertex_ai",
    }
)

_SNAPSHOT = re.compile(r"[-@](\d{4})-?(\d{2})-?(\d{2})$")
_PREFIX_END = re.compile("[/:]")
_WORD_GAP = re.compile(r"[\s.]+")


def lookup_cutoff(model: str) -> Cutoff | None:
    """The cutoff of a model id, or None when the table does not know exactly this model.

    Case, a known vendor's prefix, a snapshot's date (`-2024-08-06`, `-20251101`, `@20251101`) and the
    spelling of version numbers (`4.5`, `4-5`) make no difference; every other word does.
    """
    *vendors, name = _PREFIX_END.split(model.strip().lower())
    if not _VENDORS.issuperset(vendors):
        return None
    return _BY_SPELLING.get(_spelling(_without_snapshot(name)))


def all_cutoffs() -> tuple[Cutoff, ...]:
    """Every model in the table, earliest cutoff first."""
    return tuple(sorted(_BY_SPELLING.values(), key=lambda cutoff: (cutoff.day, cutoff.model)))


def _without_snapshot(name: str) -> str:
    found = _SNAPSHOT.search(name)
    if found is None:
        return name
    try:
        date(*map(int, found.groups()))
    except ValueError:
        return name
    return name[: found.start()]


def _spelling(name: str) -> str:
    return _WORD_GAP.sub("-", name)


def _cutoff(model: str, when: str, source: str, retrieved: date) -> Cutoff:
    if len(when) == len("YYYY-MM-DD"):
        return Cutoff(model, date.fromisoformat(when), "day", source, retrieved)
    year, month = map(int, when.split("-"))
    return Cutoff(model, date(year, month, monthrange(year, month)[1]), "month", source, retrieved)


_BY_SPELLING: Final = {_spelling(row[0]): _cutoff(*row) for row in _TABLE}
