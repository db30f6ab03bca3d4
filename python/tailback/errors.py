"""What can go wrong, by whose doing: each error says the exit code of the command line."""

import re
from collections.abc import Sequence
from typing import ClassVar, TypedDict

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Problem(TypedDict):
    """One thing wrong in a scenario, as the checker reports it."""

    path: str
    """Dotted path of the value, e.g. `workload.servers`; empty for the file as a whole."""
    source: str
    """Where the value was written: the file's name, or the override as it was given."""
    line: int | None
    """Line in the file, from 1; None where the value is in no file (`--set`)."""
    column: int | None
    """Column in the line, from 1."""
    reason: str
    """What is wrong."""
    remedy: str
    """What would be right."""
    severity: str
    """`error` or `warning`."""


class TailbackError(Exception):
    """Base of all errors that Tailback raises on purpose."""

    exit_code: ClassVar[int] = 1


class InputError(TailbackError):
    """What the user gave cannot be used: a file, a folder, a name, a value."""

    exit_code = 2


class ScenarioError(InputError):
    """A scenario has errors; all of them are in `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(describe(problem) for problem in self.problems))


class SimulationError(TailbackError):
    """A run broke a law it must hold, such as the conservation of bytes."""


class RunsFailed(TailbackError):
    """Some runs of a sweep failed; those that finished are kept."""


class Interrupted(TailbackError):
    """The user stopped the work; what was finished is kept."""

    exit_code = 130


def describe(problem: Problem) -> str:
    """One problem in one line: where, what, and what would be right."""
    where = (problem["source"], problem["line"], problem["column"])
    place = ":".join(str(part) for part in where if part)
    head = ": ".join(part for part in (place, problem["path"], problem["reason"]) if part)
    line = f"{head}; {problem['remedy']}" if problem["remedy"] else head
    # Line ends and what a terminal would obey stand as in a string.
    return _CONTROL.sub(lambda one: repr(one[0])[1:-1], line)
