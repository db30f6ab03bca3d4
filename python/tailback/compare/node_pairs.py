"""The findings of the node-pairs study, held against `node-pairs`, `-automatic` and `-30min`.

Source: the SURFnet / DAS-2 tests of Force10, Cisco 6509 and router. Its surfaces are figures; what
is held here is what they were said to show, with this project's own limits, and one table.
"""

import polars as pl

from tailback import published
from tailback.analysis.flows import flow_rates
from tailback.analysis.view import View
from tailback.analysis.words import number, percent
from tailback.compare.checks import Check

_SMALL = ("32KiB", "64KiB")
_LARGE = "256KiB"
_GOODPUT = "goodput_mbps_mean"


def asked_checks(view: View) -> list[Check]:
    """Socket buffers as asked for: small windows are slow (the loop's delay is fitted to that)."""
    rows = view.points
    if "pair_window" not in rows.columns:
        return []
    return [
        *(_slow(rows, mtu) for mtu in (1500, 8176)),
        _jumbo_helps_little(rows),
        _limit_binds(rows, "asked"),
    ]


def automatic_checks(view: View) -> list[Check]:
    """Automatic buffers: no window is slow, MTU 8192 adds a little, the limits bind."""
    rows = view.points
    if "channel_gbps" not in rows.columns:
        return []
    return [
        _full_rate(rows),
        _jumbo_adds(rows),
        _limit_binds(rows, "automatic"),
        *(_fills(rows, pairs) for pairs in (11, 12)),
    ]


def half_hour_checks(view: View) -> list[Check]:
    """The run of 30 minutes: its sum, its spread, and what a poller saw."""
    rates = flow_rates(view)
    if rates.is_empty():
        return []
    theirs = published.load("node-pairs-30min").frame.get_column("bandwidth_mbps")
    total, wanted = float(rates["mbps"].sum()), float(theirs.sum())
    return [
        Check.judged(
            "Sum of the twelve flows (Mb/s)",
            number(wanted, 4),
            f"{number(total, 4)} ({percent(total / wanted - 1, signed=True)})",
            "within 1 %",
            holds=abs(total / wanted - 1) <= 0.01,
        ),
        Check.unjudged(
            "Standard deviation of the flows (Mb/s)",
            number(float(str(theirs.std(ddof=0)))),
            number(float(str(rates["mbps"].std(ddof=0)))),
        ),
        _polled(view, total),
    ]


def _at(rows: pl.DataFrame, **wanted: object) -> pl.DataFrame:
    for column, value in wanted.items():
        rows = rows.filter(pl.col(column) == value)
    return rows


def _mean(rows: pl.DataFrame) -> float:
    return float(str(rows.get_column(_GOODPUT).mean()))


def _slow(rows: pl.DataFrame, mtu: int) -> Check:
    claim = f"Windows up to 64 KB are slow, MTU {mtu}: share of what 256 KB brings"
    published_as = "remarkably low"
    here = _at(rows, mtu=mtu)
    small = here.filter(pl.col("pair_window").is_in(list(_SMALL)))
    large = here.filter(pl.col("pair_window") == _LARGE)
    if small.is_empty() or large.is_empty():
        return Check.not_run(claim, published_as, "fitted to it")
    return Check.fitted(claim, published_as, percent(_mean(small) / _mean(large), decimals=0))


def _jumbo_helps_little(rows: pl.DataFrame) -> Check:
    claim = "Jumbo frames do not mend small windows: 8176 over 1500, mean of windows up to 64 KB"
    published_as, limit = "not much", "at most 1.15"
    small = rows.filter(pl.col("pair_window").is_in(list(_SMALL)))
    plain, jumbo = _at(small, mtu=1500), _at(small, mtu=8176)
    if plain.is_empty() or jumbo.is_empty():
        return Check.not_run(claim, published_as, limit)
    ratio = _mean(jumbo) / _mean(plain)
    return Check.judged(claim, published_as, number(ratio), limit, holds=ratio <= 1.15)


def _limit_binds(rows: pl.DataFrame, buffers: str) -> Check:
    claim = f"The 8 Gb/s channel binds at MTU 1500, buffers {buffers}: most that is reached (Mb/s)"
    published_as, limit = "about 7500", "within 2 %"
    here = _at(rows, mtu=1500, channel_gbps=8)
    if here.is_empty() or int(str(here.get_column("pairs").max())) < 9:
        return Check.not_run(claim, published_as, limit)
    most = float(str(here.get_column(_GOODPUT).max()))
    return Check.judged(
        claim, published_as, number(most, 4), limit, holds=abs(most / 7500 - 1) <= 0.02
    )


def _full_rate(rows: pl.DataFrame) -> Check:
    claim = "Automatic buffers: least share of a pair's wire rate, one pair, MTU 1500"
    published_as, limit = "no longer slow", "above 90 % of 941 Mb/s"
    here = _at(rows, pairs=1, mtu=1500)
    if here.is_empty():
        return Check.not_run(claim, published_as, limit)
    least = float(str(here.get_column(_GOODPUT).min())) / 941
    return Check.judged(claim, published_as, percent(least, decimals=0), limit, holds=least > 0.9)


def _jumbo_adds(rows: pl.DataFrame) -> Check:
    claim = "MTU 8192 adds a little, automatic buffers: 8192 over 1500, mean of all cells"
    published_as, limit = "a little", "1.01 to 1.15"
    plain = _at(rows, mtu=1500, channel_gbps=8)
    jumbo = _at(rows, mtu=8192, channel_gbps=8)
    if plain.is_empty() or jumbo.is_empty():
        return Check.not_run(claim, published_as, limit)
    ratio = _mean(jumbo) / _mean(plain)
    return Check.judged(claim, published_as, number(ratio), limit, holds=1.01 <= ratio <= 1.15)


def _fills(rows: pl.DataFrame, pairs: int) -> Check:
    claim = f"Without the limit {pairs} pairs fill the 10G: least of all flow counts (Mb/s)"
    published_as, limit = "10G reached", "above 95 % of 9890, the wire's ceiling"
    here = rows.filter(pl.col("channel_gbps") > 8, pl.col("pairs") == pairs)
    if here.is_empty():
        return Check.not_run(claim, published_as, limit)
    least = float(str(here.get_column(_GOODPUT).min()))
    return Check.judged(claim, published_as, number(least, 4), limit, holds=least > 0.95 * 9890)


def _polled(view: View, total_mbps: float) -> Check:
    claim = "What a poller saw on the busiest interface, as TCP payload, over the flows' sum"
    published_as, limit = "in agreement (9.8 Gb/s at most)", "within 1 %"
    table = view.optional("interfaces")
    if table.is_empty():
        return Check.not_run(claim, published_as, limit)
    last = table.filter(pl.col("time_s") == pl.col("time_s").max())
    busiest = last.sort("out_octets").row(-1, named=True)
    # Octets of headers, with timestamps, and FCS with each frame.
    overhead = busiest["out_frames"] * (52 + 18)
    payload = busiest["out_octets"] - overhead
    mbps = payload * 8 / float(busiest["time_s"]) / 1e6
    ratio = mbps / total_mbps
    most = float(str(table.filter(pl.col("interface") == busiest["interface"])["out_mbps"].max()))
    said = f"{percent(ratio)}; at most {number(most / 1e3)} Gb/s of octets"
    holds = abs(ratio - 1) <= 0.01
    return Check.judged(claim, published_as, said, limit, holds=holds)
