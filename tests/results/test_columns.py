"""The run columns in front of every table."""

from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from tailback.records import PlannedRun
from tailback.results.columns import RunColumns


def planned(*values: dict[str, Any]) -> list[PlannedRun]:
    return [
        PlannedRun(
            index=index,
            parameters=list(parameters.items()),
            repetition=index % 2,
            seed=1,
            iterations=10,
            work=1.0,
        )
        for index, parameters in enumerate(values)
    ]


def test_run_parameters_and_repetition_come_first() -> None:
    columns = RunColumns(planned({"switch": "a", "servers": 2}, {"switch": "b", "servers": 3}))
    frame = columns.prepend(1, pl.DataFrame({"drops": [7, 8]}))
    assert_frame_equal(
        frame,
        pl.DataFrame(
            {
                "run": [1, 1],
                "switch": ["b", "b"],
                "servers": [3, 3],
                "repetition": [1, 1],
                "drops": [7, 8],
            }
        ),
    )


def test_an_empty_table_has_them_too() -> None:
    columns = RunColumns(planned({"servers": 2}))
    frame = columns.prepend(0, pl.DataFrame({"place": []}, schema={"place": pl.String}))
    assert frame.columns == ["run", "servers", "repetition", "place"]
    assert frame.height == 0


def test_a_parameter_has_one_type_in_all_runs() -> None:
    columns = RunColumns(
        planned(
            {"jitter": 0, "rto_min": "200ms", "switch": "a"},
            {"jitter": 0.5, "rto_min": "1ms", "switch": {"preset": "a", "latency": "500ns"}},
        )
    )
    frames = [columns.prepend(index, pl.DataFrame({"drops": [0]})) for index in (0, 1)]
    both = pl.concat(frames)
    assert both["jitter"].to_list() == [0.0, 0.5]
    assert both["switch"].to_list() == ["a", '{preset = "a", latency = "500ns"}']


def test_a_column_that_says_the_same_is_left_out() -> None:
    columns = RunColumns(planned({"iterations": 20}))
    frame = columns.prepend(0, pl.DataFrame({"iterations": [20], "drops": [1]}))
    assert frame.columns == ["run", "iterations", "repetition", "drops"]


def test_a_column_that_says_something_else_is_renamed() -> None:
    columns = RunColumns(planned({"bytes": 20}))
    frame = columns.prepend(0, pl.DataFrame({"bytes": [20, 3]}))
    assert frame.columns == ["run", "bytes", "repetition", "_bytes"]
    assert frame["_bytes"].to_list() == [20, 3]
