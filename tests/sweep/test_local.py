"""The local engine: what it tells, and what ten thousand runs cost it."""

import threading
import time

import pytest

import tailback
from helpers import FakeBackend
from tailback._native import Control, Plan
from tailback.errors import SimulationError
from tailback.sweep import local
from tailback.sweep.progress import Progress


class Short(FakeBackend):
    """Makes runs of a millisecond that take no processor."""

    def run(self, _plan: Plan, _index: int, _control: Control) -> dict[str, object]:  # type: ignore[override]
        time.sleep(0.001)
        return {}


def cost_s(runs: int) -> float:
    """CPU seconds that the thread which waits for so many runs takes."""
    plan = tailback.load("two-senders").override("sweep={}", f"run.repetitions={runs}").plan
    saved: list[int] = []
    before_s = time.thread_time()
    local.execute(
        plan,
        Short(),
        save=lambda index, _tables: saved.append(index),
        jobs=4,
        on_progress=lambda _progress: None,
    )
    cpu_s = time.thread_time() - before_s
    assert sorted(saved) == list(range(runs))
    return cpu_s


def test_a_run_among_thousands_costs_what_one_among_hundreds_does() -> None:
    # Where all were looked at whenever one ended, 16 times as many cost 256 times as much.
    few_s, many_s = (min(cost_s(runs) for _ in range(3)) for runs in (500, 8000))
    assert many_s < 64 * few_s


def test_progress_begins_with_what_was_finished_and_ends_with_all(
    small: tailback.Scenario,
) -> None:
    seen: list[Progress] = []
    backend = FakeBackend(fail={1: SimulationError("bytes are missing")})
    threads = set()
    failures = local.execute(
        small.plan,
        backend,
        save=lambda _index, _tables: threads.add(threading.current_thread()),
        jobs=2,
        finished=[3],
        on_progress=seen.append,
    )
    assert list(failures) == [1]
    work = [run["work"] for run in small.plan.runs]
    assert seen[0] == Progress(1, 4, pytest.approx(work[3] / sum(work)))
    assert seen[-1] == Progress(4, 4, 1.0)
    assert sorted(backend.made) == [0, 2]
    assert threading.main_thread() not in threads
