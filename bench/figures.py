"""Figures that a bench measures: printed immediately, and stored for the combined table of all benches
(``run.py``)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

KEPT = "BENCH_FIGURES"
"""Environment variable with the name of the file that figures are appended to, one line of JSON each."""


class Figure(Struct, frozen=True):
    """Measured figure. ``beside``: the value that it is compared with, in the same unit. ``most`` and ``least`` bound
    the ratio of the two, or the value if there is no ``beside``."""

    bench: str
    what: str
    value: float
    unit: str = ""
    beside: float | None = None
    most: float | None = None
    least: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.beside if self.beside else None

    @property
    def judged(self) -> float:
        """Return the number that must be within the bounds."""
        return self.value if self.ratio is None else self.ratio

    @property
    def wanted(self) -> str:
        times = "×" if self.ratio is not None else ""
        bounds = (("at most", self.most), ("at least", self.least))
        return ", ".join(f"{word} {bound:,g}{times}" for word, bound in bounds if bound is not None)

    @property
    def is_met(self) -> bool | None:
        """Return whether the bounds are met; None if there are none."""
        if not self.wanted:
            return None
        return (self.most is None or self.judged <= self.most) and (
            self.least is None or self.judged >= self.least
        )


def shown(value: float) -> str:
    """Return a number with three significant digits, and all digits before the point.

    >>> shown(1234.5), shown(12.345), shown(0.01234), shown(2.0)
    ('1,234', '12.3', '0.0123', '2')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def figure(
    what: str,
    value: float,
    unit: str = "",
    *,
    beside: float | None = None,
    most: float | None = None,
    least: float | None = None,
) -> None:
    """Print one figure of the current bench, and store it."""
    found = Figure(Path(sys.argv[0]).stem.removeprefix("bench_"), what, value, unit, beside, most, least)
    line = f"{what}: {shown(value)} {unit}".rstrip()
    if found.ratio is not None and beside is not None:
        line += f", {shown(found.ratio)} times {shown(beside)}"
    if found.wanted:
        line += f" ({found.wanted} expected{'' if found.is_met else ': missed'})"
    print(line, flush=True)
    if KEPT in os.environ:
        with open(os.environ[KEPT], "ab") as kept:
            kept.write(msgspec.json.encode(found) + b"\n")
