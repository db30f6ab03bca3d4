"""What `record.sample_interval` has seen of a run, thinned for a chart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tailback.analysis.neighbours import neighbours
from tailback.analysis.outages import Outage, outages
from tailback.analysis.places import RUN, labels
from tailback.analysis.view import View

FLOWS_MAX = 6
"""Flows of a run at most: those that sent most."""
_POINTS = 300
"""Points of a line at most."""
_RUNS_MAX = 20
"""Runs at most: with their flows they are as many rows as a page holds well."""
_UNKNOWN = 0x7FFFFFFF
"""A slow-start threshold from this on stands for none."""


@dataclass(frozen=True)
class Samples:
    """One run, as its connections and ports were looked at.

    Attributes:
        run: its number.
        title: what it is called.
        flows: `time_s`, `flow`, `cwnd`, `ssthresh` (segments), `srtt_ms`, and `rate_mbps`, what was
            acknowledged since the look before; null where there is none yet.
        flows_all: flows that sent data, of which `flows` has those that sent most.
        place: the port whose queue was longest, and who is there; empty if nothing ever waited.
        queue: `time_s` and `queue_kb` there, the most within each step.
        trace: the trace of link capacity that the run followed, what is said of it; empty if none.
            Of several it is that of the port whose queue was longest, or of the one that sent most.
        capacity: `time_s` and `capacity_mbps`, what that trace let go since the look before.
        scenario: the resolved scenario that it is a run of.
    """

    run: int
    title: str
    flows: pl.DataFrame
    flows_all: int
    place: str
    queue: pl.DataFrame
    trace: str
    capacity: pl.DataFrame
    scenario: Mapping[str, Any] = field(repr=False)

    def down(self, end_s: float) -> list[Outage]:
        """Return the times until `end_s` in which links are down."""
        return outages(self.scenario, end_s)


def sampled(view: View) -> list[Samples]:
    """The first repetition of each point of the sweep; of very many points some, evenly."""
    table, queues = view.optional("samples"), view.optional("queue_samples")
    traces = view.optional("traces")
    if table.is_empty() or "snd_cwnd" not in table.columns:
        return []
    first = table.filter(pl.col("repetition") == pl.col("repetition").min())
    names = dict(labels(view).select("run", RUN).iter_rows())
    scenario = view.results.manifest["scenario"]
    found = list(_of_runs(first, (queues, traces), names, neighbours(view), scenario))
    step = -(-len(found) // _RUNS_MAX)
    return found[::step] if found else []


def _of_runs(
    table: pl.DataFrame,
    of_ports: tuple[pl.DataFrame, pl.DataFrame],
    names: dict[int, str],
    ports: dict[str, str],
    scenario: Mapping[str, Any],
) -> Iterator[Samples]:
    queues, traces = of_ports
    for (run,), rows in table.group_by("run", maintain_order=True):
        flows, count = _flows(rows)
        if flows.is_empty():
            continue
        waiting = queues if queues.is_empty() else queues.filter(run=run)
        place, queue = _fullest(waiting)
        followed = traces if traces.is_empty() else traces.filter(run=run)
        trace, capacity = _capacity(followed, place, ports)
        yield Samples(
            run=int(str(run)),
            title=names[int(str(run))],
            flows=flows,
            flows_all=count,
            place=_towards(place, ports),
            queue=queue,
            trace=trace,
            capacity=capacity,
            scenario=scenario,
        )


def _towards(place: str, ports: dict[str, str]) -> str:
    return f"{place}, towards {ports[place]}" if place in ports else place


def _flows(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The ends that sent most, and how many sent anything."""
    ends = ["host", "local", "peer"]
    sent = "bytes_sent" if "bytes_sent" in rows.columns else "bytes_acked"
    senders = (
        rows.group_by(ends, maintain_order=True)
        .agg(pl.col(sent).max().alias("sent"), pl.col("bytes_received").max())
        # Of a connection the end that sends, not the one that asks for it.
        .filter(pl.col("sent") > 0, pl.col("sent") >= pl.col("bytes_received"))
        .sort("sent", descending=True, maintain_order=True)
    )
    chosen = senders.head(FLOWS_MAX)
    hosts = dict(rows.select("local", "host").unique().iter_rows())
    named = _names([(host, local, peer) for host, local, peer, *_ in chosen.iter_rows()], hosts)
    known = chosen.select(ends).with_columns(pl.Series("flow", named))
    drawn = rows.join(known, on=ends, how="inner", maintain_order="left").select(
        "time_s",
        "flow",
        pl.col("snd_cwnd").alias("cwnd"),
        pl.col("snd_ssthresh").alias("ssthresh"),
        (pl.col("rtt_us") / 1e3).alias("srtt_ms"),
        "bytes_acked",
    )
    thin = _in_steps(drawn, ["flow"], pl.exclude("time_s", "flow").last()).with_columns(
        pl.when(pl.col("ssthresh") < _UNKNOWN).then("ssthresh").alias("ssthresh"),
        pl.when(pl.col("srtt_ms") > 0).then("srtt_ms").alias("srtt_ms"),
        (_since_before("bytes_acked") * 8 / 1e6 / _since_before("time_s")).alias("rate_mbps"),
    )
    return thin.drop("bytes_acked"), senders.height


def _since_before(column: str) -> pl.Expr:
    """What a flow's value has risen by since its row before."""
    return pl.col(column).diff().over("flow")


def _names(ends: list[tuple[str, str, str]], hosts: dict[str, str]) -> list[str]:
    """`host1 to host0`, with ports where that is several flows'."""
    plain = [f"{host} to {hosts.get(peer, peer)}" for host, _, peer in ends]
    return [
        name if plain.count(name) == 1 else f"{name} ({_port(local)} to {_port(peer)})"
        for name, (_, local, peer) in zip(plain, ends, strict=True)
    ]


def _port(address: str) -> str:
    return address.rpartition(":")[2]


def _fullest(queues: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    if queues.is_empty():
        return "", queues
    place = str(queues.sort("queue_bytes", descending=True, maintain_order=True)["place"][0])
    rows = queues.filter(place=place).select(
        "time_s", (pl.col("queue_bytes") / 1e3).alias("queue_kb")
    )
    return place, _in_steps(rows, [], pl.col("queue_kb").max())


def _capacity(
    traces: pl.DataFrame, fullest: str, ports: dict[str, str]
) -> tuple[str, pl.DataFrame]:
    """What a port's trace let go over time, and how much of it was used."""
    if traces.is_empty():
        return "", traces
    ends = traces.group_by("place", "trace", maintain_order=True).agg(
        pl.col("offered_bytes").max(), pl.col("used_bytes").max()
    )
    here = ends.filter(place=fullest)
    chosen = here if not here.is_empty() else ends.sort("used_bytes", descending=True)
    end = chosen.row(0, named=True)
    rows = traces.filter(place=end["place"]).select("time_s", "offered_bytes")
    thin = _in_steps(rows, [], pl.col("offered_bytes").last())
    bits = pl.col("offered_bytes").diff() * 8 / 1e6
    capacity = thin.select("time_s", (bits / pl.col("time_s").diff()).alias("capacity_mbps"))
    used = 100 * end["used_bytes"] / max(end["offered_bytes"], 1)
    at = _towards(str(end["place"]), ports)
    said = f"{end['trace']} at {at}, of which {used:.3g} % was used"
    return said, capacity.drop_nulls()


def _in_steps(rows: pl.DataFrame, keys: list[str], of_each: pl.Expr) -> pl.DataFrame:
    """One row for each step of time at most, with its end as the time."""
    if rows.is_empty():
        return rows
    end_s = float(str(rows["time_s"].max()))
    step_s = end_s / _POINTS or 1.0
    steps = rows.with_columns((pl.col("time_s") / step_s).ceil().alias("step"))
    return (
        steps.group_by([*keys, "step"], maintain_order=True)
        .agg(pl.col("time_s").last(), of_each)
        .drop("step")
    )
