"""How a run closes: total data, total duration, goodput."""

from dataclasses import dataclass
from typing import Self

import polars as pl


@dataclass(frozen=True)
class Totals:
    """Sums over all runs and iterations."""

    data_bytes: int
    """Application data received."""
    duration_s: float
    """Simulated (or real) seconds that the transactions took."""

    @classmethod
    def of(cls, summary: pl.DataFrame) -> Self:
        """The totals of a summary table."""
        return cls(
            data_bytes=int(summary["data_bytes_total"].sum()),
            duration_s=float(summary["duration_s_total"].sum()),
        )

    @property
    def goodput_mbps(self) -> float:
        """Application data over duration, Mb/s; 0 if nothing took any time."""
        return self.data_bytes * 8e-6 / self.duration_s if self.duration_s else 0.0
