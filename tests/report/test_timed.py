"""Reports of runs that last as long as they are told: what counts is not how long they took."""

import io
from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import OWN
from tailback.analysis import View
from tailback.analysis.findings import key_findings
from tailback.analysis.words import number
from tailback.cli.summary import print_summary
from tailback.report import Plots
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.charts.totals import over_time
from tailback.report.page.contents import contents
from tailback.report.page.model import Page
from tailback.results import Results

LINK = {"rate": "10Gbit", "delay": "1us", "mtu": "1500B"}
SCENARIO = OWN | {
    "network": OWN["network"] | {"link": LINK},
    "sweep": {"network.switch.buffer.shared": ["20KB", "200KB"]},
}


def results(path: Path, **workload: object) -> Results:
    return tailback.run(tailback.Scenario(SCENARIO | {"workload": workload}), out=path)


@pytest.fixture(scope="module")
def flows(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return results(
        tmp_path_factory.mktemp("flows") / "flows",
        kind="flows",
        load=0.6,
        sizes={"kind": "web-search"},
        duration="20ms",
        drain="5ms",
    )


def drawn(page: Page) -> dict[str, str]:
    """Key of each chart and the sentence above it."""
    figures = (f for s in page.sections for f in [*s.figures, *s.small])
    return {figure.key: figure.title for figure in figures}


def test_flows_are_judged_by_their_slowdown(flows: Results) -> None:
    page = contents(View(flows))
    p99 = flows.summary.get_column("slowdown_p99").to_list()
    assert p99[0] != p99[1]
    assert page.findings[0].startswith("Slowdown, median: ")
    assert page.findings[1].startswith("Slowdown, 99th percentile: ")
    charts = drawn(page)
    assert {"slowdown_median", "slowdown_p99", "slowdowns"} <= set(charts)
    assert "completion_ms_mean" not in charts
    assert "per transaction" not in " ".join([*page.findings, *charts.values()])


def test_a_rate_up_to_the_last_flow_s_end_is_none_of_all(
    flows: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    page = contents(View(flows))
    assert "goodput_mbps_mean" not in drawn(page)
    assert "Goodput (Mb/s)" not in str(page)
    print_summary(flows)
    printed = capsys.readouterr().out.lower()
    assert "goodput" not in printed
    assert "flows" in printed.splitlines()[2]


def test_flows_that_were_not_complete_are_told_of(flows: Results) -> None:
    counts = flows.summary.select("flows", "flows_complete").sum().row(0)
    unfinished = counts[0] - counts[1]
    assert unfinished > 0, "the drain is too long for this test"
    said = f"{unfinished:,} of {counts[0]:,} flows were not complete when their run ended."
    assert said in contents(View(flows)).findings


def test_flows_without_an_end_have_no_slowdown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endless = results(tmp_path / "endless", kind="bulk", pairs={"kind": "to-first"}, duration="2ms")
    for column in ("slowdown_mean", "slowdown_median", "slowdown_p99"):
        assert endless.summary.get_column(column).is_null().all(), "no number, not zero"
    assert endless.table("flows").get_column("slowdown").is_null().all()
    page = contents(View(endless))
    assert [finding.split(":")[0] for finding in page.findings] == ["Goodput"]
    assert not any(key.startswith("slowdown") for key in drawn(page))
    assert "slowdown" not in str(page).lower().replace(page.scenario.lower(), "")
    print_summary(endless)
    printed = capsys.readouterr().out
    assert "goodput" in printed
    assert "slowdown" not in printed


def test_where_only_some_runs_have_a_value_the_others_have_a_dash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = SCENARIO | {"sweep": {"duration": ["1us", "2ms"]}}
    workload = {
        "kind": "request-response",
        "pairs": {"kind": "to-first"},
        "duration": "1ms",
        "start_within": "0s",
    }
    asked = tailback.run(tailback.Scenario(short | {"workload": workload}), out=tmp_path / "asked")
    latency = asked.summary.get_column("latency_us_mean")
    assert latency.is_null().to_list() == [True, False]
    title = contents(View(asked)).findings[0]
    assert title.startswith("Latency of a request: ")
    assert title.endswith(" us at duration 2ms, none at duration 1us.")
    print_summary(asked)
    row = next(line for line in capsys.readouterr().out.splitlines() if "1us" in line)
    assert "│ - │" in " ".join(row.split())


def test_datagrams_are_judged_by_what_came_and_what_was_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = results(
        tmp_path / "udp",
        kind="udp",
        pairs={"kind": "to-first"},
        rate="5Gbit",
        duration="5ms",
        socket_buffer="1MB",
    )
    findings = contents(View(sent)).findings
    told = ["Goodput", "Packets lost", "One-way delay of a datagram, 99th percentile"]
    assert [f.split(":")[0] for f in findings] == told
    print_summary(sent)
    assert "lost" in capsys.readouterr().out


def test_flows_of_two_priorities_are_told_apart(tmp_path: Path) -> None:
    sent = results(
        tmp_path / "bulk",
        kind="bulk",
        pairs={"kind": "to-first"},
        connections=2,
        priority=[0, 5],
        duration="2ms",
    )
    assert sent.table("flows").get_column("priority").unique().sort().to_list() == [0, 5]
    charts = drawn(contents(View(sent)))
    assert charts["priorities"].startswith("Least alike at ")
    assert "a flow of priority " in charts["priorities"]
    assert "controls" not in charts
    assert "by priority" in str(Plots(sent).priorities().to_dict())


def test_slowdown_by_size_has_a_line_a_run_and_statistic(flows: Results) -> None:
    chart = Plots(flows).slowdowns().to_dict()
    (rows,) = chart["datasets"].values()
    frame = pl.read_csv(io.StringIO(rows))
    table = flows.table("slowdowns")
    assert frame.height == 2 * table.height
    greatest = frame.filter(statistic="99th percentile").get_column("slowdown").max()
    assert greatest == pytest.approx(table.get_column("slowdown_p99").max(), rel=1e-5)
    assert frame.get_column("size").unique(maintain_order=True).to_list()[:2] == [
        "to 10 KB",
        "to 30 KB",
    ]


def test_questions_are_judged_by_their_latency(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = results(
        tmp_path / "asked",
        kind="request-response",
        pairs={"kind": "to-first"},
        request="100B",
        response="64KB",
        duration="2ms",
    )
    page = contents(View(asked))
    assert page.findings[0].startswith("Latency of a request: ")
    assert page.findings[1].startswith("Latency of a request, 99th percentile: ")
    print_summary(asked)
    printed = capsys.readouterr().out
    assert "latency" in printed
    assert "completion" not in printed
    with pytest.raises(NothingToDrawError, match="no flow of workload flows"):
        Plots(asked).slowdowns()


def test_pings_are_judged_by_their_round_trips(tmp_path: Path) -> None:
    pinged = results(
        tmp_path / "pinged", kind="ping", pairs={"kind": "to-first"}, interval="1ms", count=5
    )
    findings = contents(View(pinged)).findings
    assert findings[0].startswith("Round trip of a ping, median: ")
    assert findings[1].startswith("Round trip of a ping, 99th percentile: ")
    assert len(findings) == 2, "none was lost"


def test_the_longest_pings_are_drawn_beside_the_mean(tmp_path: Path) -> None:
    pinged = {"kind": "ping", "pairs": {"kind": "to-first"}, "interval": "100us", "wait": "1ms"}
    for count, tail in ((20, "ping_ms_max"), (40, "ping_ms_p99")):
        many = results(tmp_path / tail, **pinged, count=count)
        # Three pairs: with 100 answers there is a 99th percentile.
        assert many.summary.get_column("pings").to_list() == [3 * count] * 2
        figures = [f.key for f in contents(View(many)).sections[0].figures]
        assert [key for key in figures if key.startswith("ping_ms")] == ["ping_ms_mean", tail]


def test_senders_that_do_not_reach_their_rate_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"kind": "udp", "pairs": {"kind": "across", "pairs": 1}, "socket_buffer": "1MiB"}
    # A machine of 2009 writes a datagram in microseconds: 10 Gb/s of small ones are beyond it.
    own = SCENARIO | {"host": {"preset": "xeon-e7330-ixgbe"}, "workload": asked | {"rate": "4Gbit"}}
    scenario = tailback.Scenario(own)
    late = tailback.run(
        scenario.set("workload.datagram", "200B").set("workload.duration", "5ms"),
        out=tmp_path / "late",
    )
    sent, wanted = (late.summary.get_column(c)[0] for c in ("sent_mbps", "asked_mbps"))
    assert wanted == pytest.approx(4000, rel=0.001)
    assert sent < 0.5 * wanted
    counts = late.table("flows").select("datagrams_sent", "datagrams_due").row(0)
    assert counts[0] / counts[1] == pytest.approx(sent / wanted)
    said = " ".join(contents(View(late)).findings)
    assert f"Senders sent {sent:,.0f} of the 4,000 Mb/s asked of them" in said
    print_summary(late)
    assert "asked" in capsys.readouterr().out

    slow = tailback.run(
        scenario.set("workload.rate", "100Mbit").set("workload.duration", "5ms"),
        out=tmp_path / "slow",
    )
    assert "asked of them" not in " ".join(contents(View(slow)).findings)
    print_summary(slow)
    assert "asked" not in capsys.readouterr().out


def test_a_test_of_flents_is_of_the_delay_and_slow_rates_are_in_megabits(tmp_path: Path) -> None:
    slow = SCENARIO | {"network": OWN["network"] | {"link": LINK | {"rate": "20Mbit"}}}
    workload = {"kind": "flent", "test": "tcp_upload", "clients": 1, "length": "2s", "delay": "1s"}
    found = tailback.run(tailback.Scenario(slow | {"workload": workload}), out=tmp_path / "flent")
    view = View(found)
    upload = max(found.summary.get_column("upload_gbps").to_list())
    assert 0.01 < upload < 0.02
    first, second, *_ = key_findings(view)
    assert first.startswith("Round trip of a ping: ")
    assert second.startswith("Bandwidth of the uploads: ")
    assert f"{number(upload * 1e3)} Mb/s" in second
    label = view.label("upload_gbps")
    assert (label.axis, label.per_unit) == ("Bandwidth of the uploads (Mb/s)", 1e-3)
    [chart] = (chart for _, chart in over_time(view))
    assert "Throughput (Mb/s)" in chart.to_json()
