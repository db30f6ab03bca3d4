"""The histogram of the lambda-rings study's mesh of ten sites, held against `loss-mesh`.

Source: Marian, Freedman, Birman, Weatherspoon (Cornell). The sites' losses are inputs, chosen so
that the histogram comes out as published: its shares stand beside the published, not judged. That
measuring finds the faulty site again is judged.
"""

from tailback.analysis.probes import probes
from tailback.analysis.view import View
from tailback.analysis.words import percent
from tailback.compare.checks import Check

_PUBLISHED = (
    ("all measurements", "0.01 %", 0.24),
    ("all measurements", "0.1 %", 0.14),
    ("without the faulty site", "0.01 %", 0.14),
    ("without the faulty site", "0.1 %", 0.03),
)


def mesh_checks(view: View) -> list[Check]:
    """Return the published shares held against a run."""
    found = probes(view)
    if found is None:
        return []
    faulty = Check.judged(
        "The site with the faulty card is the worst receiver",
        "yes",
        found.worst,
        "site0",
        holds=found.worst == "site0",
    )
    checks = [faulty]
    for which, name, share in _PUBLISHED:
        shares = found.everyone if which == "all measurements" else found.without_worst
        checks.append(
            Check.fitted(
                f"Share with {name} loss, {which}",
                percent(share, decimals=0),
                percent(shares[name], decimals=0),
            )
        )
    return checks
