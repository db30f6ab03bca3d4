"""Where frames were lost: every drop of a run at its place on the path."""

from dataclasses import dataclass

import polars as pl

from tailback.analysis.axes import label_of
from tailback.analysis.neighbours import neighbours
from tailback.analysis.view import View

PLACE = "place"
RUN = "run of"
ROWS_MAX = 36
"""Most runs that a picture shows: those that lost most."""

_SENDER, _RECEIVER, _BOTH = "sender", "receiver", "host"
_HOST_CAUSES = {
    "tx-queue-full": "send queue",
    "rx-ring-full": "receive ring",
    "backlog-full": "backlog",
    "socket-full": "socket",
    "socket-backlog-full": "socket backlog",
    "tcp-prune": "TCP prune",
    "tcp-queue-full": "TCP queue",
}
_ALWAYS = (
    f"{_SENDER}: send queue",
    "switches",
    "links",
    f"{_RECEIVER}: receive ring",
    f"{_RECEIVER}: backlog",
    f"{_RECEIVER}: socket",
)
_ORDER = (
    *_ALWAYS[:3],
    "policers",
    *_ALWAYS[3:],
    f"{_RECEIVER}: socket backlog",
    f"{_RECEIVER}: TCP prune",
    f"{_RECEIVER}: TCP queue",
    f"{_RECEIVER}: send queue",
    f"{_SENDER}: receive ring",
    f"{_SENDER}: backlog",
    f"{_SENDER}: socket",
    f"{_SENDER}: socket backlog",
    f"{_SENDER}: TCP prune",
    f"{_SENDER}: TCP queue",
    *(f"{_BOTH}: {part}" for part in _HOST_CAUSES.values()),
)
"""The way of a datagram or a segment, then the way back of its acknowledgement."""


@dataclass(frozen=True)
class Places:
    """Losses by place.

    Attributes:
        names: the places in the order of the way; those of the way out are all there.
        runs: labels of the runs that lost something, in the order of the sweep: one for all
            repetitions.
        rows: a row for each label and place: `frames`, `data_frames`, `ack_frames`,
            `payload_bytes`, means of the repetitions.
        left_out: runs that lost less than those shown, each repetition counted.
        lossless: runs of which no repetition lost anything, counted likewise.
    """

    names: list[str]
    runs: list[str]
    rows: pl.DataFrame
    left_out: int
    lossless: int


def losses(view: View) -> pl.DataFrame | None:
    """Return the losses of every run by place; `None` without any.

    Columns: `run`, `place`, `frames`, `data_frames`, `ack_frames`, `payload_bytes`.
    """
    drops = view.optional("drops")
    if drops.is_empty() or "data_frames" not in drops.columns:
        return None
    return (
        drops.join(_roles(view), on=["run", PLACE], how="left", nulls_equal=True)
        .with_columns(_stage().alias(PLACE))
        .group_by("run", PLACE)
        .agg(pl.col("frames", "data_frames", "payload_bytes").sum())
        .with_columns((pl.col("frames") - pl.col("data_frames")).alias("ack_frames"))
    )


def places(view: View) -> Places | None:
    """Return the losses of the runs that lost most, for a picture; `None` without any."""
    of_runs = losses(view)
    if of_runs is None:
        return None
    labelled = labels(view)
    repetitions = labelled.group_by(RUN, maintain_order=True).len()
    lost = pl.col("frames", "data_frames", "ack_frames", "payload_bytes")
    located = (
        of_runs.join(labelled, on="run")
        .group_by(RUN, PLACE)
        .agg(lost.sum())
        .join(repetitions, on=RUN)
        .with_columns(lost / pl.col("len"))
    )
    total = located.group_by(RUN).agg(pl.col("frames").sum().alias("total"))
    most = repetitions.join(total, on=RUN, how="inner", maintain_order="left")
    shown = most.sort("total", descending=True, maintain_order=True).head(ROWS_MAX)
    ordered = most.join(shown, on=RUN, how="semi", maintain_order="left")
    here = set(located.get_column(PLACE))
    names = [name for name in _ORDER if name in here or name in _ALWAYS]
    grid = ordered.select(RUN).join(pl.DataFrame({PLACE: names}), how="cross")
    rows = grid.join(located, on=[RUN, PLACE], how="left", maintain_order="left")
    return Places(
        names,
        ordered.get_column(RUN).to_list(),
        rows.with_columns(lost.fill_null(0)),
        left_out=_count(most) - _count(ordered),
        lossless=_count(repetitions) - _count(most),
    )


def _count(labelled: pl.DataFrame) -> int:
    """Runs that stand behind labels."""
    return int(labelled.get_column("len").sum())


def by_port(view: View) -> pl.DataFrame | None:
    """Return the losses of all runs by place and cause, the most first; `None` without any.

    Columns: `place`, `towards` (who is at that port, where the network tells), `cause`, `frames`,
    `data_frames`, `payload_bytes` and `runs`, in how many runs.
    """
    drops = view.optional("drops")
    if drops.is_empty() or "data_frames" not in drops.columns:
        return None
    towards = neighbours(view)
    return (
        drops.group_by(PLACE, "cause", maintain_order=True)
        .agg(
            pl.col("frames", "data_frames", "payload_bytes").sum(),
            pl.col("run").n_unique().alias("runs"),
        )
        .sort("frames", descending=True, maintain_order=True)
        .with_columns(
            pl.col(PLACE)
            .replace_strict(towards, default=None, return_dtype=pl.String)
            .alias("towards")
        )
    )


def _roles(view: View) -> pl.DataFrame:
    """Who sends and who receives, by run and host."""
    flows = view.optional("flows")
    ends = [
        flows.select("run", pl.col(column).alias(PLACE), pl.lit(role).alias("role")).unique()
        for column, role in (("source", _SENDER), ("destination", _RECEIVER))
        if column in flows.columns
    ]
    if not ends:
        return pl.DataFrame(schema={"run": pl.Int64, PLACE: pl.String, "role": pl.String})
    roles = pl.concat(ends).group_by("run", PLACE).agg(pl.col("role"))
    role = pl.when(pl.col("role").list.len() > 1).then(pl.lit(_BOTH))
    return roles.with_columns(role.otherwise(pl.col("role").list.first()).alias("role"))


def _stage() -> pl.Expr:
    cause = pl.col("cause").replace_strict(_HOST_CAUSES, default=None, return_dtype=pl.String)
    role = pl.col("role").fill_null(_BOTH)
    return (
        pl.when(cause.is_not_null())
        .then(pl.concat_str([role, cause], separator=": "))
        .when(pl.col("cause") == "link-loss")
        .then(pl.lit("links"))
        .when(pl.col("cause") == "policer")
        .then(pl.lit("policers"))
        .otherwise(pl.lit("switches"))
    )


def labels(view: View) -> pl.DataFrame:
    """Return what each run is called in a picture: columns `run` and `run of`."""
    named = label_of(view.axes.varying) if view.axes.varying else pl.lit("the run")
    return view.results.summary.select("run", named.alias(RUN))
