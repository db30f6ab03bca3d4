"""Published tables, in the project's own column names.

Each table is declared in one file of this package: where it comes from, which scenario it
belongs to, and how its columns map to ours. The data are the CSV files of the project's
`published/` folder; they ship with the package.
"""

from tailback.published.ecn_switch import ECN_IPERF3
from tailback.published.incast import INCAST_8MB
from tailback.published.node_pairs import NODE_PAIRS_30MIN
from tailback.published.table import PublishedTable, UnknownTableError

TABLES: tuple[PublishedTable, ...] = (INCAST_8MB, ECN_IPERF3, NODE_PAIRS_30MIN)


def names() -> list[str]:
    """Names of all published tables, as `published:NAME` takes them."""
    return [table.name for table in TABLES]


def load(name: str) -> PublishedTable:
    """Return the table called `name`, in any case, with or without the prefix `published:`.

    Raises:
        UnknownTableError: no table has this name; the message lists those there are.
    """
    wanted = name.removeprefix("published:").lower()
    for table in TABLES:
        if table.name.lower() == wanted:
            return table
    raise UnknownTableError(wanted, names())


def for_scenario(name: str) -> PublishedTable | None:
    """Return the table that the scenario called `name` predicts, if one was published."""
    return next((table for table in TABLES if table.scenario == name), None)


__all__ = [
    "TABLES",
    "PublishedTable",
    "UnknownTableError",
    "for_scenario",
    "load",
    "names",
]
