"""What somebody may have meant who wrote a name that there is not."""

import difflib
from collections.abc import Iterable


def meant(wrong: str, known: Iterable[str], otherwise: str) -> str:
    """A question about the known name nearest to `wrong`; `otherwise` if none is near."""
    near = difflib.get_close_matches(wrong, list(known), n=1)
    return f"did you mean '{near[0]}'?" if near else otherwise


def among(wrong: str, known: Iterable[str]) -> str:
    """The same, and all there are."""
    known = list(known)
    near = meant(wrong, known, "")
    return f"{near} There are {', '.join(known)}" if near else f"there are {', '.join(known)}"
