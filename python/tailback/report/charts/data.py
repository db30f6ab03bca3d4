"""Frames as inline data: CSV inside the chart, a fifth of the size of JSON rows."""

from typing import TypeAlias

import altair as alt
import polars as pl
from polars import selectors as cs

_DIGITS = 6
_QUOTES = str.maketrans(
    {"'": "\N{RIGHT SINGLE QUOTATION MARK}", '"': "\N{RIGHT DOUBLE QUOTATION MARK}"}
)

AnyChart: TypeAlias = (
    alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart
)
"""Whatever a chart's function returns: all can be shown, saved and given to the report."""


def unquoted(name: str) -> str:
    """Return the name that a column has in a chart: Vega knows no escape of quotes."""
    return name.translate(_QUOTES)


def inline(frame: pl.DataFrame) -> alt.InlineData:
    """Return `frame` as data of a chart, numbers rounded to six significant digits."""
    frame = frame.rename(unquoted)
    rounded = frame.with_columns(cs.float().round_sig_figs(_DIGITS))
    kinds = {
        name: "number" if kind.is_numeric() else "boolean" if kind == pl.Boolean else "string"
        for name, kind in frame.schema.items()
    }
    return alt.InlineData(
        values=rounded.write_csv(float_scientific=False),
        format=alt.CsvDataFormat(type="csv", parse=kinds),
    )
