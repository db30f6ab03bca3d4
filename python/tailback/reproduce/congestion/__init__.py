"""Modelled congestion controls against real kernels: `tailback reproduce congestion-parity`."""

from tailback.reproduce.congestion.cells import CONTROLS, GROUPS, Cell, cells, named
from tailback.reproduce.congestion.study import CellResult, CongestionParity, congestion_parity

__all__ = [
    "CONTROLS",
    "GROUPS",
    "Cell",
    "CellResult",
    "CongestionParity",
    "cells",
    "congestion_parity",
    "named",
]
