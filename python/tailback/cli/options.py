"""Arguments and options that several commands share, so that they read the same everywhere."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tailback.scenario import Scenario

scenario_argument = click.argument("scenario", metavar="NAME|FILE")

set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    help="Replace one value, e.g. --set workload.servers=9 or --set 'sweep.servers=[2, 9]'. "
    "The value is TOML or a bare string. Can be given several times.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def scenario_from(
    name_or_path: str, overrides: Sequence[str], others: Sequence[str] = ()
) -> "Scenario":
    """The scenario that a command's arguments name; `others` are what else they may have meant."""
    from tailback.scenario import load

    return load(name_or_path, others).override(*overrides)
