"""Which claims a scenario's results are held against."""

from collections.abc import Callable
from dataclasses import dataclass

from tailback.analysis.view import View
from tailback.compare.checks import Check
from tailback.compare.ecn_switch import ecn_checks
from tailback.compare.incast import incast_checks
from tailback.compare.incast_dctcp import dctcp_checks
from tailback.compare.incast_rto import rto_checks
from tailback.compare.l2_congestion import l2_checks
from tailback.compare.lambda_rings import batching_checks, direct_checks, tcp_checks, udp_checks
from tailback.compare.loss_mesh import mesh_checks
from tailback.compare.node_pairs import asked_checks, automatic_checks, half_hour_checks


@dataclass(frozen=True)
class Claims:
    """The claims behind one scenario.

    Attributes:
        scenario: name of the built-in scenario.
        source: who published them.
        note: what their limits are.
        judge: holds a run of the scenario against them.
    """

    scenario: str
    source: str
    note: str
    judge: Callable[[View], list[Check]]


_CLAIMS = (
    Claims(
        "incast-8mb",
        "Principled Technologies, 2010: Arista 7124S and Cisco Nexus 5010.",
        "Claims of the study; the limits are this project's own. Two parameters of the Nexus were "
        "fitted to its completion times and drops; nothing of the Arista was fitted.",
        incast_checks,
    ),
    Claims(
        "incast-rto",
        "Phanishayee et al., FAST 2008, and Vasudevan et al., SIGCOMM 2009: incast on 1 Gb/s "
        "with 64 KB a port, 256 KB from every server.",
        "Bands after the papers' figures; where those give one number, a factor around it.",
        rto_checks,
    ),
    Claims(
        "incast-rto-dctcp",
        "Alizadeh et al., SIGCOMM 2010: TCP and DCTCP under incast on 1 Gb/s, 100 KB a port.",
        "The paper shows curves; the limits are this project's own.",
        dctcp_checks,
    ),
    Claims(
        "ecn-switch",
        "HPE / Aruba, 2019: iperf3 through a 25 Gb/s switch that marks linearly.",
        "The buffer's size was fitted to the rows without marking; the other rows are predicted.",
        ecn_checks,
    ),
    *(
        Claims(
            scenario,
            "Geisler and Wadekar, IEEE 802.1, 2007: TCP over ECM and QCN, with and without PAUSE.",
            "Findings of the study, which shows curves; the limits are this project's own.",
            l2_checks,
        )
        for scenario in ("l2-congestion", "l2-congestion-single-hop")
    ),
    *(
        Claims(
            scenario,
            "SURFnet / DAS-2: node pairs through a loop of Force10, Cisco 6509 and router.",
            "Findings of the study, which shows surfaces; the limits are this project's own.",
            judge,
        )
        for scenario, judge in (
            ("node-pairs", asked_checks),
            ("node-pairs-automatic", automatic_checks),
            ("node-pairs-30min", half_hour_checks),
        )
    ),
    *(
        Claims(
            scenario,
            "Marian, Freedman, Birman, Weatherspoon (Cornell): 10 Gb/s rings of up to 15 000 km.",
            "Findings of the study, which shows figures; the limits are this project's own.",
            judge,
        )
        for scenario, judge in (
            ("lambda-udp", udp_checks),
            ("lambda-tcp", tcp_checks),
            ("lambda-batching", batching_checks),
            ("lambda-direct", direct_checks),
            ("loss-mesh", mesh_checks),
        )
    ),
)


def claims_for(scenario: str) -> Claims | None:
    """Return the claims behind the scenario of this name, if there are any."""
    return next((claims for claims in _CLAIMS if claims.scenario == scenario), None)
