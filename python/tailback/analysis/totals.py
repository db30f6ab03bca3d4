"""The closing totals of a run, as the incast study's own tool printed them."""

from tailback.analysis.view import GROUP, View
from tailback.results.totals import Totals


def totals(view: View) -> dict[str, Totals]:
    """Return the totals per group, then those of `all runs` when there are several groups."""
    per_group = {
        str(group): Totals.of(frame)
        for (group,), frame in view.summary.group_by(GROUP, maintain_order=True)
    }
    if len(per_group) == 1:
        return per_group
    return per_group | {"all runs": Totals.of(view.summary)}
