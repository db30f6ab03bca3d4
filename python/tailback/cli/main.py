"""`tailback`: finds the command, and turns errors into messages and exit codes.

Exit codes: 0 done, 1 failed runs, 2 bad input, 130 interrupted (by Ctrl-C, SIGTERM or SIGHUP).
"""

import importlib
import io
import signal
import sys
from types import FrameType
from typing import NoReturn, cast

import click

from tailback.errors import TailbackError

COMMANDS = {
    "list": "Scenarios, presets and published tables that come with Tailback.",
    "show": "A scenario or preset: its file, or the scenario as resolved.",
    "check": "All that is wrong in a scenario file.",
    "schema": "The JSON Schema of scenario files, for editors.",
    "run": "Run a scenario's sweep and write its results.",
    "report": "One HTML file with the charts of a results folder.",
    "serve": "All results of a folder in a browser.",
    "compare": "Two results folders, or one and a published table, beside each other.",
    "reproduce": "Run a published study and hold it against what was published.",
    "fit": "Search the values of parameters that predict a table best.",
    "kernel": "Real Linux kernels as hosts: build, list, check, remove.",
    "hosts": "Machines of your own as hosts: check an inventory.",
    "export": "A table of a results folder as CSV, Parquet or JSON lines.",
}
"""Name and one line of help, in the order shown; each lives in `tailback.cli.NAME`. Held here so
that `--help` need not import them."""


class LazyGroup(click.Group):
    """Imports a command's file when that command is called."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """In the order of use, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tailback.cli.{cmd_name}")
        return cast(click.Command, module.command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; of a misspelt one the nearest is named."""
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            from tailback.nearest import meant

            remedy = meant(name, COMMANDS, f"there are {', '.join(COMMANDS)}")
            ctx.fail(f"No such command '{name}'; {remedy}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:  # noqa: FBT001
    if wanted and not ctx.resilient_parsing:
        import tailback

        click.echo(f"tailback {tailback.__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """A laboratory for congestion in Ethernet networks.

    One scenario file says hosts, links, switches, TCP, workload and sweep; `tailback run` makes
    all runs of the sweep and `tailback report` shows what came out.
    """


def main() -> NoReturn:
    """Entry point of the `tailback` program."""
    for signal_number in (signal.SIGTERM, signal.SIGHUP):
        # As Ctrl-C: what a run has made is removed. One that `nohup` has switched off stays off.
        if signal.getsignal(signal_number) is signal.SIG_DFL:
            signal.signal(signal_number, _interrupted)
    sys.exit(run_command())


def _interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def run_command() -> int:
    """Run what `sys.argv` says; gives the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding does not have is a question mark there, not a failure.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = cli.main(prog_name="tailback", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except TailbackError as error:
        click.echo(f"tailback: {error}", err=True)
        return error.exit_code
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        click.echo(f"tailback: {named}{error.strerror or error}", err=True)
        return 1
    return code if isinstance(code, int) else 0
