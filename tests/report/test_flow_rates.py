"""The rate of a flow is over the time that it took, not over the run's."""

import io
from pathlib import Path

import polars as pl
import pytest

import tailback
from helpers import OWN
from tailback.analysis import View
from tailback.analysis.controls import PRIORITY, control_rates
from tailback.analysis.flows import flow_rates
from tailback.report import Plots
from tailback.results import Results


def results(path: Path, **workload: object) -> Results:
    return tailback.run(tailback.Scenario(OWN | {"workload": workload}), out=path)


def test_flows_that_come_and_go_have_the_rate_while_they_lasted(tmp_path: Path) -> None:
    sizes = {"kind": "fixed", "bytes": "300KB"}
    ran = results(
        tmp_path / "flows", kind="flows", load=0.6, sizes=sizes, duration="20ms", drain="0s"
    )
    flows = ran.table("flows")
    complete = flows.filter("complete")
    assert 0 < complete.height < flows.height, "some are to be cut off by the run's end"
    rates = flow_rates(View(ran)).get_column("mbps")
    own = complete.get_column("received_bytes") * 8e-3 / complete.get_column("completion_ms")
    assert rates.to_list() == pytest.approx(own.to_list())
    assert rates.min() > 300_000 * 8e-6 / 0.02, "none is as slow as if it had taken all of the run"  # type: ignore[operator]
    drawn = Plots(ran).flows().to_dict()
    frame = pl.concat(pl.read_csv(io.StringIO(rows)) for rows in drawn["datasets"].values())
    assert frame.get_column("mbps").max() == pytest.approx(own.max(), rel=1e-4)
    cut = flows.height - complete.height
    assert drawn["title"]["subtitle"] == [
        f"Each over the time it took. {cut} of {flows.height} flows were not complete."
    ]


def test_flows_without_end_have_the_rate_of_the_run(tmp_path: Path) -> None:
    ran = results(tmp_path / "bulk", kind="bulk", pairs={"kind": "to-first"}, duration="5ms")
    received = ran.table("flows").get_column("received_bytes")
    rates = flow_rates(View(ran)).get_column("mbps")
    assert rates.to_list() == pytest.approx((received * 8 / 5e-3 / 1e6).to_list())


def test_so_has_the_mean_of_those_with_a_priority(tmp_path: Path) -> None:
    ran = results(
        tmp_path / "bulk",
        kind="bulk",
        pairs={"kind": "to-first"},
        connections=2,
        size="200KB",
        priority=[0, 5],
        duration="50ms",
    )
    flows = ran.table("flows")
    assert flows.get_column("complete").all()
    each = pl.col("received_bytes") * 8e-3 / pl.col("completion_ms")
    expected = dict(flows.group_by(PRIORITY).agg(each.mean()).iter_rows())
    found = control_rates(View(ran), PRIORITY)
    assert dict(found.select(PRIORITY, "mbps").iter_rows()) == pytest.approx(expected)
