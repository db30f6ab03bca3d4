"""`tailback run`."""

from pathlib import Path

import click

from tailback.cli.options import scenario_argument, scenario_from, set_option


@click.command("run")
@scenario_argument
@set_option
@click.option(
    "-o",
    "--out",
    "--output",
    "out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder to write; must not exist. By default results/NAME, or the next free NAME-2 ….",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs at a time; by default one per CPU core. Does not change the results.",
)
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1, max=255),
    default=1,
    metavar="N",
    help="Threads for each run that can be cut into parts. Does not change the results.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Replaces the seed.")
@click.option(
    "--backend",
    type=click.Choice(["sim", "kernel", "namespaces", "hosts"]),
    default="sim",
    show_default=True,
    help="What makes the runs: sim = the simulator; kernel = all hosts are real Linux kernels in "
    "virtual time; namespaces = network namespaces of this machine, in real time (as root); "
    "hosts = machines of your own, by SSH, in real time.",
)
@click.option(
    "--inventory",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Which machines the hosts are, for --backend hosts.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="Where the runs are spread: local = the cores of this machine; dask = the workers of a "
    "Dask cluster (--scheduler).",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="The Dask scheduler, such as tcp://10.0.0.1:8786, for --engine dask.",
)
@click.option(
    "--pcap",
    is_flag=True,
    help="Capture frames into DIR/captures, for Wireshark: those that the scenario's record.pcap "
    "names, else all.",
)
@click.option("--report", "with_report", is_flag=True, help="Write the report too.")
def command(
    scenario: str,
    overrides: tuple[str, ...],
    out: Path | None,
    jobs: int | None,
    threads: int,
    seed: int | None,
    backend: str,
    inventory: Path | None,
    engine: str,
    scheduler: str | None,
    *,
    pcap: bool,
    with_report: bool,
) -> None:
    """Run a scenario's sweep and write its results.

    Ctrl-C leaves DIR.partial with the finished runs; the same command goes on from there.
    """
    from tailback import api
    from tailback.analysis.noted import noted
    from tailback.analysis.view import View
    from tailback.cli import console
    from tailback.cli.progress import shown
    from tailback.cli.summary import print_summary
    from tailback.errors import describe

    found = scenario_from(scenario, overrides)
    if pcap and "pcap" not in found.resolved.get("record", {}):
        found = found.set("record.pcap.hosts", [])
    for warning in found.plan.warnings:
        console.err.out(f"warning: {describe(warning)}")
    whole = {run["whole"] for run in found.plan.runs} if threads > 1 else set()
    for why in sorted(why for why in whole if why is not None):
        console.err.out(f"note: runs that take one thread: {why}")
    with shown(found) as on_progress:
        results = api.run(
            found,
            out=out,
            jobs=jobs,
            threads=threads,
            seed=seed,
            backend=backend,
            inventory=inventory,
            engine=engine,
            scheduler=scheduler,
            on_progress=on_progress,
            on_note=lambda note: console.err.out(f"note: {note}"),
        )
    for note in [*results.notes, *noted(View(results))]:
        console.err.out(f"note: {note}")
    print_summary(results)
    console.out.out(f"Results: {results.path}")
    if with_report:
        from tailback.cli.report import write

        write(results.path)
