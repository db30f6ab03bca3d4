"""Every congestion control on one bottleneck: `tailback reproduce congestion-gallery`.

Ideal ends and one queue (crates/sim/src/bottleneck), as for the closed forms.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import altair as alt
import polars as pl

from tailback.report.charts.data import AnyChart, inline
from tailback.report.theme import themed
from tailback.reproduce.response.links import LIKE_FLOWS, bdp_segments, jain
from tailback.reproduce.response.measure import bottleneck, flow, run_all

RATE_BPS = 100_000_000
RTT_S = 0.02
ROUND_TRIPS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
MARKED = ("dctcp", "prague")
"""Those that live on marks: with a threshold of a fifth of the product."""
CONTROLS = (*LIKE_FLOWS, *MARKED)
"""In the order of the figures."""
_OLD = ("bic", "cubic-2.1")
_POINTS = 500


@dataclass(frozen=True)
class Gallery:
    """What was measured.

    Attributes:
        traces: congestion control -> looks at one flow for thirty seconds.
        over_rtt: `congestion`, `rtt_ms`, `share` of the rate, `queue` in parts of the buffer.
        fairness: `congestion`, `jain` of two flows, the second three seconds later.
    """

    traces: dict[str, pl.DataFrame]
    over_rtt: pl.DataFrame
    fairness: pl.DataFrame


def gallery(
    *, jobs: int | None = None, on_progress: Callable[[int, int], None] | None = None
) -> Gallery:
    """Measure what the figures show.

    Args:
        jobs: bottlenecks at a time; by default one per CPU core.
        on_progress: told how many of how many are done.
    """
    configs = [config for name in CONTROLS for config in _configs(name)]
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if on_progress:
            on_progress(done, len(configs))

    results = iter(run_all(configs, jobs=jobs, on_done=one_more))
    traces, over_rtt, fairness = {}, [], []
    for name in CONTROLS:
        traces[name] = _trace(next(results))
        for rtt_s in ROUND_TRIPS_S:
            found = next(results)
            over_rtt.append(
                {
                    "congestion": name,
                    "rtt_ms": rtt_s * 1000,
                    "share": found["flows"][0]["goodput_bps"] / (RATE_BPS * 1448 / 1538),
                    "queue": found["queue_mean"] / _buffer(rtt_s),
                }
            )
        goodputs = [one["goodput_bps"] for one in next(results)["flows"]]
        fairness.append({"congestion": name, "jain": jain(goodputs)})
    return Gallery(traces, pl.DataFrame(over_rtt), pl.DataFrame(fairness))


def write(found: Gallery, folder: Path) -> list[Path]:
    """Write `congestion-NAME.png` for each congestion control, and `gallery.png`; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, frame in found.traces.items():
        files.append(folder / f"congestion-{name}.png")
        themed(trace_chart(name, frame)).save(files[-1], scale_factor=1)
    files.append(folder / "gallery.png")
    themed(gallery_chart(found)).save(files[-1], scale_factor=1.5)
    return files


def _buffer(rtt_s: float) -> int:
    return max(10, round(bdp_segments(RATE_BPS, rtt_s)))


def _one(name: str, rtt_s: float, start_s: float = 0.0) -> dict[str, Any]:
    profile = "linux-2.6.18" if name in _OLD else "linux-7.2"
    return flow(name, rtt_s, profile=profile, start_s=start_s)


def _link(name: str, rtt_s: float, flows: int, **values: object) -> dict[str, Any]:
    marks = round(bdp_segments(RATE_BPS, rtt_s) / 5) if name in MARKED else 0
    return bottleneck(
        [_one(name, rtt_s, 3.0 * i) for i in range(flows)],
        rate_bps=RATE_BPS,
        buffer_segments=_buffer(rtt_s),
        mark_segments=marks,
        **values,
    )


def _configs(name: str) -> Iterator[dict[str, Any]]:
    yield _link(name, RTT_S, 1, warm_up_us=0, measured_us=30_000_000, look_us=20_000)
    for rtt_s in ROUND_TRIPS_S:
        yield _link(name, rtt_s, 1, warm_up_us=10_000_000, measured_us=30_000_000)
    yield _link(name, RTT_S, 2, warm_up_us=10_000_000, measured_us=60_000_000)


def _trace(result: dict[str, Any]) -> pl.DataFrame:
    looks = result["looks"]
    stride = max(1, len(looks) // _POINTS)
    return pl.DataFrame(
        [
            {"time_s": look["time_s"], "cwnd": look["cwnd"][0], "queue": look["queue"]}
            for look in looks[::stride]
        ]
    )


def trace_chart(name: str, frame: pl.DataFrame) -> AnyChart:
    """Return one flow's congestion window and the queue over time, both in segments."""
    rows = frame.unpivot(index="time_s", variable_name="what", value_name="segments")
    chart: alt.Chart = (
        alt.Chart(inline(rows), width=560, height=180, title=f"{name}: one flow, 100 Mb/s, 20 ms")
        .mark_line(strokeWidth=1.3)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)"),
            y=alt.Y("segments:Q", title="Segments"),
            color=alt.Color("what:N", scale=alt.Scale(domain=["cwnd", "queue"]), title=None),
        )
    )
    return chart


def gallery_chart(found: Gallery) -> AnyChart:
    """Return all congestion controls side by side: rate and queue over round trips, fairness."""
    row = alt.Y("congestion:N", sort=list(CONTROLS), title=None)
    rtt = alt.X("rtt_ms:O", title="Round trip (ms)", axis=alt.Axis(labelAngle=0, format="~g"))

    def grid(column: str, title: str, scheme: Literal["blues", "oranges"]) -> AnyChart:
        base = alt.Chart(inline(found.over_rtt), width=260, height=400, title=title)
        scale = alt.Scale(scheme=scheme, domain=[0, 1])
        dark = alt.condition(alt.datum[column] > 0.6, alt.value("white"), alt.value("black"))
        cells = base.mark_rect().encode(
            x=rtt, y=row, color=alt.Color(f"{column}:Q", scale=scale, legend=None)
        )
        texts = base.mark_text(fontSize=10).encode(
            x=rtt, y=row, text=alt.Text(f"{column}:Q", format=".2f"), color=dark
        )
        return alt.layer(cells, texts)

    bars = alt.Chart(inline(found.fairness), width=180, height=400, title="Jain's index of 2")
    fair = bars.mark_bar().encode(
        x=alt.X("jain:Q", title=None, scale=alt.Scale(domain=[0, 1])), y=row
    )
    figure: alt.HConcatChart = alt.hconcat(
        grid("share", "Share of the rate", "blues"),
        grid("queue", "Mean queue, of the buffer", "oranges"),
        fair,
    ).properties(title="Congestion controls on 100 Mb/s with a buffer of one product")
    resolved: alt.HConcatChart = figure.resolve_scale(color="independent")
    return resolved
