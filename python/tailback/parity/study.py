"""Every case with modelled and with real ends, and how far their segments are alike."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tailback import api
from tailback.backends import Backend
from tailback.errors import InputError
from tailback.parity.cases import CASES, Case
from tailback.parity.drawn import drawn
from tailback.parity.trace import Difference, Trace, first_difference, side_by_side
from tailback.parity.wide import drawn_wide
from tailback.results import Results
from tailback.scenario import Scenario, load

BASE = "tcp-parity"
ENDS = ("client", "server")
TICK_NS = 1_000_000
"""A tick of the kernels' clock: timers fire on ticks."""
CLOCK_NS = 100_000
"""What system calls take of a guest's time, and more."""
_REAL = ("kernel", "kernel")
_KERNEL = (
    "kernel={ interrupt_moderation = '0s', offloads = { gro = false } }",
    "record.pcap={ links = ['client>switch', 'switch>client'] }",
)

OnCase = Callable[[str], None]


@dataclass(frozen=True)
class CaseResult:
    """One case with one modelled end, beside the case with none.

    Attributes:
        case: its name.
        title: what it singles out.
        modelled: the end that was modelled: `client`, which sends, or `server`.
        segments: segments of that end in the trace of two kernels.
        alike: how many of them are alike before the first that is not.
        difference: the first that is not, if there is one.
        lines: both traces around it: the kernel's line, the model's line, whether it is the one.
    """

    case: str
    title: str
    modelled: str
    segments: int
    alike: int
    difference: Difference | None
    lines: list[tuple[str, str, bool]]

    @property
    def holds(self) -> bool:
        """Whether every segment is alike."""
        return self.difference is None

    @property
    def verdict(self) -> str:
        """What was found, in words."""
        if self.difference is None:
            return "alike"
        words = ", ".join(self.difference.fields)
        if self.difference.fields == ("time",):
            words = f"time, by {self.difference.apart_ns / 1e6:+.3f} ms"
        return f"segment {self.difference.row + 1}: {words}"


@dataclass(frozen=True)
class Parity:
    """All cases."""

    results: list[CaseResult]

    @property
    def holds(self) -> bool:
        """Whether every case is alike."""
        return all(result.holds for result in self.results)

    @property
    def verdict(self) -> str:
        """How many cases are alike, in one sentence."""
        alike = sum(result.holds for result in self.results)
        return f"{alike} of {len(self.results)} cases are alike, segment by segment."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {"holds": self.holds, "cases": [asdict(result) for result in self.results]}


def parity(
    names: Sequence[str] = (),
    *,
    drawn_by_lot: int = 0,
    wide: int = 0,
    settings: Sequence[str] = (),
    folder: str | Path = "results/tcp-parity",
    backend: Backend | str = "sim",
    on_case: OnCase | None = None,
) -> Parity:
    """Run the cases and hold modelled ends against kernels.

    Args:
        names: cases to run; by default all that are not drawn by lot.
        drawn_by_lot: of those that are, the first so many are run too.
        wide: and of those of the wider lot.
        settings: further settings of all cases, `path=value`, over their own.
        folder: where the run folders go, one a case and pair of ends; those there are used.
        backend: what makes the runs.
        on_case: told the name of each run before it is made.

    Raises:
        InputError: there is no such case.
        RunsFailed: a run failed, for want of a kernel for one.
    """
    found = []
    lots = ((drawn, drawn_by_lot), (drawn_wide, wide))
    by_lot = [lot(number + 1) for lot, many in lots for number in range(many)]
    for one_case in [*_chosen(names), *by_lot]:
        case = replace(one_case, settings=(*one_case.settings, *settings))
        real = _trace(case, _REAL, Path(folder), backend, on_case)
        for end in ENDS:
            kinds = tuple("model" if one == end else "kernel" for one in ENDS)
            ours = _trace(case, kinds, Path(folder), backend, on_case)
            found.append(compared(case, end, real, ours))
    return Parity(found)


def compared(case: Case, end: str, real: Trace, ours: Trace) -> CaseResult:
    """Return how far `end`'s segments are alike in both traces."""
    difference = first_difference(real, ours, TICK_NS, side=end)
    own = [(n, row) for n, row in enumerate(real.frame["from"].to_list()) if row == end]
    alike = len(own) if difference is None else min(difference.row, len(own))
    at = own[min(alike, len(own) - 1)][0] if own else 0
    return CaseResult(
        case=case.name,
        title=case.title,
        modelled=end,
        segments=len(own),
        alike=alike,
        difference=difference,
        lines=[] if difference is None else side_by_side(real, ours, at),
    )


def scenario_of(case: Case, kinds: Iterable[str], base: Scenario | None = None) -> Scenario:
    """Return the scenario of a case whose ends are of these kinds."""
    ends = zip(ENDS, kinds, strict=True)
    hosts = [{"name": end, "kind": kind, **case.own.get(end, {})} for end, kind in ends]
    return case.of(base or load(BASE)).override(*_KERNEL).set("network.host", hosts)


def _chosen(names: Sequence[str]) -> list[Case]:
    known = {case.name: case for case in CASES}
    found = [known.get(name) or _drawn(name) for name in names]
    unknown = [name for name, case in zip(names, found, strict=True) if case is None]
    if unknown:
        raise InputError(
            f"no case {', '.join(unknown)}; there are {', '.join(known)}, and drawn-1, drawn-2, …, "
            "wide-1, wide-2, …"
        )
    return [case for case in found if case] if names else list(CASES)


def _drawn(name: str) -> Case | None:
    """The case drawn by lot that bears the name."""
    kind, _, number = name.partition("-")
    lot = {"drawn": drawn, "wide": drawn_wide}.get(kind)
    return lot(int(number)) if lot and number.isdecimal() and int(number) > 0 else None


def _trace(
    case: Case,
    kinds: tuple[str, ...],
    folder: Path,
    backend: Backend | str,
    on_case: OnCase | None,
) -> Trace:
    name = f"{case.name}-{kinds[0]}-{kinds[1]}"
    scenario = scenario_of(case, kinds)
    path = folder / name
    if is_of(path, scenario):
        results = Results(path)
    else:
        if on_case:
            on_case(name)
        results = api.run(scenario, out=path, jobs=1, backend=backend)
    # At its end kernels close what is open.
    until_ns = round(results.summary["completion_ms_mean"][0] * 1e6) - CLOCK_NS
    captures = sorted((results.path / "captures").glob("*.pcapng"))
    if not captures:
        raise InputError(f"{results.path}: has no capture; remove it to make it again")
    return Trace.read(name, captures[0], until_ns)


def is_of(path: Path, scenario: Scenario) -> bool:
    """Whether the folder holds what this version would make of the scenario."""
    from tailback.results.machine import versions

    if not path.exists():
        return False
    manifest = Results(path).manifest
    same = manifest["scenario_hash"] == scenario.plan.hash
    if not same or manifest["versions"]["tailback"] != versions()["tailback"]:
        raise InputError(f"{path}: holds other results; remove it or name another folder")
    return True
