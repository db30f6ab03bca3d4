"""Modelled queue disciplines against the kernel's own, frame by frame.

A kernel sends bursts of datagrams through a discipline under a token bucket (tbf) of 100 Mb/s
onto a link of 10 Gb/s: a frame is on the wire when the bucket lets it go, so that the wire shows
when the discipline was looked at, what it let go, what it marked and what is missing. Each
datagram says when it was sent. The model is fed with the same frames at the same times and looked
at when the kernel's was (crates/net/src/queue/replay.rs).
"""

import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tailback import api
from tailback._native import replay_queue
from tailback.errors import InputError
from tailback.parity.study import is_of
from tailback.results import Results
from tailback.scenario import Scenario

RATE_BPS = 100e6
"""What the token bucket lets through."""
HEADERS_BYTES = 42
"""Ethernet, IPv4 and UDP."""
ETHERNET_HEADER_BYTES = 14
FCS_BYTES = 4
"""What kernels do not count of a frame."""
AT_ONCE_NS = 600
"""What leaves so soon after its call met no queue; in between clocks are read."""
SLACK_NS = 3000
"""Kernels count in ticks of 64 and 1024 ns, and read their clock before and after."""
TICK_NS = 1024
"""A tick of CoDel's clock."""
SETTLED = "3s"
"""Sixteen intervals after boot: before, an overflow is to CoDel an episode that is just over."""
TUPDATE_NS = 16_000_000
DRAWS = 100_000

_BUCKET = ("qdisc replace dev eth0 root handle 1: tbf rate 100mbit burst 1600 limit 1000000",)
_CLASS = (
    "qdisc replace dev eth0 root handle 1: htb default 1",
    "class replace dev eth0 parent 1: classid 1:1 htb rate 100mbit burst 1600 cburst 1600",
)
"""What a token bucket has taken out still counts in the bytes by which PIE judges what comes;
an HTB class takes frames as they leave."""

_BASE = """
name = "qdisc-parity"
title = "Bursts of datagrams through a queue discipline of a kernel"
[network]
topology = "explicit"
host = [{ name = "sender", kind = "kernel" }, { name = "receiver", kind = "kernel" }]
switch = [{ name = "switch", model = "plain" }]
link = [
  { ends = ["sender", "switch"], rate = "10Gbit", delay = "1us", mtu = "1500B" },
  { ends = ["switch", "receiver"], rate = "10Gbit", delay = "1us", mtu = "1500B" },
]
[host]
preset = "uml-virtio"
[stack]
preset = "linux-7.2"
[kernel]
interrupt_moderation = "0s"
memory = "256MiB"
sysctl.net.core.wmem_default = 100000000
sysctl.net.core.wmem_max = 100000000
[workload]
kind = "command"
command = [{ host = "sender", run = "tailback-agent" }]
[record]
pcap = { links = ["sender>switch"] }
"""


@dataclass(frozen=True)
class Flow:
    """Bursts of one flow.

    Attributes:
        payload_bytes: of each datagram.
        ecn: its DS field: 0 no ECN, 1 ECT(1), 2 ECT(0), and a class selector in its upper bits.
        start_us: when the first burst is due.
        gap_us: from one burst to the next.
        bursts: how many.
        datagrams: in each, back to back.
    """

    payload_bytes: int
    ecn: int
    start_us: int
    gap_us: int
    bursts: int
    datagrams: int


@dataclass(frozen=True)
class QueueCase:
    """A discipline and what is sent through it.

    Attributes:
        name: short name.
        tc: the discipline as tc takes it.
        queue: the same as scenarios have it.
        flows: what is sent.
        marking: a marking rule in front of the queue, for RED.
        draws: it draws: that many draws are tried for each of the kernel's decisions.
        timed: a controller's timer runs, whose phase is not seen from outside.
        takes_early: the kernel's shaper takes the next frame out as soon as one has left.
        own_pace: the discipline holds back by itself, with no shaper above it.
    """

    name: str
    tc: str
    queue: Mapping[str, object]
    flows: tuple[Flow, ...]
    marking: Mapping[str, object] | None = None
    draws: int = 1
    timed: bool = False
    takes_early: bool = True
    own_pace: bool = False

    def of(self) -> Scenario:
        """Return the scenario that records it."""
        if self.own_pace:
            tc = [f"qdisc replace dev eth0 root {self.tc}"]
        else:
            above = _CLASS if self.queue["kind"] == "pie" else _BUCKET
            tc = [*above, f"qdisc replace dev eth0 parent 1:1 handle 10: {self.tc}"]
        flows = " ".join(
            f"{5001 + n},{f.payload_bytes},{f.ecn},{f.start_us},{f.gap_us},{f.bursts},{f.datagrams}"
            for n, f in enumerate(_drained(self.flows))
        )
        run = f"tailback-agent --bursts {{receiver}} {flows}"
        sender = {"name": "sender", "kind": "kernel", "kernel": {"tc": tc}}
        receiver = {"name": "receiver", "kind": "kernel"}
        command = {"host": "sender", "run": run, "start": SETTLED}
        return (
            Scenario(_BASE)
            .set("network.host", [sender, receiver])
            .set("workload.command", [command])
        )


@dataclass(frozen=True)
class QueueResult:
    """How far a case is alike.

    Attributes:
        case: its name.
        frames: frames sent.
        alike: how many of them before the first decision that the model does not make.
        difference: that decision, in words.
        dropped: frames that the kernel dropped.
        marked: frames that it marked.
        close: looks that are alike only a few microseconds earlier or later, and arrivals and
            departures within one microsecond in the other order.
        acted: where the discipline draws: how often the kernel dropped or marked,
        expected: how often the model would have in the mean,
        deviation: and the standard deviation of that.
    """

    case: str
    frames: int
    alike: int
    difference: str | None
    dropped: int
    marked: int
    close: int
    acted: float
    expected: float
    deviation: float

    @property
    def holds(self) -> bool:
        """Whether all is alike, and what is drawn as often as it should be (three deviations)."""
        return self.difference is None and abs(self.acted - self.expected) <= 3 * max(
            self.deviation, 1.0
        )


@dataclass(frozen=True)
class QueueParity:
    """All cases."""

    results: list[QueueResult]

    @property
    def verdict(self) -> str:
        """How many cases are alike, in one sentence."""
        alike = sum(result.holds for result in self.results)
        return f"{alike} of {len(self.results)} cases are alike, frame by frame."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {"cases": [asdict(result) for result in self.results]}


def queue_parity(
    names: Sequence[str] = (),
    *,
    drawn_by_lot: int = 0,
    folder: str | Path = "results/qdisc-parity",
    on_case: Callable[[str], None] | None = None,
) -> QueueParity:
    """Record the kernel's disciplines and hold the models against them.

    Args:
        names: cases; by default all that are not drawn by lot.
        drawn_by_lot: of those that are, the first so many too.
        folder: where the run folders go; those there are used.
        on_case: told the name of each case before it is run.

    Raises:
        InputError: there is no such case.
        RunsFailed: a run failed, for want of a kernel for one.
    """
    known = {case.name: case for case in QUEUE_CASES}
    found = []
    for name in [*(names or known), *(f"drawn-{n + 1}" for n in range(drawn_by_lot))]:
        number = name.removeprefix("drawn-")
        case = known.get(name) or (drawn_queue(int(number)) if number.isdecimal() else None)
        if case is None:
            raise InputError(f"no case {name}; there are {', '.join(known)}, and drawn-1, …")
        if on_case:
            on_case(name)
        found.append(held_against(case, recorded(case, Path(folder))))
    return QueueParity(found)


def recorded(case: QueueCase, folder: Path) -> list[Any]:
    """Return what the kernel's discipline was given and gave: a row a frame, as they were sent."""
    scenario, path = case.of(), folder / case.name
    results = (
        Results(path)
        if is_of(path, scenario)
        else api.run(scenario, out=path, jobs=1, backend="kernel")
    )
    left = {}
    for time_ns, frame in _frames(next((results.path / "captures").glob("*.pcapng")).read_bytes()):
        flow, number, sent_ns = struct.unpack(">IIQ", frame[HEADERS_BYTES : HEADERS_BYTES + 16])
        # Its first bit, for what the link takes is not the queue's.
        left[flow, number] = (time_ns - len(frame) * 0.8, frame[15] & 3, sent_ns)
    behind_ns = min(at - sent for at, _, sent in left.values())
    rows: list[Any] = []
    last_ns = 0
    for at_us, flow, number, one in sorted(_due(_drained(case.flows)), key=lambda due: due[:3]):
        gone = left.get((flow, number))
        # Of what was dropped the call is not known but for the one before.
        sent_ns = gone[2] if gone else max(at_us * 1000, last_ns + 256)
        last_ns = sent_ns
        out = None
        if gone:
            left_ns = round(gone[0] - behind_ns)
            out = [sent_ns if left_ns < sent_ns + AT_ONCE_NS else left_ns, gone[1]]
        rows.append([sent_ns, flow, one.payload_bytes + HEADERS_BYTES, one.ecn, out])
    return rows


def held_against(case: QueueCase, rows: list[Any]) -> QueueResult:
    """Return how far the model does what the kernel did."""
    queue, frame_bytes_max = dict(case.queue), 1514
    if queue["kind"] == "cake":
        # It counts what packets have from the IP header on, of frames that have an FCS here.
        own = queue.get("overhead")
        overhead = own if isinstance(own, int) else ETHERNET_HEADER_BYTES
        queue, frame_bytes_max = {**queue, "overhead": overhead + FCS_BYTES}, 1514 + FCS_BYTES
    recording = {
        "queue": queue,
        "marking": case.marking,
        "frame_bytes_max": frame_bytes_max,
        "slack_ns": SLACK_NS,
        "draws": case.draws,
        "takes_early": case.takes_early and not case.own_pace,
        "own_pace": case.own_pace,
        "frames": rows,
    }
    phases = range(0, TUPDATE_NS, 1_000_000) if case.timed else (0,)
    tries: list[dict[str, Any]] = [{"phase_ns": phase} for phase in phases]
    if case.draws == 1:
        tries += [{"frames": _shifted(rows, by_ns)} for by_ns in (TICK_NS, -TICK_NS)]
    best, phase_ns = _nearest(recording, tries)
    if case.timed and best["difference"]:
        # A probability that is about to be certain: tenths of a millisecond decide.
        near = range(phase_ns - 900_000, phase_ns + 1_000_000, 100_000)
        best, _ = _nearest(recording, [{"phase_ns": n % TUPDATE_NS} for n in near])
    acted, expected, variance = (sum(part[n] for part in best["acted"]) for n in range(3))
    return QueueResult(
        case=case.name,
        frames=len(rows),
        alike=best["alike"],
        difference=best["difference"],
        dropped=best["dropped"],
        marked=best["marked"],
        close=best["off_by_slack"],
        acted=acted,
        expected=expected,
        deviation=variance**0.5,
    )


def _nearest(
    recording: dict[str, Any], tries: Sequence[dict[str, Any]]
) -> tuple[dict[str, Any], int]:
    """Of all phases of the timer the one with which they are alike longest, and nearest."""
    found = [json.loads(replay_queue(json.dumps(recording | one))) for one in tries]
    nearness = [(one["alike"], -_apart(one["acted"])) for one in found]
    best = nearness.index(max(nearness))
    return found[best], tries[best].get("phase_ns", 0)


def _shifted(rows: list[Any], by_ns: int) -> list[Any]:
    """The same with waits so much longer: what they are to less than a tick is not seen."""

    def shifted(sent_ns: int, left: list[int] | None) -> list[int] | None:
        if left is None or left[0] == sent_ns:
            return left
        return [max(sent_ns, left[0] + by_ns), left[1]]

    return [[*row[:4], shifted(row[0], row[4])] for row in rows]


def _apart(acted: list[tuple[float, float, float]]) -> float:
    """How far what was drawn is from what was expected, over the tenths of the time."""
    return sum((did - would) ** 2 / variance for did, would, variance in acted if variance)


def drawn_queue(number: int) -> QueueCase:
    """Return case `number` of those drawn by lot, from 1: a discipline, and what is sent."""
    lot = Random(f"tailback qdisc-parity {number}")  # noqa: S311 (a case, no secret)
    case = replace(lot.choice(QUEUE_CASES[:_IN_LOT]), name=f"drawn-{number}")
    if case.queue["kind"] in ("codel", "fq-codel"):
        interval_ms = lot.choice((2, 10, 30, 100))
        target_us = interval_ms * lot.choice((20, 50, 100))
        case = replace(
            case,
            tc=f"{case.tc} target {target_us}us interval {interval_ms}ms",
            queue={**case.queue, "target": f"{target_us}us", "interval": f"{interval_ms}ms"},
        )
    ecns = (0, 0, 1, 2) if case.queue["kind"] == "dualpi2" else (0, 2)
    return replace(case, flows=tuple(_flows(lot, lot.choice((1, 2, 4)), ecns)))


def _flows(lot: Random, count: int, ecns: Sequence[int]) -> Iterable[Flow]:
    """Flows that together exceed the rate by up to a fifth, the first of them all the time."""
    shares = [lot.uniform(0.2, 1.2) for _ in range(count)]
    bytes_per_s = lot.uniform(1.0, 1.2) * RATE_BPS / 8
    for number, share in enumerate(shares):
        payload, datagrams = lot.choice((1472, 1472, 600)), lot.choice((1, 1, 2, 5, 10))
        own = bytes_per_s * share / sum(shares)
        gap_us = round((payload + HEADERS_BYTES) * datagrams / own * 1e6)
        start_us = lot.randrange(300_000) if number else 0
        end_us = lot.randrange(600_000, 2_000_000) if number else 2_000_000
        bursts = max(1, (end_us - start_us) // gap_us)
        yield Flow(payload, lot.choice(ecns), start_us, gap_us, bursts, datagrams)


def _drained(flows: tuple[Flow, ...]) -> tuple[Flow, ...]:
    """These, and one that finds their queue empty again: what is missing was dropped."""
    end_us = max(flow.start_us + flow.gap_us * flow.bursts for flow in flows)
    return (*flows, Flow(64, 0, end_us + 3_000_000, 0, 1, 1))


def _due(flows: tuple[Flow, ...]) -> Iterable[tuple[int, int, int, Flow]]:
    """Every datagram: when it is due (us), its flow, its number in it."""
    for flow, one in enumerate(flows):
        for number in range(one.bursts * one.datagrams):
            burst = number // one.datagrams
            yield one.start_us + burst * one.gap_us, flow, number, one


def _frames(capture: bytes) -> Iterable[tuple[int, bytes]]:
    """The datagrams of a pcapng file: when their last bit left (ns), and their bytes."""
    enhanced_packet, udp, at = 6, 17, 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == enhanced_packet:
            _, high, low, size = struct.unpack_from("<IIII", capture, at + 8)
            frame = capture[at + 28 : at + 28 + size]
            if size >= HEADERS_BYTES + 16 and frame[23] == udp:
                yield high << 32 | low, frame
        at += length


_STEADY = (Flow(1472, 0, 0, 110, 20_000, 1),)
_ABLE = (Flow(1472, 2, 0, 110, 20_000, 1),)
_MIXED = (
    Flow(1472, 2, 0, 595, 6723, 2),
    Flow(1472, 0, 114_526, 4590, 544, 10),
    Flow(600, 2, 131_337, 621, 6172, 1),
    Flow(1472, 0, 38_662, 400, 4000, 1),
)
_CLASSES = (
    Flow(1472, 0x00, 0, 595, 6723, 2),
    Flow(1472, 0x22, 114_526, 4590, 544, 10),
    Flow(600, 0x82, 131_337, 621, 6172, 1),
    Flow(1472, 0xC0, 38_662, 800, 4000, 1),
    Flow(1472, 0x40, 38_662, 700, 4500, 1),
)
_LOW = (*_MIXED[1:], Flow(1472, 1, 0, 595, 6723, 2))
# What the bucket has taken out counts in the kernel's `limit`: one less in the model's.
_FQ = {"kind": "fq-codel"}
_CAKE = {"kind": "cake", "diffserv_mode": "besteffort", "flow_mode": "flows"}
_BLIND = {**_CAKE, "flow_mode": "flowblind"}
_RED = {"min": "30KB", "max": "90KB", "probability": 0.1, "avpkt": "1500B", "burst": 30}

QUEUE_CASES: tuple[QueueCase, ...] = (
    QueueCase("codel", "codel limit 30000", {"kind": "codel", "limit": 30_000}, _STEADY),
    QueueCase(
        "codel-ecn",
        "codel limit 30000 ecn",
        {"kind": "codel", "limit": 30_000, "ecn": True},
        _MIXED,
    ),
    QueueCase("fq-codel", "fq_codel", _FQ, _MIXED),
    QueueCase("fq-codel-limit", "fq_codel limit 200", {**_FQ, "limit": 199}, _MIXED),
    QueueCase("cobalt", "cake unlimited besteffort flowblind", {"kind": "cobalt"}, _STEADY),
    QueueCase("cobalt-ecn", "cake unlimited besteffort flowblind", {"kind": "cobalt"}, _ABLE),
    # Linux's timer for 15 ms fires every 16 ticks: a tick later, as all of its wheel.
    QueueCase(
        "pie",
        "pie limit 30000",
        {"kind": "pie", "limit": 30_000, "tupdate": "16ms"},
        _STEADY,
        draws=DRAWS,
        takes_early=False,
        timed=True,
    ),
    QueueCase(
        "pie-ecn",
        "pie limit 30000 ecn",
        {"kind": "pie", "limit": 30_000, "tupdate": "16ms", "ecn": True},
        _MIXED,
        draws=DRAWS,
        takes_early=False,
        timed=True,
    ),
    QueueCase("dualpi2", "dualpi2", {"kind": "dualpi2"}, _STEADY, draws=DRAWS, timed=True),
    QueueCase("dualpi2-low", "dualpi2", {"kind": "dualpi2"}, _LOW, draws=DRAWS, timed=True),
    QueueCase(
        "red",
        "red limit 4000000 min 30000 max 90000 avpkt 1500 burst 30 probability 0.1 "
        "bandwidth 100mbit ecn",
        {"kind": "fifo"},
        _MIXED,
        marking={"kind": "red", "bandwidth": "100Mbit", "ecn": True, **_RED},
        takes_early=False,
        draws=DRAWS,
    ),
    QueueCase(
        "codel-threshold",
        "codel limit 30000 ecn ce_threshold 3ms",
        {"kind": "codel", "limit": 30_000, "ecn": True, "ce_threshold": "3ms"},
        _MIXED,
    ),
    QueueCase(
        "fq-codel-threshold",
        "fq_codel ce_threshold 2ms ce_threshold_selector 0x02/0x03",
        {
            **_FQ,
            "ce_threshold": "2ms",
            "ce_threshold_selector": 2,
            "ce_threshold_mask": 3,
        },
        _MIXED,
    ),
    QueueCase("cake", "cake unlimited besteffort flows", _CAKE, _MIXED),
    QueueCase(
        "cake-diffserv3",
        "cake unlimited diffserv3 flows rtt 20ms",
        {**_CAKE, "diffserv_mode": "diffserv3", "rtt": "20ms"},
        _CLASSES,
    ),
    QueueCase(
        "cake-diffserv8",
        "cake unlimited diffserv8 flows",
        {**_CAKE, "diffserv_mode": "diffserv8"},
        _CLASSES,
    ),
    QueueCase(
        "cake-bandwidth",
        "cake bandwidth 100gbit diffserv4 flows",
        {**_CAKE, "diffserv_mode": "diffserv4", "bandwidth": "100Gbit"},
        _CLASSES,
    ),
    QueueCase(
        "cake-shaper",
        "cake bandwidth 100mbit besteffort flows",
        {**_CAKE, "bandwidth": "100Mbit"},
        _MIXED,
        own_pace=True,
    ),
    QueueCase(
        "cake-shaper-diffserv8",
        "cake bandwidth 100mbit diffserv8 flows",
        {**_CAKE, "bandwidth": "100Mbit", "diffserv_mode": "diffserv8"},
        _CLASSES,
        own_pace=True,
    ),
    QueueCase(
        "cake-atm",
        "cake bandwidth 105mbit besteffort flowblind overhead 32 atm",
        {**_BLIND, "bandwidth": "105Mbit", "overhead": 32, "atm_mode": "atm"},
        _MIXED,
        own_pace=True,
    ),
    QueueCase(
        "cake-ptm",
        "cake bandwidth 95mbit besteffort flowblind overhead 22 mpu 256 ptm",
        {**_BLIND, "bandwidth": "95Mbit", "overhead": 22, "mpu": 256, "atm_mode": "ptm"},
        _MIXED,
        own_pace=True,
    ),
    QueueCase(
        "cake-ingress",
        "cake bandwidth 95mbit besteffort flows ingress",
        {**_CAKE, "bandwidth": "95Mbit", "ingress": True},
        _MIXED,
        own_pace=True,
    ),
    QueueCase(
        "cake-ingress-drops",
        "cake bandwidth 90mbit besteffort flows ingress rtt 20ms memlimit 100mb",
        {**_CAKE, "bandwidth": "90Mbit", "ingress": True, "rtt": "20ms"},
        _STEADY,
        own_pace=True,
    ),
)
"""Cases that were thought of."""
_IN_LOT = 11
"""Of these, those that cases are drawn from: with more each number would draw another."""
