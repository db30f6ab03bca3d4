"""Runs of workload `iperf3` as the JSON that `iperf3 --json` prints, for programs that read that.

The keys are those of iperf3 3.21 (src/iperf_api.c): `start`, `intervals` of `streams` and their
`sum`, and `end`. A client, a sender of the workload, has a file, a connection is a stream. Of the
keys those are there that a run has figures for: `blksize`, ports, the times of processors, and
round trips, windows of the peer and reordering of intervals are left out, and all bytes are those
that the receiver read, those of the sender too.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from tailback.analysis.settings import workload_of
from tailback.analysis.times import seconds
from tailback.errors import InputError
from tailback.export import files
from tailback.results import Results

_FIRST_SOCKET = 5
"""iperf3's own descriptors come before those of its streams."""
_Json = dict[str, Any]


def export_iperf3(results: Results, folder: str | Path) -> list[Path]:
    """Write a file for each run and client into `folder`; return them.

    Args:
        results: a run folder of a scenario with workload `iperf3`.
        folder: made if it is not there; files of the same names are replaced.

    Raises:
        InputError: the scenario has another workload.
    """
    workload = results.manifest["scenario"]["workload"]
    if workload.get("kind") != "iperf3":
        raise InputError(
            f"{results.path}: is of {results.name}, whose workload is not iperf3's; "
            'these files are of runs with workload = { kind = "iperf3", … }'
        )
    flows, intervals = (results.table(name) for name in ("flows", "intervals"))
    written = []
    for row in results.summary.iter_rows(named=True):
        run = pl.col("run") == row["run"]
        for (sender,), own in flows.filter(run).group_by("sender", maintain_order=True):
            looks = intervals.filter(run, pl.col("sender") == sender)
            client = _Client(results, workload_of(results, row), own.to_dicts())
            name = f"iperf3.{files.label(results, row)}.client{sender}.json"
            content = json.dumps(client.content(looks), indent="\t") + "\n"
            written.append(files.write(Path(folder) / name, content.encode()))
    return written


class _Client:
    """One client of one run; `values` are its workload's."""

    def __init__(
        self, results: Results, values: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]
    ) -> None:
        self.results = results
        self.flows = flows
        self.duration_s = seconds(str(values["duration"]))
        self.sends = not values["reverse"]
        self.sockets = {f["flow"]: _FIRST_SOCKET + 2 * i for i, f in enumerate(flows)}

    def content(self, looks: pl.DataFrame) -> _Json:
        return {"start": self._start(), "intervals": self._intervals(looks), "end": self._end()}

    def _start(self) -> _Json:
        ends = ("source", "destination") if self.sends else ("destination", "source")
        local, remote = (self.flows[0][end] for end in ends)
        manifest = self.results.manifest
        began = datetime.fromisoformat(manifest["started"]).astimezone(UTC)
        return {
            "connected": [
                {"socket": socket, "local_host": local, "remote_host": remote}
                for socket in self.sockets.values()
            ],
            "version": f"tailback {manifest['versions']['tailback']}",
            "system_info": f"{manifest['name']}, seed {manifest['seed']}, {manifest['backend']}",
            "timestamp": {
                "time": began.strftime("%a, %d %b %Y %H:%M:%S GMT"),
                "timesecs": int(began.timestamp()),
            },
            "connecting_to": {"host": remote},
            "tcp_mss_default": self.flows[0]["mss_bytes"],
            "test_start": {
                "protocol": "TCP",
                "num_streams": len(self.flows),
                "omit": 0,
                "duration": self.duration_s,
                "bytes": 0,
                "blocks": 0,
                "reverse": int(not self.sends),
            },
        }

    def _intervals(self, looks: pl.DataFrame) -> list[_Json]:
        mss = {flow["flow"]: flow["mss_bytes"] for flow in self.flows}
        intervals, start = [], 0.0
        for (end,), rows in looks.group_by("time_s", maintain_order=True):
            streams = []
            for row in rows.iter_rows(named=True):
                one = _span(start, float(str(end)), row["bandwidth_gbps"] * 1e9)
                if self.sends:
                    one["retransmits"] = row["retransmissions"]
                    one["snd_cwnd"] = row["cwnd_segments"] * mss[row["flow"]]
                socket = {"socket": self.sockets[row["flow"]]}
                streams.append(socket | one | {"omitted": False, "sender": self.sends})
            whole = _sum(streams) | {"omitted": False, "sender": self.sends}
            intervals.append({"streams": streams, "sum": whole})
            start = float(str(end))
        return intervals

    def _end(self) -> _Json:
        sent, received = [], []
        for flow in self.flows:
            span = _span(0.0, self.duration_s, flow["bandwidth_gbps"] * 1e9)
            span = {"socket": self.sockets[flow["flow"]]} | span
            again = {"retransmits": flow["retransmissions"]}
            sent.append(span | again | {"sender": self.sends})
            received.append(span | {"sender": self.sends})
        pairs = zip(sent, received, strict=True)
        return {
            "streams": [{"sender": one, "receiver": other} for one, other in pairs],
            "sum_sent": _sum(sent) | {"sender": self.sends},
            "sum_received": _sum(received) | {"sender": self.sends},
            "sender_tcp_congestion": self.flows[0]["sender_congestion_control"],
        }


def _span(start: float, end: float, bits_per_second: float) -> _Json:
    length = end - start
    return {
        "start": start,
        "end": end,
        "seconds": length,
        "bytes": round(bits_per_second * length / 8),
        "bits_per_second": bits_per_second,
    }


def _sum(streams: Sequence[_Json]) -> _Json:
    """All streams of one span together."""
    one = streams[0]
    whole = {key: one[key] for key in ("start", "end", "seconds")}
    added = [key for key in ("bytes", "bits_per_second", "retransmits") if key in one]
    return whole | {key: sum(stream[key] for stream in streams) for key in added}
