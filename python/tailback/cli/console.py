"""The two streams: results on stdout, progress and messages on stderr.

Rich honours NO_COLOR, and leaves colour away where the stream is no terminal.
"""

import json

from rich.console import Console
from rich.table import Table

out = Console(highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)


def print_json(value: object) -> None:
    """JSON for a program: plain, unwrapped."""
    out.out(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(table: Table) -> None:
    """A table, on a pipe as wide as it needs rather than cut to 80 columns."""
    if out.is_terminal:
        out.print(table)
    else:
        Console(highlight=False, markup=False, width=max(out.width, 200)).print(table)
