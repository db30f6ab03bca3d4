"""The published tables: names, columns, values, and that they ship with the package."""

import polars as pl
import pytest

from tailback import published
from tailback.published.incast import CLEAN_JUMBO


def test_the_incast_table_is_tidy_and_in_our_column_names() -> None:
    table = published.load("incast-8MB")
    assert table.frame.columns == [
        "switch",
        "servers",
        "completion_ms_mean",
        "goodput_mbps_mean",
        "switch_drops_mean",
        "retransmissions_mean",
    ]
    assert table.frame.height == 46
    last = table.frame.row(
        by_predicate=(pl.col("switch") == "arista-7124s") & (pl.col("servers") == 23), named=True
    )
    assert last["completion_ms_mean"] == 484.0
    assert last["switch_drops_mean"] == 1032.8


def test_goodput_times_completion_is_the_data_transferred() -> None:
    frame = published.load("incast-8MB").frame
    data_mb = frame["goodput_mbps_mean"] * frame["completion_ms_mean"] / 8e3
    error = (data_mb / (8 * frame["servers"]) - 1).abs()
    assert float(error.max()) < 0.006


def test_names_are_found_in_any_case_and_with_the_prefix() -> None:
    assert published.load("published:incast-8mb") is published.load("incast-8MB")
    assert published.for_scenario("incast-8mb") is published.load("incast-8MB")
    assert published.for_scenario("incast-4mb") is None


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(published.UnknownTableError, match="known are published:incast-8MB"):
        published.load("published:incast-16MB")


def test_a_clean_transfer_takes_what_one_jumbo_server_took() -> None:
    assert CLEAN_JUMBO.completion_ms(4e6) == pytest.approx(3.538, abs=0.01)
    assert CLEAN_JUMBO.completion_ms(8e6) == pytest.approx(6.793, abs=0.01)


def test_the_ecn_rows_are_means_of_the_measured_senders() -> None:
    frame = published.load("ecn-iperf3").frame
    assert frame.height == 10
    together = frame.row(by_predicate=pl.col("duration_s") == 120, named=True)
    assert together["bandwidth_gbps_mean"] == pytest.approx((7.53 + 7.74 + 8.11) / 3)
    assert together["retransmissions"] == 366
    off = frame.filter((pl.col("marking") == "off") & (pl.col("senders") == 2))
    assert off["start_percent"].to_list() == [0, 0]
    assert published.for_scenario("ecn-switch") is published.load("ecn-iperf3")
