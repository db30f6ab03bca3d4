"""One side of a comparison: a run folder's summary or a published table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tailback import published
from tailback.analysis.axes import Axes, choose
from tailback.analysis.chance import chance_of
from tailback.analysis.view import View
from tailback.published import PublishedTable
from tailback.results.damage import blamed
from tailback.scenario import built_in

if TYPE_CHECKING:
    from tailback.results import Results

_NOT_METRICS = {"run", "repetition", "iterations", "data_bytes_total"}


@dataclass(frozen=True)
class Side:
    """Points of a sweep with their metrics.

    Attributes:
        name: what messages and tables call it.
        frame: one row per point, repetitions averaged.
        spread: of results, by the same points: of each metric the variance over repetitions,
            `METRIC`, and how many have it, `METRIC_count`.
        axes: its axes' columns, first axis first.
        metrics: its metrics' columns.
        roles: the part each axis plays.
        timed: whether counts are of whole runs, which lasted as long as they were told to.
        scenario: as resolved; of a published table the built-in one that predicts it.
        backend: what made the runs; of a published table empty.
    """

    name: str
    frame: pl.DataFrame
    axes: tuple[str, ...]
    metrics: tuple[str, ...]
    roles: Axes
    timed: bool = False
    spread: pl.DataFrame | None = None
    scenario: Mapping[str, Any] = field(default_factory=dict)
    backend: str = ""

    @property
    def varying(self) -> list[str]:
        """Axes with more than one value."""
        return self.roles.names

    def joined(self, other: "Side", keys: list[str], metrics: list[str]) -> pl.DataFrame:
        """Return the points both have: the keys, each metric, and `METRIC_reference` of `other`.

        Where both have repetitions `METRIC_chance` is by how much the two means differ by chance
        alone in nineteen of twenty cases.
        """
        mine = self.frame.select(*keys, *metrics)
        theirs = other.frame.select(*keys, *(pl.col(m).alias(f"{m}_reference") for m in metrics))
        points = _by_points(mine, theirs, keys)
        if self.spread is None or other.spread is None:
            return points
        columns = [*metrics, *(f"{m}_count" for m in metrics)]
        spreads = _by_points(
            self.spread.select(*keys, *columns),
            other.spread.select(*keys, *(pl.col(c).alias(f"{c}_reference") for c in columns)),
            keys,
        )
        chances = (_chances(spreads, metric) for metric in metrics)
        return points.with_columns(c for c in chances if c.null_count() < c.len())


def side(of: "str | Path | Results") -> Side:
    """Return the side that a path, `published:NAME` or `Results` name."""
    if isinstance(of, str) and of.startswith("published:"):
        return of_published(published.load(of))
    from tailback.results import Results

    return of_results(of if isinstance(of, Results) else Results(of))


def of_published(table: PublishedTable) -> Side:
    """Return a published table as one side."""
    return Side(
        name=f"published:{table.name}",
        frame=table.frame,
        axes=table.axes,
        metrics=tuple(table.metrics),
        roles=choose(table.frame, table.axes),
        scenario=built_in()[table.scenario].resolved,
    )


def of_results(results: "Results") -> Side:
    """Return a run folder's summary as one side."""
    with blamed([results]):
        return _of_results(results)


def _of_results(results: "Results") -> Side:
    axes = tuple(results.parameters)
    view = View(results)
    metrics = tuple(
        name
        for name, kind in view.summary.schema.items()
        if kind.is_numeric() and name not in _NOT_METRICS and name not in axes
    )
    summary = results.summary
    frame = (
        summary.group_by(axes, maintain_order=True).agg(pl.col(m).mean() for m in metrics)
        if axes
        else summary.select(pl.col(m).mean() for m in metrics)
    )
    timed = view.timed
    scenario = results.manifest["scenario"]
    spread = _spread(summary, axes, metrics) if "repetition" in summary.columns else None
    roles = choose(summary, axes)
    backend = results.manifest["backend"]
    return Side(str(results.path), frame, axes, metrics, roles, timed, spread, scenario, backend)


def _spread(
    summary: pl.DataFrame, axes: Sequence[str], metrics: Sequence[str]
) -> pl.DataFrame | None:
    """Return variances over repetitions, and how many there are; nothing where there is one."""
    if summary.get_column("repetition").n_unique() < 2:
        return None
    each = [
        *(pl.col(m).cast(pl.Float64).var() for m in metrics),
        *(pl.col(m).count().alias(f"{m}_count") for m in metrics),
    ]
    found = summary.group_by(axes, maintain_order=True).agg(each) if axes else summary.select(each)
    # Repetitions that are alike in everything are one run, told of several times.
    vary = any(found.select(pl.col(m).fill_null(0).sum() > 0).item() for m in metrics)
    return found if vary else None


def _by_points(mine: pl.DataFrame, theirs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the rows of both that are of the same point, in the order of the first."""
    if not keys:
        return mine.join(theirs, how="cross")
    casts = [pl.col(k).cast(_common(mine.schema[k], theirs.schema[k])) for k in keys]
    return mine.with_columns(casts).join(
        theirs.with_columns(casts), on=keys, how="inner", maintain_order="left"
    )


def _chances(spreads: pl.DataFrame, metric: str) -> pl.Series:
    """Return by how much chance moves each point's difference; null where one side is one run."""
    names = (metric, f"{metric}_count", f"{metric}_reference", f"{metric}_count_reference")
    rows = spreads.select(names).iter_rows()
    of = [
        None if min(n, m) < 2 or v is None or w is None else chance_of((v, n), (w, m))
        for v, n, w, m in rows
    ]
    return pl.Series(f"{metric}_chance", of, dtype=pl.Float64)


def _common(a: pl.DataType, b: pl.DataType) -> pl.DataType | type[pl.DataType]:
    if a == b:
        return a
    return pl.Float64 if a.is_numeric() and b.is_numeric() else pl.String
