"""`tailback hosts`: check."""

from pathlib import Path

import click

from tailback.cli.options import json_option


@click.group("hosts")
def command() -> None:
    """Machines of your own as hosts: check an inventory.

    `tailback run --backend hosts --inventory FILE` makes runs on them.
    """


@command.command("check")
@click.argument("inventory", type=click.Path(path_type=Path))
@json_option
def check(inventory: Path, *, as_json: bool) -> None:
    """Reach every machine of an INVENTORY and say what it is.

    The exit code is 2 if one cannot be a host, and says why.
    """
    from rich.table import Table

    from tailback.cli import console
    from tailback.hosts import check as checking

    findings = checking.check(inventory)
    if as_json:
        console.print_json([vars(finding) for finding in findings])
        return
    columns = ("host", "ssh", "address", "interface", "MTU", "Mbit/s", "Linux", "sysctls", "clock")
    table = Table(*columns, box=None, pad_edge=False)
    for one in findings:
        table.add_row(
            one.host,
            one.ssh,
            one.address,
            one.interface,
            str(one.mtu_bytes),
            str(one.speed_mbps or ""),
            one.release,
            one.sysctls,
            f"{one.clock_ahead_ms:+.2f} ms ± {one.clock_within_ms:.2f}",
        )
    console.print_table(table)
