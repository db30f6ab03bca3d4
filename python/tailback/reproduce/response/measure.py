"""Bottlenecks as configurations, and many of them run at a time."""

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

BUFFER_MAX = "1GiB"
"""A send buffer that no window here fills."""


@cache
def _preset(name: str) -> str:
    from tailback import _native

    return str(json.loads(_native.presets())["stack"][name])


def stack(profile: str, congestion: str, **values: object) -> dict[str, Any]:
    """Return a stack profile with this congestion control, and buffers that do not limit."""
    settings = tomllib.loads(_preset(profile))
    limits = {"tcp_wmem": ["4096B", BUFFER_MAX, BUFFER_MAX], "tcp_ecn": 1}
    return {**settings, **limits, "tcp_congestion_control": congestion, **values}


def flow(
    congestion: str,
    rtt_s: float,
    *,
    profile: str = "linux-7.2",
    start_s: float = 0.0,
    every_second: bool = False,
    **values: object,
) -> dict[str, Any]:
    """Return a flow of a bottleneck."""
    return {
        "stack": stack(profile, congestion, **values),
        "rtt_us": round(rtt_s * 1e6),
        "start_us": round(start_s * 1e6),
        "every_second": every_second,
    }


def bottleneck(flows: Sequence[dict[str, Any]], **values: object) -> dict[str, Any]:
    """Return a bottleneck's configuration: no rate, no chance, nothing measured, but `values`."""
    return {
        "flows": list(flows),
        "rate_bps": 0,
        "buffer_segments": 0,
        "mark_segments": 0,
        "chance": {"process": "none"},
        "chance_marks": False,
        "warm_up_chances": 0,
        "warm_up_us": 0,
        "measured_chances": 0,
        "measured_us": 0,
        "segments_max": 100_000_000,
        "look_us": 10_000,
        "seed": 1,
        **values,
    }


def under_loss(
    one: dict[str, Any], p: float, first: int, *, process: str = "periodic", marks: bool = False
) -> dict[str, Any]:
    """Return the configuration that shows a flow's mean window under loss, or marks.

    The first loss is where slow start has reached about the window to be expected. Periodic losses
    repeat after a few; random ones need more, but rare ones fewer than their time would cost.
    """
    every = round(1 / p)
    if process == "periodic":
        chance = {"process": "periodic", "first": first, "every": every}
        # CUBIC's plateau makes it slow to settle.
        warm_up, measured = 30 if p >= 1e-4 else 8, 8
    else:
        chance = {"process": "random", "first": first, "p": p}
        warm_up, measured = 20, max(40, min(400, round(2e7 * p)))
    return bottleneck(
        [one],
        chance=chance,
        chance_marks=marks,
        warm_up_chances=warm_up,
        measured_chances=measured,
        warm_up_us=100 * one["rtt_us"],
        measured_us=100 * one["rtt_us"],
        look_us=one["rtt_us"],
    )


def run_all(
    configs: Iterable[dict[str, Any]],
    *,
    jobs: int | None,
    on_done: Callable[[], None] = lambda: None,
) -> list[dict[str, Any]]:
    """Run bottlenecks, so many at a time; the results in the order of the configurations."""
    from tailback import _native

    def one(config: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(_native.bottleneck(json.dumps(config)))
        on_done()
        return result

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        return list(pool.map(one, configs))
