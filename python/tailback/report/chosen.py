"""Which metrics of `summary` are drawn, in the report and as files."""

from tailback.analysis.columns import COUNTS, MAIN
from tailback.analysis.pings import TAILS, tail_of_pings
from tailback.analysis.view import View

QUEUE = "queue_bytes_max"
"""How much buffer one port has used."""
FAIRNESS = "jain_index"
"""How evenly flows share, from 1/n to 1."""
_EVEN = 0.995
"""Where all runs share more evenly than this there is nothing to see."""
JUDGED = ("completion_ms_mean", "bandwidth_gbps_mean", "switch_drops_mean")
"""Metrics of which relative errors against published ones are drawn."""
_WAYS = frozenset({"upload_gbps", "download_gbps"})


def main_metrics(view: View) -> list[str]:
    """Return what comes first, in order: times, rates and delays that the runs have."""
    wanted = [m for m in MAIN if view.known(m)]
    wanted = [m for m in wanted if m != "loss_percent" or view.shown(m)]
    wanted = [m for m in wanted if m not in TAILS or m == tail_of_pings(view)]
    # One way alone is the bandwidth.
    both = all(view.has(way) for way in _WAYS)
    wanted = [m for m in wanted if m not in _WAYS or both]
    return [m for m in wanted if not (view.timed and m == "completion_ms_mean")]


def counted(view: View) -> list[str]:
    """Return the counts that the runs have, whether anything was counted or not."""
    return [m for m in COUNTS if m in view.points.columns]


def drawn_counts(view: View) -> list[str]:
    """Return the longest queue and the counts that are not zero everywhere."""
    queue = [QUEUE] if QUEUE in view.points.columns else []
    return [m for m in (*queue, *counted(view)) if view.shown(m)]


def fairness(view: View) -> list[str]:
    """Return the index of fairness where some run's flows share unevenly."""
    if not view.known(FAIRNESS):
        return []
    return [FAIRNESS] if bool((view.points.get_column(FAIRNESS) < _EVEN).any()) else []


def judged(view: View) -> list[str]:
    """Return those of `JUDGED` that both these results and the published table have."""
    theirs = () if view.published is None else view.published.columns
    return [m for m in JUDGED if m in theirs and m in view.points.columns]
