"""`tailback serve`."""

import os
from pathlib import Path

import click

TOKEN = "TAILBACK_TOKEN"  # noqa: S105 - its name, no secret


@click.command("serve")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("results"))
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on. Others than the loopback's are open to the network, unencrypted.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8470,
    show_default=True,
    help="Port to listen on; 0 is any that is free.",
)
@click.option("--open", "opens", is_flag=True, help="Open it in the browser.")
def command(folder: Path, host: str, port: int, *, opens: bool) -> None:
    """All results of a folder in a browser.

    Of `results` by default, until Ctrl-C. The list follows what is run; each sweep's report, and
    several side by side, are made when they are asked for. Nothing is written.

    The address that is printed holds a token, without which nothing is shown; TAILBACK_TOKEN in the
    environment replaces it.
    """
    import asyncio
    import signal

    from tailback.cli import console
    from tailback.serve import Server

    server = Server(folder, host=host, port=port, token=os.environ.get(TOKEN))

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        console.out.out(f"Results in {folder}: {server.address}")
        if server.is_open:
            tunnel = f"ssh -L {server.port}:127.0.0.1:{server.port} HOST"
            console.err.out(
                "Others can reach it, and what goes over the network, the token too, can be read: "
                f"`{tunnel}` and the loopback are safer."
            )
        console.err.out("Ctrl-C ends it.")
        if opens:
            click.launch(server.address)
        await server.run(stop)

    asyncio.run(run())
