"""What is known of senders on one link: DCTCP's sawtooth, Vegas' queue, BBR's phases, fairness."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tailback.reproduce.response.measure import bottleneck, flow

FRAME_BITS = 1538 * 8
"""A full frame on the wire, with MTU 1500."""
PAYLOAD_PART = 1448 / 1538

LIKE_FLOWS = [
    "reno",
    "bic",
    "cubic",
    "cubic-2.1",
    "westwood",
    "htcp",
    "highspeed",
    "hybla",
    "vegas",
    "nv",
    "scalable",
    "lp",
    "veno",
    "yeah",
    "illinois",
    "cdg",
    "bbr",
    "bbr3",
    "compound",
]
"""Congestion controls whose flows should share a link evenly among themselves."""


@dataclass(frozen=True)
class LinkCheck:
    """A quantity on a link: what it should be, and how it is read off a result.

    Attributes:
        name: what it is.
        config: the bottleneck.
        expected: what it should be, as a range.
        read: reads it off the result.
        source: where the expectation is from.
    """

    name: str
    config: dict[str, Any]
    expected: tuple[float, float]
    read: Callable[[dict[str, Any]], float]
    source: str


def bdp_segments(rate_bps: float, rtt_s: float) -> float:
    """Return the segments that a link and a round trip hold."""
    return rate_bps * rtt_s / FRAME_BITS


def jain(values: Sequence[float]) -> float:
    """Return Jain's index of fairness: one for equal shares, 1/n if one has all."""
    squares = len(values) * sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else 0.0


def _link(flows: Sequence[dict[str, Any]], rate_bps: int, **values: object) -> dict[str, Any]:
    return bottleneck(flows, rate_bps=rate_bps, **values)


def _goodputs(result: dict[str, Any]) -> list[float]:
    return [one["goodput_bps"] for one in result["flows"]]


def dctcp() -> list[LinkCheck]:
    """Return Alizadeh et al.'s sawtooth (SIGMETRICS 2011): two flows at 10 Gb/s.

    It knows no bursts, so there is no segmentation offload.
    """
    rate, rtt, threshold, flows = 10_000_000_000, 300e-6, 65, 2
    total = bdp_segments(rate, rtt) + threshold
    alpha = math.sqrt(2 * flows / total)
    amplitude = 0.5 * math.sqrt(2 * flows * total)
    config = _link(
        [flow("dctcp", rtt, start_s=0.001 * i, gso_max_segs=1) for i in range(flows)],
        rate,
        buffer_segments=4000,
        mark_segments=threshold,
        warm_up_us=1_000_000,
        measured_us=1_000_000,
        look_us=20,
    )

    def marks(result: dict[str, Any]) -> float:
        sent = sum(one["sent"] for one in result["flows"])
        return float(sum(one["marked"] for one in result["flows"]) / sent)

    source = "Alizadeh et al., SIGMETRICS 2011"
    return [
        LinkCheck("dctcp: part marked", config, (0.5 * alpha, 1.5 * alpha), marks, source),
        LinkCheck(
            "dctcp: greatest queue, segments",
            config,
            (threshold, threshold + 3 * flows + amplitude),
            lambda result: result["queue_max"],
            source,
        ),
        LinkCheck(
            "dctcp: queue's swing, segments",
            config,
            (0.5 * amplitude, 2 * amplitude),
            lambda result: result["queue_max"] - _low_queue(result),
            source,
        ),
    ]


def _low_queue(result: dict[str, Any]) -> float:
    """The queue that one look in fifty is below, without the warm-up."""
    end = result["looks"][-1]["time_s"] - result["measured_s"]
    queues = sorted(look["queue"] for look in result["looks"] if look["time_s"] > end)
    return float(queues[len(queues) // 50])


def vegas() -> list[LinkCheck]:
    """Return Vegas' queue: between alpha and beta segments of each flow, without offload."""
    checks = []
    for flows in (1, 3):
        config = _link(
            # Apart by more than a first flight, so that each finds the path empty once.
            [flow("vegas", 0.02, start_s=0.005 * i, gso_max_segs=1) for i in range(flows)],
            100_000_000,
            buffer_segments=1000,
            warm_up_us=30_000_000,
            measured_us=20_000_000,
        )
        checks.append(
            LinkCheck(
                f"vegas: queue of {flows}, segments",
                config,
                # Whole segments, rounded down there, and the one in service counts here.
                (2 * flows, 6 * flows),
                lambda result: result["queue_mean"],
                "Brakmo, Peterson 1995",
            )
        )
    return checks


def bbr() -> list[LinkCheck]:
    """Return BBR's model on a link of 100 Mb/s and 20 ms with a queue of three products."""
    rate, rtt = 100_000_000, 0.02
    product = bdp_segments(rate, rtt)
    checks = []
    for name, interval_s, low in (("bbr", 10.0, 4.0), ("bbr3", 5.0, product / 2)):
        config = _link(
            [flow(name, rtt)],
            rate,
            buffer_segments=round(3 * product),
            warm_up_us=1_000_000,
            measured_us=40_000_000,
            look_us=10_000,
        )

        def probing(result: dict[str, Any], low: float = low) -> float:
            looks = [look for look in result["looks"] if look["time_s"] > 1]
            low_looks = sum(1 for look in looks if look["cwnd"][0] <= 1.1 * low)
            return low_looks / len(looks)

        def goodput(result: dict[str, Any]) -> float:
            return float(result["flows"][0]["goodput_bps"] / (rate * PAYLOAD_PART))

        source = "Cardwell et al. 2016" if name == "bbr" else "draft-ietf-ccwg-bbr"
        part = 0.2 / interval_s
        checks += [
            LinkCheck(
                f"{name}: time in PROBE_RTT", config, (part / 2, 2.5 * part), probing, source
            ),
            LinkCheck(f"{name}: part of the rate", config, (0.93, 1.0), goodput, source),
            LinkCheck(
                f"{name}: mean queue, products",
                config,
                (0.0, 1.1),
                lambda result: result["queue_mean"] / product,
                source,
            ),
        ]
    return checks


def fairness() -> list[LinkCheck]:
    """Return Jain's index of two and of ten like flows."""
    checks = []
    for name in LIKE_FLOWS:
        profile = "linux-2.6.18" if name in ("bic", "cubic-2.1") else "linux-7.2"
        least, apart_s, source = 0.9, 0.1, "even shares"
        segments = 65_535
        if name == "vegas":
            # It is at rest with two to five segments of each flow queued, whole ones, so with
            # rates of 2 to 5: (7 / 2)^2 over 29 / 2. It holds what it finds for the empty path, so
            # all its flows must see that, and no packets of offload in the queue at once.
            least, apart_s, source = 0.84, 0.002, "shares of alpha to beta and one"
            segments = 1
        for count in (2, 10):
            config = _link(
                [
                    flow(name, 0.02, profile=profile, start_s=apart_s * i, gso_max_segs=segments)
                    for i in range(count)
                ],
                100_000_000,
                buffer_segments=round(bdp_segments(100e6, 0.02)),
                warm_up_us=20_000_000,
                measured_us=60_000_000,
            )
            checks.append(
                LinkCheck(
                    f"{name}: Jain's index of {count}",
                    config,
                    (least, 1.0),
                    lambda result: jain(_goodputs(result)),
                    source,
                )
            )
    return checks


def sharing() -> list[LinkCheck]:
    """Return RTT fairness, and CUBIC beside Reno where they should be alike.

    Ends here have no link of their own that would spread a packet of segmentation offload out, so
    there is none: whole packets in the queue at once hit flows of short round trips most.
    """
    checks = []
    # Synchronised losses: shares as the inverse square of the round trips for Reno, as the
    # inverse for CUBIC beyond Reno's region; scaled growth makes H-TCP's even.
    for name, expected in (("reno", (2.5, 16.0)), ("cubic", (1.0, 6.0)), ("htcp", (0.7, 6.0))):
        config = _link(
            [flow(name, rtt_s, gso_max_segs=1) for rtt_s in (0.02, 0.08)],
            100_000_000,
            buffer_segments=round(bdp_segments(100e6, 0.04)),
            warm_up_us=60_000_000,
            measured_us=200_000_000,
        )
        checks.append(
            LinkCheck(
                f"{name}: share at 20 ms over 80 ms",
                config,
                expected,
                lambda result: (
                    result["flows"][0]["goodput_bps"] / result["flows"][1]["goodput_bps"]
                ),
                "between the queue's own equalising and synchronised losses",
            )
        )
    config = _link(
        [flow(name, 0.01, gso_max_segs=1) for name in ("cubic", "reno")],
        20_000_000,
        buffer_segments=round(bdp_segments(20e6, 0.01)),
        warm_up_us=20_000_000,
        measured_us=100_000_000,
    )
    checks.append(
        LinkCheck(
            "cubic over reno, 20 Mb/s and 10 ms",
            config,
            (0.6, 1.7),
            lambda result: result["flows"][0]["goodput_bps"] / result["flows"][1]["goodput_bps"],
            "RFC 9438 section 4.3: Reno's own rate in its region",
        )
    )
    return checks


def prague() -> list[LinkCheck]:
    """Return Prague's independence of the round trip where marks come alike to both.

    A threshold does not give them alike: it marks more of the shorter round trip's.
    """
    config = bottleneck(
        [flow("prague", rtt_s) for rtt_s in (0.005, 0.02)],
        chance={"process": "random", "first": 300, "p": 0.02},
        chance_marks=True,
        warm_up_us=20_000_000,
        measured_us=100_000_000,
    )
    return [
        LinkCheck(
            "prague, random marks: share at 5 ms over 20 ms",
            config,
            (0.8, 1.25),
            lambda result: result["flows"][0]["goodput_bps"] / result["flows"][1]["goodput_bps"],
            "draft-briscoe-iccrg-prague-congestion-control-04: as of 25 ms",
        )
    ]


def all_checks() -> list[LinkCheck]:
    """Return every check on a link."""
    return [*dctcp(), *prague(), *vegas(), *bbr(), *fairness(), *sharing()]
