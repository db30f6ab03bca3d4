"""The report's charts for notebooks and image files: `results.plot`."""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from tailback.analysis.anatomy import Anatomy, anatomies
from tailback.analysis.controls import PRIORITY
from tailback.analysis.samples import sampled
from tailback.analysis.spreads import COMPLETION, SPREADS
from tailback.analysis.view import View
from tailback.errors import InputError
from tailback.report.charts.anatomy import anatomy
from tailback.report.charts.background import flows_beside
from tailback.report.charts.controls import controls
from tailback.report.charts.cores import cores
from tailback.report.charts.data import AnyChart
from tailback.report.charts.distribution import distribution
from tailback.report.charts.ecdf import ecdf
from tailback.report.charts.errors import errors
from tailback.report.charts.excess import excess
from tailback.report.charts.flows import flows
from tailback.report.charts.interfaces import interfaces
from tailback.report.charts.metric import metric
from tailback.report.charts.network import network
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.charts.pairs import loss_by_pair
from tailback.report.charts.paused import paused
from tailback.report.charts.places import lost_at
from tailback.report.charts.probes import loss_histogram
from tailback.report.charts.samples import samples
from tailback.report.charts.shares import who_got_what
from tailback.report.charts.slowdowns import slowdowns
from tailback.report.charts.spacing import spacing
from tailback.report.charts.surface import surface
from tailback.report.charts.totals import over_time
from tailback.report.chosen import drawn_counts, fairness, judged, main_metrics
from tailback.report.theme import themed
from tailback.results.storage import explained

if TYPE_CHECKING:
    from tailback.results import Results


_UNSAID = frozenset({"ms", "us", "mbps", "gbps", "percent", "mean"})


def _file(metric: str) -> str:
    """A metric's name as a file's: `completion_ms_mean` is `completion`; a percentile says so."""
    return "-".join(word for word in metric.split("_") if word not in _UNSAID)


class Plots:
    """Charts of a run folder, each an Altair chart with the report's light look.

    A chart that the results have nothing for raises `NothingToDrawError` and says why.
    """

    def __init__(self, results: "Results") -> None:
        self._view = View(results)

    def metric(self, column: str) -> AnyChart:
        """Any metric of `summary` along the sweep's main axis."""
        return self._themed(metric(self._view, column))

    def completion(self) -> AnyChart:
        """Mean completion time per transaction, ms."""
        return self.metric("completion_ms_mean")

    def goodput(self) -> AnyChart:
        """Application data received over time, Mb/s."""
        return self.metric("goodput_mbps_mean")

    def drops(self) -> AnyChart:
        """Frames dropped at the switch per transaction."""
        return self.metric("switch_drops_mean")

    def retransmissions(self) -> AnyChart:
        """Segments sent again per transaction."""
        return self.metric("retransmissions_mean")

    def timeouts(self) -> AnyChart:
        """Retransmission timeouts per transaction."""
        return self.metric("timeouts_mean")

    def distribution(self) -> AnyChart:
        """Median, quartiles, 5th and 95th percentile of completion times along the sweep."""
        return self._themed(distribution(self._view))

    def ecdf(self, of: str = "completion") -> AnyChart:
        """Share of values that are so large or smaller, at a value of x picked below the chart.

        Args:
            of: `completion` of transactions, `slowdown` of flows, or, where the scenario asked for
                samples, `queue` (at the fullest port) and `round-trips` (smoothed, of senders).
        """
        spreads = {"completion": COMPLETION, **SPREADS}
        if of not in spreads:
            raise InputError(f"of = {of!r}: nothing to be drawn; one of {', '.join(spreads)}")
        return self._themed(ecdf(self._view, spreads[of]))

    def errors(self, column: str = "completion_ms_mean") -> AnyChart:
        """Relative error of a metric against the published table."""
        return self._themed(errors(self._view, column))

    def excess(self) -> AnyChart:
        """Time beyond a clean transfer in units of one timeout, ours and published."""
        return self._themed(excess(self._view))

    def network(self) -> AnyChart:
        """Throughput and queue over time, a line a run; times of slow service shaded."""
        return self._themed(network(self._view))

    def lost_at(self) -> AnyChart:
        """The path of each run with the frames lost at their places."""
        return self._themed(lost_at(self._view))

    def surface(self, column: str = "goodput_mbps_mean") -> AnyChart:
        """Heat maps of a metric over the sweep's two longest numeric axes."""
        return self._themed(surface(self._view, column))

    def slowdowns(self) -> AnyChart:
        """How much longer flows took than alone, by their size: median and 99th percentile."""
        return self._themed(slowdowns(self._view))

    def spacing(self) -> AnyChart:
        """Time between arrivals by packet number, as the receiver's card was looked at."""
        return self._themed(spacing(self._view))

    def loss_histogram(self) -> AnyChart:
        """Measurements of a mesh by loss, with the worst receiver and without it."""
        return self._themed(loss_histogram(self._view))

    def flows(self) -> AnyChart:
        """Mean rate of each flow of a single run, beside published ones."""
        return self._themed(flows(self._view))

    def controls(self) -> AnyChart:
        """Goodput by congestion control, where flows of a run differ in it."""
        return self._themed(controls(self._view))

    def priorities(self) -> AnyChart:
        """Goodput by the packets' priority, where flows of a run differ in it."""
        return self._themed(controls(self._view, PRIORITY))

    def pairs(self) -> AnyChart:
        """What a mesh's sources lost to its destinations."""
        return self._themed(loss_by_pair(self._view))

    def flows_beside(self) -> AnyChart:
        """What TCP flows beside the workload carried, by pair of hosts and run."""
        return self._themed(flows_beside(self._view))

    def interfaces(self) -> AnyChart:
        """Rates of the busiest interfaces over time, as polled."""
        return self._themed(interfaces(self._view))

    def shares(self) -> AnyChart:
        """What each pair of hosts got in each run, where there are few of both."""
        return self._themed(who_got_what(self._view))

    def paused(self) -> AnyChart:
        """How long PAUSE or PFC stopped each direction of a link."""
        return self._themed(paused(self._view))

    def cores(self) -> AnyChart:
        """How busy each core was, of hosts with a machine."""
        return self._themed(cores(self._view))

    def totals(self) -> AnyChart:
        """Flent's totals: throughput and ping over time, of the first combination of the axes."""
        _, chart = next(over_time(self._view))
        return self._themed(chart)

    def samples(self, run: int | None = None) -> AnyChart:
        """Windows, round-trip times and the fullest queue over run `run`; by default the last."""
        found = {one.run: one for one in sampled(self._view)}
        if not found:
            raise NothingToDrawError("no run has samples of TCP; set record.sample_interval")
        if run is not None and run not in found:
            raise NothingToDrawError(f"run {run} is not among those drawn: {sorted(found)}")
        return self._themed(samples(found[max(found) if run is None else run]))

    def anatomy(self, run: int | None = None) -> AnyChart:
        """One transaction of run number `run`; by default of the last run recorded."""
        if not self._anatomies:
            raise NothingToDrawError("no run recorded a transaction; set record.anatomy_iteration")
        recorded = {one.run: one for one in self._anatomies}
        if run is None:
            run = self._anatomies[-1].run
        if run not in recorded:
            raise NothingToDrawError(f"run {run} is not among those recorded: {sorted(recorded)}")
        return self._themed(anatomy(recorded[run]))

    def save(self, folder: str | Path, *, kind: str = "png", scale: float = 2.0) -> list[Path]:
        """Write every chart the results have something for into `folder`; return the files.

        Of the anatomies those at the greatest x, one per curve.

        Args:
            folder: made if it is not there; files of the same names are replaced.
            kind: "png" or "svg".
            scale: pixels per unit of a PNG; 2 suits high-resolution screens and print.
        """
        if kind not in {"png", "svg"}:
            raise InputError(f"{kind}: charts are saved as png or svg")
        target = Path(folder)
        with explained(target, "name a folder that can be written"):
            target.mkdir(parents=True, exist_ok=True)
        files = []
        for name, chart in self._all():
            path = target / f"{name}.{kind}"
            with explained(path, "name a folder that can be written"):
                chart.save(path, scale_factor=scale)
            files.append(path)
        return files

    @cached_property
    def _anatomies(self) -> list[Anatomy]:
        return anatomies(self._view, rows_max=None)

    def _all(self) -> Iterator[tuple[str, AnyChart]]:
        view = self._view
        times: list[tuple[str, Callable[[], AnyChart]]] = [
            ("distribution", self.distribution),
            ("ecdf", self.ecdf),
        ]
        if view.timed:
            times.clear()  # how long it took is what it was told
        makers: list[tuple[str, Callable[[], AnyChart]]] = [
            *(
                (_file(m), partial(self.metric, m))
                for m in (*main_metrics(view), *fairness(view), *drawn_counts(view))
            ),
            *times,
            *((f"errors-{_file(m)}", partial(self.errors, m)) for m in judged(view)),
            ("excess", self.excess),
            *((f"ecdf-{of}", partial(self.ecdf, of)) for of in SPREADS),
            ("network", self.network),
            ("lost-at", self.lost_at),
            ("surface", self.surface),
            ("slowdowns", self.slowdowns),
            ("spacing", self.spacing),
            ("measurements", self.loss_histogram),
            ("pairs", self.pairs),
            ("flows", self.flows),
            ("controls", self.controls),
            ("priorities", self.priorities),
            ("beside", self.flows_beside),
            ("interfaces", self.interfaces),
            ("shares", self.shares),
            ("paused", self.paused),
            ("cores", self.cores),
            ("totals", self.totals),
            ("samples", self.samples),
        ]
        x = self._view.axes.x
        makers += [
            (f"anatomy-run-{one.run}", partial(self.anatomy, one.run))
            for one in self._anatomies
            if x is None or one.x == x.values[-1]
        ]
        for name, make in makers:
            try:
                chart = make()
            except NothingToDrawError:
                continue  # nothing in these results to draw it from
            yield name, chart

    @staticmethod
    def _themed(chart: AnyChart) -> AnyChart:
        return themed(chart)
