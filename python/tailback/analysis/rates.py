"""Whether senders of datagrams kept up with the rate that was asked of them."""

from dataclasses import dataclass

import polars as pl

from tailback.analysis.axes import in_words
from tailback.analysis.view import View

ASKED, SENT = RATES = ("asked_mbps", "sent_mbps")
"""Metrics of `summary`: payload that was to be sent, and that was."""
_NEARLY = 0.99
"""A sender that sends this share of what is asked keeps up: the last datagram may be cut off."""


@dataclass(frozen=True)
class Short:
    """The point of a sweep at which the smallest share of what was asked was sent.

    Attributes:
        sent_mbps: payload sent there, of all senders.
        asked_mbps: payload asked there.
        place: the point in words; empty where nothing varies.
        late: points at which senders did not keep up.
        points: points there are.
    """

    sent_mbps: float
    asked_mbps: float
    place: str
    late: int
    points: int


def short_of_rate(view: View) -> Short | None:
    """Return where senders fell shortest of their rate; `None` where all kept up."""
    if not set(RATES) <= set(view.points.columns):
        return None
    share = pl.col(SENT) / pl.col(ASKED)
    late = view.points.filter(share < _NEARLY).sort(share, maintain_order=True)
    if late.is_empty():
        return None
    row = late.row(0, named=True)
    place = ", ".join(in_words(axis, row[axis.name]) for axis in view.axes.varying)
    return Short(row[SENT], row[ASKED], place, late.height, view.points.height)
