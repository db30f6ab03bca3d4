"""Whether senders of datagrams, and servers, kept up with the rate that was asked of them."""

from dataclasses import dataclass

import polars as pl

from tailback.analysis.axes import in_words
from tailback.analysis.view import View

ASKED, SENT = RATES = ("asked_mbps", "sent_mbps")
"""Metrics of `summary`: payload that was to be sent, and that was."""
_NEARLY = 0.99
"""Who does this share of what is asked keeps up: the last datagram or answer may be cut off."""
_DUE, _ANSWERED = "requests_due", "requests"


@dataclass(frozen=True)
class Short:
    """The point of a sweep at which the smallest share of what was asked was done.

    Attributes:
        done: how much of it: payload sent, Mb/s of all senders, or requests answered.
        asked: payload asked, Mb/s, or requests that were due.
        place: the point in words; empty where nothing varies.
        late: points at which they did not keep up.
        points: points there are.
    """

    done: float
    asked: float
    place: str
    late: int
    points: int


def short_of_rate(view: View) -> Short | None:
    """Return where senders fell shortest of their rate; `None` where all kept up."""
    return _short(view, SENT, ASKED)


def short_of_requests(view: View) -> Short | None:
    """Return where the smallest share of the requests due was answered; `None` where all were.

    Only where requests do not wait for answers.
    """
    return _short(view, _ANSWERED, _DUE)


def _short(view: View, done: str, asked: str) -> Short | None:
    if not {done, asked} <= set(view.points.columns):
        return None
    share = pl.col(done) / pl.col(asked)
    late = view.points.filter(share < _NEARLY).sort(share, maintain_order=True)
    if late.is_empty():
        return None
    row = late.row(0, named=True)
    place = ", ".join(in_words(axis, row[axis.name]) for axis in view.axes.varying)
    return Short(row[done], row[asked], place, late.height, view.points.height)
