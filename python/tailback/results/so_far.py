"""Results that are not finished: what their finished runs have brought so far."""

from functools import cached_property
from pathlib import Path

import polars as pl

from tailback.errors import InputError
from tailback.given import given_path
from tailback.results import manifest as manifests
from tailback.results.folder import finished_runs
from tailback.results.manifest import Manifest
from tailback.results.results import Results
from tailback.results.storage import joined


class SoFar(Results):
    """The finished runs of a sweep that goes on, or was stopped: a smaller sweep, to be looked at.

    What is there when it is made is what it shows.

    Args:
        path: a folder that `tailback run` is writing, `DIR.partial`.

    Raises:
        InputError: it is no such folder, or no run is finished yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = given_path(path, "results are named")
        self.manifest: Manifest = manifests.read(self.path)
        self._runs = finished_runs(self.path)
        if not self._runs:
            raise InputError(f"{self.path}: no run is finished yet; look again later")

    @property
    def unfinished(self) -> str:
        """How many runs are still to come."""
        return f"Only {len(self._runs)} of {self.manifest['runs']} runs are finished so far."

    @cached_property
    def tables(self) -> list[str]:
        """Names of the tables there are."""
        return sorted({path.stem for run in self._runs for path in run.glob("*.arrows")})

    def _read(self, name: str) -> pl.DataFrame:
        parts = [run / f"{name}.arrows" for run in self._runs]
        try:
            return joined([pl.read_ipc_stream(part) for part in parts if part.exists()])
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(
                f"{self.path}: its runs cannot be read ({error}): "
                "they may have been joined just now; look again"
            ) from error
