"""No hop costs more instructions than benches/instructions.json says."""

import json

import pytest

import instructions

RISE_MAX = 1.03


@pytest.fixture(scope="module")
def recorded() -> dict[str, float]:
    """Return the recorded counts, if they are of this compiler."""
    record = json.loads(instructions.RECORD.read_text(encoding="utf-8"))
    if record["compiler"] != instructions.compiler():
        pytest.skip(f"the counts are of {record['compiler']}")
    instructions.build()
    counts: dict[str, float] = record["instructions_per_hop"]
    return counts


@pytest.mark.parametrize("name", instructions.LENGTHS)
def test_a_hop_costs_no_more_instructions(name: str, recorded: dict[str, float]) -> None:
    """A rise of more than 3 % needs `make bench-record` in the same commit."""
    measured = instructions.per_hop(name)
    assert measured <= RISE_MAX * recorded[name], f"{name}: {measured}, recorded {recorded[name]}"
