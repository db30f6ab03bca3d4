"""The report's tables."""

from collections.abc import Sequence

import polars as pl

from tailback.analysis.columns import COUNTS, MAIN, axis_label
from tailback.analysis.places import ROWS_MAX, by_port
from tailback.analysis.rates import RATES, short_of_rate
from tailback.analysis.totals import totals as totals_of
from tailback.analysis.view import GROUP, View
from tailback.analysis.words import counted, data_unit, decimals, number, percent, written
from tailback.compare.checks import Check
from tailback.compare.model import Comparison
from tailback.report.chosen import FAIRNESS
from tailback.report.page.model import Cell, Table

_SHOWN = ("completion_ms_mean", "completion_ms_p99", *RATES, *MAIN[1:], FAIRNESS, *COUNTS)


def checks(found: Sequence[Check], note: str) -> Table:
    """Return the study's claims with published value, ours, limit and verdict."""
    return Table(
        caption=note,
        heads=[Cell(h) for h in ("Claim", "Published", "This run", "Limit", "Verdict")],
        rows=[
            [
                Cell(check.claim),
                Cell(check.published),
                Cell(check.ours),
                Cell(check.limit),
                Cell(f"{check.mark} {check.verdict}", mark=check.verdict.replace(" ", "-")),
            ]
            for check in found
        ],
    )


def comparison(found: Comparison, note: str = "Relative to the published value.") -> Table:
    """Return mean absolute error, bias and worst point per group and metric."""
    grouped = any(found.groups)
    heads = [Cell("Curve")] if grouped else []
    heads += [Cell("Metric")]
    names = ("Mean abs. error", "Bias", "Worst", "Points", "Near zero, difference")
    heads += [Cell(h, number=True) for h in names]
    rows = []
    previous = None
    for error in found.errors:
        worst = percent(error.worst, signed=True)
        if error.worst_at:
            worst += f" at {error.worst_at}"
        small = error.small_difference
        words = found.label(error.metric)
        row = [Cell(error.group if error.group != previous else "")] if grouped else []
        row += [
            Cell(words.full),
            Cell(percent(error.mean_absolute_error), number=True),
            Cell(percent(error.bias, signed=True), number=True),
            Cell(worst, number=True),
            Cell(str(error.rows), number=True),
            Cell("" if small is None else number(small / words.per_unit), number=True),
        ]
        rows.append(row)
        previous = error.group
    return Table(
        caption=f"{note} Over the points of each curve; points where the reference is zero, or a "
        "count below 1, are held against it by difference.",
        heads=heads,
        rows=rows,
    )


def totals(view: View) -> Table:
    """Return total data, duration and goodput per group, as the study's tool closes."""
    found = totals_of(view)
    named = any(found)
    unit, power = data_unit(min(t.data_bytes for t in found.values() if t.data_bytes))
    places = decimals(max(t.goodput_mbps for t in found.values()), 1)
    heads = [Cell("Curve")] if named else []
    heads += [
        Cell(f"Total data ({unit})", number=True),
        Cell("Total duration (s)", number=True),
    ]
    rates = [] if view.until_last else [Cell("Goodput (Mb/s)", number=True)]
    rows = [
        [
            *([Cell(group)] if named else []),
            Cell(f"{total.data_bytes / 10**power:,.3f}", number=True),
            Cell(f"{total.duration_s:,.3f}", number=True),
            *(Cell(f"{total.goodput_mbps:,.{places}f}", number=True) for _ in rates),
        ]
        for group, total in found.items()
    ]
    heads += rates
    return Table(heads=heads, rows=rows, caption=f"{unit} is 10^{power} bytes, Mb/s 10^6 bit/s.")


def ports(view: View) -> Table | None:
    """Return every place and cause of losses by itself, over all runs; `None` without losses."""
    found = by_port(view)
    if found is None:
        return None
    shown = found.head(ROWS_MAX)
    known = shown.get_column("towards").is_not_null().any()
    heads = [Cell("Place"), *([Cell("Towards")] if known else []), Cell("Cause")]
    heads += [Cell(h, number=True) for h in ("Frames", "With data", "Payload (MB)", "Runs")]
    rows = [
        [
            Cell(row["place"]),
            *([Cell(row["towards"] or "")] if known else []),
            Cell(row["cause"]),
            Cell(f"{row['frames']:,}", number=True),
            Cell(f"{row['data_frames']:,}", number=True),
            Cell(f"{row['payload_bytes'] / 1e6:,.2f}", number=True),
            Cell(f"{row['runs']:,}", number=True),
        ]
        for row in shown.iter_rows(named=True)
    ]
    left = found.height - shown.height
    more = f" The table drops has {counted(left, 'more place')}." if left else ""
    caption = f"Sums over all runs and repetitions. A switch's port is switch:number.{more}"
    return Table(caption=caption, heads=heads, rows=rows)


def programs(view: View) -> Table | None:
    """Return what programs of the user's took and said; `None` where there were none."""
    found = view.optional("programs")
    if found.is_empty():
        return None
    axes = view.axes.varying
    heads = [Cell(axis_label(a.name), number=a.kind == "numeric") for a in axes]
    heads += [Cell("Host"), Cell("Program"), Cell("Took (s)", number=True), Cell("Output")]
    rows = [
        [
            *(Cell(written(row[a.name]), number=a.kind == "numeric") for a in axes),
            Cell(row["host"]),
            Cell(row["command"]),
            Cell(f"{row['end_s'] - row['start_s']:,.3f}", number=True),
            Cell(_begins(row["output"])),
        ]
        for row in found.head(ROWS_MAX).iter_rows(named=True)
    ]
    more = f" {found.height - len(rows)} more are there." if found.height > len(rows) else ""
    caption = f"All that had to end ended with 0. The table programs has all output.{more}"
    return Table(caption=caption, heads=heads, rows=rows)


def _begins(output: str, most: int = 160) -> str:
    """The first words of what a program said."""
    words = " ".join(output.split())
    return words if len(words) <= most else f"{words[:most]} …"


def points(view: View) -> Table:
    """Return every point of the sweep with its metrics."""
    axes = view.axes.varying
    known = (m for m in _SHOWN if view.known(m) and (m not in COUNTS or view.has(m)))
    metrics = [m for m in known if not (view.timed and m.startswith("completion_ms"))]
    if short_of_rate(view) is None:
        metrics = [m for m in metrics if m not in RATES]
    columns = {m: _column(view.points.get_column(m) / view.label(m).per_unit) for m in metrics}
    heads = [Cell(axis_label(a.name), number=a.kind == "numeric") for a in axes]
    heads += [Cell(view.label(m).full, number=True) for m in metrics]
    rows = []
    for i, row in enumerate(view.points.drop(GROUP).iter_rows(named=True)):
        cells = [Cell(written(row[a.name]), number=a.kind == "numeric") for a in axes]
        rows.append(cells + [Cell(columns[m][i], number=True) for m in metrics])
    return Table(heads=heads, rows=rows)


def _column(values: pl.Series) -> list[str]:
    """Numbers of one column with as many decimals each as the greatest needs."""
    known = [abs(float(v)) for v in values if v is not None]
    greatest = max(known, default=0.0)
    decimals = 1 if greatest >= 100 else 2 if greatest >= 1 else 3
    return ["" if v is None else f"{v:,.{decimals}f}" for v in values]
