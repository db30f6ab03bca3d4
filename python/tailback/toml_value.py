"""Python values as TOML text, on one line: for overrides (`path=value`) and for dicts.

The standard library reads TOML but does not write it.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence

from tailback.errors import InputError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: object) -> str:
    """`value` (bool, int, float, str, sequence or mapping of these) as a TOML value.

    What gives such a value as a list of its own, an array or number of NumPy's or a column of
    Polars', stands for that.
    """
    try:
        return _written(value)
    except RecursionError:
        raise InputError("a value is nested too deeply, or holds itself") from None


def _written(value: object) -> str:
    for name in ("tolist", "to_list"):
        if callable(listed := getattr(value, name, None)):
            value = listed()
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case str():
            # JSON's escapes are TOML's, but for DEL, which TOML wants escaped too.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{" + ", ".join(f"{toml_key(k)} = {_written(v)}" for k, v in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(_written(item) for item in value) + "]"
    raise InputError(
        f"{value!r}: a scenario has no values of type {type(value).__name__}; "
        "use bool, int, float, str (for quantities, e.g. '10Gbit'), lists and dicts"
    )


def toml_key(key: object) -> str:
    """One key, quoted where it must be."""
    text = str(key)
    return text if _BARE_KEY.fullmatch(text) else toml_value(text)


def toml_document(mapping: Mapping[str, object]) -> str:
    """A whole document: one line per key."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in mapping.items())
