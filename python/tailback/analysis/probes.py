"""Measurements of a mesh, sorted by how much they lost."""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

import polars as pl

from tailback.analysis.view import View
from tailback.results.columns import own_column

CLASSES = ("none", "below 0.01 %", "0.01 %", "0.1 %", "1 %", "10 % and above")
"""Classes of loss, a decade each, by their lower ends."""
_EDGES = (1e-4, 1e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class Probes:
    """Shares of the measurements in each class of loss.

    Attributes:
        worst: the host that lost most of what it was sent.
        everyone: class -> share of all measurements.
        without_worst: the same without those from and to that host.
    """

    worst: str
    everyone: dict[str, float]
    without_worst: dict[str, float]


def probes(view: View) -> Probes | None:
    """Sort the measurements of a mesh; `None` of runs that are none."""
    flows = view.optional("flows")
    if not {"round", "datagrams_sent"} <= set(flows.columns):
        return None
    if flows.get_column(own_column(flows, "round")).n_unique() < 2:
        return None
    share = (pl.col("datagrams_sent") - pl.col("datagrams_received")) / pl.col("datagrams_sent")
    measured = flows.with_columns(share.alias("loss"))
    by_host = measured.group_by("destination").agg(pl.col("loss").mean())
    worst = str(by_host.sort("loss", "destination", descending=[True, False])["destination"][0])
    others = measured.filter(pl.col("source") != worst, pl.col("destination") != worst)
    return Probes(worst, _shares(measured), _shares(others))


def _shares(measured: pl.DataFrame) -> dict[str, float]:
    losses = measured.get_column("loss").to_list()
    found = Counter(CLASSES[0 if loss <= 0 else 1 + bisect_right(_EDGES, loss)] for loss in losses)
    return {name: found[name] / max(len(losses), 1) for name in CLASSES}
