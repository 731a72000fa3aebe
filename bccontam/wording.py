"""How numbers are said: one rule for each kind, the same in verdicts, tables, charts, pages and the terminal.

Pure text from numbers; an undefined number is a dash.
"""

from __future__ import annotations

DASH = "–"


def rate(value: float | None) -> str:
    """A rate in [0, 1] as `23.5 %`."""
    return DASH if value is None else f"{_decimal(100 * value)} %"


def points(value: float | None) -> str:
    """A difference of rates as signed percentage points, `+17.3 pts`."""
    if value is None:
        return DASH
    text = _decimal(100 * value)
    sign = "" if text.startswith("−") or text == "0.0" else "+"
    return f"{sign}{text} pts"


def interval(low: float | None, high: float | None) -> str:
    """An interval of rates or differences in percent, `[3.1, 29.2]`."""
    if low is None or high is None:
        return DASH
    return f"[{_decimal(100 * low)}, {_decimal(100 * high)}]"


def p_value(value: float | None) -> str:
    """A p-value as `p = .049`, `p < .001`; a fourth digit where three would say the usual level, .050."""
    if value is None:
        return DASH
    if value < 0.001:
        return "p < .001"
    if value >= 0.9995:
        return "p = 1" if value >= 1 else "p > .999"
    text = f"{value:.3f}"
    if text == "0.050":
        text = f"{value:.4f}"
    return f"p = {text.removeprefix('0')}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 entry`, `1,234 entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listing(names: list[str], most: int = 5) -> str:
    """`a, b and c`, or the first `most` of them and the number of the others."""
    if len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _decimal(value: float) -> str:
    """One decimal with a real minus sign; never `-0.0`."""
    text = f"{value:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")
