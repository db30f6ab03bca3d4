"""What flows brought, by the congestion control of their senders, or by their priority."""

import polars as pl

from tailback.analysis.axes import in_words
from tailback.analysis.flows import with_rate
from tailback.analysis.view import GROUP, View
from tailback.analysis.words import ALIKE, are_alike, number, percent

CONTROL = "sender_congestion_control"
"""Column of the table `flows`."""
PRIORITY = "priority"
"""Column of the table `flows`, of workloads whose packets have one."""
_TOLD = {CONTROL: "congestion control", PRIORITY: "priority"}


def control_rates(view: View, by: str = CONTROL) -> pl.DataFrame:
    """Mean goodput of a flow in Mb/s by congestion control: a row a point of the sweep and control.

    Columns: the axes that vary, `group`, the column `by`, `mbps`, `flows` (so many of a run). Empty
    where in no run flows differ in it.
    """
    flows = view.optional("flows")
    known = {"received_bytes", "bandwidth_gbps"} & set(flows.columns)
    if by not in flows.columns or not known:
        return pl.DataFrame()
    mixed = flows.group_by("run").agg(pl.col(by).n_unique().alias("kinds"))
    mixed = mixed.filter(pl.col("kinds") > 1)
    if mixed.is_empty():
        return pl.DataFrame()
    # Of flows that are measured for a while, their bandwidth in it.
    measured = "bandwidth_gbps" in known
    mbps = (pl.col("bandwidth_gbps") * 1e3).alias("mbps")
    rated = flows.with_columns(mbps) if measured else with_rate(view, flows)
    places = view.summary.select("run", GROUP, *view.axes.names)
    each = rated.select("run", by, "mbps").join(places, on="run")
    each = each.join(mixed, on="run", how="semi")
    keys = [*view.axes.names, GROUP, by]
    return (
        each.sort("run")
        .group_by([*keys, "run"], maintain_order=True)
        .agg(pl.col("mbps").mean(), pl.len().alias("flows"))
        .group_by(keys, maintain_order=True)
        .agg(pl.col("mbps").mean(), pl.col("flows").first())
    )


def farthest_apart(view: View, by: str = CONTROL) -> str:
    """Say where flows of two congestion controls get the least alike; nothing of one control."""
    rates = control_rates(view, by)
    if rates.is_empty():
        return ""
    keys = [*view.axes.names, GROUP]
    ends = rates.sort("mbps", maintain_order=True).group_by(keys, maintain_order=True)
    first, last = pl.col("mbps").first(), pl.col("mbps").last()
    ends_of = ends.agg(
        first.alias("least"),
        last.alias("most"),
        pl.col(by).first().alias("slow"),
        pl.col(by).last().alias("fast"),
    ).filter(pl.col("slow") != pl.col("fast"))
    if ends_of.is_empty():
        return ""
    # Nothing at all is farther from something than anything is.
    part = pl.when(pl.col("most") > 0).then(pl.col("least") / pl.col("most")).otherwise(1.0)
    row = ends_of.sort(part, maintain_order=True).row(0, named=True)
    if are_alike(row["least"], row["most"]):
        return f"A flow gets the same with each {_TOLD[by]}, within {percent(ALIKE, decimals=0)}."
    place = ", ".join(in_words(axis, row[axis.name]) for axis in view.axes.varying)
    of = "priority " if by == PRIORITY else ""
    least, most = (f"{number(row[end])} Mb/s" for end in ("least", "most"))
    told = f"a flow of {of}{row['fast']} gets {most}, one of {of}{row['slow']} {least}."
    return f"Least alike at {place}: {told}" if place else told[0].upper() + told[1:]
