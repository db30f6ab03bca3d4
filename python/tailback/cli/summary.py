"""What `tailback run` prints at the end: a row per run, and the totals."""

import polars as pl
from rich.table import Table

from tailback.analysis.columns import COUNTS
from tailback.analysis.rates import RATES, short_of_rate
from tailback.analysis.view import View
from tailback.analysis.words import counted, data_unit, decimals, written
from tailback.cli import console
from tailback.results import Results

_SHOWN = {
    "completion_ms_mean": ("completion\nms", 2),
    "flows": ("flows\n", 0),
    "slowdown_median": ("slowdown\nmedian", 2),
    "slowdown_p99": ("slowdown\np99", 1),
    "query_ms_median": ("query\nms", 3),
    "query_ms_p99": ("query\np99 ms", 3),
    "latency_us_mean": ("latency\nus", 1),
    "latency_us_p99": ("latency\np99 us", 1),
    "requests_per_s": ("requests\nper s", 0),
    "asked_mbps": ("asked\nMb/s", 1),
    "sent_mbps": ("sent\nMb/s", 1),
    "goodput_mbps_mean": ("goodput\nMb/s", 1),
    "bandwidth_gbps_mean": ("bandwidth\nGb/s", 2),
    "jain_index": ("Jain's\nindex", 3),
    "utilisation": ("utili-\nsation", 3),
    "ping_ms_mean": ("ping\nms", 3),
    "loss_percent": ("lost\n%", 2),
    "delay_us_mean": ("delay\nus", 1),
    "delay_us_p99": ("delay\np99 us", 1),
    "pings_lost": ("pings\nlost", 0),
    "queue_bytes_mean": ("mean queue\nkB", 1),
    "switch_drops": ("switch\ndrops", 0),
    "retransmissions": ("retrans-\nmissions", 0),
    "switch_drops_mean": ("switch\ndrops", 1),
    "host_drops_mean": ("host\ndrops", 1),
    "link_losses_mean": ("lost on\nlinks", 1),
    "retransmissions_mean": ("retrans-\nmissions", 1),
    "timeouts_mean": ("timeouts\n", 2),
}
"""Column of the summary → heading, decimals: of measures more where the greatest needs them."""
_ROWS_MAX = 200
"""Runs whose rows are printed: drawing one takes as long as making a small run."""
_WHERE_SEEN = {"link_losses_mean"}
"""Columns that are there if any run has something of it."""


def print_summary(results: Results) -> None:
    """The table, means per iteration; then total data, total duration and goodput."""
    summary = results.summary
    table = Table()
    keys = [*results.parameters, *(["repetition"] if _repeated(summary) else [])]
    for key in keys:
        number = summary.schema[key].is_numeric()
        table.add_column(key, justify="right" if number else "left", overflow="fold")
    view = View(results)
    metrics = [name for name in _SHOWN if name in summary.columns and view.known(name)]
    metrics = [name for name in metrics if name not in _WHERE_SEEN or view.has(name)]
    if short_of_rate(view) is None:
        metrics = [name for name in metrics if name not in RATES]
    if view.timed:
        metrics = [name for name in metrics if name != "completion_ms_mean"]
    if not view.until_last:
        metrics = [name for name in metrics if name != "flows"]
    for name in metrics:
        # Slow rates are in Mb/s wherever they are told.
        slow = view.label(name).unit == "Mb/s"
        heading = _SHOWN[name][0].replace("Gb/s", "Mb/s") if slow else _SHOWN[name][0]
        table.add_column(heading, justify="right", no_wrap=True)
    per_unit = {name: view.label(name).per_unit for name in metrics}
    told = summary.with_columns(pl.col(name) / per_unit[name] for name in metrics)
    places = {name: _decimals(told, name) for name in metrics}
    group = None
    for row in told.head(_ROWS_MAX).iter_rows(named=True):
        first = row[keys[0]] if len(keys) > 1 else None
        if group is not None and first != group:
            table.add_section()
        group = first
        table.add_row(
            *(written(row[key]) for key in keys),
            *(_figure(row[name], places[name]) for name in metrics),
        )
    console.out.out(results.manifest["title"])
    console.print_table(table)
    if (left := summary.height - _ROWS_MAX) > 0:
        console.out.out(f"and {counted(left, 'run')} more: tailback export {results.path}")
    if view.programs:
        return  # what they transferred they say themselves
    totals = results.totals
    unit, power = data_unit(totals.data_bytes)
    mbps = totals.goodput_mbps
    console.out.out(
        f"Total data      {totals.data_bytes / 10**power:,.3f} {unit}\n"
        f"Total duration  {totals.duration_s:,.3f} s"
    )
    if not view.until_last:
        console.out.out(f"Goodput         {mbps:,.{decimals(mbps, 1)}f} Mb/s")


def _decimals(summary: pl.DataFrame, metric: str) -> int:
    """How many decimals a column has; counts have the same everywhere."""
    least = _SHOWN[metric][1]
    greatest = float(str(summary.get_column(metric).abs().max()))
    return least if metric in COUNTS or least == 0 else decimals(greatest, least)


def _figure(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:,.{places}f}"


def _repeated(summary: pl.DataFrame) -> bool:
    return summary["repetition"].n_unique() > 1
