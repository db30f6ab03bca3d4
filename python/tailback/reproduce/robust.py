"""How far the L2 study's findings depend on what it did not publish.

What is not published is drawn: each quantity by itself, evenly from what it may have been, from one
seed. Every draw runs both topologies, and each finding is held against it. The prior below was
written before any of its runs; values that were chosen for the study's scenarios stand in it as one
possibility among others.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback.analysis.view import View
from tailback.compare.checks import Check
from tailback.compare.l2_congestion import l2_checks
from tailback.reproduce.study import STUDIES
from tailback.results import Results

if TYPE_CHECKING:
    from rich.table import Table

    from tailback.scenario import Scenario

DRAWS = 16
"""How often."""
_SEED = 802
"""Of the draws."""
SCENARIOS = STUDIES["l2-congestion"]
"""What each draw runs."""


@dataclass(frozen=True)
class Draw:
    """One possibility of what the study did not publish.

    Attributes:
        seed: of the runs.
        latency_ns: from a frame's arrival at a switch until it may leave, 0 to 2 us.
        trunk: rate between the switches: 40 or 100 Gb/s.
        per: what sampling's probability is for: a frame of 1500 bytes, or each (`0B`).
        timer: the reaction point's, 10 or 15 ms, or none (`0s`).
        limiters: what a rate limiter holds back: one connection, or all to one host.
        efr: whether extra fast recovery is what it is taken for.
        fb_hat: whether the averaged feedback is.
        reaction_ns: from a PAUSE frame's arrival until nothing is sent, 0 to 3 us (802.3 allows 60
            quanta).
        sack: whether hosts have SACK: Windows XP's own default is on.
        fast_recovery: `reno` (RFC 2581) or `newreno` (RFC 2582).
        dup_acks: that start it: Windows XP's 2, or 3.
    """

    seed: int
    latency_ns: int
    trunk: str
    per: str
    timer: str
    limiters: str
    efr: bool
    fb_hat: bool
    reaction_ns: int
    sack: bool
    fast_recovery: str
    dup_acks: int

    def apply(self, scenario: "Scenario") -> "Scenario":
        """Return the scenario as this draw has it."""
        sweep = deepcopy(scenario.resolved["sweep"]["management"])
        for point in sweep:
            self._change(point["set"])
        changed = (
            scenario.set("sweep.management", sweep)
            .set("run.seed", self.seed)
            .set("stack.tcp_sack", self.sack)
            .set("stack.fast_recovery", self.fast_recovery)
            .set("stack.tcp_reordering", self.dup_acks)
            .set("preset.switch.l2-switch.latency", f"{self.latency_ns}ns")
        )
        if scenario.name == "l2-congestion":
            return changed
        links = deepcopy(scenario.resolved["network"]["link"])
        links[-1]["rate"] = self.trunk
        return changed.set("network.link", links)

    def _change(self, settings: dict[str, Any]) -> None:
        """Give a point of the sweep what is drawn of its switches."""
        for path, value in settings.items():
            if path.endswith(".latency"):
                settings[path] = f"{self.latency_ns}ns"
            elif path.endswith(".flow_control"):
                value["reaction"] = f"{self.reaction_ns}ns"
            else:
                value["limiters"] = self.limiters
                if value["kind"] == "qcn":
                    value["sampling"]["per"] = self.per
                    value |= {"timer": self.timer, "efr": self.efr, "fb_hat": self.fb_hat}


def draws(count: int = DRAWS) -> list[Draw]:
    """Return the first so many draws; more do not change those before."""
    chance = random.Random(_SEED)  # noqa: S311 (no secret)
    return [
        Draw(
            seed=chance.randrange(1, 2**31),
            latency_ns=chance.randrange(2001),
            trunk=chance.choice(["40Gbit", "100Gbit"]),
            per=chance.choice(["1500B", "0B"]),
            timer=chance.choice(["10ms", "15ms", "0s"]),
            limiters=chance.choice(["flow", "destination"]),
            efr=chance.choice([True, False]),
            fb_hat=chance.choice([True, False]),
            reaction_ns=chance.randrange(3001),
            sack=chance.choice([False, True]),
            fast_recovery=chance.choice(["reno", "newreno"]),
            dup_acks=chance.choice([2, 3]),
        )
        for _ in range(count)
    ]


@dataclass(frozen=True)
class Robustness:
    """Which findings hold in which draws.

    Attributes:
        found: by scenario, a draw and the study's findings held against it.
    """

    found: Mapping[str, list[tuple[Draw, list[Check]]]]

    def shares(self) -> list[tuple[str, str, list[bool], list[bool]]]:
        """Scenario, finding, and whether it holds in each draw.

        Last come those draws alone whose limiters hold back a connection.
        """
        rows = []
        for scenario, runs in self.found.items():
            for number, check in enumerate(runs[0][1]):
                verdicts = [held(checks[number]) for _, checks in runs]
                of_connections = [
                    holds
                    for (draw, _), holds in zip(runs, verdicts, strict=True)
                    if draw.limiters == "flow"
                ]
                rows.append((scenario, check.claim, verdicts, of_connections))
        return rows

    def table(self) -> "Table":
        """Return the shares, for a terminal."""
        from rich.table import Table

        table = Table(title="Draws in which a finding holds")
        for head in ("scenario", "finding"):
            table.add_column(head)
        table.add_column("holds", justify="right")
        table.add_column("where limiters are a connection's", justify="right")
        for scenario, claim, *verdicts in self.shares():
            table.add_row(scenario, claim, *(f"{sum(held)} of {len(held)}" for held in verdicts))
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {
            scenario: [
                {"draw": vars(draw), "checks": [check.to_dict() for check in checks]}
                for draw, checks in runs
            ]
            for scenario, runs in self.found.items()
        }


def held(check: Check) -> bool:
    """Whether a finding holds, also one that is no prediction at the scenario's own values."""
    return check.verdict == "within"


def robustness(
    *,
    folder: str | Path,
    count: int = DRAWS,
    jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Robustness:
    """Run the draws, and hold the study's findings against each.

    Args:
        folder: where the run folders are, DRAW/SCENARIO; one that is there is used as it is.
        count: draws.
        jobs: runs at a time; by default one per CPU core.
        on_progress: told how many of how many scenarios are done.
    """
    found: dict[str, list[tuple[Draw, list[Check]]]] = {name: [] for name in SCENARIOS}
    for done, (number, draw, name) in enumerate(_each(draws(count))):
        if on_progress is not None:
            on_progress(done, count * len(SCENARIOS))
        results = _made(draw, name, Path(folder) / f"{number:02}" / name, jobs)
        found[name].append((draw, l2_checks(View(results), judge_all=True)))
    return Robustness(found)


def _each(of: Iterable[Draw]) -> Iterable[tuple[int, Draw, str]]:
    return ((number, draw, name) for number, draw in enumerate(of, 1) for name in SCENARIOS)


def _made(draw: Draw, name: str, out: Path, jobs: int | None) -> Results:
    import tailback

    if out.exists():
        return Results(out)
    return tailback.run(draw.apply(tailback.load(name)), out=out, jobs=jobs)
