"""The ECN-switch study's iperf3 tables (HPE / Aruba 2019)."""

import polars as pl

from tailback.published.table import PublishedTable

AXES = ("marking", "start_percent", "senders", "duration_s", "tcp_congestion_control")
"""What a cell of the study is identified by, as in `summary`."""


def per_sender(published: pl.DataFrame) -> pl.DataFrame:
    """Return the study's rows, one a sender, in the words of the table `flows`."""
    return published.select(
        pl.col("marking").str.to_lowercase(),
        pl.col("start_percent").fill_null(0).cast(pl.Int64),
        pl.col("senders").cast(pl.Int64),
        pl.col("duration_s").cast(pl.Int64),
        pl.col("algo").alias("tcp_congestion_control"),
        pl.col("sender").cast(pl.Int64),
        pl.col("bandwidth_gbps").cast(pl.Float64),
        pl.col("tcp_retries").cast(pl.Int64).alias("retransmissions"),
        pl.col("switch_drops").cast(pl.Int64),
    )


def _tidy(published: pl.DataFrame) -> pl.DataFrame:
    return (
        per_sender(published)
        .group_by(AXES, maintain_order=True)
        .agg(
            pl.col("bandwidth_gbps").mean().alias("bandwidth_gbps_mean"),
            pl.col("retransmissions").sum(),
            pl.col("switch_drops").max(),
        )
    )


ECN_IPERF3 = PublishedTable(
    name="ecn-iperf3",
    title="iperf3 through a switch that marks linearly, 25 Gb/s",
    source="HPE / Aruba, 2019: SCE and CE senders behind a switch that marks linearly",
    file_name="ecn-iperf3.csv",
    scenario="ecn-switch",
    axes=AXES,
    units={
        "bandwidth_gbps_mean": "Gb/s, mean of the measured senders",
        "retransmissions": "segments sent again by the measured senders",
        "switch_drops": "frames dropped by the switch meanwhile",
    },
    tidy=_tidy,
)
