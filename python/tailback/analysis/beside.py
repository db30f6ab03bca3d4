"""Other results of the same sweep, to be drawn beside a run folder's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from tailback.errors import InputError
from tailback.results import Results

if TYPE_CHECKING:
    from tailback.analysis.view import View

BESIDE = "results of"
"""Column with the name of the results a row is from."""


def named(main: Results, others: Sequence[Results]) -> dict[str, Results]:
    """Return the others by the name that charts and tables give them.

    That is the backend where it tells them apart, the folder's name where that does, and the
    path else.

    Raises:
        InputError: a folder is given twice, or is the report's own.
    """
    everyone = [main, *others]
    paths = [one.path.resolve() for one in everyone]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"{path}: is given twice; name other results to stand beside it")
    for name_of in (_backend, _folder):
        names = [name_of(one) for one in everyone]
        if len(set(names)) == len(names):
            return dict(zip(names[1:], others, strict=True))
    return {str(one.path): one for one in others}


def beside_points(view: "View", others: Mapping[str, Results]) -> pl.DataFrame:
    """Return the others' points, averaged over repetitions, on the curves of `view`.

    The columns are the axes that vary in `view`, what labels a curve, `beside`, and every metric
    that any has. Points of curves that `view` does not have are left out.

    Raises:
        InputError: one lacks an axis of `view`, varies one that `view` does not, or has no point
            on its curves.
    """
    frames = [_points(view, name, other) for name, other in others.items()]
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()


def _points(view: "View", name: str, other: Results) -> pl.DataFrame:
    from tailback.analysis.view import GROUP, REPETITIONS

    theirs = type(view)(other)
    wanted = view.axes.names
    missing = [axis for axis in wanted if axis not in theirs.axes.all_names]
    if missing:
        raise InputError(
            f"{other.path}: has no {', '.join(missing)} to stand beside {view.results.path}"
        )
    alone = [axis for axis in theirs.axes.names if axis not in view.axes.all_names]
    if alone:
        raise InputError(
            f"{other.path}: varies {', '.join(alone)}, which {view.results.path} does not; "
            f"run it with one value of {', '.join(alone)}"
        )
    points = theirs.points.select(*wanted, pl.exclude(*theirs.axes.all_names, REPETITIONS))
    points = view.labelled(points).drop_nulls(GROUP)
    if points.is_empty():
        raise InputError(f"{other.path}: has no point in common with {view.results.path}")
    return points.with_columns(pl.lit(name).alias(BESIDE))


def _backend(results: Results) -> str:
    return results.manifest["backend"]


def _folder(results: Results) -> str:
    return Path(results.path).resolve().name
