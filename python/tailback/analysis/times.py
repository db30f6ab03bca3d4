"""Times as scenarios write them."""

import re

_UNITS_S = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
_TIME = re.compile(r"([\d.]+)\s*(h|min|s|ms|us|ns|ps)")


def seconds(text: str) -> float:
    """Return a resolved scenario's time, such as `200ms`, in seconds.

    Raises:
        ValueError: it is none.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no time")
    return float(found[1]) * _UNITS_S[found[2]]
