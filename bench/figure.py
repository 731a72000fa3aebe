"""One measured figure with its target, and the fit of a cost over sizes. It measures nothing itself.

A figure without a value says why it has none; a target is always "at most".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of some runs with the lowest and the highest of them, in `unit`.

    `value`, `low` and `high` are None when it could not be measured; `note` then says why. `target` is the
    highest value that is good enough (None: there is none).
    """

    name: str
    unit: str
    target: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a value or without a target."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target


def figure(name: str, unit: str, values: Sequence[float], note: str = "") -> Figure:
    """The figure of these runs, of which there is at least one; its target is set by the suite."""
    return Figure(name, unit, None, median(values), min(values), max(values), len(values), note)


def missing(planned: Figure, reason: str) -> Figure:
    """The figure that could not be measured here."""
    return Figure(planned.name, planned.unit, planned.target, note=reason)


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of the straight line through the logarithms, by least squares: 1 is linear.

    All values are above zero, and there are two sizes at least that differ.
    """
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    middle_x, middle_y = fmean(x), fmean(y)
    covariance = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - middle_x) ** 2 for a in x)


@dataclass(frozen=True, slots=True)
class Growth:
    """What a command costs at growing sizes: seconds of wall and processor time, MB at the peak."""

    what: str
    sizes: tuple[int, ...]
    wall: tuple[float, ...]
    cpu: tuple[float, ...]
    megabytes: tuple[float, ...]

    @property
    def exponents(self) -> tuple[float, float, float]:
        """The exponents of wall time, processor time and memory."""
        wall, cpu, memory = (
            growth_exponent(self.sizes, costs) for costs in (self.wall, self.cpu, self.megabytes)
        )
        return wall, cpu, memory
