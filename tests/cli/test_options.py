"""What is the same in several commands has the same names."""

from importlib import import_module

import click
import pytest


@pytest.mark.parametrize("name", ["run", "reproduce", "report", "export", "fit"])
def test_where_to_write_has_the_same_names_everywhere(name: str) -> None:
    command: click.Command = import_module(f"tailback.cli.{name}").command
    names = {option for param in command.params for option in param.opts}
    assert {"-o", "--out", "--output"} <= names
