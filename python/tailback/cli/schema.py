"""`tailback schema`."""

import click


@click.command("schema")
def command() -> None:
    """The JSON Schema of scenario files, for editors and other programs."""
    from tailback import _native

    click.echo(_native.schema().rstrip())
