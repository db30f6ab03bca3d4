"""The matrix: which flows, over which bottleneck, under which congestion control.

Durations are a compromise: long enough for several losses where round trips are short, for slow
start and what follows it where they are long, and the whole in an hour and a half on two cores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tailback.errors import InputError
from tailback.nearest import among
from tailback.scenario import Scenario

CONTROLS = (
    "reno",
    "bic",
    "cubic",
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
    "dctcp",
    "bbr",
)
"""Every congestion control that both have."""
FAST = ("reno", "cubic", "dctcp", "bbr")
"""Those that run at 10 Gb/s and in incast too."""
RANDOM = {"bbr": (4, 2), "cdg": (16, 2), "lp": (16, 4)}
"""Those that hang on random numbers, and runs of each that are held against each other: by default,
and at long round trips. With cdg a back-off in two of three flows is few and far between; of lp's
connections one in eight, by its peer's timestamps, is more than Reno."""
MARKED = ("dctcp", "reno", "cubic")
"""Those that run against a marking threshold; the others answer marks as losses, as Reno does."""

FRAME_BYTES = 1518
"""A full frame as a switch's memory holds it, with MTU 1500."""
_WIRE_BITS = (FRAME_BYTES + 20) * 8
_GIGABIT = 1_000_000_000


@dataclass(frozen=True)
class Cell:
    """One scenario, to be run by modelled hosts and by kernels.

    Attributes:
        name: short name.
        group: `flows`, `hosts`, `marking`, `fast`, `incast`, `short` or `loss`.
        congestion: the congestion control of all hosts.
        settings: `path=value`, over the base scenario.
        until_s: what is compared ends then; absent: with the last byte.
        senders: hosts that send.
        repetitions: runs, each from a seed of its own.
    """

    name: str
    group: str
    congestion: str
    settings: tuple[str, ...]
    until_s: float | None = None
    senders: int = 1
    repetitions: int = field(default=1)

    def of(self, base: Scenario) -> Scenario:
        """Return `base` with this cell's settings."""
        found = base.override(
            f"stack.tcp_congestion_control={self.congestion}",
            f"run.repetitions={self.repetitions}",
        )
        if self.senders > 1:
            names = [f"sender{i}" for i in range(self.senders)]
            [near, far] = base.resolved["network"]["link"]
            links = [{**far, "ends": [name, "switch"]} for name in names]
            found = found.set("network.host", [{"name": name} for name in ["receiver", *names]])
            found = found.set("network.link", [near, *links])
        return found.override(*self.settings)


def cells(groups: Sequence[str] = (), congestion: Sequence[str] = ()) -> list[Cell]:
    """Return the cells of these groups and congestion controls; by default of all."""
    chosen = [cell for group in groups or GROUPS for cell in GROUPS[group]]
    return [cell for cell in chosen if not congestion or cell.congestion in congestion]


def named(names: Sequence[str]) -> list[Cell]:
    """Return the cells of these groups and congestion controls together; by default all.

    Several groups, or several controls, are all meant; with both, these controls in these groups.

    Raises:
        InputError: there is no such group or congestion control.
    """
    for name in names:
        if name not in GROUPS and name not in CONTROLS:
            remedy = among(name, [*GROUPS, *CONTROLS])
            raise InputError(f"{name}: no such group or congestion control; {remedy}")
    found = cells(
        [name for name in names if name in GROUPS], [name for name in names if name in CONTROLS]
    )
    if not found:
        raise InputError(f"{', '.join(names)}: no cell is in all of these")
    return found


def _repetitions(congestion: str, *, long: bool = False) -> int:
    few, fewer = RANDOM.get(congestion, (1, 1))
    return fewer if long else few


_VARIED = (1.0, 0.97, 1.03)
"""Buffers, or thresholds of marking, about the cell's own. Which segment finds the last place in a
full buffer hangs on microseconds, and a lost retransmission more or less turns a whole run: one run
against one run would compare these accidents."""


def _product(rate: int, rtt_us: int) -> float:
    """Full frames that rate and round trip hold."""
    return rate * rtt_us / 1e6 / _WIRE_BITS


def _network(
    rate: int, rtt_us: int, buffer_frames: float, *, varied: bool = False
) -> tuple[str, ...]:
    """A bottleneck with this rate, round trip and buffer; the sender's link is faster."""
    # The sender's link has the other microsecond of each way.
    delay_us = rtt_us // 2 - 1
    frames = max(2, round(buffer_frames))
    fast = 10 * rate if rate == _GIGABIT else 4 * rate
    axis = [f"'{round(frames * part) * FRAME_BYTES}B'" for part in _VARIED]
    # So few frames that the parts are all the same, or one more and one less.
    if len(set(axis)) < len(axis):
        axis = [f"'{(frames + more) * FRAME_BYTES}B'" for more in (0, 1, 2)]
    path = "network.switch.switch.model.buffer.tx_limit.bytes"
    buffer = f'sweep."{path}"=[{", ".join(axis)}]' if varied else f"{path}={axis[0][1:-1]}"
    return (
        f"network.link.0.rate={rate}bit",
        f"network.link.1.rate={fast}bit",
        f"network.link.0.delay={delay_us}us",
        buffer,
    )


def _for(duration_s: float, flows: int = 1) -> tuple[str, ...]:
    return (
        f"workload.duration={round(duration_s * 1e6)}us",
        f"workload.connections={flows}",
        f"record.sample_interval={round(duration_s * 1e6 / 400)}us",
    )


def _bulk(
    group: str,
    congestion: str,
    rate: int,
    rtt_us: int,
    products: float,
    flows: int,
    *,
    more: tuple[str, ...] = (),
    label: str = "",
) -> Cell:
    duration_s = _DURATIONS_S[rate, rtt_us]
    # Long round trips are few in a run that is not too long: the first overshoot is most of it, and
    # one flow's is the same segment for segment. Which of several leaves slow start first hangs on
    # when their programs first write.
    long = rtt_us * rate >= 100_000 * _GIGABIT
    varied = (
        congestion not in RANDOM
        and group in ("flows", "hosts", "fast")
        and not (long and flows == 1)
    )
    gigabits = rate // _GIGABIT
    what = label or f"{products:g}bdp"
    return Cell(
        name=f"{congestion}-{gigabits}g-{rtt_us / 1000:g}ms-{what}-{flows}",
        group=group,
        congestion=congestion,
        settings=(
            *_network(rate, rtt_us, products * _product(rate, rtt_us), varied=varied),
            *_for(duration_s, flows),
            *more,
        ),
        until_s=duration_s,
        repetitions=_repetitions(congestion, long=long),
    )


_DURATIONS_S = {
    (_GIGABIT, 100): 0.1,
    (_GIGABIT, 10_000): 0.4,
    (_GIGABIT, 100_000): 2.0,
    (10 * _GIGABIT, 100): 0.03,
    (10 * _GIGABIT, 1000): 0.06,
    (10 * _GIGABIT, 10_000): 0.25,
}
"""A gigabit costs kernels and network some 7 s of CPU time, so these decide what the whole costs:
slow start, its overshoot and some of what follows; at 0.1 ms a thousand round trips."""


def _flows() -> Iterator[Cell]:
    for rtt_us in (10_000, 100, 100_000):
        for flows in (1, 4):
            for products in (1.0, 0.5, 2.0):
                for congestion in CONTROLS:
                    yield _bulk("flows", congestion, _GIGABIT, rtt_us, products, flows)


_APART_NS = (1000, 1370, 2110, 3290)
"""How far four senders are from the switch, so that no two frames that left together arrive so."""


def _hosts() -> Iterator[Cell]:
    """Four flows again, each from a host of its own.

    Programs of one host share its processor: which of them writes first, and how much at a time,
    is the kernel's scheduler's and not TCP's. Here nothing but TCP and the switch decides.
    """
    senders = len(_APART_NS)
    names = ", ".join(f"['sender{sender}', 'receiver']" for sender in range(senders))
    one_each = (
        f"workload.pairs={{ kind = 'listed', list = [{names}] }}",
        "workload.connections=1",
    )
    apart = [f"network.link.{link}.delay={ns}ns" for link, ns in enumerate(_APART_NS, start=1)]
    for rtt_us in (10_000, 100, 100_000):
        for products in (1.0, 0.5, 2.0):
            for congestion in CONTROLS:
                # Four first windows meet a buffer of a few frames: who loses most is a draw.
                drawn = rtt_us == 100 and congestion not in RANDOM
                more = (*one_each, _staggered(senders)) if drawn else (*one_each, *apart)
                cell = _bulk("hosts", congestion, _GIGABIT, rtt_us, products, senders, more=more)
                yield replace(cell, name=f"{cell.name}-hosts", senders=senders)


def _marking() -> Iterator[Cell]:
    for rtt_us in (100, 10_000, 100_000):
        product = _product(_GIGABIT, rtt_us)
        # DCTCP's own 20 packets at 1 Gb/s, or a seventh of the product where that is more.
        threshold = round(max(20, product / 7)) * FRAME_BYTES
        varied = ", ".join(f"'{round(threshold * part)}B'" for part in _VARIED)
        more = (
            f"network.switch.switch.model.marking={{ kind = 'step', threshold = '{threshold}B' }}",
            f'sweep."network.switch.switch.model.marking.threshold"=[{varied}]',
            f"network.switch.switch.model.buffer.tx_limit.bytes={8 * threshold}B",
            "stack.tcp_ecn=1",
        )
        for flows in (1, 4):
            for congestion in MARKED:
                yield _bulk(
                    "marking", congestion, _GIGABIT, rtt_us, 2.0, flows, more=more, label="step"
                )


def _fast() -> Iterator[Cell]:
    for rtt_us in (100, 1000, 10_000):
        for flows in (1, 4):
            for products in (0.5, 1.0, 2.0):
                for congestion in FAST:
                    yield _bulk("fast", congestion, 10 * _GIGABIT, rtt_us, products, flows)


def _incast() -> Iterator[Cell]:
    for senders in (8, 32):
        for congestion in FAST:
            marks: tuple[str, ...] = ()
            if congestion == "dctcp":
                marks = (
                    "network.switch.switch.model.marking="
                    f"{{ kind = 'step', threshold = '{20 * FRAME_BYTES}B' }}",
                    "stack.tcp_ecn=1",
                )
            yield Cell(
                name=f"{congestion}-incast-{senders}",
                group="incast",
                congestion=congestion,
                settings=(
                    *_network(_GIGABIT, 100, 128),
                    *(f"network.link.{link}.rate=1Gbit" for link in range(senders + 1)),
                    _staggered(senders),
                    f"workload={{ kind = 'incast', servers = {senders}, size = '64kB', "
                    "iterations = 10 }",
                    # A look costs kernels time that flows then wait for: not every millisecond.
                    "record.sample_interval=10ms",
                    # Programs in virtual time take theirs.
                    "host.client_latency=0s",
                    "host.send_call_cost=0s",
                    *marks,
                ),
                senders=senders,
            )


_STAGGERS = {4: 4, 8: 16, 32: 6}


def _staggered(senders: int) -> str:
    """Runs with the senders at other distances each, of 1 to 6 us; fewer of the dearer ones.

    Where all are as far away, bursts meet at the switch within nanoseconds. What is lost in the
    first overshoot follows from that, and all that comes after from what is lost: seeds and buffers
    give one run over and over, and how many iterations wait for a timer is a single draw.
    """
    runs = []
    for stagger in range(_STAGGERS[senders]):
        rng = Random(stagger)  # noqa: S311 - any distances do, the same ones always
        delays = ", ".join(
            f"'network.link.{link}.delay' = '{rng.randrange(1000, 6000)}ns'"
            for link in range(1, senders + 1)
        )
        runs.append(f"{{ label = {{ stagger = {stagger} }}, set = {{ {delays} }} }}")
    return f"sweep.stagger=[{', '.join(runs)}]"


def _short() -> Iterator[Cell]:
    for size in ("10kB", "100kB", "1MB"):
        for congestion in CONTROLS:
            yield Cell(
                name=f"{congestion}-short-{size.lower()}",
                group="short",
                congestion=congestion,
                settings=(
                    *_network(_GIGABIT, 10_000, _product(_GIGABIT, 10_000)),
                    f"workload.size={size}",
                    "workload.connections=8",
                    "workload.start_within=400ms",
                    "record.sample_interval=5ms",
                ),
                repetitions=_repetitions(congestion),
            )


_LOSS_SEEDS = {("illinois", 1.0): 16}
"""Illinois either meets a great delay early and grows ten times as fast from then on, or does not:
a few seeds tell nothing of how often."""


def _loss() -> Iterator[Cell]:
    for percent, duration_s in ((1.0, 10.0), (0.01, 0.6)):
        for congestion in CONTROLS:
            yield Cell(
                name=f"{congestion}-loss-{percent:g}",
                group="loss",
                congestion=congestion,
                settings=(
                    *_network(_GIGABIT, 10_000, _product(_GIGABIT, 10_000)),
                    *_for(duration_s),
                    f"network.link.0.loss={percent / 100:g}",
                ),
                until_s=duration_s,
                # Where losses fall is random: what follows differs once one packet does.
                repetitions=_LOSS_SEEDS.get((congestion, percent), 4),
            )


GROUPS: dict[str, list[Cell]] = {
    "flows": list(_flows()),
    "hosts": list(_hosts()),
    "marking": list(_marking()),
    "fast": list(_fast()),
    "incast": list(_incast()),
    "short": list(_short()),
    "loss": list(_loss()),
}
"""The cells, by what is varied."""
