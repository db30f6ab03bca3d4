"""Where scenarios differ, and what is still the built-in one."""

import pytest

from tailback.analysis.differences import departures, differences, share
from tailback.scenario import load


def set_on(name: str, *overrides: str) -> list[str]:
    return departures(load(name).override(*overrides).resolved)


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("sweep.servers=[2, 9]", "workload.iterations=20", 'sweep.switch=["arista-7124s"]'),
        ("run.seed=7", "run.repetitions=3", "record.anatomy_iteration=1"),
        ('title="Another"', 'description="Of another"'),
    ],
)
def test_how_much_of_it_is_run_makes_no_other_scenario(overrides: tuple[str, ...]) -> None:
    assert not set_on("incast-8mb", *overrides)


def test_what_is_another_is_named() -> None:
    assert set_on("incast-8mb", "workload.size=1MB", "stack.preset=linux-7.2") == [
        "stack.preset",
        "workload.size",
    ]
    assert set_on("incast-8mb", "stack.rto_min=10ms") == ["stack.rto_min"]
    assert set_on("incast-rto", "sweep.servers=[2, 7]") == ["sweep.servers"]
    assert set_on("incast-8mb", "sweep.request=['64B', '1KB']") == ["sweep.request"]
    assert set_on("lambda-udp", "network.link.0.rate=1Gbit") == ["network.link.0.rate"]


def test_a_scenario_of_one_s_own_is_none_that_is_built_in() -> None:
    own = load("incast-8mb").override("name=mine", "workload.size=1MB").resolved
    assert departures(own) == []
    assert share(own) == []


def test_fewer_iterations_and_points_are_counted() -> None:
    few = load("incast-8mb").override("sweep.servers=[2, 9, 23]", "workload.iterations=20")
    assert share(few.resolved) == ["20 of 1,000 iterations", "6 of 46 points"]
    assert share(load("incast-8mb").override("workload.iterations=2000").resolved) == []


def test_two_scenarios_differ_both_ways_alike() -> None:
    a = load("incast-8mb")
    b = a.override("sweep.servers=[2, 9]", "workload.iterations=20", "run.seed=2")
    expected = ["workload.iterations", "run.seed"]
    assert differences(a.resolved, b.resolved) == expected
    assert differences(b.resolved, a.resolved) == expected
