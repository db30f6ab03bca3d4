"""Modelled TCP and queue disciplines held against real kernels, segment by segment."""

from tailback.parity.cases import CASES, Case
from tailback.parity.drawn import drawn
from tailback.parity.queues import QUEUE_CASES, drawn_queue, queue_parity
from tailback.parity.study import CaseResult, Parity, parity
from tailback.parity.trace import Difference, Trace, first_difference
from tailback.parity.wide import drawn_wide

__all__ = [
    "CASES",
    "QUEUE_CASES",
    "Case",
    "CaseResult",
    "Difference",
    "Parity",
    "Trace",
    "drawn",
    "drawn_queue",
    "drawn_wide",
    "first_difference",
    "parity",
    "queue_parity",
]
