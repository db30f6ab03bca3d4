"""A run folder's results, prepared once for findings, tables and charts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from tailback import published
from tailback.analysis.axes import Axes, choose, label_of
from tailback.analysis.beside import BESIDE, beside_points
from tailback.analysis.columns import Label, label
from tailback.analysis.differences import departures
from tailback.analysis.settings import workload_of
from tailback.published import PublishedTable
from tailback.results import Results

GROUP = "curve of"
"""Column with the label of the curve a row belongs to: all axes but x."""
COLOUR = "colour of"
"""Column with the label that a curve's colour stands for."""
DASH = "dashes of"
"""Column with the label that a curve's dashes stand for."""
REPETITIONS = "repetitions of"
"""Column with the number of runs a point is the mean of."""
_TIMED = {"bulk", "bernoulli", "flows", "flow-list", "request-response"}
"""Workloads that last as long as they are told to, unless they have so much to send."""

_OF_TRANSFERS = ("completion_ms", "goodput_mbps")
"""Metrics of what the workload transfers: programs do so by themselves, unseen."""
_OF_ALL = ("goodput_mbps",)
"""Rates of all that was transferred over the time until its end."""


@dataclass(frozen=True)
class View:
    """Results with their axes chosen and their curves named.

    Attributes:
        results: the run folder.
        others: results of the same sweep to stand beside them, by name.
    """

    results: Results
    others: Mapping[str, Results] = field(default_factory=dict)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """The table `summary`: one row per run."""
        found = self.results.summary
        unsaid = _OF_TRANSFERS if self.programs else _OF_ALL if self.until_last else ()
        found = found.drop(c for c in found.columns if c.startswith(unsaid))
        return self.labelled(found)

    @cached_property
    def axes(self) -> Axes:
        """The part each axis of the sweep plays."""
        return choose(self.results.summary, self.results.parameters)

    @cached_property
    def points(self) -> pl.DataFrame:
        """One row per combination of the axes: metrics averaged over repetitions.

        `NAME_low` and `NAME_high` hold the least and greatest of the repetitions.
        """
        numeric = [
            c
            for c, t in self.summary.schema.items()
            if t.is_numeric() and c not in {"run", "repetition", *self.results.parameters}
        ]
        keys = [*self.axes.all_names, GROUP, COLOUR, DASH]
        return self.summary.group_by(keys, maintain_order=True).agg(
            *(pl.col(c).mean() for c in numeric),
            *(pl.col(c).min().alias(f"{c}_low") for c in numeric),
            *(pl.col(c).max().alias(f"{c}_high") for c in numeric),
            pl.len().alias(REPETITIONS),
        )

    @property
    def programs(self) -> bool:
        """Whether what was run are programs of the user's (workload `command`)."""
        return str(self.results.manifest["scenario"]["workload"]["kind"]) == "command"

    @property
    def of_flent(self) -> bool:
        """Whether the runs are tests of Flent's, which are of the delay under load."""
        return str(self.results.manifest["scenario"]["workload"]["kind"]) == "flent"

    @property
    def until_last(self) -> bool:
        """Whether runs end with their last flow (`flows`): its time gives no rate of them all."""
        return str(self.results.manifest["scenario"]["workload"]["kind"]) == "flows"

    @cached_property
    def timed(self) -> bool:
        """Whether every run lasted as long as it was told to: then completion times say nothing."""
        if "completion_ms_mean" not in self.summary.columns:
            return True
        if self.results.manifest["scenario"]["workload"]["kind"] not in _TIMED:
            return False
        runs = self.results.summary.iter_rows(named=True)
        return all(workload_of(self.results, row).get("size") is None for row in runs)

    def label(self, column: str) -> Label:
        """The words for a metric's column: a timed run's counts are of the run."""
        found = label(column)
        if column in self.summary.columns and self.summary.schema[column].is_numeric():
            greatest = self.summary.get_column(column).max()
            found = found.up_to(float(str(greatest or 0)))
        if not self.timed:
            return found
        return replace(found, unit=found.unit.removesuffix("per transaction").strip())

    @cached_property
    def groups(self) -> list[str]:
        """Labels of the curves, in the order of the sweep."""
        groups: list[str] = self.summary.get_column(GROUP).unique(maintain_order=True).to_list()
        return groups

    @cached_property
    def transactions(self) -> pl.DataFrame:
        """The table `transactions`, labelled; empty when the runs recorded none."""
        return self.labelled(self.optional("transactions"))

    @cached_property
    def departures(self) -> list[str]:
        """Paths at which the scenario is another than the built-in one of its name."""
        return departures(self.results.manifest["scenario"])

    @property
    def predicts(self) -> PublishedTable | None:
        """The published table of the scenario, if it was run as it is built in."""
        return None if self.departures else published.for_scenario(self.results.name)

    @cached_property
    def table(self) -> PublishedTable | None:
        """The published table that this scenario predicts, if it has any of the points run."""
        return None if self._published_rows is None else self.predicts

    @cached_property
    def published(self) -> pl.DataFrame | None:
        """The published rows for the points that were run, labelled like ours."""
        return None if self._published_rows is None else self.labelled(self._published_rows)

    @cached_property
    def _published_rows(self) -> pl.DataFrame | None:
        found = self.predicts
        if found is None or not set(found.axes) <= set(self.axes.all_names):
            return None
        ours = self.points.select(found.axes).unique()
        rows = found.frame.join(ours, on=[*found.axes], how="semi")
        return None if rows.is_empty() else rows

    @cached_property
    def beside(self) -> pl.DataFrame:
        """The points of `others`, labelled like ours; empty without any."""
        return beside_points(self, self.others)

    def optional(self, name: str) -> pl.DataFrame:
        """Return the table called `name`, or an empty frame when the runs recorded none."""
        return self.results.table(name) if name in self.results.tables else pl.DataFrame()

    @property
    def repeated(self) -> bool:
        """Whether any point was run more than once."""
        return bool(self.points.get_column(REPETITIONS).max() != 1)

    def known(self, metric: str) -> bool:
        """Whether the summary has a metric with a value in any run, be it zero."""
        summary = self.summary
        return metric in summary.columns and bool(summary.get_column(metric).is_not_null().any())

    def has(self, metric: str) -> bool:
        """Whether the summary has a metric, with a value other than zero somewhere."""
        if metric not in self.points.columns:
            return False
        return bool((self.points.get_column(metric).fill_null(0) != 0).any())

    def elsewhere(self, metric: str) -> tuple[float, str] | None:
        """Return the greatest value that results beside these have, and whose it is.

        `None` where none has any, or only zero.
        """
        if metric not in self.beside.columns:
            return None
        found = self.beside.filter(pl.col(metric) != 0).sort(metric, descending=True)
        if found.is_empty():
            return None
        row = found.row(0, named=True)
        return float(row[metric]), str(row[BESIDE])

    def shown(self, metric: str) -> bool:
        """Whether these results or those beside them have other values of a metric than zero."""
        return self.has(metric) or self.elsewhere(metric) is not None

    def labelled(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` with the columns `GROUP`, `COLOUR` and `DASH`, where it has the axes."""
        if frame.is_empty():
            return frame
        axes = self.axes
        joined = tuple(a for a in (axes.colour, *axes.rest) if a is not None)
        return frame.with_columns(
            label_of(axes.groups).alias(GROUP),
            label_of(joined).alias(COLOUR),
            label_of((axes.dash,) if axes.dash else ()).alias(DASH),
        )
