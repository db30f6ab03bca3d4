"""Cases drawn from a wider lot: what the first lot (`drawn`) never draws.

Closed windows and probes of them, ends that shut, close or reset at odd moments, unread data
left, frames of every kind lost both ways, the first and the last among them, a link whose delay
changes for a while, socket options, small segments and buffers, options that one end has only.
Numbers hang on nothing but themselves, and on nothing of the first lot.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tailback.parity.cases import Case
from tailback.parity.drawn import CONTROLS, DELAYS, SETTINGS, SIZES

_LATE = ("200us", "1ms", "3ms", "15ms", "80ms", "250ms", "600ms", "1500ms")
_MTUS = ("1500B", "1500B", "1500B", "1500B", "576B", "700B", "1280B", "9000B")
_CLIENT_SIZES = (*SIZES, "100kB", "200kB", "400kB")
_SERVER_SIZES = ("1B", "700B", "1448B", "1kB", "2kB", "3kB")
"""Few enough that nothing waits in the server: its own link is the slow one."""
_MORE_SETTINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tcp_rmem", ("['4KiB', '4KiB', '8KiB']", "['4KiB', '24KiB', '24KiB']")),
    ("tcp_wmem", ("['4KiB', '8KiB', '8KiB']", "['4KiB', '100KiB', '100KiB']")),
    ("tcp_retries2", ("3", "5")),
    ("tcp_orphan_retries", ("1", "3")),
    ("tcp_fin_timeout", ("1s", "3s")),
    ("tcp_syn_linear_timeouts", ("0",)),
    ("tcp_synack_retries", ("1",)),
    ("rto_max", ("1s",)),
    ("rto_min", ("5ms", "400ms")),
    ("tcp_max_reordering", ("4",)),
    ("tcp_rfc1337", ("true",)),
    ("tcp_ecn_fallback", ("false",)),
    ("tcp_comp_sack_delay_ns", ("0", "5000000")),
    ("tcp_comp_sack_rtt_percent", ("100",)),
    ("tcp_pingpong_thresh", ("3",)),
    ("tcp_invalid_ratelimit", ("0s",)),
    ("tcp_pacing_ca_ratio", ("200",)),
    ("tcp_tso_rtt_log", ("0",)),
)
_OPTIONS: tuple[dict[str, object], ...] = (
    {"TCP_NODELAY": True},
    {"TCP_NODELAY": True},
    {"TCP_CORK": True},
    {"TCP_MAXSEG": "300B"},
    {"TCP_MAXSEG": "536B"},
    {"TCP_MAXSEG": "1000B"},
    {"TCP_NOTSENT_LOWAT": "4KiB"},
    {"TCP_USER_TIMEOUT": "700ms"},
    {"TCP_USER_TIMEOUT": "2s"},
    {"SO_SNDBUF": "2304B"},
    {"SO_SNDBUF": "20001B"},
    {"SO_SNDBUF": "150000B"},
    {"SO_RCVBUF": "1500B"},
    {"SO_RCVBUF": "9001B"},
    {"SO_RCVBUF": "65536B"},
    {"SO_RCVBUF": "150000B"},
    {"TCP_WINDOW_CLAMP": "3000B"},
    {"TCP_WINDOW_CLAMP": "40000B"},
    {"TCP_LINGER2": "1s"},
    {"TCP_SYNCNT": 2},
    {"SO_KEEPALIVE": True, "TCP_KEEPIDLE": "1s", "TCP_KEEPINTVL": "1s", "TCP_KEEPCNT": 2},
    {"SO_KEEPALIVE": True, "TCP_KEEPIDLE": "2s", "TCP_KEEPINTVL": "1s"},
)
"""Socket options that are set together."""
_ENDS = ("client", "server")
_LAST_MS = 7900
"""Nothing is done from then on: the run ends."""


def drawn_wide(number: int) -> Case:
    """Return case `number` of the wider lot, from 1."""
    lot = Random(f"tailback tcp-parity wide {number}")  # noqa: S311 (a case, no secret)
    settings = _settings(lot)
    marks = any(setting.startswith("stack.tcp_ecn=") for setting in settings)
    return Case(
        name=f"wide-{number}",
        title=f"Drawn from the wider lot, number {number}",
        actions=tuple(_actions(lot)),
        script=tuple(_script(lot, marks=marks)),
        duration="8s",
        delay=lot.choice(DELAYS),
        settings=tuple(settings),
        mtu=lot.choice(_MTUS),
        own=_own(lot),
    )


def _settings(lot: Random) -> list[str]:
    found = []
    if lot.random() < 0.4:
        control = lot.choice(CONTROLS)
        found.append(f"stack.tcp_congestion_control={control}")
    if lot.random() < 0.3:
        found.append(f"stack.tcp_ecn={lot.choice((1, 3))}")
    known = dict(SETTINGS)
    for name, values in _MORE_SETTINGS:
        known[name] = (*known.get(name, ()), *values)
    for name, values in lot.sample(list(known.items()), lot.choice((0, 0, 1, 1, 2, 3))):
        found.append(f"stack.{name}={lot.choice(values)}")
    return found


def _own(lot: Random) -> dict[str, dict[str, object]]:
    """What one end has, or each: socket options, and settings of its own."""
    found: dict[str, dict[str, object]] = {}
    for end in _ENDS:
        own: dict[str, object] = {}
        socket: dict[str, object] = {}
        for options in lot.sample(_OPTIONS, lot.choice((0, 0, 0, 1, 1, 2))):
            # The server's link is the slow one: when it may write on hung on its card.
            if end == "client" or "SO_SNDBUF" not in options:
                socket.update(options)
        if socket:
            own["socket"] = socket
        if lot.random() < 0.15:
            name = lot.choice(("tcp_sack", "tcp_timestamps", "tcp_window_scaling", "tcp_dsack"))
            own["stack"] = {name: False}
        if own:
            found[end] = own
    return found


def _actions(lot: Random) -> list[dict[str, object]]:
    """What the ends do, in the order of time."""
    found: list[tuple[int, dict[str, object]]] = []

    def does(at_ms: int, end: str, what: str, **more: object) -> None:
        found.append((at_ms, {"at": _at(at_ms), "end": end, "does": what, **more}))

    does(0, "client", "write", size=lot.choice(_CLIENT_SIZES))
    at_ms = 0
    for _ in range(lot.choice((0, 0, 1, 3, 6))):
        at_ms += lot.choice((1, 7, 43, 180, 900))
        does(at_ms, "client", "write", size=lot.choice(_CLIENT_SIZES))
    if lot.random() < 0.5:
        for _ in range(lot.choice((1, 2, 4))):
            does(lot.randrange(3000), "server", "write", size=lot.choice(_SERVER_SIZES))
    if lot.random() < 0.4:
        _hold(lot, does)
    kept = sorted(found, key=lambda one: one[0])
    for end, at_ms, what in _endings(lot):
        # Nothing is done by an end that has closed, and nothing written behind a shutdown.
        still = ("hold", "read") if what == "shutdown" else ()
        kept = [
            (ms, one)
            for ms, one in kept
            if one["end"] != end or ms <= at_ms or one["does"] in still
        ]
        kept.append((at_ms, {"at": _at(at_ms), "end": end, "does": what}))
    return [action for ms, action in sorted(kept, key=lambda one: one[0]) if ms < _LAST_MS]


def _at(ms: int) -> str:
    """Not on a tick: whether a timer of that tick or the program comes first is chance."""
    return f"{1000 * ms + 300}us" if ms else "0s"


def _hold(lot: Random, does: Callable[..., None]) -> None:
    """A reader that holds, reads a little or all, and holds again."""
    end = lot.choice(("server", "server", "server", "client"))
    at_ms = lot.choice((0, 3, 20, 100, 500))
    for _ in range(lot.choice((1, 1, 2, 3))):
        does(at_ms, end, "hold")
        for _ in range(lot.choice((0, 0, 1, 3))):
            at_ms += lot.choice((2, 50, 300, 900))
            does(at_ms, end, "read", size=lot.choice(("1B", "1kB", "3kB", "20kB", "100kB")))
        at_ms += lot.choice((30, 250, 800, 2500))
        if lot.random() < 0.8:
            does(at_ms, end, "read")
        at_ms += lot.choice((1, 40, 700))


def _endings(lot: Random) -> Iterator[tuple[str, int, str]]:
    """Which ends shut, close or reset, and when."""
    if lot.random() < 0.3:
        return
    at_ms = lot.choice((0, 13, 70, 150, 300, 700, 1000, 3000))
    first, second = lot.sample(_ENDS, 2)
    kinds = ("shutdown", "shutdown", "shutdown", "close", "close", "close", "abort")
    what = lot.choice(kinds)
    if what == "abort":
        # How much of a first write has left by then is a matter of microseconds.
        at_ms += 300
    yield first, at_ms, what
    if lot.random() < 0.7:
        at_ms += lot.choice((0, 0, 1, 9, 60, 500, 2500))
        then = lot.choice(kinds)
        yield second, at_ms + 300 * (then == "abort"), then
    elif what == "shutdown" and lot.random() < 0.5:
        at_ms += lot.choice((1, 60, 1000))
        yield first, at_ms, "close"


def _script(lot: Random, *, marks: bool) -> list[dict[str, object]]:
    """What the link does to single frames."""
    rules = []
    for _ in range(lot.choice((0, 1, 1, 2, 3))):
        # Data are not doubled: a kernel reads both at once.
        what = lot.choice(("drop", "drop", "drop", "delay", *(("mark",) * marks)))
        rules.append(_rule(lot, "forward", "data", lot.choice((20, 200)), what))
    for _ in range(lot.choice((0, 0, 1, 2))):
        what = lot.choice(("drop", "drop", "delay", "duplicate"))
        rules.append(_rule(lot, "backward", "acks", lot.choice((10, 90)), what))
    if lot.random() < 0.33:
        rules.append(_rule(lot, "backward", "data", 15, lot.choice(("drop", "drop", "delay"))))
    for _ in range(lot.choice((0, 0, 0, 1, 2))):
        direction, what = lot.choice(("forward", "backward")), lot.choice(("drop", "drop", "delay"))
        rules.append(_rule(lot, direction, "all", lot.choice((4, 12, 40)), what))
    return rules


def _rule(lot: Random, direction: str, of: str, last: int, action: str) -> dict[str, Any]:
    # A SYN-ACK is not doubled: a kernel answers both before its program hears of either.
    first = lot.randrange(1, last) + 4 * (action == "duplicate")
    # A connection is to come about: of the first frames few are lost.
    counts = (1, 1, 2, 3) if of == "all" and first < 4 else (1, 1, 2, 3, 8, 20, 60)
    count = lot.choice(counts)
    if lot.random() < 0.6:
        frames = list(range(first, first + count))
    else:
        frames = sorted(lot.sample(range(first, first + 6 * count), count))
    late = {"by": lot.choice(_LATE)} if action == "delay" else {}
    return {"direction": direction, "of": of, "frames": frames, "action": action, **late}
