"""What the report says, in order: each section is left out when there is nothing for it."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial

from tailback.analysis.anatomy import Anatomy, anatomies
from tailback.analysis.axes import in_words
from tailback.analysis.columns import axis_label, label
from tailback.analysis.controls import CONTROL, PRIORITY, farthest_apart
from tailback.analysis.findings import headline, key_findings
from tailback.analysis.samples import sampled
from tailback.analysis.spreads import SPREADS
from tailback.analysis.view import View
from tailback.compare import between
from tailback.compare.side import of_published, of_results
from tailback.compare.studies import claims_for
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
from tailback.report.charts.grid import is_crowded
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
from tailback.report.charts.surface import sides, surface
from tailback.report.charts.totals import over_time
from tailback.report.chosen import QUEUE, counted, drawn_counts, fairness, judged, main_metrics
from tailback.report.page import facts, tables
from tailback.report.page.model import Choice, Figure, Page, Section

_KINDS = {CONTROL: "controls", PRIORITY: "priorities"}
"""By what flows of one run are told apart, and what the chart is called."""
_CURVES_MAX = 24
"""With more curves than these nobody can tell them apart."""
_ROWS_MAX = 60
"""More rows of cells than these nobody reads."""
_SURFACES = ("goodput_mbps_mean", "loss_percent")
"""What is drawn over two numeric axes, where there are too many curves."""
_SMALL = 210
"""Height of the charts that stand two in a row, px."""


def contents(view: View, kept: Collection[str] = ()) -> Page:
    """Return the report of one run folder: all of its sections, or those of the keys `kept`."""
    manifest = view.results.manifest
    sections = [make(key, view) for key, make in _SECTIONS.items() if not kept or key in kept]
    told = (
        manifest["description"].strip(),
        facts.unlike(manifest["scenario"]),
        view.results.unfinished,
    )
    return Page(
        title=manifest["title"],
        description=" ".join(filter(None, told)),
        strap=facts.strap(view),
        facts=facts.facts(view),
        findings=key_findings(view),
        sections=[section for section in sections if section is not None],
        scenario=facts.resolved(manifest["scenario"]),
    )


def _main(key: str, view: View) -> Section | None:
    if view.axes.x is None:
        return None
    wanted = main_metrics(view)
    if sides(view) is not None and len(view.groups) > _CURVES_MAX:
        wanted = [m for m in wanted if m not in _SURFACES or not view.has(m)]  # they show these
    if len(view.groups) > _ROWS_MAX:
        wanted = [m for m in wanted if not view.has(m)]
    figures = [Figure.of(m, metric(view, m), headline(view, m)) for m in wanted]
    # Who got how much of the sum stands behind the sum.
    place = wanted.index("goodput_mbps_mean") + 1 if "goodput_mbps_mean" in wanted else 0
    for by, name in reversed(_KINDS.items()):
        with suppress(NothingToDrawError):
            figure = Figure.of(name, controls(view, by), farthest_apart(view, by))
            figures.insert(place, figure)
    transactions = "completion_ms_mean" in wanted
    if not wanted:
        return None
    title = "Completion time and goodput" if transactions else "Throughput, delay and queue"
    if wanted == ["goodput_mbps_mean"]:
        title = "Throughput"
    if is_crowded(view) and len(figures) > 1:
        return Section(key, title, choice=_one_of(key, view, wanted, figures))
    return Section(key, title, figures=figures)


def _one_of(key: str, view: View, metrics: list[str], figures: list[Figure]) -> Choice:
    """Tall figures, one at a time."""
    titles = {metric: view.label(metric).said for metric in metrics}
    return Choice(key, "Metric", {titles.get(f.key, f.title): [f] for f in figures}, first=True)


def _shown(key: str, view: View) -> Section | None:
    """What only some runs have: surfaces, spacing of packets, measurements, and so on."""
    drawn: list[tuple[str, Callable[[], AnyChart]]] = [
        (f"surface-{metric}", partial(surface, view, metric))
        for metric in _SURFACES
        if sides(view) is not None and view.has(metric)
    ]
    drawn += [
        ("slowdowns", partial(slowdowns, view)),
        ("spacing", partial(spacing, view)),
        ("measurements", partial(loss_histogram, view)),
        ("pairs", partial(loss_by_pair, view)),
        ("flows", partial(flows, view)),
        *(
            (name, partial(controls, view, by))
            for by, name in _KINDS.items()
            if view.axes.x is None
        ),
        ("beside", partial(flows_beside, view)),
        ("interfaces", partial(interfaces, view)),
        ("shares", partial(who_got_what, view)),
        ("paused", partial(paused, view)),
        ("cores", partial(cores, view)),
    ]
    figures = []
    for name, draw in drawn:
        with suppress(NothingToDrawError):
            figures.append(Figure.of(name, draw()))
    figures += _fairness(view)
    return Section(key, "In detail", figures=figures) if figures else None


def _fairness(view: View) -> list[Figure]:
    """How evenly flows share, where they do not everywhere."""
    if view.axes.x is None or len(view.groups) > _ROWS_MAX:
        return []
    return [Figure.of(m, metric(view, m, height=_SMALL), headline(view, m)) for m in fairness(view)]


def _lost(key: str, view: View) -> Section | None:
    """The path of each run with the losses at their places."""
    try:
        figure = Figure.of("lost-at", lost_at(view))
    except NothingToDrawError:
        return None
    return Section(key, "Where it was lost", figures=[figure], below=tables.ports(view))


def _losses(key: str, view: View) -> Section | None:
    """Queue, then counts per transaction; those that are zero everywhere are said, not drawn."""
    if view.axes.x is None:
        return None
    known = counted(view)
    if not known:
        return None
    rows_max = _ROWS_MAX if is_crowded(view) else _CURVES_MAX
    drawn = [m for m in drawn_counts(view) if m != QUEUE or len(view.groups) <= rows_max]
    nowhere = [label(m).text.lower() for m in known if m not in drawn]
    lead = f"Not seen in any run: {', '.join(nowhere)}." if nowhere else ""
    figures = [
        Figure.of(m, metric(view, m, height=_SMALL), headline(view, m), half=True) for m in drawn
    ]
    title = "Queue, losses and repairs" if QUEUE in drawn else "Losses and repairs"
    if is_crowded(view) and figures:
        return Section(key, title, lead=lead, choice=_one_of(key, view, drawn, figures))
    return Section(key, title, lead=lead, small=figures)


def _network(key: str, view: View) -> Section | None:
    """Throughput and queue over time, where the runs recorded them."""
    if view.optional("network").is_empty():
        return None
    return Section(key, "Over time", figures=[Figure.of("network", network(view))])


def _totals_over_time(key: str, view: View) -> Section | None:
    """Throughput and ping over time as Flent's totals plot, where the runs have them."""
    if view.optional("intervals").is_empty():
        return None
    charts = over_time(view)
    options = {name: [Figure.of(f"totals-{i}", c)] for i, (name, c) in enumerate(charts)}
    choice = Choice("totals-over-time", "Runs", options)
    return Section(key, "Throughput and ping over time", choice=choice)


def _samples(key: str, view: View) -> Section | None:
    """Windows, round-trip times and the fullest queue over time, a run at a time."""
    found = sampled(view)
    if not found:
        return None
    options = {one.title: [Figure.of(f"samples-{one.run}", samples(one))] for one in found}
    return Section(
        key, "Rates, windows and queue over time", choice=Choice("samples", "Run", options)
    )


def _programs(key: str, view: View) -> Section | None:
    table = tables.programs(view)
    return None if table is None else Section(key, "Programs", tables=[table])


def _published(key: str, view: View) -> Section | None:
    """Claims held against the run, then the published table point by point."""
    claims = claims_for(view.results.name)
    if claims is None:
        return None
    title = "Against what was published"
    unlike = facts.unlike(view.results.manifest["scenario"])
    if view.departures or view.results.unfinished:
        why = view.results.unfinished or unlike
        return Section(key, title, lead=f"{claims.source} Not judged. {why}")
    checks = claims.judge(view)
    if not checks:
        return None
    held = sum(check.verdict == "within" for check in checks)
    judged = held + sum(check.verdict == "outside" for check in checks)
    if judged == 1:
        verdict = f" The one claim that could be checked {'holds' if held else 'does not hold'}."
    else:
        verdict = (
            f" Of {judged} claims that could be checked, {held} {'holds' if held == 1 else 'hold'}."
            if judged
            else ""
        )
    section = Section(
        key,
        title,
        lead=" ".join(filter(None, (claims.source, unlike))) + verdict,
        tables=[tables.checks(checks, claims.note)],
    )
    if view.table is not None:
        comparison = between(of_results(view.results), of_published(view.table))
        section.tables.append(tables.comparison(comparison))
        if view.axes.x is not None:
            section.small.extend(_error_figures(view))
            if "completion_ms_mean" in view.table.frame.columns:
                section.figures.append(Figure.of("excess", excess(view)))
    return section


def _beside(key: str, view: View) -> Section | None:
    """How far the run is from each of the results beside it."""
    if not view.others:
        return None
    ours = of_results(view.results)
    found = []
    for name, other in view.others.items():
        comparison = between(ours, of_results(other))
        note = (
            f"Relative to {name}: {other.path}, backend {other.manifest['backend']}, "
            f"seed {other.manifest['seed']}, hash {other.manifest['scenario_hash'][:8]}."
        )
        note = f"{note} {comparison.unlike}".strip()
        found.append(tables.comparison(comparison, note))
    return Section(key, "Beside other results", tables=found)


def _error_figures(view: View) -> list[Figure]:
    caption = "Zero is the published value; above it the run's is greater."
    return [
        Figure.of(
            f"errors-{column}",
            errors(view, column, height=_SMALL),
            f"{label(column).text}, relative error",
            caption,
            half=True,
        )
        for column in judged(view)
    ]


def _distribution(key: str, view: View) -> Section | None:
    figures = []
    transactions = not (view.transactions.is_empty() or view.timed)
    if transactions:
        if view.axes.x is not None:
            figures.append(Figure.of("distribution", distribution(view)))
        figures.append(
            Figure.of(
                "ecdf",
                ecdf(view),
                caption="A step to the right by one retransmission timeout is a share of "
                "transactions that waited for one.",
            )
        )
    if len(view.groups) <= _CURVES_MAX:
        for name, spread in SPREADS.items():
            with suppress(NothingToDrawError):
                figures.append(Figure.of(f"ecdf-{name}", ecdf(view, spread)))
    if not figures:
        return None
    title = "How completion times are distributed" if transactions else "What means hide"
    return Section(key, title, figures=figures)


def _anatomy(key: str, view: View) -> Section | None:
    found = anatomies(view)
    if not found:
        return None
    sets: dict[str, list[Anatomy]] = {}
    for one in found:
        name = in_words(view.axes.x, one.x) if view.axes.x else "run"
        sets.setdefault(name, []).append(one)
    options = {}
    for name, ones in sets.items():
        until_us = max(one.end_us for one in ones)
        options[name] = [
            Figure.of(
                f"anatomy-{one.run}",
                anatomy(one, until_us=until_us),
                f"{one.group or one.title}: {facts.waiting(one)}",
            )
            for one in ones
        ]
    choice = Choice("anatomy", axis_label(view.axes.x.name) if view.axes.x else "Run", options)
    lead = (
        "One recorded transaction per run: what waits in the switch, what each flow has "
        "received, and, shaded, where a flow waits for its retransmission timer."
    )
    return Section(key, "Anatomy of one transaction", lead=lead, choice=choice)


def _totals(key: str, view: View) -> Section | None:
    if not view.results.totals.data_bytes:
        return None  # pings that nobody answered
    table = tables.totals(view)
    return Section(key, "Totals", tables=[table], folded=len(table.rows) > _CURVES_MAX)


def _points(key: str, view: View) -> Section | None:
    # Of one run nothing else tells them.
    folded = view.axes.x is not None
    return Section(key, "Every point in numbers", tables=[tables.points(view)], folded=folded)


_SECTIONS: Mapping[str, Callable[[str, View], Section | None]] = {
    "main": _main,
    "programs": _programs,
    "shown": _shown,
    "lost-at": _lost,
    "losses": _losses,
    "network": _network,
    "over-time": _totals_over_time,
    "samples": _samples,
    "published": _published,
    "beside": _beside,
    "distribution": _distribution,
    "anatomy": _anatomy,
    "totals": _totals,
    "points": _points,
}
"""Key of a section -> what makes it, in the page's order."""
