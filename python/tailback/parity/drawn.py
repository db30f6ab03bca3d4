"""Cases drawn by lot: what nobody thought of singling out.

A case is drawn by its number alone, so that number 17 is the same case on every machine: what the
two ends do, what the link does to single frames, and a few sysctls besides. Congestion controls
that draw random numbers themselves (bbr, cdg, lp's timestamps) are left out, for two runs of
theirs differ without a reason.
"""

from collections.abc import Iterable
from random import Random
from typing import Any

from tailback.parity.cases import Case

DELAYS = ("100us", "1ms", "5ms", "5ms", "20ms", "60ms")
SIZES = ("1B", "700B", "1448B", "3kB", "10kB", "30kB", "100kB", "200kB", "400kB")
_SHORT = SIZES[:5]
_LONG = ("100kB", "200kB", "400kB")
CONTROLS = (
    *("reno", "cubic", "bic", "westwood", "htcp", "highspeed", "hybla", "vegas", "scalable"),
    *("veno", "yeah", "illinois", "dctcp"),
)
_LATE = ("200us", "1ms", "3ms", "15ms", "80ms", "250ms", "600ms")
SETTINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tcp_sack", ("false",)),
    ("tcp_dsack", ("false",)),
    ("tcp_timestamps", ("false",)),
    ("tcp_window_scaling", ("false",)),
    ("tcp_recovery", ("3", "5", "7")),
    ("tcp_early_retrans", ("0",)),
    ("tcp_frto", ("0",)),
    ("tcp_reordering", ("5", "20", "300")),
    ("tcp_slow_start_after_idle", ("false",)),
    ("tcp_moderate_rcvbuf", ("false",)),
    ("tcp_rmem", ("['4KiB', '16KiB', '64KiB']", "['4KiB', '128KiB', '6MiB']")),
    ("tcp_wmem", ("['4KiB', '16KiB', '64KiB']", "['4KiB', '16KiB', '4MiB']")),
    ("tcp_tso_win_divisor", ("0", "1", "8")),
    ("tcp_min_tso_segs", ("1", "8")),
    ("tcp_limit_output_bytes", ("16KiB",)),
    ("tcp_notsent_lowat", ("16384",)),
    ("tcp_autocorking", ("false",)),
    ("tcp_retrans_collapse", ("false",)),
    ("tcp_comp_sack_nr", ("0",)),
    ("tcp_shrink_window", ("true",)),
    ("tcp_app_win", ("4",)),
    ("rto_min", ("10ms", "50ms")),
    ("tcp_thin_linear_timeouts", ("true",)),
    ("tcp_min_rtt_wlen", ("1",)),
    ("tcp_pacing_ss_ratio", ("120",)),
)
"""Settings that kernels have as sysctls, and values of them beside the default."""


def drawn(number: int) -> Case:
    """Return case `number` of those drawn by lot, from 1."""
    lot = Random(f"tailback tcp-parity {number}")  # noqa: S311 (a case, no secret)
    settings = _settings(lot)
    marks = any(setting.startswith("stack.tcp_ecn") for setting in settings)
    return Case(
        name=f"drawn-{number}",
        title=f"Drawn by lot, number {number}",
        actions=tuple(_actions(lot)),
        script=tuple(_script(lot, marks=marks)),
        duration="8s",
        delay=lot.choice(DELAYS),
        settings=tuple(settings),
    )


def _settings(lot: Random) -> list[str]:
    found = []
    if lot.random() < 0.6:
        control = lot.choice(CONTROLS)
        found.append(f"stack.tcp_congestion_control={control}")
        if control == "dctcp":
            found.append("stack.tcp_ecn=1")
    if not any("tcp_ecn" in one for one in found) and lot.random() < 0.3:
        found.append(f"stack.tcp_ecn={lot.choice((1, 3))}")
    for name, values in lot.sample(SETTINGS, lot.choice((0, 0, 1, 1, 2, 3))):
        found.append(f"stack.{name}={lot.choice(values)}")
    return found


def _actions(lot: Random) -> list[dict[str, object]]:
    """What the ends do, in the order of time."""
    found: list[tuple[int, dict[str, object]]] = []

    def does(at_ms: int, end: str, what: str, **more: object) -> None:
        found.append((at_ms, {"at": f"{at_ms}ms", "end": end, "does": what, **more}))

    does(0, "client", "write", size=lot.choice(_LONG))
    at_ms = 0
    for _ in range(lot.choice((0, 0, 1, 2, 4))):
        at_ms += lot.choice((1, 7, 43, 180, 900))
        does(at_ms, "client", "write", size=lot.choice(SIZES))
    if lot.random() < 0.35:
        for _ in range(lot.choice((1, 2, 4))):
            # Few enough that nothing waits in the server: its own link is the slow one.
            does(lot.randrange(1200), "server", "write", size=lot.choice(_SHORT))
    if lot.random() < 0.2:
        hold_ms = lot.choice((0, 20, 100))
        does(hold_ms, "server", "hold")
        does(hold_ms + lot.choice((50, 300, 1500)), "server", "read")
    if lot.random() < 0.25:
        does(3000, "client", lot.choice(("shutdown", "close")))
        does(3000 + lot.choice((1, 70, 500)), "server", "close")
    return [action for _, action in sorted(found, key=lambda one: one[0])]


def _script(lot: Random, *, marks: bool) -> list[dict[str, object]]:
    """What the link does to single frames."""
    rules = list(_rules(lot, marks=marks))
    if lot.random() >= 0.06:
        return rules
    # A connection is to come about: its next tries are left alone.
    first = {"of": "all", "frames": [1], "action": "drop"}
    later = [rule for rule in rules if rule["frames"][0] > 25]
    return [*later, {"direction": lot.choice(("forward", "backward")), **first}]


def _rules(lot: Random, *, marks: bool) -> Iterable[dict[str, Any]]:
    """The same once the connection is up."""
    for _ in range(lot.choice((0, 1, 1, 2, 3))):
        # Not doubled: a kernel reads both at once, a model the first before the copy is there.
        what = lot.choice(("drop", "drop", "drop", "delay", "delay", *(("mark",) * 3 * marks)))
        yield _rule(lot, "forward", "data", 200, what)
    for _ in range(lot.choice((0, 0, 1, 2))):
        what = lot.choice(("drop", "drop", "delay", "duplicate"))
        yield _rule(lot, "backward", "acks", 90, what)


def _rule(lot: Random, direction: str, of: str, last: int, action: str) -> dict[str, Any]:
    first = lot.randrange(1, last)
    count = lot.choice((1, 1, 2, 3, 8, 20))
    if lot.random() < 0.6:
        frames = list(range(first, first + count))
    else:
        frames = sorted(lot.sample(range(first, first + 6 * count), count))
    late = {"by": lot.choice(_LATE)} if action == "delay" else {}
    return {"direction": direction, "of": of, "frames": frames, "action": action, **late}
