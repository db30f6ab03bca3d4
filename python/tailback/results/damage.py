"""Whose fault it is that results cannot be made sense of: the folder's, its version's, or ours."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tailback._native import __version__
from tailback.errors import InputError, TailbackError
from tailback.scenario import Scenario

if TYPE_CHECKING:
    from tailback.results.results import Results

_AGAIN = "copy the folder anew, or run the scenario again"


@contextmanager
def blamed(results: "Sequence[Results]") -> Iterator[None]:
    """Where something unforeseen goes wrong with `results`, names the folder that is not as it was
    written. With folders that are as they were it is our own defect, and passes on as it is.
    """
    try:
        yield
    except TailbackError:
        raise
    except Exception as error:
        for one in results:
            if (wrong := _wrong(one)) is not None:
                raise InputError(f"{wrong} (it came to {type(error).__name__}: {error})") from error
        raise


def _wrong(results: "Results") -> str | None:
    """What is wrong with a folder, and what to do about it."""
    manifest = results.manifest
    for name in manifest.get("tables", []):
        if name not in results.tables:
            return f"{results.path}: has no table '{name}'; {_AGAIN}"
    for name, digest in manifest.get("digests", {}).items():
        path = results.path / f"{name}.parquet"
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return f"{path}: is not as it was written; {_AGAIN}"
    theirs = manifest["versions"].get("tailback")
    if theirs != __version__:
        return (
            f"{results.path}: was written by version {theirs}, whose results differ from those of "
            f"{__version__}; use that version, or run the scenario again"
        )
    problems = Scenario(manifest["scenario"]).check()
    if any(problem["severity"] == "error" for problem in problems):
        return f"{results.path / 'manifest.json'}: is damaged (scenario); {_AGAIN}"
    return None
