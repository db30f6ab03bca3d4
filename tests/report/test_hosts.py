"""Figures of hosts and paths: where it was lost, surfaces, spacing, measurements, interfaces."""

import re
from pathlib import Path
from typing import Any

import pytest
import vl_convert

import tailback
from synthetic import write_folder
from tailback.analysis import View
from tailback.analysis.background import carried
from tailback.analysis.findings import key_findings
from tailback.analysis.pairs import pair_losses
from tailback.analysis.paused import stopped
from tailback.analysis.places import PLACE, places
from tailback.analysis.probes import probes
from tailback.analysis.shares import most_moved, shares
from tailback.report import Plots, write_report
from tailback.report.charts.heat import Cells
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.charts.surface import sides
from tailback.report.page.contents import contents
from tailback.results import Results


def folder(path: Path, parameters: list[str], **tables: list[dict[str, Any]]) -> View:
    written = write_folder(
        path, name="own", title="Own", study=None, parameters=parameters, tables=tables
    )
    return View(Results(written))


def summary(run: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a cell holds
    row = {"run": run, "repetition": 0, "iterations": 1, "goodput_mbps_mean": 100.0 * (run + 1)}
    return row | {"data_bytes_total": 1, "duration_s_total": 1.0} | values


def drop(run: int, place: str, cause: str, frames: int, data: int) -> dict[str, Any]:
    row = {"run": run, "repetition": 0, "place": place, "cause": cause, "frames": frames}
    return row | {"data_frames": data, "payload_bytes": data * 1448}


def flow(run: int, source: str, destination: str) -> dict[str, Any]:
    row = {"run": run, "repetition": 0, "source": source, "destination": destination}
    return row | {"received_bytes": 10_000_000}


def test_losses_stand_at_their_places_in_the_order_of_the_way(tmp_path: Path) -> None:
    view = folder(
        tmp_path / "own",
        ["rate"],
        summary=[summary(0, rate=1), summary(1, rate=2)],
        flows=[flow(0, "a", "b"), flow(1, "a", "b")],
        drops=[
            drop(1, "a", "rx-ring-full", 40, 0),
            drop(1, "b", "rx-ring-full", 7, 7),
            drop(1, "b", "socket-full", 3, 3),
            drop(1, "switch:0", "buffer-full", 5, 4),
            drop(1, "a>switch", "link-loss", 2, 2),
        ],
    )
    found = places(view)
    assert found is not None
    assert found.names == [
        "sender: send queue",
        "switches",
        "links",
        "receiver: receive ring",
        "receiver: backlog",
        "receiver: socket",
        "sender: receive ring",
    ]
    assert found.runs == ["rate 2"]
    assert (found.left_out, found.lossless) == (0, 1)
    frames = {row[PLACE]: row["frames"] for row in found.rows.to_dicts()}
    assert frames == {
        "sender: send queue": 0,
        "switches": 5,
        "links": 2,
        "receiver: receive ring": 7,
        "receiver: backlog": 0,
        "receiver: socket": 3,
        "sender: receive ring": 40,
    }
    acks = found.rows.filter(place="sender: receive ring")
    assert acks.get_column("ack_frames").to_list() == [40]
    assert "switches: 5" in Plots(view.results).lost_at().to_dict()["description"]


def test_every_repetition_is_a_run_that_lost_nothing(tmp_path: Path) -> None:
    runs = [(rate, repetition) for rate in range(40) for repetition in range(3)]
    rows = [
        summary(run, rate=rate) | {"repetition": repetition}
        for run, (rate, repetition) in enumerate(runs)
    ]
    # Of 38 points one repetition of three lost something; the picture shows 36.
    lossy = [drop(3 * rate, "switch:0", "buffer-full", 3 + rate, 3) for rate in range(38)]
    view = folder(tmp_path / "own", ["rate"], summary=rows, drops=lossy)
    (subtitle,) = Plots(view.results).lost_at().to_dict()["title"]["subtitle"]
    assert subtitle.startswith("Frames of a whole run, means of the repetitions: ")
    found = places(view)
    assert found is not None
    assert len(found.runs) == 36
    assert (found.left_out, found.lossless) == (6, 6)


def test_what_is_lost_before_it_is_measured_is_said(tmp_path: Path) -> None:
    scenario: dict[str, Any] = {
        "name": "late",
        "network": {
            "topology": "star",
            "hosts": 3,
            "switch": {"preset": "arista-7124s", "buffer": {"shared": "20KB"}},
            "link": {"rate": "1Gbit", "delay": "1us", "mtu": "1500B"},
        },
        "workload": {"kind": "bulk", "pairs": {"kind": "to-first"}, "duration": "20ms"},
    }
    late = scenario | {"workload": scenario["workload"] | {"omit": "5ms"}}

    def subtitle(given: dict[str, Any], out: str) -> str:
        results = tailback.run(tailback.Scenario(given), out=tmp_path / out)
        return str(Plots(results).lost_at().to_dict()["title"]["subtitle"])

    assert "Frames of a whole run: " in subtitle(scenario, "whole")
    assert "run, with what is before it is measured: " in subtitle(late, "late")


def test_runs_without_loss_have_no_such_picture(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", ["rate"], summary=[summary(0, rate=1)])
    with pytest.raises(NothingToDrawError, match="no run lost"):
        Plots(view.results).lost_at()


def test_cores_stand_by_run_and_host(tmp_path: Path) -> None:
    def core(run: int, host: str, number: int, busy: float) -> dict[str, Any]:
        row = {"run": run, "repetition": 0, "host": host, "core": number}
        return row | {"busy_s": busy / 100.0, "busy_percent": busy}

    cells = [core(0, "a", 0, 10.0), core(0, "a", 1, 2.0), core(1, "a", 0, 97.0)]
    view = folder(
        tmp_path / "own",
        ["rate"],
        summary=[summary(0, rate=1), summary(1, rate=2)],
        cores=[*cells, core(1, "a", 1, 3.0)],
    )
    drawn = Plots(view.results).cores().to_dict()
    assert "The busiest: a 0, 97 % (rate 2)" in drawn["description"]
    (rows,) = drawn["datasets"].values()
    assert rows.splitlines() == [
        "run of,core of,busy_percent,text",
        "rate 1,a 0,10,10",
        "rate 1,a 1,2,2",
        "rate 2,a 0,97,97",
        "rate 2,a 1,3,3",
    ]


def test_cores_have_whole_per_cents_that_fit(tmp_path: Path) -> None:
    busy = [0.0, 0.0055, 0.999, 9.5, 64.2, 100.0]
    row = {"run": 0, "repetition": 0, "host": "a", "busy_s": 1.0}
    cores = [row | {"core": i, "busy_percent": b} for i, b in enumerate(busy)]
    view = folder(tmp_path / "own", [], summary=[summary(0)], cores=cores)
    (rows,) = Plots(view.results).cores().to_dict()["datasets"].values()
    texts = [line.rpartition(",")[2] for line in rows.splitlines()[1:]]
    assert texts == ["0", "<1", "<1", "10", "64", "100"]


def test_of_many_cores_those_that_worked_are_shown(tmp_path: Path) -> None:
    row = {"run": 0, "repetition": 0, "host": "a", "busy_s": 1.0}
    cores = [row | {"core": i, "busy_percent": 50.0 * (i % 2)} for i in range(40)]
    view = folder(tmp_path / "own", [], summary=[summary(0)], cores=cores)
    drawn = Plots(view.results).cores().to_dict()
    (rows,) = drawn["datasets"].values()
    assert len(rows.splitlines()) == 21
    assert "Left out: 20 cores below 1 % in all runs." in drawn["title"]["subtitle"][0]
    idle = [core | {"busy_percent": 0.1} for core in cores]
    view = folder(tmp_path / "idle", [], summary=[summary(0)], cores=idle)
    with pytest.raises(NothingToDrawError, match="no core of these 40"):
        Plots(view.results).cores()


@pytest.mark.parametrize(
    ("value", "room", "text"),
    [
        (None, 100, None),
        (0.00551, 60, "0.0055"),
        (0.00551, 31, "0.006"),
        (0.00551, 18, "<1"),
        (9.55, 20, "9.6"),
        (9.44, 16, "9"),
        (1234.0, 20, None),
    ],
)
def test_a_cell_s_number_stays_within_it(
    value: float | None, room: float, text: str | None
) -> None:
    assert Cells("loss", 1.0).text(value, room) == text


def test_without_machines_there_are_no_cores(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", ["rate"], summary=[summary(0, rate=1)])
    with pytest.raises(NothingToDrawError, match="no host"):
        Plots(view.results).cores()


def test_each_section_has_the_key_it_is_asked_for_by(tmp_path: Path) -> None:
    rows = [
        summary(run, pairs=pairs, connections=connections)
        for run, (pairs, connections) in enumerate((p, c) for p in (1, 2, 3) for c in (1, 2, 3))
    ]
    view = folder(tmp_path / "many", ["pairs", "connections"], summary=rows)
    keys = [section.key for section in contents(view).sections]
    assert "shown" in keys
    assert len(keys) > 2
    for key in keys:
        assert [section.key for section in contents(view, [key]).sections] == [key]


def test_two_numeric_axes_make_a_surface(tmp_path: Path) -> None:
    cells = [(p, f, w) for w in ("32KiB", "64KiB") for p in (1, 2, 3, 4) for f in (1, 2, 3)]
    rows = [
        summary(run, pairs=p, connections=f, pair_window=w) for run, (p, f, w) in enumerate(cells)
    ]
    view = folder(tmp_path / "own", ["pair_window", "pairs", "connections"], summary=rows)
    found = sides(view)
    assert found is not None
    assert [axis.name for axis in found] == ["pairs", "connections"]
    assert "2 heat maps" in Plots(view.results).surface().to_dict()["description"]


def test_a_surface_without_further_axes_is_one_chart_with_all_labels(tmp_path: Path) -> None:
    losses, ports = (0.0, 0.01, 0.02, 0.05), (4, 8, 16)
    rows = [
        summary(run, loss=loss, ports=number)
        for run, (loss, number) in enumerate((p, n) for p in losses for n in ports)
    ]
    view = folder(tmp_path / "own", ["loss", "ports"], summary=rows)
    svg = vl_convert.vegalite_to_svg(Plots(view.results).surface().to_dict())
    assert "null" not in svg
    drawn = set(re.findall(r">([\d.]+)</text>", svg))
    assert drawn >= {"0", "0.01", "0.02", "0.05", "4", "8", "16"}
    cells = svg[svg.index('class="mark-rect role-mark') :]
    sides = {
        (float(w), float(h)) for w, h in re.findall(r"h([\d.]+)v([\d.]+)h-", cells.split("</g>")[0])
    }
    assert len(sides) == 1
    assert min(sides.pop()) > 30, "px"


def test_panels_have_all_labels_of_x(tmp_path: Path) -> None:
    points = [(w, p, n) for w in ("a", "b") for p in (0.0, 0.001, 0.01, 0.05) for n in (1, 2, 3)]
    rows = [summary(run, case=w, loss=p, hosts=n) for run, (w, p, n) in enumerate(points)]
    view = folder(tmp_path / "own", ["case", "loss", "hosts"], summary=rows)
    svg = vl_convert.vegalite_to_svg(Plots(view.results).surface().to_dict())
    for label in ("0", "0.001", "0.01", "0.05"):
        assert len(re.findall(f">{label}</text>", svg)) >= 2


def test_one_axis_makes_none(tmp_path: Path) -> None:
    view = folder(tmp_path / "own", ["rate"], summary=[summary(run, rate=run) for run in range(4)])
    with pytest.raises(NothingToDrawError, match="two numeric axes"):
        Plots(view.results).surface()


def test_measurements_are_sorted_by_decades_of_loss(tmp_path: Path) -> None:
    def probe(round_: int, source: str, destination: str, lost: int) -> dict[str, Any]:
        row = flow(0, source, destination) | {"round": round_, "datagrams_sent": 100_000}
        return row | {"datagrams_received": 100_000 - lost}

    rows = [
        probe(0, "a", "b", 0),
        probe(0, "a", "c", 9),
        probe(1, "b", "c", 10),
        probe(1, "b", "a", 440),
    ]
    view = folder(tmp_path / "own", [], summary=[summary(0)], flows=rows)
    found = probes(view)
    assert found is not None
    assert found.worst == "a"
    assert found.everyone == {
        "none": 0.25,
        "below 0.01 %": 0.25,
        "0.01 %": 0.25,
        "0.1 %": 0.25,
        "1 %": 0,
        "10 % and above": 0,
    }
    assert found.without_worst["0.01 %"] == 1
    assert "Worst receiver: a." in str(Plots(view.results).loss_histogram().to_dict())


def test_a_mesh_shows_who_lost_what_to_whom(tmp_path: Path) -> None:
    def probe(round_: int, source: str, destination: str, lost: int) -> dict[str, Any]:
        row = flow(0, source, destination) | {"round": round_, "datagrams_sent": 100}
        return row | {"datagrams_received": 100 - lost, "lost_switch": 0, "lost_link": lost}

    pairs = [(a, b) for a in "abc" for b in "abc" if a != b]
    bad = {("a", "c"): 4, ("b", "c"): 10}
    rows = [probe(r, a, b, bad.get((a, b), 0) * r) for r in (0, 1) for a, b in pairs]
    view = folder(tmp_path / "own", [], summary=[summary(0)], flows=rows)
    lost = {(a, b): share for a, b, *_, share in pair_losses(view).iter_rows()}
    assert lost == {(a, b): bad.get((a, b), 0) / 2 for a, b in pairs}
    assert "The most: b to c, 5 %." in Plots(view.results).pairs().to_dict()["description"]
    fewer = [row for row in rows if row["destination"] == "c"]
    alone = folder(tmp_path / "fewer", [], summary=[summary(0)], flows=fewer)
    assert pair_losses(alone).is_empty(), "one receiver is no mesh"


def test_who_was_stopped_and_for_how_long(tmp_path: Path) -> None:
    def port(run: int, link: str, percent: float) -> dict[str, Any]:
        # More than the workload's time, and half of the run's.
        row = {"run": run, "repetition": 0, "link": link, "paused_ms": 20 * percent}
        return row | {"paused_percent": percent}

    shares = {"a>leaf": (0.0, 50.0), "leaf>spine": (0.0, 20.0), "spine>leaf": (0.0, 0.0)}
    view = folder(
        tmp_path / "own",
        ["control"],
        summary=[
            summary(0, control="none", duration_s_total=1.0),
            summary(1, control="pfc", duration_s_total=0.5),
        ],
        ports=[port(run, link, of[run]) for run in (0, 1) for link, of in shares.items()],
    )
    assert stopped(view).rows() == [
        ("control none", "a>leaf", 0.0),
        ("control none", "leaf>spine", 0.0),
        ("pfc", "a>leaf", 50.0),
        ("pfc", "leaf>spine", 20.0),
    ]
    assert "a>leaf, 50 % (pfc)" in Plots(view.results).paused().to_dict()["description"]
    keys = [figure.key for figure in contents(view, ["shown"]).sections[0].figures]
    assert keys == ["paused"]


def sent(run: int, source: str, destination: str, rate: float) -> dict[str, Any]:
    row = {"run": run, "repetition": 0, "source": source, "destination": destination}
    return row | {"goodput_mbps": rate}


def of_datagrams(path: Path, rates: dict[str, tuple[float, ...]], **lost: int) -> View:
    """A sweep of datagrams: by sender what it got in each run, and what was lost where."""
    runs = range(len(next(iter(rates.values()))))
    rows = [sent(run, source, "z", of[run]) for run in runs for source, of in rates.items()]
    written = write_folder(
        path,
        name="own",
        title="Own",
        study=None,
        parameters=["control"],
        tables={
            "summary": [summary(run, control=f"c{run}", loss_percent=10.0, **lost) for run in runs],
            "flows": rows,
        },
        workload="udp",
    )
    return View(Results(written))


def test_who_got_what_and_whom_a_setting_moves_most(tmp_path: Path) -> None:
    view = of_datagrams(tmp_path / "own", {"a": (5.0, 4.0), "b": (5.0, 4.5), "victim": (5.0, 35.0)})
    assert shares(view).rows() == [
        ("c0", "a > z", 5.0),
        ("c0", "b > z", 5.0),
        ("c0", "victim > z", 5.0),
        ("c1", "a > z", 4.0),
        ("c1", "b > z", 4.5),
        ("c1", "victim > z", 35.0),
    ]
    assert most_moved(view) == ["victim > z gets from 5 Mb/s (c0) to 35 Mb/s (c1)."]
    drawn = Plots(view.results).shares().to_dict()["description"]
    assert "from 4 Mb/s (a > z, c1) to 35 Mb/s (victim > z, c1)" in drawn
    keys = [figure.key for figure in contents(view, ["shown"]).sections[0].figures]
    assert keys == ["shares"]
    # Rows are in the order of names, whoever began first.
    rows = of_datagrams(tmp_path / "rows", {"h10": (5.0, 4.0), "h9": (5.0, 3.0), "h1": (5.0, 9.0)})
    chart = Plots(rows.results).shares().to_json(indent=None)
    assert '["h1 > z", "h9 > z", "h10 > z"]' in chart
    # All are moved alike: there is no bystander, and nothing to draw.
    alike = of_datagrams(tmp_path / "alike", dict.fromkeys("abc", (5.0, 50.0)))
    assert most_moved(alike) == []
    other = {"a": (5.0, 5.0), "b": (5.0, 40.0)}
    assert most_moved(of_datagrams(tmp_path / "two", other)) == [], "one other is no measure"
    starved = other | {"c": (5.0, 5.0), "d": (0.0, 9.0)}
    assert most_moved(of_datagrams(tmp_path / "starved", starved)) == []
    hardly = other | {"b": (5.0, 9.0), "c": (5.0, 5.0)}
    assert most_moved(of_datagrams(tmp_path / "hardly", hardly)) == [], "less than twice"
    with pytest.raises(NothingToDrawError, match="got alike"):
        Plots(alike.results).shares()
    many = {f"s{n}": (1.0, 2.0 + n) for n in range(17)}
    assert shares(of_datagrams(tmp_path / "many", many)).is_empty()
    once = of_datagrams(tmp_path / "once", {"a": (5.0,), "b": (9.0,)})
    assert shares(once).is_empty(), "a single run has a chart of its own"


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ({"lost_tx_queue": 9, "lost_switch": 0, "lost_socket": 0}, True),
        ({"lost_tx_queue": 9, "lost_switch": 1, "lost_socket": 0}, False),
        ({"lost_tx_queue": 0, "lost_switch": 0, "lost_socket": 0}, False),
    ],
)
def test_it_is_said_where_only_senders_refused(
    tmp_path: Path, lost: dict[str, int], *, said: bool
) -> None:
    view = of_datagrams(tmp_path / "own", {"a": (5.0, 4.0), "b": (5.0, 4.0)}, **lost)
    assert any("refused by its sender's own queue" in line for line in key_findings(view)) is said


def test_what_flows_beside_the_workload_carried(tmp_path: Path) -> None:
    def flow(run: int, number: int, ends: tuple[str, str], rate: float) -> dict[str, Any]:
        return {
            "run": run,
            "repetition": 0,
            "flow": number,
            "source": ends[0],
            "destination": ends[1],
            "throughput_mbps": rate,
            "retransmissions": 10 * number,
        }

    rates = {0: (300.0, 200.0, 900.0), 1: (100.0, 100.0, 950.0)}
    ends = (("b", "a"), ("b", "a"), ("c", "d"))
    view = folder(
        tmp_path / "own",
        ["queue"],
        summary=[summary(0, queue="fifo"), summary(1, queue="red")],
        background_flows=[
            flow(run, i, ends[i], rate) for run in (0, 1) for i, rate in enumerate(rates[run])
        ],
    )
    assert carried(view).rows() == [
        ("fifo", "b > a (2 flows)", 500.0, 10.0),
        ("fifo", "c > d", 900.0, 20.0),
        ("red", "b > a (2 flows)", 200.0, 10.0),
        ("red", "c > d", 950.0, 20.0),
    ]
    chart = Plots(view.results).flows_beside().to_dict()
    assert "The fastest: c > d, 950 Mb/s (red)." in chart["description"]
    keys = [figure.key for figure in contents(view, ["shown"]).sections[0].figures]
    assert keys == ["beside"]


def test_every_run_of_a_heat_map_is_named_and_slow_flows_have_a_rate(tmp_path: Path) -> None:
    names = [f"network.switch.queue codel {i}" for i in range(12)]
    row = {"repetition": 0, "flow": 0, "source": "b", "destination": "a", "retransmissions": 0}
    view = folder(
        tmp_path / "own",
        ["queue"],
        summary=[summary(run, queue=name) for run, name in enumerate([*names, "y", "z"])],
        background_flows=[row | {"run": i, "throughput_mbps": 0.314 + i} for i in range(14)],
    )
    chart = Plots(view.results).flows_beside().to_dict()
    assert "2 further runs are not shown." in chart["title"]["subtitle"][0]
    assert "codel 11" in chart["description"]
    svg = vl_convert.vegalite_to_svg(chart)
    drawn = re.findall(r">([^<>]+)</text>", svg)
    assert [text for text in drawn if text.startswith("network.switch")] == names
    assert {"0.314", "1.31"} <= set(drawn)


@pytest.mark.parametrize(
    ("repetitions", "said"),
    [
        (1, " Of 2 runs one is shown: qcn."),
        (2, " Of 4 runs one is shown: qcn, the first repetition."),
    ],
)
def test_interfaces_say_whose_they_are(tmp_path: Path, repetitions: int, said: str) -> None:
    points = [(case, i) for case in ("qcn", "none") for i in range(repetitions)]
    rows = [summary(run, case=case) | {"repetition": i} for run, (case, i) in enumerate(points)]
    polls = [
        {"run": run, "repetition": i, "interface": "eth0", "time_s": 0.1 * t}
        | {"out_mbps": 5.0, "out_octets": 9}
        for run, (_, i) in enumerate(points)
        for t in range(3)
    ]
    view = folder(tmp_path / "own", ["case"], summary=rows, interfaces=polls)
    drawn = Plots(view.results).interfaces().to_dict()
    assert drawn["title"]["subtitle"] == [f"The busiest of them.{said}"]


def test_a_report_of_datagrams_shows_where_they_were_lost(tmp_path: Path) -> None:
    scenario = tailback.load("lambda-udp").set("workload.duration", "1s")
    for axis, values in {
        "sweep.ring": [{"label": {"ring": "tiny"}, "set": {"network.link.0.delay": "8ms"}}],
        "sweep.socket_buffer": ["4MiB"],
        "sweep.rate": ["2400Mbit"],
    }.items():
        scenario = scenario.set(axis, values)
    results = tailback.run(scenario.set("record.interfaces", "200ms"), out=tmp_path / "udp")
    page = write_report(results).read_text()
    assert "Where it was lost" in page
    assert "Interfaces, as polled" in page
    assert "A transaction takes" not in page
