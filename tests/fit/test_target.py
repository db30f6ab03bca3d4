"""Which rows are fitted to, which runs predict them, and how far off a prediction is."""

from pathlib import Path

import polars as pl
import pytest

import tailback
from fit.laws import scenario
from tailback.errors import InputError
from tailback.fit.objective import changes, check_usable, score, weights
from tailback.fit.target import Table, Target, choose_rows, read_table

PUBLISHED = "published:incast-8MB"


def load_target(name: str, filters: list[str], scenario: tailback.Scenario) -> Target:
    return choose_rows(read_table(name, filters, scenario), filters, scenario)


def refused(*filters: str, name: str = PUBLISHED) -> str:
    with pytest.raises(InputError) as caught:
        load_target(name, list(filters), scenario())
    return str(caught.value)


def test_rows_of_a_published_table() -> None:
    target = load_target(PUBLISHED, ["switch=arista-7124s", "servers=2..7", "servers=8"], _wide())
    assert target.axes == ("switch", "servers")
    assert target.rows["servers"].to_list() == [2, 3, 4, 5, 6, 7, 8]
    assert target.metrics[0] == "completion_ms_mean"
    assert target.runs[0] == (1,)
    assert target.wanted == [1, 2, 3, 4, 5, 6, 7]
    assert "Principled Technologies" in target.source


def _wide() -> tailback.Scenario:
    return scenario().set("sweep.servers", list(range(1, 24)))


def test_repetitions_predict_one_row_together() -> None:
    twice = scenario().set("run.repetitions", 2)
    target = load_target(PUBLISHED, ["switch=arista-7124s", "servers=4,8"], twice)
    assert target.runs == ((2, 3), (4, 5))


def test_a_csv_without_a_swept_column_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("# measured by hand\nplace,completion_ms_mean\nhere,20\nthere,30\n")
    single = scenario().set("sweep.servers", [4])
    assert load_target(str(path), ["place=there"], single).runs == ((0,),)
    with pytest.raises(InputError, match="several rows belong to one run"):
        load_target(str(path), [], single)


def test_what_cannot_be_matched() -> None:
    assert "arista-7124s, cisco-nexus-5010" in refused("switch=arista")
    assert "tells rows apart by switch, servers" in refused("sender=2")
    assert "is not COLUMN=VALUE" in refused("servers")
    assert "servers=3: no run of the sweep predicts this row" in refused(
        "switch=arista-7124s", "servers=2,3"
    )
    assert "published:incast-8MB" in refused(name="published:incast-80MB")
    assert "is no results folder and no .csv file" in refused(name="nowhere")
    assert refused(name="nowhere.csv") == "nowhere.csv: cannot be read: No such file or directory"
    more = scenario().set("sweep.rto_min", ["1ms", "2ms"])
    with pytest.raises(InputError, match="2 runs that differ in rto_min"):
        load_target(PUBLISHED, ["switch=arista-7124s", "servers=2"], more)


def _target() -> Target:
    return load_target(PUBLISHED, ["switch=arista-7124s", "servers=2,4"], scenario())


def _table() -> Table:
    return read_table(PUBLISHED, [], scenario())


def test_weights_by_default_and_as_given() -> None:
    assert weights(None, _table()) == {"completion_ms_mean": 1.0, "switch_drops_mean": 0.5}
    assert weights("retransmissions_mean=2, goodput_mbps_mean", _table()) == {
        "retransmissions_mean": 2.0,
        "goodput_mbps_mean": 1.0,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("servers,completion_ms_mean\n", "has no rows below its line of column names"),
        ("servers,completion_ms_mean\n1,2,3,4\n", "is not CSV with a line of column names: "),
    ],
)
def test_a_csv_that_is_none_is_told_in_a_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "own.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_table(str(path), [], scenario())
    assert str(caught.value).startswith(f"{path}: {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["completion=1", "completion_ms_mean=-1", "switch_drops_mean=x"])
def test_wrong_weights(text: str) -> None:
    with pytest.raises(InputError, match=text.partition("=")[0]):
        weights(text, _table())


def test_a_metric_that_is_zero_has_no_relative_error(tmp_path: Path) -> None:
    path = tmp_path / "zero.csv"
    path.write_text("servers,completion_ms_mean,switch_drops_mean\n2,0,0\n4,9,10\n")
    target = load_target(str(path), [], scenario().set("sweep.servers", [2, 4]))
    with pytest.raises(InputError, match="is 0"):
        check_usable(["completion_ms_mean"], target)
    # Counts are told from 1 on.
    predicted = pl.DataFrame({"switch_drops_mean": [0.5, 9.0]})
    assert score(target, predicted, {"switch_drops_mean": 1.0}).error == pytest.approx(0.3)


def test_the_error_is_the_weighted_mean_of_relative_errors() -> None:
    target = _target()
    theirs = target.rows["completion_ms_mean"]
    predicted = pl.DataFrame(
        {
            "completion_ms_mean": [theirs[0] * 1.1, theirs[1] * 0.7],
            "switch_drops_mean": target.rows["switch_drops_mean"] * 1.5,
        }
    )
    found = score(target, predicted, {"completion_ms_mean": 3.0, "switch_drops_mean": 1.0})
    assert found.by_metric["completion_ms_mean"] == pytest.approx(0.2)
    assert found.by_metric["switch_drops_mean"] == pytest.approx(0.5)
    assert found.error == pytest.approx((3 * 0.2 + 0.5) / 4)


def test_changes_are_those_of_the_sums() -> None:
    before = pl.DataFrame({"a": [10.0, 30.0], "b": [0.0, 0.0]})
    after = pl.DataFrame({"a": [10.0, 34.0], "b": [0.0, 0.0]})
    assert changes(["a", "b"], before, after) == {"a": pytest.approx(0.1), "b": 0.0}
