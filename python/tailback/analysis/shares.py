"""What each pair of hosts got, in runs with few of them: who is starved, and by which setting."""

import polars as pl

from tailback.analysis.flows import with_rate
from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View
from tailback.analysis.words import number

PAIR = "pair"
RATE = "rate_mbps"
"""Columns: the hosts of a pair, and what its flows got together."""

PAIRS_MAX = 16
RUNS_MAX = 12
"""Of more pairs or runs nobody finds one in a picture."""
_KINDS = {"bulk", "udp", "iperf3"}
"""Workloads whose flows last as long as the run does."""
_OTHERS_MIN = 2
"""One other pair is no measure."""
_STARVED = 2.0
"""A setting that moves a pair's rate by less is not told of."""


def shares(view: View) -> pl.DataFrame:
    """Return what pairs of hosts got in each of several runs, means of the repetitions.

    Columns: `run of`, `pair`, `rate_mbps`. Empty of a single run, of many runs or pairs, and of
    workloads whose flows come and go.
    """
    flows = view.optional("flows")
    known = {"goodput_mbps", "bandwidth_gbps", "received_bytes"} & set(flows.columns)
    kind = view.results.manifest["scenario"]["workload"]["kind"]
    named = labels(view)
    runs = named.get_column(RUN).n_unique()
    if kind not in _KINDS or not known or not 1 < runs <= RUNS_MAX:
        return pl.DataFrame()
    pairs = flows.select("source", "destination").n_unique()
    if not 1 < pairs <= PAIRS_MAX:
        return pl.DataFrame()
    if "bandwidth_gbps" in known:
        rated = flows.with_columns(mbps=pl.col("bandwidth_gbps") * 1e3)
    elif "goodput_mbps" in known:
        rated = flows.with_columns(mbps=pl.col("goodput_mbps"))
    else:
        rated = with_rate(view, flows)
    return (
        rated.with_columns(pl.format("{} > {}", "source", "destination").alias(PAIR))
        .group_by("run", PAIR, maintain_order=True)
        .agg(pl.col("mbps").sum())
        .join(named, on="run", maintain_order="left")
        .group_by(RUN, PAIR, maintain_order=True)
        .agg(pl.col("mbps").mean().alias(RATE))
    )


def most_moved(view: View) -> list[str]:
    """Say which pair of hosts the settings move by far the most: a bystander, as a rule.

    Nothing is said where others move as much, or none by a factor of two; nor of one that got
    nothing at all somewhere, which `lockout` tells of.
    """
    found = shares(view)
    if found.is_empty() or found.get_column(PAIR).n_unique() < _OTHERS_MIN + 1:
        return []
    ends = found.group_by(PAIR, maintain_order=True).agg(
        pl.col(RATE).min().alias("least"),
        pl.col(RATE).max().alias("most"),
        pl.col(RUN).sort_by(RATE).first().alias("worst"),
        pl.col(RUN).sort_by(RATE).last().alias("best"),
    )
    # Nothing at all is farther from something than anything is.
    times = pl.when(pl.col("most") > 0).then(pl.col("most") / pl.col("least")).otherwise(1.0)
    ranked = ends.with_columns(times.alias("times")).sort(
        "times", descending=True, maintain_order=True
    )
    first, second = ranked.head(2).iter_rows(named=True)
    if first["least"] == 0 or first["times"] < _STARVED * max(1.0, second["times"]):
        return []
    least, most = (f"{number(first[end])} Mb/s" for end in ("least", "most"))
    return [f"{first[PAIR]} gets from {least} ({first['worst']}) to {most} ({first['best']})."]
