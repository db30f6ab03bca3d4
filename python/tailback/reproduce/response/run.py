"""All closed forms at once: measured, held against what they should be, as a table."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from tailback.reproduce.response.formulas import FORMS, padhye, reno
from tailback.reproduce.response.links import LinkCheck, all_checks
from tailback.reproduce.response.measure import flow, run_all, under_loss

if TYPE_CHECKING:
    from rich.table import Table

LOSS_RATES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
ROUND_TRIPS_S = (0.01, 0.1)
WINDOW_MAX = 20_000
"""Windows beyond this are not run: their periods are too long for what they tell."""
LIMIT = 0.10
"""The mean error that a congestion control may have where its form applies."""
TIMEOUT_S = 0.2
"""Padhye's first timeout: the minimum, and the round trip on top."""


@dataclass(frozen=True)
class Point:
    """A congestion control's mean window under loss.

    Attributes:
        name: the congestion control, and how it is struck where that is not by periodic loss.
        rtt_s: round trip, seconds.
        p: loss rate.
        expected: window of the form, segments.
        measured: window as measured: segments delivered in a round trip.
        timeouts: retransmission timeouts in the measurement.
        source: where the form is from.
        least: the least window that is as good as the expected one.
    """

    name: str
    rtt_s: float
    p: float
    expected: float
    measured: float
    timeouts: int
    source: str
    least: float

    @property
    def error(self) -> float:
        """Measured against expected, less one; zero between the least and the expected."""
        nearest = min(max(self.measured, self.least), self.expected)
        return self.measured / nearest - 1

    @property
    def applies(self) -> bool:
        """Whether the form holds there.

        It takes growth for steady and windows for fractions. So there are no timeouts, the round of
        recovery, in which a window does not grow, is one of a dozen or more between two losses,
        and the window is two dozen segments or more.
        """
        form = FORMS.get(self.name)
        meant = form is None or self.p <= form.p_max
        rounds = 1 / (self.p * self.expected)
        return meant and self.timeouts == 0 and self.expected >= 24 and rounds >= 12


@dataclass(frozen=True)
class Found:
    """A quantity on a link as it was found."""

    name: str
    expected: tuple[float, float]
    measured: float
    source: str

    @property
    def within(self) -> bool:
        """Whether it is in its range."""
        return self.expected[0] <= self.measured <= self.expected[1]


@dataclass(frozen=True)
class ResponseFunctions:
    """What was found."""

    points: list[Point]
    links: list[Found]

    def mean_errors(self) -> dict[str, float]:
        """Return the mean absolute error of each congestion control where its form applies."""
        errors: dict[str, list[float]] = {}
        for point in self.points:
            if point.applies:
                errors.setdefault(point.name, []).append(abs(point.error))
        return {name: sum(values) / len(values) for name, values in errors.items()}

    @property
    def verdict(self) -> str:
        """How many hold, in a sentence."""
        errors = self.mean_errors()
        held = sum(error <= LIMIT for error in errors.values())
        within = sum(found.within for found in self.links)
        return (
            f"{held} of {len(errors)} mean errors are at most {LIMIT:.0%}; "
            f"{within} of {len(self.links)} quantities on links are in their range."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON."""
        return {
            "points": [asdict(p) | {"error": p.error, "applies": p.applies} for p in self.points],
            "mean_errors": self.mean_errors(),
            "links": [asdict(found) | {"within": found.within} for found in self.links],
        }

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> "ResponseFunctions":
        """Return what `to_dict` gave."""

        def own(kind: type[Any], one: dict[str, Any]) -> dict[str, Any]:
            return {field.name: one[field.name] for field in fields(kind)}

        return cls(
            points=[Point(**own(Point, one)) for one in values["points"]],
            links=[
                Found(**(own(Found, one) | {"expected": tuple(one["expected"])}))
                for one in values["links"]
            ],
        )

    def tables(self) -> list["Table"]:
        """Return the windows and the links as tables for a terminal."""
        from rich.table import Table

        windows = Table(title="Mean window under loss, segments: formula / measured (error)")
        windows.add_column("Congestion control")
        windows.add_column("RTT")
        for p in LOSS_RATES:
            windows.add_column(f"{p:.0e}", justify="right")
        windows.add_column("Mean error", justify="right")
        windows.add_column("Form")
        errors = self.mean_errors()
        for name in dict.fromkeys(point.name for point in self.points):
            for rtt_s in ROUND_TRIPS_S:
                mine = {q.p: q for q in self.points if (q.name, q.rtt_s) == (name, rtt_s)}
                if mine:
                    first = rtt_s == ROUND_TRIPS_S[0]
                    windows.add_row(
                        name if first else "",
                        f"{rtt_s * 1000:.0f} ms",
                        *(_cell(mine.get(p)) for p in LOSS_RATES),
                        f"{errors[name]:.1%}" if first and name in errors else "",
                        next(iter(mine.values())).source if first else "",
                        end_section=not first,
                    )
        links = Table(title="On one link")
        for head in ("Quantity", "Range", "Found", "", "Source"):
            links.add_column(head)
        for found in self.links:
            low, high = found.expected
            links.add_row(
                found.name,
                f"{low:.3g} to {high:.3g}",
                f"{found.measured:.3g}",
                "" if found.within else "outside",
                found.source,
            )
        return [windows, links]


def _cell(point: Point | None) -> str:
    if point is None:
        return ""
    note = "" if point.applies else "*"
    return f"{point.expected:.0f} / {point.measured:.0f} ({point.error:+.0%}){note}"


@dataclass(frozen=True)
class _Case:
    name: str
    rtt_s: float
    p: float
    expected: float
    source: str
    config: dict[str, Any]
    least: float


def _cases() -> list[_Case]:
    cases = []
    for rtt_s in ROUND_TRIPS_S:
        for p in LOSS_RATES:
            for name, form in FORMS.items():
                one = flow(
                    name,
                    rtt_s,
                    profile=form.profile,
                    every_second=form.every_second,
                    **form.settings,
                )
                window = form.window(p, rtt_s)
                config = under_loss(one, p, _first(window), process=form.process)
                least = min(form.least(p, rtt_s), window) if form.least else window
                cases.append(_Case(name, rtt_s, p, window, form.source, config, least))
            one = flow("reno", rtt_s)
            timeout_s = TIMEOUT_S + rtt_s
            window = padhye(p, rtt_s, timeout_s=timeout_s)
            config = under_loss(one, p, _first(window), process="random")
            source = "Padhye et al. 2000"
            cases.append(_Case("reno, random", rtt_s, p, window, source, config, window))
            window = reno(p, rtt_s)
            config = under_loss(flow("reno", rtt_s), p, _first(window), marks=True)
            source = "as for loss, RFC 3168"
            cases.append(_Case("reno, marks", rtt_s, p, window, source, config, window))
    return [case for case in cases if case.expected <= WINDOW_MAX]


def _first(window: float) -> int:
    """The segment to lose first: slow start doubles the window until that is known."""
    return max(20, round(window))


def response_functions(
    *, jobs: int | None = None, on_progress: Callable[[int, int], None] | None = None
) -> ResponseFunctions:
    """Measure every congestion control's response, and what is known of them on links.

    Args:
        jobs: bottlenecks at a time; by default one per CPU core.
        on_progress: told how many of how many are done.
    """
    cases, checks = _cases(), all_checks()
    # Checks that share a link share its run.
    configs: list[dict[str, Any]] = [case.config for case in cases]
    shared: list[int] = []
    for check in checks:
        if check.config not in configs[len(cases) :]:
            configs.append(check.config)
        shared.append(len(cases) + configs[len(cases) :].index(check.config))
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if on_progress:
            on_progress(done, len(configs))

    results = run_all(configs, jobs=jobs, on_done=one_more)
    points = [_point(case, result) for case, result in zip(cases, results, strict=False)]
    links = [_found(check, results[at]) for check, at in zip(checks, shared, strict=True)]
    return ResponseFunctions(points, links)


def _point(case: _Case, result: dict[str, Any]) -> Point:
    [one] = result["flows"]
    return Point(
        name=case.name,
        rtt_s=case.rtt_s,
        p=case.p,
        expected=case.expected,
        measured=one["window_mean"],
        timeouts=one["timeouts"],
        source=case.source,
        least=case.least,
    )


def _found(check: LinkCheck, result: dict[str, Any]) -> Found:
    return Found(check.name, check.expected, check.read(result), check.source)
