"""`tailback show`."""

import json

import click

from tailback.cli.options import json_option, scenario_from, set_option


@click.command("show")
@click.argument("name", metavar="NAME|FILE")
@set_option
@click.option("--resolved", is_flag=True, help="The scenario as resolved, all presets filled in.")
@json_option
def command(name: str, overrides: tuple[str, ...], *, resolved: bool, as_json: bool) -> None:
    """A scenario or preset: its file, or the scenario as resolved.

    A client-side .dat file is shown as the scenario it is imported as.
    """
    from tailback.cli import console

    presets = _presets()
    if text := _preset(name, presets):
        if overrides or resolved:
            raise click.UsageError(f"{name} is a preset: --set and --resolved are for scenarios")
        if as_json:
            console.print_json({"name": name, "text": text})
        else:
            console.out.out(text.rstrip())
        return
    named = [preset for of_kind in presets.values() for preset in of_kind]
    scenario = scenario_from(name, overrides, named)
    if as_json:
        console.print_json(
            {
                "name": scenario.name,
                "text": scenario.text,
                "overrides": scenario.overrides,
                "resolved": scenario.resolved,
                "hash": scenario.plan.hash,
                "runs": scenario.plan.runs,
            }
        )
    elif resolved or overrides:
        console.print_json(scenario.resolved)
    else:
        console.out.out(scenario.text.rstrip())


def _presets() -> dict[str, dict[str, str]]:
    from tailback import _native

    presets: dict[str, dict[str, str]] = json.loads(_native.presets())
    return presets


def _preset(name: str, presets: dict[str, dict[str, str]]) -> str | None:
    found = {k: t[name] for k, t in presets.items() if name in t}
    if len(found) > 1:
        return "\n".join(f"# The {kind} preset {name}\n\n{text}" for kind, text in found.items())
    return next(iter(found.values()), None)
