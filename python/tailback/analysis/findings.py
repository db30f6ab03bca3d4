"""Sentences computed from the tables: headlines of figures and key findings."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tailback.analysis.axes import Axis, is_name
from tailback.analysis.columns import Label
from tailback.analysis.curves import pair
from tailback.analysis.noted import noted
from tailback.analysis.rates import short_of_rate, short_of_requests
from tailback.analysis.shares import most_moved
from tailback.analysis.spreads import SPREADS
from tailback.analysis.view import COLOUR, DASH, GROUP, View
from tailback.analysis.words import ALIKE, are_alike, counted, few, number, percent, written

_METRIC = "completion_ms_mean"
_OF_FLENT = ("ping_ms_mean", "upload_gbps", "download_gbps", "switch_drops")
_OF_TIMED = (
    ("slowdown_median", "slowdown_p99", "query_ms_p99", "latency_us_p99"),
    ("latency_us_mean", "latency_us_p99"),
    ("ping_ms_median", "ping_ms_p99", "loss_percent"),
    _OF_FLENT,
    ("bandwidth_gbps_mean", "utilisation", "switch_drops"),
    ("goodput_mbps_mean", "loss_percent", "delay_us_p99"),
)
"""What runs that last as long as they are told to are judged by: that whose first they have."""
_NEARLY_ALL = 0.95
_ALIKE = 1.0 + ALIKE
"""Where two end, below this ratio neither is ahead."""
_ABOUT = percent(ALIKE, decimals=0)
_HARDLY = 1.05
"""Times that differ by less hardly differ."""
_NAMED_MAX = 3
"""Of more values than these only the number is said."""
_PLACES = {"servers": "{} servers", "hosts": "{} hosts", "flows": "{} flows"}
"""Axes that count something read as a quantity; others as `name value`."""


def headline(view: View, metric: str) -> str:
    """Return one sentence on a metric of `summary`, to stand above its figure."""
    words = view.label(metric)
    if not view.has(metric):
        most = view.elsewhere(metric)
        others = f"; up to {_quantity(most[0], words)} in {most[1]}" if most else ""
        return f"{words.said}: none in any run{' of these' if most else ''}{others}."
    return _headline(view, view.points.drop_nulls(metric), metric, words)


def _headline(view: View, points: pl.DataFrame, metric: str, words: Label) -> str:
    """The same of these points, which have the metric."""
    x = view.axes.x
    if x is None:
        return f"{words.said}: {_quantity(float(points.get_column(metric)[0]), words)}."
    if x.kind == "nominal":
        return f"{_span(points, x, metric, words)}."
    # From the first to the last value of x that has one: of some runs there may be none.
    found = points.get_column(x.name).to_list()
    ends = [value for value in x.values if value in found]
    last = _at(points, x, ends[-1])
    if len(view.groups) == 1:
        first, final = (
            float(_at(points, x, end).get_column(metric)[0]) for end in (ends[0], ends[-1])
        )
        if len(ends) > 1 and are_alike(first, final):
            return f"{', '.join([_span(points, x, metric, words), *_none(x, ends)])}."
        parts = [
            f"{_quantity(float(_at(points, x, end).get_column(metric)[0]), words)} "
            f"at {_named(x, end)}"
            for end in dict.fromkeys((ends[0], ends[-1]))
        ]
        return f"{words.said}: {', '.join(parts + _none(x, ends))}."
    ranked = last.sort(metric)
    least, greatest = (float(ranked.get_column(metric)[i]) for i in (0, -1))
    best, worst = (ranked.get_column(GROUP)[i] for i in (0, -1))
    if ranked.height == 1:
        return f"{words.said} at {_named(x, ends[-1])}: {_quantity(least, words)} with {best}."
    pair = ranked.height == 2
    if are_alike(least, greatest):
        if ranked.height == len(view.groups):
            who = "both" if pair else "all"
        else:  # others have no value there
            who = f"{best} and with {worst}" if pair else f"all {ranked.height} that have one"
        value = _quantity(greatest, words)
        near = "" if least == greatest else f", within {_ABOUT}"
        apart = _furthest_apart(points, x, metric, words)
        return f"{words.said} at {_named(x, ends[-1])}: {value} with {who}{near}{apart}."
    joint = "against" if pair else "to"
    best, worst = (_and_others(ranked, metric, group, words) for group in (best, worst))
    return (
        f"{words.said} at {_named(x, ends[-1])}: {_quantity(least, words)} with {best} "
        f"{joint} {_figure(greatest, words)} with {worst}."
    )


def _furthest_apart(points: pl.DataFrame, x: Axis, metric: str, words: Label) -> str:
    """Where along x the curves, alike at its end, are furthest apart; nothing if they never are."""
    ratios = [
        (_ratio(of.get_column(metric).to_list()), value)
        for value in x.values
        if (of := _at(points, x, value)).height > 1
    ]
    widest = max((ratio for ratio, _ in ratios), default=1.0)
    if widest <= _HARDLY:
        return ""
    value = next(value for ratio, value in ratios if ratio == widest)
    ranked = _at(points, x, value).sort(metric)
    (best, least), (worst, greatest) = (
        (ranked.get_column(GROUP)[i], float(ranked.get_column(metric)[i])) for i in (0, -1)
    )
    return (
        f"; at {_named(x, value)} {_figure(least, words)} with {best} "
        f"{'against' if ranked.height == 2 else 'to'} {_figure(greatest, words)} with {worst}"
    )


def _ratio(values: list[float]) -> float:
    """How many times the least the greatest is; infinite if only the least is nothing."""
    least, greatest = min(values), max(values)
    if least > 0:
        return greatest / least
    return float("inf") if greatest > 0 else 1.0


def _and_others(points: pl.DataFrame, metric: str, group: str, words: Label) -> str:
    """A curve, and how many others there are of which the same figure is written."""
    said = {
        of: _figure(float(value), words) for of, value in points.select(GROUP, metric).iter_rows()
    }
    others = sum(figure == said[group] for figure in said.values()) - 1
    return f"{group} and {counted(others, 'other')}" if others else group


def _none(x: Axis, found: Collection[object]) -> list[str]:
    """Where there is no value, to end a list with."""
    missing = [value for value in x.values if value not in found]
    if not missing:
        return []
    few = len(missing) <= _NAMED_MAX
    return [f"none at {_listed(x, missing) if few else f'{len(missing)} other values'}"]


def _span(points: pl.DataFrame, x: Axis, metric: str, words: Label) -> str:
    """The least and the greatest: along names neither the first nor the last says anything.

    Nor do they where they are alike.
    """
    rows = points.sort(metric, maintain_order=True)

    def said(value: float) -> str:
        places = [
            "; ".join(filter(None, (_named(x, place), group)))
            for place, group in rows.filter(pl.col(metric) == value)
            .select(x.name, GROUP)
            .iter_rows()
        ]
        # Of many that are alike no three are worth a name.
        where = few(places) if len(places) <= _NAMED_MAX else f"in {len(places)} cases"
        return f"{_quantity(value, words)} ({where})"

    least, greatest = (float(rows.get_column(metric)[i]) for i in (0, -1))
    if rows.height > 1 and least > 0 and are_alike(least, greatest):
        return f"{words.said}: {_quantity(greatest, words)}, all within {_ABOUT}"
    return f"{words.said}: from {said(least)} to {said(greatest)}"


def key_findings(view: View) -> list[str]:
    """Return the report's first sentences: who is ahead, where curves cross, what is lost."""
    if view.timed:
        known = (ms for ms in _OF_TIMED if view.has(ms[0]) and (ms != _OF_FLENT or view.of_flent))
        of = next(known, _OF_TIMED[-1])
        wanted = [m for m in of if view.has(m)]
        said = (headline(view, metric) for metric in wanted)
        trips = _round_trips(view) if of is _OF_TIMED[-1] else []
        more = (*_refused(view), *most_moved(view), *_unfinished(view), *noted(view))
        return [*_late(view), *said, *trips, *more]
    if view.axes.x is None:
        return [_single(view), *noted(view)]
    found = [headline(view, _METRIC), *_enough(view, view.axes.x)]
    if len(view.groups) == 2:
        found = _two(view, view.axes.x)
    found += _goodput_extremes(view, view.axes.x)
    return found + noted(view)


def _round_trips(view: View) -> list[str]:
    """What the goodput was bought with, where it was looked at: the round trips of who sent."""
    looks = SPREADS["round-trips"].rows(view)
    if looks.is_empty():
        return []
    keys = [*view.axes.all_names, GROUP, COLOUR, DASH]
    medians = looks.group_by(keys).agg(pl.col("srtt_ms").median())
    joined = view.points.join(medians, on=keys, maintain_order="left", nulls_equal=True)
    points = joined.drop_nulls("srtt_ms")
    return [_headline(view, points, "srtt_ms", Label("Round trip", "ms", "median"))]


def _late(view: View) -> list[str]:
    """Senders of datagrams, and servers, that did not come near the rate that was asked of them."""
    found, subject = short_of_rate(view), "Senders sent {} of the {} Mb/s asked of them"
    if found is None:
        found, subject = (
            short_of_requests(view),
            "Answered were {} of the {} requests that were due",
        )
    if found is None:
        return []
    said = subject.format(number(found.done), number(found.asked))
    place = f" ({found.place})" if found.place else ""
    others = f"; less than asked at {found.late} of {found.points} points" if found.late > 1 else ""
    return [f"{said}{place}{others}."]


def _refused(view: View) -> list[str]:
    """Of lost datagrams, whether the network had any of them."""
    summary = view.results.summary
    places = [c for c in summary.columns if c.startswith("lost_")]
    lost = {place: int(summary.get_column(place).sum()) for place in places}
    refused = lost.pop("lost_tx_queue", 0)
    if not refused or any(lost.values()):
        return []
    return ["Every lost packet was refused by its sender's own queue; none was lost on the way."]


def _unfinished(view: View) -> list[str]:
    """Flows that had not ended with the run are in no mean."""
    if "flows_complete" not in view.summary.columns:
        return []
    if view.results.manifest["scenario"]["workload"]["kind"] == "bulk":
        return []  # without a size they have no end, and with one the run ends with them
    flows, complete = (int(view.summary.get_column(c).sum()) for c in ("flows", "flows_complete"))
    unfinished = flows - complete
    if not unfinished:
        return []
    return [f"{unfinished:,} of {flows:,} flows were not complete when their run ended."]


@dataclass(frozen=True)
class _Contest:
    slow: str
    fast: str
    ratio: float

    @property
    def turned(self) -> "_Contest":
        """The same seen from the other."""
        return _Contest(self.fast, self.slow, self.ratio)


def _two(view: View, x: Axis) -> list[str]:
    a, b = view.groups
    named = x.kind == "nominal"
    curves = pair(view, view.points, _METRIC, a, b)
    # Along names the last says no more than any other: where they are furthest apart.
    at = _widest(curves.ratios) if named else len(curves.ratios) - 1
    ratio = curves.ratios[at] if at is not None and at >= 0 else None
    if at is None or ratio is None:
        return []
    contest = _Contest(a, b, ratio) if ratio >= 1 else _Contest(b, a, 1 / ratio)
    place = _named(x, curves.x[at])
    if contest.ratio < _ALIKE:
        if named:
            return [f"Transactions with {a} and {b} take the same time within {_ABOUT}."]
        tied = f"At {place}, transactions with {a} and {b} take the same time within {_ABOUT}."
        return [tied, *_crossing(view, x, contest), *_crossing(view, x, contest.turned)]
    longer = (
        f"{(contest.ratio - 1) * 100:.3g} % longer with {contest.slow} than with {contest.fast}"
    )
    if named:
        first = f"A transaction takes up to {longer} ({place})"
    else:
        first = f"At {place}, a transaction takes {longer}"
    lost = (
        pair(view, view.points, "switch_drops_mean", contest.slow, contest.fast)
        if view.has("switch_drops_mean")
        else None
    )
    drops = lost.ratios[at] if lost is not None else None
    if drops:
        first += f", and the switch drops {drops:.2g} times the packets"
    return [first + ".", *_crossing(view, x, contest)]


def _widest(ratios: Sequence[float | None]) -> int | None:
    """Where two are furthest apart, whichever is ahead; nowhere if there is no ratio."""
    known = [(max(r, 1 / r), -i) for i, r in enumerate(ratios) if r]
    return -max(known)[1] if known else None


def _crossing(view: View, x: Axis, contest: _Contest) -> list[str]:
    """Where the slower in the end is ahead, leaving differences under 1 % aside."""
    curves = pair(view, view.points, _METRIC, contest.slow, contest.fast)
    ahead = [v for v, r in zip(curves.x, curves.ratios, strict=True) if r is not None and r < 0.99]
    if not ahead:
        return []
    only = "" if contest.ratio < _ALIKE else " only"
    return [f"{contest.slow} is ahead at {_listed(x, ahead)}{only}."]


def _enough(view: View, x: Axis) -> list[str]:
    """From where on more of x hardly helps: the answer to how much buffer is needed."""
    if x.kind == "nominal" or len(view.groups) != 1:
        return []
    times = [float(_at(view.points, x, value).get_column(_METRIC)[0]) for value in x.values]
    least = min(times)
    late = [i for i, time in enumerate(times) if time > _HARDLY * least]
    if not late or late[-1] >= len(times) - 2:
        return []
    share = percent(_HARDLY - 1, decimals=0)
    return [f"From {_place(x, late[-1] + 1)} on it is within {share} of the least."]


def _goodput_extremes(view: View, x: Axis) -> list[str]:
    """The deepest dip of goodput inside the sweep: where losses cost most."""
    metric = "goodput_mbps_mean"
    if metric not in view.points.columns or x.kind != "numeric" or len(view.groups) > 2:
        return []
    found = []
    for (group,), rows in view.points.group_by(GROUP, maintain_order=True):
        ordered = rows.sort(x.name)
        at = ordered.get_column(metric).arg_min()
        if at is None or at in {0, ordered.height - 1}:
            continue
        low = float(ordered.get_column(metric)[at])
        top = max(float(v) for v in ordered.get_column(metric))
        if top <= 0 or low > 0.8 * top:
            continue
        who = f"Goodput with {group}" if group else "Goodput"
        place = _named(x, ordered.get_column(x.name)[at])
        share = percent(low / top, decimals=0)
        words = f"{who} is least at {place}: {number(low, 4)} Mb/s, {share} of its best."
        found.append((low / top, words))
    return [min(found)[1]] if found else []


def _single(view: View) -> str:
    row: dict[str, Any] = view.points.row(0, named=True)
    text = f"A transaction takes {number(row[_METRIC])} ms in the mean"
    if not view.transactions.is_empty():
        times = view.transactions.get_column("completion_ms")
        within_ms = number(float(times.quantile(_NEARLY_ALL) or 0))
        text += f", {percent(_NEARLY_ALL, decimals=0)} within {within_ms} ms"
    for metric, words in (
        ("switch_drops_mean", "drops at the switch"),
        ("retransmissions_mean", "retransmissions"),
        ("timeouts_mean", "timeouts"),
    ):
        if row.get(metric):
            text += f"; {number(row[metric])} {words} each"
    return text + "."


def _at(points: pl.DataFrame, x: Axis, value: object) -> pl.DataFrame:
    return points.filter(pl.col(x.name) == value)


def _place(x: Axis, index: int) -> str:
    return _named(x, x.values[index])


def _named(x: Axis, value: object) -> str:
    return _listed(x, [value])


def _listed(x: Axis, values: list[Any]) -> str:
    texts = [written(v) for v in values]
    joined = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
    alone = all(is_name(x, v) for v in values)
    return joined if alone else _PLACES.get(x.name, f"{x.name} {{}}").format(joined)


def _quantity(value: float, words: Label) -> str:
    return f"{_figure(value, words)} {words.unit}".strip()


def _figure(value: float, words: Label) -> str:
    """A value in its label's unit, which the sentence has said already."""
    return number(value / words.per_unit)
