"""Why there is no run folder at a path, and where the one that was meant may be."""

from pathlib import Path

from tailback.nearest import meant

SHOWN = 5
"""So many folders are named at most."""


def why(folder: Path, manifest: str, error: Exception) -> str:
    """What to say of `folder`, whose file called `manifest` could not be used: `error` says why."""
    asked = "give a folder that `tailback run` has written"
    try:
        if folder.is_dir():
            return f"{folder}: {_of_a_folder(folder, manifest, error, asked)}"
        if folder.exists():
            return f"{folder}: is a file and not a run folder; {asked}"
        return f"{folder}: is not there; {_nearest(folder, manifest, asked)}"
    except OSError as other:  # a name that is too long, a folder above that is closed
        return f"{folder}: cannot be read: {other.strerror}; {asked}"


def _of_a_folder(folder: Path, manifest: str, error: Exception, asked: str) -> str:
    if not isinstance(error, OSError):
        return f"is not a run folder ({manifest} in it is none of Tailback's, or damaged); {asked}"
    if not isinstance(error, FileNotFoundError):
        return f"{manifest} in it cannot be read: {error.strerror}; ask for leave to read it"
    within = _runs(folder, manifest)
    if not within:
        return f"is not a run folder (no {manifest} in it); {asked}"
    more = ", …" if len(within) > SHOWN else ""
    named = ", ".join(str(folder / name) for name in within[:SHOWN])
    return f"is not a run folder, but holds some; give one of them: {named}{more}"


def _nearest(folder: Path, manifest: str, asked: str) -> str:
    partial = folder.with_name(f"{folder.name}.partial")
    if (partial / manifest).is_file():
        return f"{partial} is unfinished: give the same `tailback run …` again to finish it"
    by_default = Path("results") / folder
    if (by_default / manifest).is_file():
        return f"did you mean '{by_default}'?"
    beside = _runs(folder.parent, manifest) if folder.parent.is_dir() else []
    return meant(str(folder), [str(folder.parent / name) for name in beside], asked)


def _runs(folder: Path, manifest: str) -> list[str]:
    """The names of the run folders in `folder`."""
    return sorted(path.parent.name for path in folder.glob(f"*/{manifest}"))
