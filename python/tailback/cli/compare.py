"""`tailback compare`."""

import click

from tailback.cli.options import json_option


@click.command("compare")
@click.argument("a", metavar="DIR")
@click.argument("b", metavar="DIR|published:NAME")
@json_option
def command(a: str, b: str, *, as_json: bool) -> None:
    """Two results folders, or one and a published table, beside each other.

    Errors are relative to the second, per metric and curve.
    """
    from tailback.cli import console
    from tailback.compare import compare

    found = compare(a, b)
    if as_json:
        console.print_json(found.to_dict())
        return
    from tailback.compare.terminal import print_comparison

    print_comparison(found, console.out)
