"""What the page says of the scenario."""

import json

from tailback.report.page.facts import resolved


def test_a_scenario_stands_there_whole() -> None:
    scenario = {"name": "x", "sweep": {"servers": list(range(1, 24))}, "description": "d" * 1900}
    assert json.loads(resolved(scenario)) == scenario


def test_of_what_is_very_long_the_beginning_stands_there() -> None:
    times = " ".join(map(str, range(20_000)))
    trace = {"times_ms": times, "steps": [{"from": f"{n}s"} for n in range(1000)]}
    told = json.loads(resolved({"trace": {"cell": trace}}))["trace"]["cell"]
    assert told["times_ms"].startswith("0 1 2 3 4 ")
    assert told["times_ms"].endswith(f" … ({len(times):,} characters, all in manifest.json)")
    assert len(told["times_ms"]) < 1100
    assert told["steps"][199:] == [{"from": "199s"}, "… (1,000 in all, in manifest.json)"]
