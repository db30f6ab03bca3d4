"""Congestion controls of one's own, in Python, for modelled hosts.

A class with the methods of Linux's `struct tcp_congestion_ops`; those it leaves out are Reno's.
docs/guide/own-congestion-control.md shows how.
"""

import linecache
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from pathlib import PurePath

from tailback._native import Ack, AckSample, RateSample, TcpSock
from tailback.errors import InputError
from tailback.nearest import meant

Value = bool | int | float | str
"""What a scenario can set."""


class CongestionControl:
    """A congestion control; one object for each connection's end.

    Attributes of the class are its parameters: `[python.NAME]` of a scenario sets them (`set`), and
    a sweep varies them. `__init__` takes no arguments and sees them set.

    Nothing but what its methods are told may decide what it does: an object that looks at the clock
    of the machine, or at other objects, gives other results each time. Randomness is drawn from
    `random.Random(self.seed)`.
    """

    needs_ecn: bool = False
    """Asks for ECN and grants it, whatever `tcp_ecn` says, and as a receiver echoes the mark of
    each packet, as DCTCP does (TCP_CONG_NEEDS_ECN)."""

    seed: int
    """The connection's own, set before `__init__`."""

    def init(self, tp: TcpSock) -> None:
        """The connection is established, or has changed to this control."""

    def cong_avoid(self, tp: TcpSock, acked: int) -> None:
        """So many segments were acknowledged in a state that lets the window grow.

        Sets `tp.snd_cwnd`, or calls one of its helpers.
        """
        if tp.is_cwnd_limited:
            tp.reno_cong_avoid(acked)

    def ssthresh(self, tp: TcpSock) -> int:
        """The slow-start threshold after a loss or a congestion signal, segments."""
        return tp.reno_ssthresh()

    def undo_cwnd(self, tp: TcpSock) -> int:
        """The window to return to when a reduction turns out to have been needless, segments."""
        return tp.reno_undo_cwnd()

    def set_state(self, tp: TcpSock, new_state: str) -> None:
        """The state is about to change from `tp.ca_state` to this: "open", "disorder", "cwr",
        "recovery" or "loss".
        """

    def cwnd_event(self, tp: TcpSock, event: str) -> None:
        """Something happened: "tx_start", "cwnd_restart", "complete_cwr" or "loss"."""

    def pkts_acked(self, tp: TcpSock, sample: AckSample) -> None:
        """Segments were acknowledged, selectively or not; with the round trip measured."""

    def in_ack_event(self, tp: TcpSock, ack: Ack) -> None:
        """Every acknowledgement, before it changes the window."""

    def cong_control(self, tp: TcpSock, rs: RateSample) -> None:
        """Every acknowledgement, when the state is what it will be, with a delivery-rate sample.

        A class that has this method is in full control, as BBR is: it sets `tp.snd_cwnd` and
        `tp.sk_pacing_rate` in all states, its segments are paced, and `cong_avoid` is not called.
        """


def read(
    name: str,
    source: str,
    file: str | None,
    class_name: str | None,
    settings: Mapping[str, Value],
) -> type[CongestionControl]:
    """The class that the table `[python.name]` of a scenario means, with its attributes set.

    Raises `InputError` if the text is no Python, or has no such class, or a setting is none of it.
    """
    at = f"python.{name}"
    shown = file or f"{name}.py"
    # Modules are told apart by their names: two tables may have one file.
    module = types.ModuleType(f"tailback_python_{name}")
    module.__file__ = shown
    # So that tracebacks show the lines, wherever the text comes from.
    linecache.cache[shown] = (len(source), None, source.splitlines(keepends=True), shown)
    sys.modules[module.__name__] = module
    try:
        # To run the user's own program is what the user asks for.
        exec(compile(source, shown, "exec"), module.__dict__)  # noqa: S102
    except (Exception, SystemExit) as error:
        raise InputError(f"{at}: {told(error)}") from error
    found = _class(at, module, shown, class_name)
    for key, value in settings.items():
        _check_setting(at, found, key, value)
    return type(found.__name__, (found,), dict(settings)) if settings else found


def check(name: str, control: type[CongestionControl]) -> None:
    """Raises `InputError` if no object of the class can be made."""
    try:
        make(control, seed=0)
    except (Exception, SystemExit) as error:
        raise InputError(f"python.{name}: {told(error)}") from error


def make(control: type[CongestionControl], seed: int) -> CongestionControl:
    """One of the class, for a connection with this seed."""
    made = control.__new__(control)
    made.seed = seed
    made.__init__()  # type: ignore[misc]  # the seed is there before
    return made


def told(error: BaseException, hook: Callable[..., object] | None = None) -> str:
    """An exception in a user's program, called by `hook`, in one line: where, and what."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    # The last line of the user's own, not of this module or of a library that it called.
    own = [frame for frame in frames if frame.filename != __file__]
    if not own:
        code = getattr(hook, "__code__", None)
        where = code and f"{code.co_filename}, line {code.co_firstlineno}, in {code.co_name}: "
        return f"{where or ''}{what}"
    first = own[0].filename
    last = [frame for frame in own if frame.filename == first][-1]
    return f"{last.filename}, line {last.lineno}, in {last.name}: {what}"


def _class(
    at: str, module: types.ModuleType, shown: str, class_name: str | None
) -> type[CongestionControl]:
    classes = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, CongestionControl)
        and value.__module__ == module.__name__
    }
    if class_name is not None:
        if class_name in classes:
            return classes[class_name]
        remedy = meant(class_name, list(classes), "a class derived from tailback.CongestionControl")
        raise InputError(f"{at}.class: {shown} has no congestion control {class_name!r}; {remedy}")
    if len(classes) == 1:
        return next(iter(classes.values()))
    if not classes:
        raise InputError(
            f"{at}: {PurePath(shown).name} has no congestion control; derive a class from "
            "tailback.CongestionControl"
        )
    raise InputError(
        f"{at}: {shown} has {len(classes)} congestion controls ({', '.join(classes)}); say which "
        "(class)"
    )


def _check_setting(at: str, control: type[CongestionControl], key: str, value: Value) -> None:
    mine = [
        name
        for cls in control.__mro__[:-1]
        for name, held in vars(cls).items()
        if not name.startswith("_") and isinstance(held, bool | int | float | str)
    ]
    if key not in mine:
        remedy = meant(key, mine, "an attribute of the class with a value")
        raise InputError(f"{at}.set.{key}: {control.__name__} has no such attribute; {remedy}")
    held = getattr(control, key)
    numbers = (int, float)
    fits = (
        isinstance(value, numbers) and not isinstance(value, bool)
        if isinstance(held, numbers) and not isinstance(held, bool)
        else type(value) is type(held)
    )
    if not fits:
        raise InputError(
            f"{at}.set.{key}: {value!r} is no {type(held).__name__}, as {control.__name__}.{key} is"
        )
