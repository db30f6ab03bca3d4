"""Mean windows under loss, in segments, as published or as they follow from a growth and a cut.

`p` is the part of segments lost, `rtt_s` the round trip in seconds. Where no closed form is
published, `Fluid` goes through one period between losses after another until they repeat.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Window = Callable[[float, float], float]
"""The mean window for a loss rate and a round trip in seconds."""


def aimd(a: float, b: float) -> Window:
    """Return the window of growth by `a` a round trip and a cut by `b`: sqrt(a (2 - b) / 2 b p)."""
    return lambda p, _rtt_s: math.sqrt(a * (2 - b) / (2 * b * p))


reno = aimd(1, 0.5)
"""Reno, acknowledged for every segment: sqrt(3 / 2 p) (Mathis et al., CCR 27(3), 1997)."""


reno_half = aimd(0.5, 0.5)
"""Reno acknowledged for every second segment, counting acknowledgements: sqrt(3 / 4 p)."""


def prague(p: float, rtt_s: float) -> float:
    """Return Prague's window under loss: Reno's cut, and growth as of a round trip of 25 ms."""
    return aimd(min(1.0, (rtt_s / 0.025) ** 2), 0.5)(p, rtt_s)


def cubic(c: float, beta: float, friend: Window = reno) -> Window:
    """Return RFC 9438's window (section 5.1), or Reno's where that is greater (section 4.3).

    It takes the window of the last loss for the origin: fast convergence is not in it.
    """
    factor = math.sqrt(math.sqrt(c * (3 + beta) / (4 * (1 - beta))))
    return lambda p, rtt_s: max(factor * math.pow(rtt_s / p, 0.75), friend(p, rtt_s))


def cubic_least(c: float, beta: float, friend: Window = reno) -> Window:
    """Return the least window that is steady where windows are whole segments.

    The curve then leaves its origin only when it has risen by a segment, cbrt(1 / C) seconds late:
    a loss any time from when the window is back there until then leaves the origin as it is.
    """
    late_s = math.cbrt(1 / c)

    def window(p: float, rtt_s: float) -> float:
        most = 1.0
        for _ in range(200):
            # The mean below the origin: a quarter of the fall, as of a cubic curve.
            k_s = math.cbrt(most * (1 - beta) / c)
            sent = (most * (1 - (1 - beta) / 4) * k_s + most * late_s) / rtt_s
            most *= math.pow(1 / p / sent, 0.5)
        mean = rtt_s / (p * (math.cbrt(most * (1 - beta) / c) + late_s))
        return max(mean, friend(p, rtt_s))

    return window


def highspeed(p: float, rtt_s: float) -> float:
    """Return RFC 3649's window, 0.12 / p^0.835 (section 5), or Reno's where that is greater."""
    return max(0.12 / math.pow(p, 0.835), reno(p, rtt_s))


def padhye(p: float, rtt_s: float, *, timeout_s: float) -> float:
    """Return Padhye et al.'s window (ToN 8(2), 2000), a segment an acknowledgement."""
    recoveries = rtt_s * math.sqrt(2 * p / 3)
    timeouts = timeout_s * min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return rtt_s / (recoveries + timeouts)


@dataclass(frozen=True)
class Epoch:
    """Where a sender is between two losses.

    Attributes:
        window: segments.
        maximum: the window that it remembers from the last loss.
        time_s: seconds since that.
    """

    window: float
    maximum: float
    time_s: float


@dataclass(frozen=True)
class Fluid:
    """A sender as growth per round trip and the part of the window that a loss leaves.

    Attributes:
        growth: segments a round trip, from where it is and the round trip in seconds.
        left: part of the window left after a loss at this window.
        converge: a loss below the last maximum remembers this part of the window.
    """

    growth: Callable[[Epoch, float], float]
    left: Callable[[float], float]
    converge: float = 1.0

    def __call__(self, p: float, rtt_s: float) -> float:
        """Return the mean window of the period into which losses every 1 / p segments settle."""
        window, maximum, mean = reno(p, rtt_s), 0.0, 0.0
        for _ in range(400):
            start, before = window * self.left(window), mean
            maximum = window * (self.converge if window < maximum else 1.0)
            window, mean = self._period(start, maximum, 1 / p, rtt_s)
            if abs(mean / before - 1) < 1e-6 if before else False:
                break
        return mean

    def _period(
        self, window: float, maximum: float, packets: float, rtt_s: float
    ) -> tuple[float, float]:
        """Window at the end of a period of so many packets, and its mean over time."""
        sent = rounds = 0.0
        while sent < packets:
            # A twentieth of a round trip, or what is left.
            step = min(0.05 if window < 1e4 else 0.5, (packets - sent) / window)
            epoch = Epoch(window, maximum, rounds * rtt_s)
            sent += window * step
            rounds += step
            window += self.growth(epoch, rtt_s) * step
        return window, packets / rounds


def _bic_growth(epoch: Epoch, _rtt_s: float) -> float:
    # Whole segments, and a whole quarter of the distance, as the kernel has them.
    window, maximum = int(epoch.window), int(epoch.maximum)
    if window <= 14:
        return 1.0
    if window < maximum:
        distance = (maximum - window) // 4
        return 16.0 if distance > 16 else 0.2 if distance <= 1 else distance
    if window < maximum + 4:
        return 0.2
    return (window - maximum) / 3 if window < maximum + 48 else 16.0


def _hybla_growth(epoch: Epoch, rtt_s: float) -> float:
    rho = max(rtt_s / 0.025, 1.0)
    # Whole 128ths of a segment an acknowledgement, and one segment a round trip where that is none.
    return epoch.window * int(128 * rho * rho / epoch.window) / 128 or 1.0


hybla = Fluid(_hybla_growth, lambda _w: 0.5)
"""Hybla (Caini, Firrincieli 2004): growth by rho^2 with rho = RTT / 25 ms, and Reno's cut."""

bic = Fluid(_bic_growth, lambda w: 0.5 if w <= 14 else 0.8, converge=0.9)
"""BIC (Xu, Harfoush, Rhee, INFOCOM 2004) with Linux's constants, period by period."""

scalable = Fluid(lambda epoch, _rtt_s: max(1.0, epoch.window / 100), lambda _w: 0.875)
"""Scalable TCP (Kelly, CCR 33(2), 2003): a hundredth a round trip, an eighth cut."""


def _htcp_growth(epoch: Epoch, rtt_s: float) -> float:
    beyond = epoch.time_s - 1
    factor = 1.0 if beyond <= 0 else 1 + 10 * beyond + (beyond / 2) ** 2
    scale = min(max(0.1 / rtt_s, 0.5), 10)
    return 2 * (1 - _htcp_left(rtt_s)) * max(factor / scale, 1.0)


def _htcp_left(rtt_s: float) -> float:
    # Round trips without a queue are all alike: the greatest beta, 102 / 128, unless they are
    # too short to tell.
    return 102 / 128 if rtt_s > 0.010 else 0.5


def htcp(p: float, rtt_s: float) -> float:
    """H-TCP (Leith, Shorten, PFLDnet 2004): growth by the time since the loss."""
    return Fluid(_htcp_growth, lambda _w: _htcp_left(rtt_s))(p, rtt_s)


compound = Fluid(
    lambda epoch, _rtt_s: max(0.125 * epoch.window**0.75, 1.0) if epoch.window >= 38 else 1.0,
    lambda _w: 0.5,
)
"""Compound TCP without a queue (Tan et al., INFOCOM 2006): alpha win^0.75, and Reno's cut."""

illinois = Fluid(
    lambda epoch, _rtt_s: 10.0 if epoch.window >= 15 else 1.0,
    lambda w: 0.875 if w >= 15 else 0.5,
)
"""Illinois without a queue (Liu, Basar, Srikant, 2008): the greatest growth, the least cut."""


@dataclass(frozen=True)
class Form:
    """What a congestion control is held against.

    Attributes:
        window: its mean window.
        source: where that is from.
        least: the least mean window, where any from there on is steady.
        profile: the stack profile that it is run in.
        process: how losses come: periodic, or random.
        every_second: the receiver acknowledges every second segment, as the counts assume.
        settings: of the stack, where the form assumes others.
        p_max: the loss rate up to which it is meant.
    """

    window: Window
    source: str
    least: Window | None = None
    profile: str = "linux-7.2"
    process: str = "periodic"
    every_second: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    p_max: float = 1.0


# Kernels of 2.6 count packets of offload where they mean segments.
_AIMD = "sqrt(a(2-b)/2bp)"

FORMS: dict[str, Form] = {
    "reno": Form(reno, "sqrt(3/2p), Mathis 1997"),
    "bic": Form(
        bic,
        "INFOCOM 2004, by periods",
        profile="linux-2.6.18",
        every_second=True,
        settings={"tso": False},
    ),
    "cubic": Form(
        cubic(0.4, 0.7),
        "RFC 9438",
        least=cubic_least(0.4, 0.7),
        settings={"cubic": {"fast_convergence": False}},
    ),
    "cubic-2.1": Form(
        cubic(0.4, 0.8, reno_half),
        "RFC 9438, beta 0.8",
        cubic_least(0.4, 0.8, reno_half),
        "linux-2.6.18",
        every_second=True,
        settings={"tso": False, "cubic_2_1": {"fast_convergence": False}},
    ),
    "htcp": Form(htcp, "PFLDnet 2004, by periods"),
    "highspeed": Form(highspeed, "RFC 3649, p below 1e-3", p_max=9e-4),
    "hybla": Form(hybla, "a = rho^2, by periods"),
    "vegas": Form(reno, "Reno without a queue"),
    "nv": Form(aimd(1, 0.2), f"{_AIMD}, b = 0.2"),
    "scalable": Form(scalable, "CCR 2003, by periods"),
    "lp": Form(reno, "Reno without a queue"),
    "veno": Form(aimd(1, 0.2), f"{_AIMD}, b = 0.2"),
    "yeah": Form(scalable, "Scalable without a queue"),
    "illinois": Form(illinois, "a = 10, b = 1/8, by periods"),
    "cdg": Form(reno, "Reno without a queue"),
    "dctcp": Form(reno, "Reno on loss, RFC 8257"),
    "compound": Form(compound, "INFOCOM 2006, by periods"),
    "prague": Form(prague, f"{_AIMD}, a = (RTT / 25 ms)^2"),
}
"""Congestion control -> its form. Not among them: westwood, whose window without a queue has
no limit, and the BBRs, which do not follow loss; those are on links of a rate (`links`)."""
