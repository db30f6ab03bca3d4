"""Numbers in words, the same in findings, tables and terminal."""

import re
from collections.abc import Sequence
from math import floor, inf, log10

ALIKE = 0.01
"""Values that differ by less are said to be alike: which is ahead may be chance."""
_DECIMALS_MAX = 6
_DIGITS = 3
"""Of the greatest figure of a column, significant ones."""
_DATA = (("GB", 9), ("MB", 6), ("kB", 3))


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, thousands separated."""
    if value != 0 and abs(value) < 10 ** (digits - 1):
        return f"{value:.{digits}g}"
    return f"{value:,.0f}"


def decimals(greatest: float, least: int) -> int:
    """Return how many decimals figures up to `greatest` have, `least` at least."""
    if not 0 < greatest < inf:
        return least
    return min(max(least, _DIGITS - 1 - floor(log10(greatest))), _DECIMALS_MAX)


def data_unit(least_bytes: int) -> tuple[str, int]:
    """Return a unit in which so many bytes are not 0.000, and its bytes' power of ten."""
    return next((unit for unit in _DATA if least_bytes * 10 >= 10 ** unit[1]), _DATA[-1])


def counted(count: int, of: str) -> str:
    """Return `1 run` or `2 runs`."""
    return f"{count:,} {of}" if count == 1 else f"{count:,} {of}s"


def written(value: object) -> str:
    """Return a value of a sweep as a scenario file has it, with `true` and `false` in small."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def few(names: Sequence[str], most: int = 3) -> str:
    """Return names in a sentence, at most so many and how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def natural(name: str) -> list[str | int]:
    """Return what sorts names with numbers as people do: host9 before host10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def are_alike(a: float, b: float) -> bool:
    """Return whether two values, neither below zero, are so near that none is ahead."""
    return max(a, b) < (1 + ALIKE) * min(a, b) or a == b


def beside(value: float, limit: float, decimals: int) -> int:
    """Return how many decimals show on which side of a limit a value is, `decimals` at least."""
    while decimals < _DECIMALS_MAX and value != limit and round(value - limit, decimals) == 0:
        decimals += 1
    return decimals


def percent(value: float | None, *, signed: bool = False, decimals: int = 1) -> str:
    """Return a share in percent, or n/a where there is none."""
    if value is None:
        return "n/a"
    sign = "+" if signed and round(value * 100, decimals) else ""
    return f"{value * 100:{sign}z.{decimals}f} %"
