"""Numbers in words, the same in findings, tables and terminal."""


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, thousands separated."""
    if value != 0 and abs(value) < 10 ** (digits - 1):
        return f"{value:.{digits}g}"
    return f"{value:,.0f}"


def written(value: object) -> str:
    """Return a value of a sweep as a scenario file has it, with `true` and `false` in small."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def percent(value: float | None, *, signed: bool = False, decimals: int = 1) -> str:
    """Return a share in percent, or n/a where there is none."""
    if value is None:
        return "n/a"
    sign = "+" if signed else ""
    return f"{value * 100:{sign}.{decimals}f} %"
