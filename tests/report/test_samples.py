"""What `record.sample_interval` has seen is drawn over time, a run at a time."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import OWN
from tailback.analysis import View
from tailback.analysis.samples import FLOWS_MAX, sampled
from tailback.report import Plots
from tailback.report.charts.nothing import NothingToDrawError
from tailback.report.page.contents import contents
from tailback.results import Results

WORKLOAD = {"kind": "bulk", "pairs": {"kind": "to-first"}, "duration": "50ms"}


def run(path: Path, hosts: int, **more: object) -> Results:
    network = OWN["network"] | {"hosts": hosts}
    scenario = OWN | {"network": network, "workload": WORKLOAD} | more
    return tailback.run(tailback.Scenario(scenario), out=path)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(
        tmp_path_factory.mktemp("samples") / "r",
        FLOWS_MAX + 3,
        record={"sample_interval": "100us"},
        sweep={"loss": [0.0, 0.001]},
        run={"repetitions": 2},
    )


def test_the_first_repetition_of_every_point_is_drawn(results: Results) -> None:
    found = sampled(View(results))
    assert [one.title for one in found] == ["loss 0", "loss 0.001"]
    for one in found:
        assert (one.flows["flow"].n_unique(), one.flows_all) == (FLOWS_MAX, FLOWS_MAX + 2)
        assert one.place == "switch:0, towards host0"
        ends = results.table("samples").filter(run=one.run)
        assert one.flows["cwnd"].max() <= ends["snd_cwnd"].max()
        assert one.flows["ssthresh"].max() < 1 << 30, "none is not a number"
        assert one.queue["queue_kb"].max() == (
            results.table("queue_samples").filter(run=one.run)["queue_bytes"].max() / 1e3
        )
        assert one.queue.height <= 301


def test_rates_add_up_to_what_was_acknowledged(results: Results) -> None:
    (one, _) = sampled(View(results))
    ends = results.table("samples").filter(run=one.run).sort("time_s")
    for (flow,), rows in one.flows.group_by("flow"):
        host, _, peer = str(flow).partition(" to ")
        assert peer == "host0"
        acked = ends.filter(host=host).filter(pl.col("snd_cwnd") > 0)
        [first] = acked.filter(time_s=rows["time_s"][0])["bytes_acked"]
        bits = (rows["rate_mbps"] * rows["time_s"].diff()).sum() * 1e6
        assert bits / 8 == pytest.approx(acked["bytes_acked"].max() - first)


def test_the_page_has_it_with_a_choice_of_runs(results: Results) -> None:
    (section,) = [one for one in contents(View(results)).sections if one.key == "samples"]
    assert section.choice is not None
    assert list(section.choice.options) == ["loss 0", "loss 0.001"]
    chart = Plots(results).samples(0).to_dict()
    titles = [str(panel) for panel in chart["vconcat"]]
    assert len(titles) == 4
    assert "Acknowledged (Mb/s)" in titles[0]
    assert "Smoothed round-trip time (ms)" in titles[2]
    assert chart["title"]["subtitle"][0].startswith(f"{FLOWS_MAX} of {FLOWS_MAX + 2} flows")


def test_what_a_trace_lets_go_is_behind_the_rates(tmp_path: Path) -> None:
    steps = [{"from": "0s", "rate": "1Gbit"}, {"from": "10ms", "rate": "0bit"}]
    trace = {"kind": "rates", "steps": steps, "period": "20ms"}
    traced = run(
        tmp_path / "r",
        3,
        record={"sample_interval": "1ms"},
        trace={"blinks": trace},
        network=OWN["network"]
        | {
            "hosts": 3,
            "switch": "plain-queued",
            "link": OWN["network"]["link"] | {"trace": {"backward": "blinks"}},
        },
    )
    (one,) = sampled(View(traced))
    used = 100 * traced.table("traces").filter(place="switch:0")["used_bytes"].max() / 3_750_000
    assert one.trace == f"blinks at switch:0, towards host0, of which {used:.3g} % was used"
    assert 80 < used <= 100
    assert one.capacity["capacity_mbps"].round(6).unique().sort().to_list() == [0, 1000]
    chart = Plots(traced).samples(0).to_dict()
    assert "capacity_mbps" in str(chart["vconcat"][0])
    assert f"Shaded: what the link's trace let go ({one.trace})." in chart["title"]["subtitle"][0]


def test_without_samples_it_says_what_is_missing(tmp_path: Path) -> None:
    plain = Plots(run(tmp_path / "r", 2))
    with pytest.raises(NothingToDrawError, match=r"set record\.sample_interval"):
        plain.samples()


def test_a_run_that_is_not_there_is_named(results: Results) -> None:
    with pytest.raises(NothingToDrawError, match=r"run 7 is not among those drawn: \[0, 2\]"):
        Plots(results).samples(7)


def test_where_nobody_has_sent_yet_there_is_a_page_without_it(tmp_path: Path) -> None:
    # Over before a handshake is.
    short = WORKLOAD | {"duration": "15us", "start_within": "0s"}
    results = run(tmp_path / "r", 2, record={"sample_interval": "5us"}, workload=short)
    assert not results.table("samples").is_empty()
    assert sampled(View(results)) == []
    assert "samples" not in [one.key for one in contents(View(results)).sections]


def test_times_in_which_a_link_is_down_are_shaded(tmp_path: Path) -> None:
    outage = {"from": "10ms", "until": "20ms"}
    link = OWN["network"]["link"] | {"impairment": {"outages": [outage]}}
    network = OWN["network"] | {"link": link}
    scenario = OWN | {"network": network, "workload": WORKLOAD}
    series = {"interval": "1ms", "host": "host0"}
    record = {"sample_interval": "1ms", "interfaces": "5ms", "series": series}
    shaded = tailback.run(tailback.Scenario(scenario | {"record": record}), out=tmp_path / "r")
    plots = Plots(shaded)
    charts = [(plots.samples(), "0.01,0.02"), (plots.interfaces(), "0.01,0.02")]
    for chart, span in [*charts, (plots.network(), "end\\n10,20\\n")]:
        drawn = chart.to_json()
        assert "Bands: links down." in drawn
        assert span in drawn
        assert '"rect"' in drawn


def test_nothing_is_shaded_where_nothing_is_down(results: Results) -> None:
    assert '"rect"' not in Plots(results).samples().to_json()
