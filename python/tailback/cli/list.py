"""`tailback list`."""

import json

import click

from tailback.cli.options import json_option


@click.command("list")
@json_option
def command(*, as_json: bool) -> None:
    """Scenarios, presets and published tables that come with Tailback."""
    from tailback import _native, published
    from tailback.cli import console
    from tailback.scenario import built_in

    scenarios = [
        {
            "name": name,
            "title": scenario.resolved.get("title") or "",
            "study": scenario.resolved.get("study"),
            "runs": len(scenario.plan.runs),
        }
        for name, scenario in built_in().items()
    ]
    presets = {kind: sorted(texts) for kind, texts in json.loads(_native.presets()).items()}
    tables = [
        {"name": f"published:{n}", "source": published.load(n).source} for n in published.names()
    ]
    if as_json:
        console.print_json({"scenarios": scenarios, "presets": presets, "published": tables})
        return
    from rich.table import Table

    table = Table("scenario", "title", "study", box=None, pad_edge=False)
    table.add_column("runs", justify="right")
    for item in scenarios:
        table.add_row(*(str(value or "") for value in item.values()))
    console.print_table(table)
    console.out.print()
    table = Table("preset", "names", box=None, pad_edge=False)
    for kind, names in presets.items():
        table.add_row(kind, ", ".join(names))
    console.print_table(table)
    console.out.print()
    table = Table("published table", "source", box=None, pad_edge=False)
    for one in tables:
        table.add_row(one["name"], one["source"])
    console.print_table(table)
