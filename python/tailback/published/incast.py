"""The incast study's tables (Principled Technologies 2010; Arista 7124S and Cisco Nexus 5010)."""

from dataclasses import dataclass

import polars as pl

from tailback.published.table import PublishedTable

SWITCHES = {"arista": "arista-7124s", "nexus": "cisco-nexus-5010"}
"""Prefix of a column in the study's files -> name of the switch's preset."""

_METRICS = {
    "completion_ms": "completion_ms_mean",
    "goodput_mbps": "goodput_mbps_mean",
    "drops": "switch_drops_mean",
    "retransmissions": "retransmissions_mean",
}


def _tidy(wide: pl.DataFrame) -> pl.DataFrame:
    parts = [
        wide.select(
            pl.lit(preset).alias("switch"),
            pl.col("servers").cast(pl.Int64),
            *(
                pl.col(f"{prefix}_{column}").cast(pl.Float64).alias(ours)
                for column, ours in _METRICS.items()
            ),
        )
        for prefix, preset in SWITCHES.items()
    ]
    return pl.concat(parts)


INCAST_8MB = PublishedTable(
    name="incast-8MB",
    title="Incast, 8 MB from every server, means of 1000 iterations",
    source=(
        "Principled Technologies, 2010: incast transactions on the Arista 7124S and the "
        "Cisco Nexus 5010, 8 MB non-striped"
    ),
    file_name="incast-8MB.csv",
    scenario="incast-8mb",
    axes=("switch", "servers"),
    units={
        "completion_ms_mean": "ms per transaction",
        "goodput_mbps_mean": "Mb/s, 10^6 bits of application data per second",
        "switch_drops_mean": "frames dropped by the switch per transaction",
        "retransmissions_mean": "segments sent again per transaction",
    },
    tidy=_tidy,
)


@dataclass(frozen=True)
class CleanTransfer:
    """What a transaction of the study takes when nothing is lost.

    The study's own two jumbo runs with one server (4 MB in 3.538 ms, 8 MB in 6.793 ms) give the
    line `fixed_ms + bytes / rate`; one retransmission timeout of its kernel is the 200 ms floor
    plus a 1 ms tick.
    """

    rate_gbps: float = 9.83
    fixed_ms: float = 0.28
    rto_ms: float = 201.0

    def completion_ms(self, data_bytes: float) -> float:
        """Completion time in ms of `data_bytes` bytes without any loss."""
        return self.fixed_ms + data_bytes * 8 / (self.rate_gbps * 1e6)


CLEAN_JUMBO = CleanTransfer()
