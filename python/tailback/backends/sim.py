"""The packet-level simulator (Rust, crates/sim)."""

import io
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from tailback._native import Control, Plan
from tailback.backends.facts import Facts
from tailback.records import CAPTURE


@dataclass(frozen=True)
class Simulator:
    """Deterministic: the same scenario and seed give the same tables on every machine."""

    name: ClassVar[str] = "sim"
    threads: int = 1
    """Threads for each run that can be cut into parts; the tables do not depend on it."""

    def check(self, plan: Plan) -> Facts:
        """Raises `InputError` with what hosts that are kernels cannot do of these runs; gives what
        they do not.
        """
        from tailback.backends.kernel import check_kernels

        return check_kernels(plan, all_hosts=False)

    def require(self, plan: Plan) -> None:
        """Raises `InputError` if what hosts that are kernels need is not there."""
        from tailback.backends.kernel import require

        require(plan, all_hosts=False)

    def run(self, plan: Plan, index: int, control: Control) -> Mapping[str, pl.DataFrame]:
        """Simulates one run; the GIL is released meanwhile. Hosts that the scenario makes real
        kernels are real kernels.

        The table `performance` says what it cost; it alone depends on the machine. The CPU time of
        a run on several threads is that of the whole process meanwhile.
        """
        if plan.kernel_hosts(index, all_hosts=False):
            from tailback.backends.kernel import run_with_kernels

            return run_with_kernels(plan, index, control, all_hosts=False)
        wall_s, thread_s, process_s = time.perf_counter(), time.thread_time(), time.process_time()
        result = plan.run(index, control, threads=self.threads)
        wall_s, thread_s = time.perf_counter() - wall_s, time.thread_time() - thread_s
        cpu_s = thread_s if result.threads == 1 else time.process_time() - process_s
        tables = {
            name: pl.read_ipc_stream(io.BytesIO(data)) for name, data in result.tables().items()
        }
        tables["performance"] = pl.DataFrame(
            {
                "hops": [result.hops],
                "events": [result.events],
                "threads": [result.threads],
                "wall_s": [wall_s],
                "cpu_s": [cpu_s],
                "hops_per_cpu_s": [result.hops / cpu_s if cpu_s else 0.0],
            }
        )
        if (capture := result.capture()) is not None:
            tables[CAPTURE] = pl.DataFrame({"pcapng": [capture]})
        return tables
