"""A complete run folder, to be read."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from tailback.errors import InputError
from tailback.given import given_path
from tailback.results import manifest as manifests
from tailback.results.manifest import Manifest
from tailback.results.totals import Totals

if TYPE_CHECKING:
    from tailback.report.plots import Plots


class Results:
    """The results of a sweep: tables, manifest, charts.

    Column names end in their unit. Every table begins with the columns `run`, one for each
    swept parameter, and `repetition`.

    Args:
        path: a folder that `tailback run` has written.

    Raises:
        InputError: it is no run folder, or an unfinished one.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = given_path(path, "results are named")
        self.manifest: Manifest = manifests.read(self.path)
        if self.manifest["status"] != "complete":
            raise InputError(
                f"{self.path}: is unfinished ({self.manifest['status']}); "
                f"give the same `tailback run {self.manifest['name']} …` again to finish it; "
                "`tailback serve` shows what there is"
            )

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.manifest["name"]

    @property
    def parameters(self) -> list[str]:
        """The swept parameters, first axis first: columns of every table."""
        return self.manifest["parameters"]

    @property
    def unfinished(self) -> str:
        """How many runs are still to come, in a sentence; nothing if none are."""
        return ""

    @cached_property
    def tables(self) -> list[str]:
        """Names of the tables there are."""
        return sorted(path.stem for path in self.path.glob("*.parquet"))

    def table(self, name: str) -> pl.DataFrame:
        """One table; raises `InputError` with the names there are if there is no such one."""
        if name not in self.tables:
            raise InputError(
                f"{self.path}: has no table '{name}'; there are {', '.join(self.tables)}"
            )
        return self._read(name)

    def _read(self, name: str) -> pl.DataFrame:
        file = self.path / f"{name}.parquet"
        try:
            return pl.read_parquet(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(
                f"{file}: cannot be read: {error}; copy the folder anew, or run the scenario again"
            ) from error

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per run: `completion_ms_mean`, `goodput_mbps_mean`, `switch_drops_mean`,
        `retransmissions_mean`, `timeouts_mean` and more, means over the iterations.
        """
        found = self.table("summary")
        wanted = ["run", *self.parameters, "repetition", "data_bytes_total", "duration_s_total"]
        if not set(wanted) <= set(found.columns):
            raise InputError(
                f"{self.path / 'summary.parquet'}: is another table; "
                "copy the folder anew, or run the scenario again"
            )
        return found

    @cached_property
    def transactions(self) -> pl.DataFrame:
        """One row per iteration: `start_s`, `completion_ms`, drops, retransmissions, timeouts."""
        return self.table("transactions")

    @property
    def totals(self) -> Totals:
        """Total data, total duration and goodput over all runs, as the study's tool closes."""
        return Totals.of(self.summary)

    @cached_property
    def notes(self) -> list[str]:
        """What to know of how the runs were made, a sentence each; most often nothing."""
        return [*self._traced(), *self._not_set()]

    def _traced(self) -> list[str]:
        if "performance" not in self.tables:
            return []
        how = self.table("performance")
        if "userspace" not in how.columns:
            return []
        traced = how.filter(userspace="ptrace").height
        if traced == 0:
            return []
        return [
            f"kernels of {traced} of {how.height} runs fell back to ptrace, as this machine does "
            "not let them install seccomp filters: the tables are the same, the runs slower; "
            "`tailback kernel check` says more"
        ]

    def _not_set(self) -> list[str]:
        if "not_set" not in self.tables:
            return []
        names = self.table("not_set")["sysctl"].unique().sort().to_list()
        return [
            f"sysctls of the stack profile that the hosts do not have: {', '.join(names)}; "
            "the table `not_set` says why"
        ]

    @cached_property
    def plot(self) -> "Plots":
        """The charts of the report, each an Altair chart, e.g. `results.plot.completion()`."""
        from tailback.report.plots import Plots

        return Plots(self)

    def __repr__(self) -> str:
        return f"<Results {self.path}: {self.name}, {self.manifest['runs']} runs>"
