"""The compiled part: scenario model and simulator (Rust, crates/py)."""

from typing import final

from tailback.errors import Problem
from tailback.records import BuiltIn, KernelHost, PlannedRun

__all__ = [
    "Ack",
    "AckSample",
    "Control",
    "Packet",
    "Plan",
    "Queue",
    "RateSample",
    "RunResult",
    "TcpSock",
    "__version__",
    "bottleneck",
    "built_in",
    "check",
    "dat_to_toml",
    "packets",
    "presets",
    "quantity",
    "replay_queue",
    "schema",
]

__version__: str

@final
class Control:
    """A run's strings: stop it, see how far it is. Safe to use from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Asks the run to stop; it then raises `Interrupted`."""
    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop."""
    @property
    def done(self) -> int:
        """Iterations finished so far."""

@final
class RunResult:
    """The tables of one finished run."""

    @property
    def hops(self) -> int:
        """Frames that crossed a link."""

    @property
    def threads(self) -> int:
        """Threads that worked at it."""

    @property
    def events(self) -> int:
        """Events handled."""

    def capture(self) -> bytes | None:
        """The frames that the scenario asked to capture, as a pcapng file."""

    def tables(self) -> dict[str, bytes]:
        """Each table by its name, as an Arrow IPC stream."""

@final
class Plan:
    """A scenario checked and resolved, with all the runs of its sweep."""

    @staticmethod
    def from_text(text: str, file_name: str, overrides: list[str], base_dir: str | None) -> Plan:
        """Checks and resolves a scenario (TOML text); raises `ScenarioError` with all problems."""
    @property
    def scenario_json(self) -> str:
        """The scenario as resolved: presets filled in, overrides applied."""
    @property
    def hash(self) -> str:
        """Hash of the scenario as resolved, seed included: equal hash, equal tables."""
    @property
    def warnings(self) -> list[Problem]:
        """What is odd about the scenario and keeps no run from being made."""
    @property
    def runs(self) -> list[PlannedRun]: ...
    def run(self, index: int, control: Control, *, threads: int) -> RunResult:
        """Simulates one run without holding the GIL, on so many threads if it can be cut.

        Raises `SimulationError` on a broken law, `Interrupted` if cancelled.
        """
    def kernel_hosts(self, index: int, *, all_hosts: bool) -> list[KernelHost]:
        """The hosts of a run that are kernels, or would be if all were."""
    def check_kernels(self, index: int, *, all_hosts: bool) -> None:
        """Raises `InputError` with all that a run cannot do with kernels for these hosts."""
    def not_applied_by_kernels(self, index: int, *, all_hosts: bool) -> list[str]:
        """What of a run kernels for these hosts do not do, a sentence each."""
    def run_with_kernels(
        self,
        index: int,
        control: Control,
        *,
        all_hosts: bool,
        kernel: str,
        agent: str,
        folder: str,
        memory: str,
        core: int | None,
        patience_s: float,
    ) -> RunResult:
        """Makes one run with real kernels for these hosts, without holding the GIL.

        Args:
            index: the run's place in the plan.
            control: its strings.
            all_hosts: all hosts are kernels, not only those of the scenario.
            kernel: path of the User-Mode Linux program.
            agent: path of the guests' first program.
            folder: a private folder with a short path; `root` in it is the guests' root.
            memory: a folder on a tmpfs, for the guests' memory.
            core: the core that the run is bound to.
            patience_s: wall-clock seconds after which a kernel without a word is stuck.

        Raises `SimulationError` that names the host, `Interrupted` if cancelled.
        """
    def working_hosts(self, index: int) -> list[str]:
        """The hosts of a run that have something to do, by their names."""
    def hosts_elsewhere(self, index: int, elsewhere: str) -> str:
        """What somebody's own hosts are to do, as JSON (`records.RealHosts`).

        Args:
            index: the run's place in the plan.
            elsewhere: JSON of their addresses and interfaces by name, and of the first port.

        Raises `InputError` with all that they cannot do.
        """
    def tables_of_hosts_elsewhere(
        self, index: int, told: dict[int, str], elsewhere: str
    ) -> RunResult:
        """The tables of a run that somebody's own hosts made.

        Args:
            index: the run's place in the plan.
            told: the results of each host's agent, by the host's number.
            elsewhere: as it was given to `hosts_elsewhere`.

        Raises `SimulationError` that names the host that failed.
        """
    def check_programs(self) -> None:
        """Executes the programs of congestion controls in Python.

        Raises `InputError` with the first that is none.
        """
    def real_hosts(self, index: int) -> str:
        """What real hosts are to do in a run, as JSON (`records.RealHosts`).

        Raises `InputError` with all that they cannot do.
        """
    def tables_of_real_hosts(self, index: int, told: dict[int, str], counted: str) -> RunResult:
        """The tables of a run that real hosts made.

        Args:
            index: the run's place in the plan.
            told: the results of each host's agent, by the host's number.
            counted: JSON of what their network counted (`records.Counted`).

        Raises `SimulationError` that names the host that failed.
        """

@final
class Queue:
    """A queue as its discipline sees it while one of its methods is called."""

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the run began, whole ones."""
    @property
    def qlen(self) -> int:
        """Frames that wait, that of the call not counted."""
    @property
    def backlog_bytes(self) -> int:
        """Bytes of theirs, from destination address to FCS."""
    @property
    def frame_bytes_max(self) -> int:
        """The longest frame that the port's link carries: its MTU and 18 bytes."""

@final
class Packet:
    """A frame that has come to a queue, or is about to leave it."""

    @property
    def frame_bytes(self) -> int:
        """Its length from destination address to FCS."""
    @property
    def payload_bytes(self) -> int:
        """Payload of TCP or UDP in it; 0 in a bare acknowledgement."""
    @property
    def ecn(self) -> str:
        """Its ECN field: "not-ect", "ect0", "ect1" or "ce"."""
    @property
    def flow(self) -> int:
        """One direction of one connection has one number."""
    @property
    def priority(self) -> int:
        """Its traffic class, 0 to 7."""
    @property
    def in_port(self) -> int:
        """The port of the switch that it came in by."""
    @property
    def rank(self) -> int:
        """What `rank` answered for it; 0 before."""
    @property
    def enqueued_ns(self) -> int:
        """When it came, as `Queue.now_ns`."""
    @property
    def sojourn_ns(self) -> int:
        """How long it has waited."""
    def set_ce(self) -> bool:
        """Marks it (congestion experienced); says whether it bears the mark: not if it is not
        ECN-capable (INET_ECN_set_ce).
        """
    def set_sce(self) -> bool:
        """Marks it with SCE, ECT(0) as ECT(1); says whether it bears that or a greater mark."""
    def drop(self) -> None:
        """Drops it."""

@final
class TcpSock:
    """A connection as its congestion control sees it, by Linux's names, while a hook is called.

    Windows are in segments of `mss_cache` bytes, whole ones.
    """

    snd_cwnd: int
    """The congestion window; at least 1, at most `snd_cwnd_clamp`."""
    snd_ssthresh: int
    """Below it the window is in slow start; 0x7fffffff before the first loss."""
    snd_cwnd_cnt: int
    """Segments counted towards the window's next growth."""
    sk_pacing_rate: float | None
    """Bytes a second, None for no limit: payload, or with `stack.pacing = "fq"` whole packets.

    Counts in full control (`cong_control`); elsewhere the sender sets it by window and round trip.
    """

    @property
    def snd_cwnd_clamp(self) -> int:
        """The window never grows beyond."""
    @property
    def prior_cwnd(self) -> int:
        """The window before the reduction that is or was under way."""
    @property
    def now_us(self) -> int:
        """Microseconds since the run began (tcp_mstamp)."""
    @property
    def ca_state(self) -> str:
        """TCP_CA_*: "open", "disorder", "cwr", "recovery" or "loss"."""
    @property
    def mss_cache(self) -> int:
        """Payload of a segment, bytes."""
    @property
    def snd_una(self) -> int:
        """First byte not acknowledged, a sequence number that wraps."""
    @property
    def snd_nxt(self) -> int:
        """First byte not sent, a sequence number that wraps."""
    @property
    def packets_in_flight(self) -> int:
        """Segments in flight (tcp_packets_in_flight)."""
    @property
    def srtt_us(self) -> int | None:
        """Smoothed round trip, microseconds (the kernel's `srtt_us >> 3`); None before there is
        one.
        """
    @property
    def min_rtt_us(self) -> int | None:
        """Least round trip of late, microseconds; None before the first."""
    @property
    def delivered(self) -> int:
        """Segments delivered so far; wraps at 2^32."""
    @property
    def delivered_ce(self) -> int:
        """Of those, acknowledged with ECE."""
    @property
    def lost(self) -> int:
        """Segments found lost so far."""
    @property
    def app_limited(self) -> bool:
        """The application, not the network, limits what is in flight."""
    @property
    def ecn(self) -> bool:
        """ECN was negotiated."""
    @property
    def is_cwnd_limited(self) -> bool:
        """The window was in full use (tcp_is_cwnd_limited), when that was last told."""
    @property
    def in_slow_start(self) -> bool:
        """tcp_in_slow_start."""
    def slow_start(self, acked: int) -> int:
        """Grows the window by each segment acknowledged, to the threshold; gives what is left."""
    def cong_avoid_ai(self, w: int, acked: int) -> None:
        """Grows the window by one for every `w` acknowledged."""
    def reno_cong_avoid(self, acked: int) -> None:
        """Slow start, then one segment a window."""
    def reno_ssthresh(self) -> int:
        """Half the window, at least 2."""
    def reno_undo_cwnd(self) -> int:
        """The window as it was before the reduction."""

@final
class AckSample:
    """What was acknowledged (ack_sample)."""

    @property
    def pkts_acked(self) -> int:
        """Segments acknowledged."""
    @property
    def rtt_us(self) -> int | None:
        """The round trip measured, microseconds; None where there was none to measure."""
    @property
    def in_flight(self) -> int:
        """What was in flight when the newest acknowledged segment was sent."""

@final
class Ack:
    """What kind of acknowledgement it was (CA_ACK_*)."""

    @property
    def slow_path(self) -> bool:
        """It was not the one that was expected next."""
    @property
    def ece(self) -> bool:
        """It carried ECE: a packet of ours was marked."""

@final
class RateSample:
    """A sample of the delivery rate (rate_sample)."""

    @property
    def prior_delivered(self) -> int:
        """`delivered` of the connection when the newest acknowledged segment was sent."""
    @property
    def delivered(self) -> int:
        """Segments delivered over the interval; negative without a valid sample."""
    @property
    def delivered_ce(self) -> int:
        """Of those, acknowledged with ECE."""
    @property
    def interval_us(self) -> int:
        """The interval, microseconds; negative without a valid sample."""
    @property
    def rtt_us(self) -> int | None:
        """Round trip of the last segment acknowledged, microseconds."""
    @property
    def losses(self) -> int:
        """Segments found lost on this acknowledgement."""
    @property
    def acked_sacked(self) -> int:
        """Segments newly acknowledged, selectively or not."""
    @property
    def prior_in_flight(self) -> int:
        """Segments in flight before this acknowledgement."""
    @property
    def is_app_limited(self) -> bool:
        """The application, not the network, set the pace."""
    @property
    def is_ack_delayed(self) -> bool:
        """The acknowledgement was likely delayed."""
    @property
    def delivery_rate(self) -> float | None:
        """Payload delivered a second, bytes; None without a valid sample."""

def bottleneck(config: str) -> str:
    """Runs one bottleneck between ideal ends; configuration and result are JSON.

    Without holding the GIL. Raises `ValueError` on a configuration that is none.
    """

def check(text: str, file_name: str, overrides: list[str], base_dir: str | None) -> list[Problem]:
    """All problems of a scenario (TOML text), errors and warnings."""

def replay_queue(recording: str) -> str:
    """How far a modelled and a recorded queue are alike: JSON of crates/net/src/queue/replay.rs."""

def schema() -> str:
    """The JSON Schema of a scenario file."""

def quantity(text: str) -> tuple[str, int] | None:
    """Of `10Gbit`: time, rate or bytes, and how many ps, bit/s or bytes; None of other text."""

def presets() -> str:
    """JSON: kind of preset → name → its TOML text."""

def built_in() -> list[BuiltIn]:
    """The scenarios that come with Tailback."""

def dat_to_toml(text: str, file_name: str) -> str:
    """The scenario (TOML text) of a client-side .dat file; raises `ScenarioError`."""

def packets(pcapng: bytes) -> bytes:
    """The TCP segments of a pcapng file's bytes, as an Arrow IPC stream.

    Raises `InputError` if they are no such file.
    """
