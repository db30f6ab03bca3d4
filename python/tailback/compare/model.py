"""What a comparison found."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from tailback.analysis.axes import Axis, in_words
from tailback.analysis.columns import COUNTS, Label, label, of_whole_run
from tailback.analysis.differences import differences
from tailback.analysis.words import few
from tailback.compare.alike import unlike_kernels

if TYPE_CHECKING:
    from tailback.compare.side import Side

_LEAST_COUNT = 1.0
"""Counts per transaction below this are compared by difference: relative errors of almost
nothing say nothing."""


@dataclass(frozen=True)
class MetricError:
    """How one metric of one group differs from the reference.

    Attributes:
        group: the curve's label; empty when there is one only.
        metric: the column.
        rows: points with a relative error.
        mean_absolute_error: mean of |ours - reference| / |reference|; `None` without rows.
        bias: mean of (ours - reference) / |reference|.
        worst: the greatest relative error, with its sign.
        worst_at: the point where it is, in words.
        small_rows: points whose reference is zero or, for counts, below 1.
        small_difference: mean of |ours - reference| over these, in the metric's unit.
        judged: points whose values are means of repetitions on both sides.
        beyond_chance: of these, how many differ by more than chance alone gives in nineteen of
            twenty cases (Welch's t); one in twenty does where nothing differs.
    """

    group: str
    metric: str
    rows: int
    mean_absolute_error: float | None
    bias: float | None
    worst: float | None
    worst_at: str
    small_rows: int
    small_difference: float | None
    judged: int = 0
    beyond_chance: int = 0

    @classmethod
    def of(cls, group: str, metric: str, joined: pl.DataFrame, x: Axis | None) -> Self:
        """Return the errors of a metric over the rows of `joined`, all of one group."""
        ours, reference = pl.col(metric), pl.col(f"{metric}_reference")
        least = _LEAST_COUNT if metric in COUNTS else 0.0
        known = joined.drop_nulls([metric, f"{metric}_reference"])
        large = known.filter((reference.abs() >= least) & (reference != 0)).with_columns(
            ((ours - reference) / reference.abs()).alias("error")
        )
        small = known.filter((reference.abs() < least) | (reference == 0))
        errors = large.get_column("error")
        at: int | None = errors.abs().arg_max()
        chances = f"{metric}_chance"
        judged = known.drop_nulls(chances) if chances in known.columns else known.clear()
        beyond = (ours - reference).abs() > (pl.col(chances) if judged.height else 0.0)
        return cls(
            group=group,
            metric=metric,
            rows=large.height,
            mean_absolute_error=_float(errors.abs().mean()),
            bias=_float(errors.mean()),
            worst=None if at is None else float(errors[at]),
            worst_at="" if at is None or x is None else in_words(x, large.get_column(x.name)[at]),
            small_rows=small.height,
            small_difference=_float(small.select((ours - reference).abs().mean()).item()),
            judged=judged.height,
            beyond_chance=judged.filter(beyond).height,
        )


@dataclass(frozen=True)
class Comparison:
    """Results `a` beside the reference `b`.

    Attributes:
        a: name of the results compared.
        b: name of the reference.
        axes: columns that both were joined on.
        points: points that both have.
        only_a: points of `a` that the reference lacks.
        only_b: points of the reference that `a` lacks.
        errors: one entry per group and metric.
        joined: the points side by side, the reference's metrics with the ending `_reference`; with
            the ending `_chance` by how much repetitions let two means differ.
        timed: whether counts are of whole runs, not of transactions.
        differs: paths at which the scenarios of the two differ, but for the points only one has.
        hosts: what to do about modelled hosts that are not as the kernels beside them.
    """

    a: str
    b: str
    axes: tuple[str, ...]
    points: int
    only_a: int
    only_b: int
    errors: tuple[MetricError, ...]
    joined: pl.DataFrame
    timed: bool = False
    differs: tuple[str, ...] = ()
    hosts: str = ""

    @classmethod
    def of(
        cls, a: "Side", b: "Side", keys: list[str], metrics: list[str], joined: pl.DataFrame
    ) -> Self:
        """Return the comparison of two sides joined on `keys`."""
        groups = [axis for axis in a.roles.groups if axis.name in keys]
        parts = (
            joined.group_by([g.name for g in groups], maintain_order=True)
            if groups
            else [((), joined)]
        )
        errors = [
            MetricError.of(
                ", ".join(in_words(g, v) for g, v in zip(groups, values, strict=True)),
                metric,
                rows,
                a.roles.x,
            )
            for values, rows in parts
            for metric in metrics
        ]
        return cls(
            a=a.name,
            b=b.name,
            axes=tuple(keys),
            points=joined.height,
            only_a=a.frame.height - joined.height,
            only_b=b.frame.height - joined.height,
            errors=tuple(errors),
            joined=joined,
            timed=a.timed or b.timed,
            differs=tuple(differences(a.scenario, b.scenario)),
            hosts=unlike_kernels(a, b),
        )

    def label(self, metric: str) -> Label:
        """The words for a metric's column: counts of timed runs are of the whole run."""
        return of_whole_run(label(metric)) if self.timed else label(metric)

    def find(self, group: str, metric: str) -> MetricError | None:
        """Return the errors of one metric of one group, if both sides have it."""
        return next((e for e in self.errors if (e.group, e.metric) == (group, metric)), None)

    @property
    def unlike(self) -> str:
        """In what the two differ beside their figures, in sentences; empty if in nothing."""
        values = f"The scenarios differ in {few(self.differs)}." if self.differs else ""
        return f"{values} {self.hosts}".strip()

    @property
    def groups(self) -> list[str]:
        """Labels of the groups compared."""
        return list(dict.fromkeys(error.group for error in self.errors))

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON."""
        return {
            "a": self.a,
            "b": self.b,
            "axes": list(self.axes),
            "points": self.points,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "differs": list(self.differs),
            "hosts": self.hosts,
            "errors": [asdict(error) for error in self.errors],
            "rows": self.joined.to_dicts(),
        }


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
