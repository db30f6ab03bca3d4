"""The cases: what the two ends do, and what the link does to single frames.

Each singles out one thing a TCP does. Data go from the client to the server; frames are counted
in their direction, from 1. With an MTU of 1500 and timestamps a segment carries 1448 bytes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tailback.scenario import Scenario


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        name: short name.
        title: what it singles out.
        actions: what the ends do: entries of `workload.action`.
        script: what the link to the server does: entries of `impairment.script`.
        duration: how long it runs.
        delay: that link's delay, if it is another than the base scenario's.
        settings: further settings, `path=value`.
        mtu: the links', if it is another than the base scenario's.
        own: by the end's name, what it has of its own: further entries of `network.host`.
    """

    name: str
    title: str
    actions: tuple[dict[str, object], ...]
    script: tuple[dict[str, object], ...] = ()
    duration: str = "1s"
    delay: str = ""
    settings: tuple[str, ...] = ()
    mtu: str = ""
    own: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def of(self, base: Scenario) -> Scenario:
        """Return `base` with this case's settings."""
        found = (
            base.set("workload.action", [dict(action) for action in self.actions])
            .set("workload.duration", self.duration)
            .override(*self.settings)
        )
        near, far = base.resolved["network"]["link"]
        link: dict[str, object] = {**far}
        if self.delay:
            link["delay"] = self.delay
        if self.mtu:
            near, link = {**near, "mtu": self.mtu}, {**link, "mtu": self.mtu}
        if self.script:
            link["impairment"] = {"script": [dict(rule) for rule in self.script]}
        return found.set("network.link", [near, link])


def _write(size: str, at: str = "0s", end: str = "client") -> dict[str, object]:
    return {"at": at, "end": end, "does": "write", "size": size}


def _does(end: str, does: str, at: str = "0s") -> dict[str, object]:
    return {"at": at, "end": end, "does": does}


def _frames(frames: Iterable[int], action: str, **more: object) -> dict[str, object]:
    forward = {"direction": "forward", "frames": list(frames), "action": action}
    return {**forward, **more}


_TUNED = ("stack.tcp_rmem=['4KiB', '128KiB', '32MiB']",)

CASES: tuple[Case, ...] = (
    Case("slow-start", "Slow start from an initial window of 10", (_write("250kB"),)),
    Case("one-loss", "One segment lost", (_write("150kB"),), (_frames([30], "drop"),)),
    Case(
        "burst",
        "Eight segments in a row lost",
        (_write("150kB"),),
        (_frames(range(60, 68), "drop"),),
    ),
    Case(
        "reordering",
        "One segment late by 1 ms",
        (_write("150kB"),),
        (_frames([60], "delay", by="1ms"),),
    ),
    # 69.06 segments of 1448 bytes: frames 69 and 70 are the tail.
    Case(
        "lost-tail", "The last two segments lost", (_write("100kB"),), (_frames([69, 70], "drop"),)
    ),
    Case(
        "lost-acks",
        "A run of acknowledgements lost",
        (_write("150kB"),),
        (
            {
                "direction": "backward",
                "of": "acks",
                "frames": list(range(20, 32)),
                "action": "drop",
            },
        ),
    ),
    Case(
        "zero-window",
        "The reader holds until the window is shut, then reads",
        (_does("server", "hold"), _write("400kB"), _does("server", "read", "3s")),
        duration="5s",
        settings=_TUNED,
    ),
    Case(
        "rto",
        "Everything lost for a while: timeout and back-off",
        (_write("50kB"),),
        (_frames([*range(11, 24)], "drop"),),
        duration="5s",
    ),
    Case(
        "receive-tuning",
        "The receive buffer grows with what is read",
        # In one write each: where a write ends a packet may end.
        tuple(_write("250kB") for _ in range(8)),
        duration="1s",
        settings=_TUNED,
    ),
    Case(
        "idle-restart",
        "The window after idleness",
        (_write("100kB"), _write("100kB", at="3s")),
        duration="4s",
    ),
    Case(
        "spurious-timeout",
        "A window of segments late by half a second: the timeout is undone",
        (_write("100kB"),),
        (_frames(range(31, 51), "delay", by="500ms"),),
        duration="3s",
    ),
    Case(
        "ecn",
        "Segments marked CE",
        (_write("150kB"),),
        (_frames([40, 41, 90], "mark"),),
        settings=("stack.tcp_ecn=1",),
    ),
    Case(
        "accurate-ecn",
        "Segments marked CE, and counted",
        (_write("150kB"),),
        (_frames([40, 41, 44, 90], "mark"),),
        settings=("stack.tcp_ecn=3",),
    ),
    Case(
        "accurate-ecn-dctcp",
        "The same under DCTCP",
        (_write("150kB"),),
        (_frames([*range(40, 60), 90, 92], "mark"),),
        settings=("stack.tcp_ecn=3", "stack.tcp_congestion_control=dctcp"),
    ),
    Case(
        "request-response",
        "Small messages to and fro: delayed acknowledgements",
        (
            _write("200B"),
            _write("3000B", at="50ms", end="server"),
            _write("100B", at="120ms"),
            _write("100B", at="121ms"),
            _write("9000B", at="300ms", end="server"),
        ),
    ),
    Case(
        "close",
        "Both directions closed in order",
        (
            _write("50kB"),
            _does("client", "shutdown"),
            _write("20kB", at="300ms", end="server"),
            _does("server", "close", "301ms"),
        ),
        duration="2s",
    ),
)
