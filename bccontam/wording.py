"""How numbers are said: one rule for each kind, the same in verdicts, tables, charts and the terminal.

Pure text from numbers; an undefined number is a dash.
"""

from __future__ import annotations

DASH = "–"


def rate(value: float | None) -> str:
    """A rate in [0, 1] as `23.5 %`."""
    return DASH if value is None else f"{100 * value:.1f} %"


def points(value: float | None) -> str:
    """A difference of rates as signed percentage points, `+17.3 pts`."""
    if value is None:
        return DASH
    return f"{_signed(100 * value)} pts"


def interval(low: float | None, high: float | None) -> str:
    """An interval of rates or differences in percent, `[3.1, 29.2]`."""
    if low is None or high is None:
        return DASH
    return f"[{_number(100 * low)}, {_number(100 * high)}]"


def p_value(value: float | None) -> str:
    """A p-value as `p = .049`, `p < .001`."""
    if value is None:
        return DASH
    if value < 0.001:
        return "p < .001"
    if value > 0.999:
        return "p = 1"
    return f"p = {value:.3f}".replace("0.", ".", 1)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 entry`, `1,234 entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _number(value: float) -> str:
    text = f"{value:.1f}"
    text = "0.0" if text == "-0.0" else text
    return text.replace("-", "−")


def _signed(value: float) -> str:
    text = _number(value)
    return text if text.startswith("−") or text == "0.0" else f"+{text}"
