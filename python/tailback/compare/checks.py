"""Claims of a published study, each held against a run."""

from dataclasses import asdict, dataclass
from typing import Literal

Verdict = Literal["within", "outside", "not run", "no band"]


@dataclass(frozen=True)
class Check:
    """One claim.

    Attributes:
        claim: what is claimed, in words.
        published: the published value, in words.
        ours: what the run gives, in words.
        limit: how far apart the two may be.
        verdict: whether they are within the limit; `not run` when the sweep lacks the points,
            `no band` when nothing was published that could be a limit, or when the model was
            fitted to the published value and is not judged by it.
    """

    claim: str
    published: str
    ours: str
    limit: str
    verdict: Verdict

    @classmethod
    def judged(cls, claim: str, published: str, ours: str, limit: str, *, holds: bool) -> "Check":
        """Return a check that was run."""
        return cls(claim, published, ours, limit, "within" if holds else "outside")

    @classmethod
    def not_run(cls, claim: str, published: str, limit: str) -> "Check":
        """Return a check whose points the sweep lacks."""
        return cls(claim, published, "n/a", limit, "not run")

    @classmethod
    def unjudged(cls, claim: str, published: str, ours: str) -> "Check":
        """Return a value for which no limit was published."""
        return cls(claim, published, ours, "no band", "no band")

    @classmethod
    def fitted(cls, claim: str, published: str, ours: str) -> "Check":
        """Return a value that the model, or its input, was fitted to."""
        return cls(claim, published, ours, "fitted to it", "no band")

    @property
    def mark(self) -> str:
        """The verdict as one character."""
        return {"within": "✓", "outside": "✗"}.get(self.verdict, "·")

    def to_dict(self) -> dict[str, str]:
        """Return the check as plain values, for JSON."""
        return asdict(self)
