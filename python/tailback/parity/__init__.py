"""Modelled TCP held against real kernels, segment by segment."""

from tailback.parity.cases import CASES, Case
from tailback.parity.drawn import drawn
from tailback.parity.study import CaseResult, Parity, parity
from tailback.parity.trace import Difference, Trace, first_difference

__all__ = [
    "CASES",
    "Case",
    "CaseResult",
    "Difference",
    "Parity",
    "Trace",
    "drawn",
    "first_difference",
    "parity",
]
