"""Parameters as the command line writes them."""

import pytest

import tailback
from fit.laws import LATENCY, SHARED, scenario
from tailback.errors import ScenarioError
from tailback.fit.parameter import parameters


def reasons(*texts: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        parameters(texts, scenario())
    return [f"{p['source']}: {p['path']}: {p['reason']}" for p in caught.value.problems]


def test_values_are_quantities_within_the_bounds_on_a_fine_grid() -> None:
    (shared,) = parameters([f"{SHARED}=900KB..1400KB"], scenario())
    assert [shared.value(at) for at in (-1.0, 0.0, 0.5, 0.12345, 1.0, 7.0)] == [
        '"900KB"',
        '"900KB"',
        '"1150KB"',
        '"961.7KB"',
        '"1400KB"',
        '"1400KB"',
    ]
    assert shared.position('"1150KB"') == 0.5
    assert shared.range == "900KB..1400KB"


def test_a_grid_is_no_finer_than_the_value_may_be() -> None:
    (bytes_,) = parameters([f"{SHARED}=512B..1024B"], scenario())
    assert bytes_.value(0.3333) == '"683B"'
    (whole,) = parameters(["host.rx_ring_descriptors=64..512"], scenario())
    assert whole.value(0.3333) == "213"
    (speed,) = parameters(["preset.switch.cisco-nexus-5010.buffer.speedup=1..2"], _nexus())
    assert speed.value(0.3333) == "1.333"


def _nexus() -> tailback.Scenario:
    return scenario().override('sweep.switch=["cisco-nexus-5010"]')


def test_wide_ranges_are_logarithmic_unless_told_otherwise() -> None:
    wide, linear, narrow = parameters(
        ["stack.rto_min=1ms..100ms", f"{LATENCY}=10ns..1000ns:linear", f"{SHARED}=1MB..2MB:log"],
        scenario(),
    )
    assert (wide.scale, linear.scale, narrow.scale) == ("log", "linear", "log")
    assert wide.value(0.5) == '"10ms"'
    assert linear.value(0.5) == '"505ns"'
    assert narrow.value(0.5) == '"1.4142MB"'
    assert wide.position('"10ms"') == pytest.approx(0.5)


def test_says_where_a_value_stands_and_what_it_is_before() -> None:
    found = parameters(["rto_min=1ms..15ms", f"{LATENCY}=500ns..900ns"], scenario())
    assert [p.steps(scenario()) for p in found] == [
        ("stack", "rto_min"),
        ("preset", "switch", "arista-7124s", "latency"),
    ]
    assert [p.current(scenario()) for p in found] == ['"200ms"', '"600ns"']


def test_names_everything_that_is_wrong() -> None:
    found = reasons(
        "preset.switch.arista-7124s.buffer.shard=1KB..2KB",
        f"{LATENCY}=900ns..500ns",
        f"{SHARED}=1ms..2ms",
        "stack.rto_min=1ms..100us",
        "host.tx_queue_packets=0..10:log",
        "nonsense",
        "stack.hz=a..b",
        "preset.switch.cisco-nexus-5010.latency=1us..2us",
    )
    for part in (
        "buffer.shard=1KB..2KB: preset.switch.arista-7124s.buffer.shard",
        f"--param {LATENCY}=900ns..500ns: {LATENCY}: the low bound is not below the high one",
        f"--param {SHARED}=1ms..2ms: {SHARED}",
        "--param stack.rto_min=1ms..100us: stack.rto_min: the bounds have different units",
        "a logarithmic range begins above 0",
        "--param nonsense: nonsense: is not PATH=LOW..HIGH",
        "--param stack.hz=a..b: stack.hz: 'a' is not a number with a unit",
        "preset.switch.cisco-nexus-5010.latency: changes nothing in this scenario",
    ):
        assert any(part in reason for reason in found), (part, found)


def test_a_parameter_is_given_once() -> None:
    assert "is given twice" in reasons(f"{SHARED}=1MB..2MB", f"{SHARED}=2MB..3MB")[0]
    assert "no parameter is given" in reasons()[0]
