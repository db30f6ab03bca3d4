"""Cases, and where two traces part."""

from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from tailback.capture import read_capture
from tailback.errors import InputError
from tailback.parity import CASES, Case, Trace, drawn, drawn_wide, first_difference, parity
from tailback.parity.study import compared, scenario_of


def segment(
    ms: float, end: str, seq: int, ack: int, payload: int, **more: object
) -> dict[str, object]:
    plain = {"flags": ".", "window": 500, "sack": "", "ecn": "", "ecn_counters": ""}
    own = {"time_ns": round(ms * 1e6), "from": end, "seq": seq, "ack": ack}
    return {**own, "payload_bytes": payload, **plain, **more}


def trace(name: str, *rows: dict[str, object]) -> Trace:
    return Trace(name, pl.DataFrame(list(rows)))


DATA = segment(10.0, "client", 1, 1, 1448)
MORE = segment(10.1, "client", 1449, 1, 1448)
ACK = segment(15.0, "server", 1, 2897, 0)


def test_like_traces_have_no_difference() -> None:
    a = trace("a", DATA, MORE, ACK)
    b = trace("b", DATA, {**MORE, "time_ns": MORE["time_ns"] + 400_000}, ACK)  # type: ignore[operator]
    assert first_difference(a, b, 1_000_000) is None


def test_the_first_difference_is_named_with_its_fields() -> None:
    a = trace("a", DATA, MORE, ACK)
    other = {**ACK, "ack": 1449, "sack": "2897:4345"}
    found = first_difference(a, trace("b", DATA, MORE, other), 1_000_000)
    assert found is not None
    assert (found.row, found.fields) == (2, ("ack", "sack"))
    late = first_difference(a, trace("b", DATA, {**MORE, "time_ns": 13_000_000}, ACK), 1_000_000)
    assert late is not None
    assert (late.row, late.fields, late.apart_ns) == (1, ("time",), -2_900_000)
    # What follows a late segment as soon as before is not late itself, and long waits are coarse.
    later = segment(16.2, "server", 1, 2897, 0)
    assert first_difference(trace("a", MORE, ACK), trace("b", MORE, later), 2_000_000) is None
    timer = [segment(ms, "client", 1449, 1, 1448) for ms in (500, 540)]
    assert (
        first_difference(trace("a", DATA, timer[0]), trace("b", DATA, timer[1]), 1_000_000) is None
    )
    short = first_difference(a, trace("b", DATA, MORE), 1_000_000)
    assert short is not None
    assert short.fields == ("length",)


def test_only_the_modelled_end_is_held_against_the_kernel() -> None:
    real = trace("real", DATA, MORE, ACK)
    ours = trace("ours", DATA, MORE, {**ACK, "window": 7})
    assert compared(CASES[0], "client", real, ours).holds
    found = compared(CASES[0], "server", real, ours)
    assert (found.alike, found.segments, found.verdict) == (0, 1, "segment 1: window")
    assert [here for _, _, here in found.lines] == [False, False, True]
    assert "2897" in found.lines[2][0]


@pytest.mark.parametrize(
    "case",
    [*CASES, *(lot(number) for lot in (drawn, drawn_wide) for number in range(1, 41))],
    ids=lambda case: case.name,
)
def test_every_case_is_a_good_scenario(case: Case) -> None:
    scenario = scenario_of(case, ("model", "kernel"))
    assert [p for p in scenario.check() if p["severity"] == "error"] == []
    kinds = [host["kind"] for host in scenario.resolved["network"]["host"]]
    assert kinds == ["model", "kernel"]


def test_what_is_drawn_by_lot_hangs_on_its_number_alone() -> None:
    for lot in (drawn, drawn_wide):
        assert lot(17) == lot(17)
        scripts = [str(lot(number).script) for number in range(1, 41)]
        assert len(set(scripts)) > 20
    # What is written of their results hangs on it.
    first = [drawn(number) for number in range(1, 501)]
    told = "|".join(repr((c.actions, c.script, c.delay, c.settings)) for c in first)
    assert sha256(told.encode()).hexdigest().startswith("187ce008d4ea270e")
    with pytest.raises(InputError, match="no case drawn-0"):
        parity(["drawn-0"])


def test_an_unknown_case_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no case x; there are slow-start"):
        parity(["x"])


# Those drawn by lot each parted from the kernel before something was mended.
_EARLY = (2, 29, 33, 36, 46, 61, 65, 73, 91, 105, 115, 116, 157, 158, 177, 180)
_NUMBERS = (*_EARLY, 271, 329, 347, 423, 461)
_DRAWN = [f"drawn-{number}" for number in _NUMBERS]
_WIDE = [f"wide-{number}" for number in (7, 48, 65, 78, 80, 115, 139, 147, 165, 200)]


@pytest.mark.parametrize(
    "name", ["slow-start", "one-loss", "lost-tail", "rto", "ecn", *_DRAWN, *_WIDE]
)
def test_modelled_ends_are_like_the_kernel(name: str, tmp_path: Path) -> None:
    """A fixed part of `tailback reproduce tcp-parity`; where they part it says."""
    for result in parity([name], folder=tmp_path).results:
        assert result.segments > 10
        assert result.holds, f"{result.modelled}: {result.verdict}"


def test_settings_are_laid_over_all_cases(tmp_path: Path) -> None:
    found = parity(["one-loss"], settings=["stack.tcp_sack=false"], folder=tmp_path)
    assert found.holds, found.verdict
    captures = list((tmp_path / "one-loss-kernel-kernel").rglob("*.pcap*"))
    sack = pl.concat([read_capture(path).select("sack") for path in captures])["sack"]
    assert sack.len() > 100
    assert not any(sack)
