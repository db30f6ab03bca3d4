"""The packet-level simulator (Rust, crates/sim)."""

import io
import time
from collections.abc import Mapping

import polars as pl

from tailback._native import Control, Plan
from tailback.records import CAPTURE


class Simulator:
    """Deterministic: the same scenario and seed give the same tables on every machine."""

    name = "sim"

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Simulates one run; the GIL is released meanwhile. Hosts that the scenario makes real
        kernels are real kernels.

        The table `performance` says what it cost; it alone depends on the machine.
        """
        if plan.kernel_hosts(index, all_hosts=False):
            from tailback.backends.kernel import run_with_kernels

            return run_with_kernels(plan, index, control, all_hosts=False)
        wall_s, cpu_s = time.perf_counter(), time.thread_time()
        result = plan.run(index, control)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.thread_time() - cpu_s
        tables = {
            name: pl.read_ipc_stream(io.BytesIO(data)) for name, data in result.tables().items()
        }
        tables["performance"] = pl.DataFrame(
            {
                "hops": [result.hops],
                "events": [result.events],
                "wall_s": [wall_s],
                "cpu_s": [cpu_s],
                "hops_per_cpu_s": [result.hops / cpu_s if cpu_s else 0.0],
            }
        )
        if (capture := result.capture()) is not None:
            tables[CAPTURE] = pl.DataFrame({"pcapng": [capture]})
        return tables
