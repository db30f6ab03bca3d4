"""A comparison and its checks as tables in a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tailback.analysis.words import counted, number, percent
from tailback.compare.checks import Check
from tailback.compare.model import Comparison

_PIPE_WIDTH = 200


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print one line per group and metric, then how many points one side lacks, and what differs.

    Into a pipe or file as wide as it needs to be; in a narrow terminal groups stand above their
    metrics.
    """
    if not console.is_terminal:
        console = Console(file=console.file, width=max(console.width, _PIPE_WIDTH))
    table = comparison_table(comparison)
    unbound = console.options.update(max_width=_PIPE_WIDTH)
    if Measurement.get(console, unbound, table).maximum > console.width:
        table = comparison_table(comparison, narrow=True)
    console.print(table)
    for count, name in ((comparison.only_a, comparison.a), (comparison.only_b, comparison.b)):
        if count:
            words = f"{counted(count, 'point')} {'is' if count == 1 else 'are'} in {name} only."
            console.print(words, highlight=False, markup=False)
    if comparison.unlike:
        console.print(comparison.unlike, highlight=False, markup=False)


def comparison_table(comparison: Comparison, *, narrow: bool = False) -> Table:
    """Return mean absolute error, bias and worst point per group and metric."""
    table = Table(
        title=Text(f"{comparison.a} against {comparison.b}"),
        title_justify="left",
        box=box.SIMPLE_HEAD if narrow else box.HEAVY_HEAD,
        padding=(0, 1, 0, 0) if narrow else (0, 1),
    )
    grouped = any(comparison.groups)
    if grouped and not narrow:
        table.add_column("Group")
    table.add_column("Metric", min_width=22 if narrow else None)
    judged = any(error.judged for error in comparison.errors)
    heads = ["Mean abs. error", "Bias", "Worst", "Points", "Near zero: difference"]
    for head in [*heads, *(["Beyond chance"] if judged else [])]:
        most = (12 if head == "Worst" else 10) if narrow else None
        table.add_column(head, justify="right", max_width=most)
    for group in comparison.groups:
        errors = [error for error in comparison.errors if error.group == group]
        if grouped and narrow:
            table.add_row(Text(group, style="bold"))
        for error in errors:
            worst = percent(error.worst, signed=True)
            small = error.small_difference
            words = comparison.label(error.metric)
            table.add_row(
                *([Text(group if error is errors[0] else "")] if grouped and not narrow else []),
                words.full,
                percent(error.mean_absolute_error),
                percent(error.bias, signed=True),
                Text(f"{worst} at {error.worst_at}" if error.worst_at else worst),
                str(error.rows),
                "" if small is None else number(small / words.per_unit),
                *([f"{error.beyond_chance} of {error.judged}"] if judged else []),
                end_section=error is errors[-1],
            )
    return table


def checks_table(checks: Sequence[Check]) -> Table:
    """Return one line per claim: published, ours, its limit, whether it is within."""
    table = Table(title="Against what was published", title_justify="left")
    for head in ("Claim", "Published", "This run", "Limit", "Verdict"):
        table.add_column(head)
    for check in checks:
        style = {"within": "green", "outside": "red"}.get(check.verdict, "dim")
        words = (check.claim, check.published, check.ours, check.limit)
        table.add_row(*map(Text, words), Text(f"{check.mark} {check.verdict}", style=style))
    return table
