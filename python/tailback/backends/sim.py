"""The packet-level simulator (Rust, crates/sim)."""

import io
from collections.abc import Mapping

import polars as pl

from tailback._native import Control, Plan


class Simulator:
    """Deterministic: the same scenario and seed give the same tables on every machine."""

    name = "sim"

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Simulates one run; the GIL is released meanwhile."""
        tables = plan.run(index, control).tables()
        return {name: pl.read_ipc_stream(io.BytesIO(data)) for name, data in tables.items()}
