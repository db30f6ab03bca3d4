"""A comparison and its checks as tables in a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tailback.analysis.columns import label
from tailback.analysis.words import number, percent
from tailback.compare.checks import Check
from tailback.compare.model import Comparison


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print one line per group and metric: mean absolute error, bias, worst point."""
    table = Table(title=f"{comparison.a} against {comparison.b}", title_justify="left")
    grouped = any(comparison.groups)
    if grouped:
        table.add_column("Group")
    table.add_column("Metric")
    for head in ("Mean abs. error", "Bias", "Worst", "Points", "Near zero: difference"):
        table.add_column(head, justify="right")
    for i, error in enumerate(comparison.errors):
        new = i == 0 or comparison.errors[i - 1].group != error.group
        worst = f"{percent(error.worst, signed=True)} at {error.worst_at}"
        table.add_row(
            *([error.group if new else ""] if grouped else []),
            label(error.metric).full,
            percent(error.mean_absolute_error),
            percent(error.bias, signed=True),
            worst if error.worst_at else percent(error.worst, signed=True),
            str(error.rows),
            "" if error.small_difference is None else number(error.small_difference),
            end_section=i + 1 == len(comparison.errors)
            or comparison.errors[i + 1].group != error.group,
        )
    console.print(table)
    for count, name in ((comparison.only_a, comparison.a), (comparison.only_b, comparison.b)):
        if count:
            console.print(f"{count} point(s) are in {name} only.", highlight=False)


def print_checks(checks: Sequence[Check], console: Console) -> None:
    """Print one line per claim of the study: published, ours, whether it is within its limit."""
    table = Table(title="Against what was published", title_justify="left")
    for head in ("Claim", "Published", "This run", "Limit", ""):
        table.add_column(head, justify="left")
    for check in checks:
        style = {"within": "green", "outside": "red", "not run": "dim"}[check.verdict]
        table.add_row(
            check.claim,
            check.published,
            check.ours,
            check.limit,
            f"[{style}]{check.mark} {check.verdict}[/{style}]",
        )
    console.print(table)
