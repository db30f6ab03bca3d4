"""Queue disciplines against a kernel's."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tailback.errors import InputError
from tailback.parity import QUEUE_CASES, drawn_queue, queue_parity
from tailback.parity.queues import QueueCase, held_against

FIFO = QueueCase("fifo", "pfifo", {"kind": "codel"}, ())


def row(at_us: int, left_us: int | None, ecn: tuple[int, int] = (0, 0)) -> list[Any]:
    left = None if left_us is None else [left_us * 1000, ecn[1]]
    return [at_us * 1000, 0, 1514, ecn[0], left]


def test_what_leaves_in_its_order_is_alike() -> None:
    found = held_against(FIFO, [row(0, 10), row(5, 130), row(300, 300)])
    assert (found.alike, found.difference, found.holds) == (3, None, True)


def test_a_decision_that_the_model_does_not_make_is_a_difference() -> None:
    dropped = held_against(FIFO, [row(0, 10), row(5, None), row(6, 130), row(300, 300)])
    assert (dropped.alike, dropped.dropped, dropped.holds) == (3, 1, False)
    assert dropped.difference is not None
    marked = held_against(FIFO, [row(0, 10, (2, 3)), row(300, 300)])
    assert (marked.alike, marked.marked, marked.holds) == (0, 1, False)


def test_what_is_drawn_is_to_be_as_frequent_as_the_models() -> None:
    pie = QueueCase("pie", "pie", {"kind": "pie"}, (), draws=1000)
    # No model of PIE drops what meets no delay.
    found = held_against(pie, [row(0, 10), row(5, None), row(300, 300)])
    assert not found.holds


def test_what_is_drawn_by_lot_hangs_on_its_number_alone() -> None:
    assert drawn_queue(7) == drawn_queue(7)
    assert len({str(drawn_queue(number).flows) for number in range(1, 21)}) == 20
    with pytest.raises(InputError, match="no case x"):
        queue_parity(["x"])


@pytest.mark.parametrize("case", QUEUE_CASES, ids=lambda case: case.name)
def test_every_case_is_a_good_scenario(case: QueueCase) -> None:
    assert [p for p in case.of().check() if p["severity"] == "error"] == []


@pytest.mark.parametrize(
    "name",
    [
        *("codel-ecn", "codel-threshold", "fq-codel-limit", "cobalt", "red"),
        *("cake-diffserv3", "cake-shaper-diffserv8", "cake-atm", "cake-ingress-drops"),
    ],
)
def test_disciplines_are_like_the_kernels(name: str, tmp_path: Path) -> None:
    """A fixed part of `tailback reproduce qdisc-parity`."""
    (found,) = queue_parity([name], folder=tmp_path).results
    assert found.dropped + found.marked > 50
    assert found.holds, found.difference or (found.acted, found.expected, found.deviation)


def test_a_shaper_with_another_rate_is_told_apart(tmp_path: Path) -> None:
    from tailback.parity.queues import recorded

    (case,) = (case for case in QUEUE_CASES if case.name == "cake-shaper")
    rows = recorded(case, tmp_path)
    found = held_against(replace(case, queue={**case.queue, "bandwidth": "100010Kbit"}), rows)
    assert "which the model lets go at" in (found.difference or "")


def test_a_model_with_another_target_is_told_apart(tmp_path: Path) -> None:
    from tailback.parity.queues import recorded

    (case,) = (case for case in QUEUE_CASES if case.name == "cobalt")
    rows = recorded(case, tmp_path)
    assert not held_against(replace(case, queue={**case.queue, "target": "6ms"}), rows).holds
