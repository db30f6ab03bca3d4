"""The compiled part: scenario model and simulator (Rust, crates/py)."""

from typing import final

from tailback.errors import Problem
from tailback.records import BuiltIn, KernelHost, PlannedRun

__all__ = [
    "Control",
    "Plan",
    "RunResult",
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
