"""Numbers in words, the same in findings, tables and terminal."""

from collections.abc import Sequence

ALIKE = 0.01
"""Values that differ by less are said to be alike: which is ahead may be chance."""
_DECIMALS_MAX = 6


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, thousands separated."""
    if value != 0 and abs(value) < 10 ** (digits - 1):
        return f"{value:.{digits}g}"
    return f"{value:,.0f}"


def written(value: object) -> str:
    """Return a value of a sweep as a scenario file has it, with `true` and `false` in small."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def few(names: Sequence[str], most: int = 3) -> str:
    """Return names in a sentence, at most so many and how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


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
    sign = "+" if signed else ""
    return f"{value * 100:{sign}.{decimals}f} %"
