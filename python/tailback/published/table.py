"""What a published table is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

import polars as pl

from tailback.errors import InputError


class UnknownTableError(InputError):
    """No published table has the name asked for."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(
            f"published:{name}: there is no such published table; known are "
            + ", ".join(f"published:{k}" for k in known)
        )


@dataclass(frozen=True)
class PublishedTable:
    """A table that a study published, ready to stand beside a run folder's `summary`.

    Attributes:
        name: as in `published:NAME`.
        title: one line for people.
        source: who published it, where and when.
        file_name: the CSV file in `published/`.
        scenario: name of the built-in scenario that predicts the table.
        axes: columns that identify a row, named as in `summary`.
        units: metric column -> unit, in words.
        tidy: turns the file's frame into one row per combination of the axes.
    """

    name: str
    title: str
    source: str
    file_name: str
    scenario: str
    axes: tuple[str, ...]
    units: Mapping[str, str]
    tidy: Callable[[pl.DataFrame], pl.DataFrame]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The tidy table: the axes, then the metrics."""
        data = files("tailback.published").joinpath("data", self.file_name).read_bytes()
        return self.tidy(pl.read_csv(data, comment_prefix="#"))

    @property
    def metrics(self) -> list[str]:
        """Names of the metric columns."""
        return list(self.units)
