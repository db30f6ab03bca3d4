"""Shapes of the dicts that the native module gives."""

from typing import Any, Literal, NotRequired, TypedDict

CAPTURE = "capture"
"""The table under which a backend hands over a capture: one row, its bytes in column `pcapng`."""


class PlannedRun(TypedDict):
    """One run of a plan."""

    index: int
    parameters: list[tuple[str, Any]]
    """The sweep's values in this run, first axis first: column name and value."""
    repetition: int
    seed: int
    iterations: int
    """Iterations (transactions) that the run will make."""
    whole: str | None
    """Why it takes one thread, whatever it is offered; `None` if it can be cut into parts."""
    work: float
    """Estimate of the run's cost, in bytes to be carried: for order and progress only."""


class BuiltIn(TypedDict):
    """A scenario that comes with Tailback."""

    name: str
    path: str
    text: str


class KernelHost(TypedDict):
    """A host that is to be a real kernel."""

    host: str
    """Its name."""
    version: str | None
    """Version or its beginning; None: the default kernel's."""
    hz: int | None
    """Ticks a second; None: the default kernel's."""
    programs: list[str]
    """What it runs beside the agent."""


class RealEnd(TypedDict):
    """One end of a link between real hosts, and what waits there to leave."""

    kind: Literal["host", "switch"]
    number: int
    """Its number among those."""
    port: int | None
    """The switch's port."""
    queue_bytes: int
    """What may wait to leave here, as tc counts it."""


class RealLink(TypedDict):
    """A link between real hosts."""

    ends: tuple[RealEnd, RealEnd]
    mtu_bytes: int
    rate_bps: int
    overhead_bytes: int
    """What a frame takes on the line beyond what tc counts."""
    least_bytes: int
    """What the shortest frame takes on the line."""
    delay_ns: int
    loss: float


class RealHost(TypedDict):
    """A real host that has something to do."""

    number: int
    name: str
    mac: str
    version: str | None
    """The beginning of the kernel's version that the scenario asks for."""
    config: dict[str, Any]
    """For the agent; `epoch_ns` is still to be said."""


class RealHosts(TypedDict):
    """A run as real hosts make it (Rust, crates/sim/src/external/real_plan.rs)."""

    hosts: list[RealHost]
    switches: list[str]
    links: list[RealLink]
    not_applied: list[str]
    """What of the scenario real hosts do not have, a sentence each."""
    least_s: float
    """How long the run takes at least."""
    start_ns: int
    """When applications begin on the hosts' clock."""
    last_port: NotRequired[int | None]
    """The last of the ports on which somebody's own hosts may listen."""


class CountedPort(TypedDict):
    """A place that lost frames."""

    place: str
    cause: str
    frames: int


class Counted(TypedDict):
    """What the network of real hosts counted in a run."""

    frames: int
    """Frames that crossed a link."""
    drops: list[CountedPort]
