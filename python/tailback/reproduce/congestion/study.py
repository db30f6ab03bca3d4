"""Every cell with kernels and with modelled hosts, and what differs."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from tailback import api
from tailback.backends import Backend, backend_named
from tailback.errors import InputError
from tailback.reproduce.congestion.cells import CONTROLS, GROUPS, Cell, cells
from tailback.reproduce.congestion.observe import Comparison, compare, cwnd_trace, spread
from tailback.results import Results
from tailback.results.machine import cores
from tailback.scenario import Scenario, load

if TYPE_CHECKING:
    from rich.table import Table

BASE = "congestion-parity"
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class CellResult:
    """One cell.

    Attributes:
        cell: which.
        comparisons: what was compared.
        kernel: the run folder with kernels.
        model: the run folder with modelled hosts.
    """

    cell: Cell
    comparisons: list[Comparison]
    kernel: Results
    model: Results

    @property
    def holds(self) -> bool:
        """Whether everything is as near as it should be."""
        return all(comparison.within for comparison in self.comparisons)

    @property
    def near(self) -> bool:
        """Whether everything is within its limits, with nothing allowed for chance."""
        return all(comparison.near for comparison in self.comparisons)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {
            "cell": self.cell.name,
            "group": self.cell.group,
            "congestion": self.cell.congestion,
            "holds": self.holds,
            "quantities": {
                one.quantity.name: {
                    "kernel": one.kernel,
                    "model": one.model,
                    "apart": one.apart,
                    "near": one.near,
                    "within": one.within,
                }
                for one in self.comparisons
            },
        }


@dataclass(frozen=True)
class CongestionParity:
    """All cells that were run."""

    results: list[CellResult]

    @property
    def holds(self) -> bool:
        """Whether every cell holds."""
        return all(result.holds for result in self.results)

    @property
    def verdict(self) -> str:
        """How many cells hold, and how many of them only since chance is allowed for."""
        held = sum(result.holds for result in self.results)
        near = sum(result.near for result in self.results)
        return (
            f"{held} of {len(self.results)} cells hold: {near} within every limit, "
            f"{held - near} apart by no more than chance gives."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {"holds": self.holds, "cells": [result.to_dict() for result in self.results]}

    def tables(self) -> list["Table"]:
        """Return how many cells hold by congestion control, and each quantity that does not."""
        from rich.table import Table

        groups = [g for g in GROUPS if any(r.cell.group == g for r in self.results)]
        counts = Table(title="Cells that hold, of those run")
        counts.add_column("Congestion control")
        for group in groups:
            counts.add_column(group, justify="right")
        for name in CONTROLS:
            mine = [r for r in self.results if r.cell.congestion == name]
            if mine:
                of = [[r for r in mine if r.cell.group == group] for group in groups]
                counts.add_row(
                    name, *(f"{sum(r.holds for r in rs)} of {len(rs)}" if rs else "" for rs in of)
                )
        differing = Table(title="What differs")
        for head in ("Cell", "Quantity", "Kernels", "Models"):
            differing.add_column(head)
        differing.add_column("Apart", justify="right")
        for result in self.results:
            for one in result.comparisons:
                if not one.within:
                    differing.add_row(
                        result.cell.name,
                        one.quantity.name,
                        spread(one.kernel),
                        spread(one.model),
                        f"{one.apart:+.0%}",
                    )
        return [counts, differing] if differing.row_count else [counts]


def congestion_parity(
    chosen: Sequence[Cell] | None = None,
    *,
    folder: str | Path = "results/congestion-parity",
    jobs: int | None = None,
    backend: Backend | str = "kernel",
    on_progress: OnProgress | None = None,
) -> CongestionParity:
    """Run cells with kernels and with modelled hosts, and hold the two against each other.

    Args:
        chosen: the cells; by default all.
        folder: where the run folders go, `CELL-kernel` and `CELL-model` each; one that is there
            is used, so that what was interrupted goes on.
        jobs: runs at a time; by default one per CPU core.
        backend: what makes the runs with kernels.
        on_progress: told how many of how many runs are done.

    Raises:
        InputError: a folder holds something else.
        RunsFailed: a run failed, for want of a kernel for one.
    """
    chosen = cells() if chosen is None else chosen
    base = load(BASE)
    real = backend_named(backend) if isinstance(backend, str) else backend
    makers: dict[str, Backend] = {"kernel": real, "model": backend_named("sim")}
    lock, done = Lock(), 0

    def one(task: tuple[Cell, str]) -> Results:
        nonlocal done
        cell, maker = task
        results = _results(cell.of(base), Path(folder) / f"{cell.name}-{maker}", makers[maker])
        with lock:
            done += 1
            if on_progress:
                on_progress(done, 2 * len(chosen))
        return results

    pool = ThreadPoolExecutor(jobs or cores())
    try:
        found = list(pool.map(one, [(cell, maker) for cell in chosen for maker in makers]))
    finally:
        pool.shutdown(cancel_futures=True)
    pairs = zip(found[::2], found[1::2], strict=True)
    return CongestionParity(
        [
            CellResult(cell, compare(cell, kernel, model), kernel, model)
            for cell, (kernel, model) in zip(chosen, pairs, strict=True)
        ]
    )


def _results(scenario: Scenario, path: Path, backend: Backend) -> Results:
    """The results of a scenario: those at `path` if this version would make the same."""
    from tailback.results.machine import versions

    if not path.exists():
        return api.run(scenario, out=path, jobs=1, backend=backend)
    results = Results(path)
    same = results.manifest["scenario_hash"] == scenario.plan.hash
    if not same or results.manifest["versions"]["tailback"] != versions()["tailback"]:
        raise InputError(f"{path}: holds other results; remove it or name another folder")
    return results


__all__ = ["CellResult", "CongestionParity", "congestion_parity", "cwnd_trace"]
