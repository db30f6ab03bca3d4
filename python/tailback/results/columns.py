"""The columns every table begins with: which run a row is of.

`run` (index in the plan), one column per swept parameter (first axis first), `repetition`.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from tailback.records import PlannedRun
from tailback.toml_value import toml_value


class RunColumns:
    """The run columns of one plan: a parameter has the same type in every run."""

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        self._runs = {run["index"]: run for run in runs}
        self.parameters = [name for name, _ in runs[0]["parameters"]] if runs else []
        self._types = {
            name: _common_type([run["parameters"][position][1] for run in runs])
            for position, name in enumerate(self.parameters)
        }

    def prepend(self, index: int, frame: pl.DataFrame) -> pl.DataFrame:
        """`frame` of run `index` with the run columns in front.

        A table's own column that says the same as a run column (`iterations`, when they are
        swept) is left out; one that says something else gets a leading underscore.
        """
        run = self._runs[index]
        head = [pl.Series("run", [index], pl.Int64)]
        head += [
            pl.Series(name, [_plain(value, self._types[name])], self._types[name])
            for name, value in run["parameters"]
        ]
        head.append(pl.Series("repetition", [run["repetition"]], pl.Int64))
        for one in head:
            if one.name not in frame.columns:
                continue
            said = one.cast(pl.String).item()
            same = (frame[one.name].cast(pl.String) == said).fill_null(value=False)
            frame = frame.drop(one.name) if same.all() else frame.rename({one.name: f"_{one.name}"})
        # Without an expression: a thousand small runs would wait for Polars' threads each time.
        own = [one.new_from_index(0, frame.height) for one in head]
        return pl.DataFrame([*own, *frame.get_columns()])


def own_column(frame: pl.DataFrame, name: str) -> str:
    """The name that a table's own column has, where a run column may have taken `name`."""
    return f"_{name}" if f"_{name}" in frame.columns else name


def _common_type(values: Sequence[Any]) -> type[pl.DataType]:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pl.Boolean
    if kinds == {int}:
        return pl.Int64
    if kinds <= {int, float}:
        return pl.Float64
    return pl.String


def _plain(value: object, kind: type[pl.DataType]) -> object:
    """A value that is no plain one (a table of overrides, say) is shown as its TOML text."""
    if kind is pl.String and not isinstance(value, str):
        return toml_value(value)
    return value
