"""Whether one flow kept the others out of a queue."""

import polars as pl

from tailback.analysis.view import View
from tailback.analysis.words import percent

NEARLY_ALL = 0.9
"""Of what a receiver got, the share of one flow that kept the others out. [assumed]"""

SHORTEST_S = 0.5
"""Runs that are shorter are all beginning: who comes first may have all of it. [assumed]"""


def lockouts(view: View) -> list[int]:
    """The runs in which one of several flows that have no end got nearly all that its receiver did.

    Only flows with the same congestion control and priority are held against each other.
    """
    flows = view.optional("flows")
    workload = view.results.manifest["scenario"]["workload"]
    columns = {"destination", "received_bytes", "sender_congestion_control"}
    if workload["kind"] != "bulk" or not view.timed or not columns <= set(flows.columns):
        return []
    alike = [c for c in ("sender_congestion_control", "priority") if c in flows.columns]
    shares = flows.group_by("run", "destination", *alike).agg(
        pl.len(),
        (pl.col("received_bytes").max() / pl.col("received_bytes").sum()).alias("greatest"),
    )
    long = view.results.summary.filter(pl.col("duration_s_total") >= SHORTEST_S)
    shares = shares.filter(pl.col("run").is_in(long.get_column("run").implode()))
    locked = shares.filter((pl.col("len") > 1) & (pl.col("greatest") > NEARLY_ALL))
    return locked["run"].unique().sort().to_list()


def lockouts_said(view: View) -> list[str]:
    """A sentence on it, and on what brings it about in the simulator; nothing if it was not."""
    locked = lockouts(view)
    if not locked:
        return []
    runs = view.summary.height
    how_many = f"In {len(locked)} of {runs} runs" if runs > 1 else "Here"
    share = percent(NEARLY_ALL, decimals=0)
    said = f"{how_many} one flow has over {share} of what its receiver got from several."
    of_them = view.results.summary.filter(pl.col("run").is_in(locked))
    # Where no queue was full something else did it: a congestion control that gives way.
    full = of_them.get_column("switch_drops_mean").max()
    if view.results.manifest["backend"] == "sim" and full:
        said += (
            " Hosts that take no time meet a full queue in the same order for ever; with a few"
            ' microseconds of chance (host.interrupt_delay = "5us", host.interrupt_jitter = "5us"),'
            " as real hosts have, that ends."
        )
    return [said]
