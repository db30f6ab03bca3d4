"""What is fitted to: rows of a published or measured table, each with the runs that predict it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tailback import published
from tailback.analysis.axes import Axis, choose
from tailback.compare.side import Side, of_published, of_results
from tailback.errors import InputError
from tailback.records import PlannedRun
from tailback.results import Results
from tailback.scenario import Scenario

ROW = "row"
"""Column that numbers the chosen rows."""

_RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)")


@dataclass(frozen=True)
class Target:
    """Chosen rows of a table.

    Attributes:
        label: the table as it was named.
        source: where its figures come from, in words; empty if that is not known.
        axes: columns that say which run a row belongs to, named as in the sweep.
        rows: the column `row`, the axes, the metrics.
        metrics: the columns that can be fitted to.
        x: the axis along which rows are named in messages; `None` for a single row.
        runs: for each row, the indices of the plan's runs that predict it: one a repetition.
    """

    label: str
    source: str
    axes: tuple[str, ...]
    rows: pl.DataFrame
    metrics: tuple[str, ...]
    x: Axis | None
    runs: tuple[tuple[int, ...], ...]

    @property
    def wanted(self) -> list[int]:
        """All runs that are needed, in the order of the plan."""
        return sorted({index for indices in self.runs for index in indices})


@dataclass(frozen=True)
class Table:
    """A table as it was named, all rows.

    Attributes:
        label: its name.
        source: where its figures come from, in words; empty if that is not known.
        side: its rows, axes and metrics.
    """

    label: str
    source: str
    side: Side


def choose_rows(table: Table, filters: Sequence[str], scenario: Scenario) -> Target:
    """The rows of a table that pass all `filters`, matched with the scenario's runs.

    Args:
        table: what `read_table` gave.
        filters: `COLUMN=VALUE[,VALUE…]` or `COLUMN=LOW..HIGH`; filters of the same column
            add up, those of different columns narrow down.
        scenario: its sweep says which runs there are.

    Raises:
        InputError: with everything that is wrong.
    """
    runs = scenario.plan.runs
    swept = _swept(scenario)
    name, side = table.label, table.side
    frame = side.frame
    problems = [f"--rows {text}: is not COLUMN=VALUE" for text in filters if "=" not in text]
    for column, values in _by_column(filters).items():
        if column in side.axes:
            frame = frame.filter(_passes(frame.schema[column], column, values))
        else:
            known = ", ".join(side.axes) or "none"
            problems.append(f"--rows {column}: {name} tells rows apart by {known}")
    if not problems and frame.is_empty():
        problems.append(f"--rows: no row of {name} passes; {_values(side.frame, filters)}")
    axes = tuple(column for column in side.axes if column in swept)
    if problems:
        raise InputError("\n".join(problems))
    matched = [
        _runs_of(dict(zip(axes, row, strict=True)), runs)
        for row in (frame.select(axes).rows() if axes else [()] * frame.height)
    ]
    _check_matches(frame, axes, matched, runs)
    return Target(
        label=name,
        source=table.source,
        axes=axes,
        rows=frame.select(*axes, *side.metrics).with_row_index(ROW),
        metrics=side.metrics,
        x=choose(frame, axes).x,
        runs=tuple(tuple(indices) for indices in matched),
    )


def read_table(name: str, filters: Sequence[str], scenario: Scenario) -> Table:
    """The table called `name`: `published:NAME`, a results folder, or a CSV file.

    Of a CSV file the columns that the scenario sweeps, those that `filters` name, and those
    that hold no numbers tell rows apart; all others are metrics.

    Raises:
        InputError: there is none, or it cannot be read.
    """
    if name.startswith("published:"):
        table = published.load(name)
        return Table(name, table.source, of_published(table))
    path = Path(name)
    if path.is_dir():
        results = Results(path)
        manifest = results.manifest
        source = f"{manifest['title']}; {manifest['backend']}, {manifest['started']}"
        return Table(name, source, of_results(results))
    if path.suffix != ".csv":
        tables = ", ".join(f"published:{known}" for known in published.names())
        raise InputError(f"{name}: is no results folder and no .csv file; published are {tables}")
    try:
        frame = pl.read_csv(path, comment_prefix="#")
    except OSError as error:
        # Polars says it all in one text, its number for it and the path at the end.
        said = str(error).removesuffix(f": {path}")
        reason = error.strerror or re.sub(r" \(os error \d+\)$", "", said)
        raise InputError(f"{name}: cannot be read: {reason}") from error
    except pl.exceptions.PolarsError as error:
        # After the first line it says how to call Polars.
        reason = str(error).partition("\n")[0]
        raise InputError(f"{name}: is not CSV with a line of column names: {reason}") from error
    if frame.is_empty():
        raise InputError(f"{name}: has no rows below its line of column names")
    known = {*_swept(scenario), *_by_column(filters)}
    axes = tuple(c for c, kind in frame.schema.items() if c in known or not kind.is_numeric())
    metrics = tuple(c for c in frame.columns if c not in axes)
    return Table(name, "", Side(name, frame, axes, metrics, choose(frame, axes)))


def _swept(scenario: Scenario) -> list[str]:
    runs = scenario.plan.runs
    return [column for column, _ in runs[0]["parameters"]] if runs else []


def _by_column(filters: Sequence[str]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    for text in filters:
        column, equals, values = text.partition("=")
        if equals:
            columns.setdefault(column.strip(), []).extend(v.strip() for v in values.split(","))
    return columns


def _passes(kind: pl.DataType, column: str, values: Sequence[str]) -> pl.Expr:
    passes = pl.lit(value=False)
    for value in values:
        span = _RANGE.fullmatch(value)
        if span is not None and kind.is_numeric():
            passes |= pl.col(column).is_between(float(span[1]), float(span[2]))
        elif kind.is_numeric():
            passes |= pl.col(column) == pl.lit(value).cast(pl.Float64, strict=False)
        else:
            passes |= pl.col(column).cast(pl.String) == value
    return passes


def _values(frame: pl.DataFrame, filters: Sequence[str]) -> str:
    columns = [column for column in _by_column(filters) if column in frame.columns]
    return "; ".join(
        f"{column} is one of {', '.join(str(v) for v in frame[column].unique(maintain_order=True))}"
        for column in columns
    )


def _runs_of(row: Mapping[str, object], runs: Sequence[PlannedRun]) -> list[int]:
    return [
        run["index"]
        for run in runs
        if all(value == row[column] for column, value in run["parameters"] if column in row)
    ]


def _check_matches(
    frame: pl.DataFrame,
    axes: Sequence[str],
    matched: Sequence[Sequence[int]],
    runs: Sequence[PlannedRun],
) -> None:
    """Every row has runs that differ in their repetition only, and no two rows share one."""
    problems = []
    by_index = {run["index"]: run for run in runs}
    taken: set[int] = set()
    for number, indices in enumerate(matched):
        words = ", ".join(f"{column}={frame[column][number]}" for column in axes) or "the table"
        points = {str(by_index[index]["parameters"]) for index in indices}
        if not indices:
            problems.append(
                f"{words}: no run of the sweep predicts this row; "
                "leave it out with --rows, or widen the sweep with --set"
            )
        elif len(points) > 1:
            others = [c for c, _ in by_index[indices[0]]["parameters"] if c not in axes]
            problems.append(
                f"{words}: {len(points)} runs that differ in {', '.join(others)} predict this row; "
                "sweep a single value of it with --set"
            )
        elif indices[0] in taken:
            problems.append(
                f"{words}: several rows belong to one run, as the sweep does not tell them apart; "
                "choose one of them with --rows"
            )
        taken.update(indices)
    if problems:
        raise InputError("\n".join(dict.fromkeys(problems)))
