"""A link's rate, delay, loss and queue, as lines for tc(8).

The rate is made by a token bucket, tbf, with a FIFO of bytes behind it. It counts what a frame
takes on the line (FCS, preamble and gap, the shortest frame).
Delay and loss are netem's, before the queue instead of behind it: the round trip is the same.

Left out: a token bucket lets a burst pass faster than the line where it has rested; `BURST_S` says
how much.
"""

from tailback.records import RealEnd, RealLink

BURST_S = 1e-3
"""The bucket, as time at the line's rate: with less, timers that fire late cost goodput; with more,
bursts are passed on as bursts. Chosen by what was measured: docs/decisions/0016-hosts-here.md."""

FRAMES_MIN = 2
"""A bucket holds no fewer of the largest frames."""

HEADER_BYTES = 14
"""An Ethernet header, which tc counts."""

NETEM_PACKETS = 1_000_000
"""What may be on its way on a delayed link; netem's own default, 1000, would drop."""


def lines(device: str, link: RealLink, end: RealEnd) -> list[str]:
    """What makes `device` the end of a link at which frames leave."""
    line_bytes = link["mtu_bytes"] + HEADER_BYTES + link["overhead_bytes"]
    burst = max(int(link["rate_bps"] / 8 * BURST_S), FRAMES_MIN * line_bytes)
    bucket = (
        f"tbf rate {link['rate_bps']}bit burst {burst} limit {end['queue_bytes']} "
        f"overhead {link['overhead_bytes']} mpu {link['least_bytes']}"
    )
    if not is_impaired(link):
        return [f"qdisc add dev {device} root handle 1: {bucket}"]
    return [
        f"qdisc add dev {device} root handle 1: {_netem(link)}",
        f"qdisc add dev {device} parent 1:1 handle 2: {bucket}",
    ]


def is_impaired(link: RealLink) -> bool:
    """Whether it takes netem."""
    return link["delay_ns"] > 0 or link["loss"] > 0


def _netem(link: RealLink) -> str:
    parts = [f"netem limit {NETEM_PACKETS}"]
    if link["delay_ns"]:
        parts.append(f"delay {link['delay_ns'] / 1000:.3f}us")
    if link["loss"]:
        parts.append(f"loss {100 * link['loss']:.6f}%")
    return " ".join(parts)
