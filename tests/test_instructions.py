"""No hop and no segment costs more instructions than benches/instructions.json says."""

import json

import pytest

import instructions

RISE_MAX = 1.03


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, float]]:
    """Return the recorded counts, if they are of this compiler."""
    record = json.loads(instructions.RECORD.read_text(encoding="utf-8"))
    if record["compiler"] != instructions.compiler():
        pytest.skip(f"the counts are of {record['compiler']}")
    instructions.build()
    return {key: value for key, value in record.items() if key != "compiler"}


Recorded = dict[str, dict[str, float]]


@pytest.mark.parametrize("name", instructions.LENGTHS)
def test_a_hop_costs_no_more_instructions(name: str, recorded: Recorded) -> None:
    """A rise of more than 3 % needs `make bench-record` in the same commit."""
    before, measured = recorded["instructions_per_hop"][name], instructions.per_hop(name)
    assert measured <= RISE_MAX * before, f"{name}: {measured}, recorded {before}"


@pytest.mark.parametrize("name", [ends.name for ends in instructions.ALONE])
def test_a_segment_costs_no_more_instructions(name: str, recorded: Recorded) -> None:
    """TCP alone does not fall as features come in."""
    before, measured = recorded["instructions_per_segment"][name], instructions.per_segment(name)
    assert measured <= RISE_MAX * before, f"{name}: {measured}, recorded {before}"
