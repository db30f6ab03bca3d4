"""Congestion controls of one's own, in Python, for modelled hosts.

A class with the methods of Linux's `struct tcp_congestion_ops`; those it leaves out are Reno's.
docs/guide/own-congestion-control.md shows how.
"""

from tailback._native import Ack, AckSample, RateSample, TcpSock


class CongestionControl:
    """A congestion control; one object for each connection's end.

    Attributes of the class are its parameters: `[python.NAME]` of a scenario sets them (`set`), and
    a sweep varies them. `__init__` takes no arguments and sees them set.

    Nothing but what its methods are told may decide what it does: an object that looks at the clock
    of the machine, or at other objects, gives other results each time. Randomness is drawn from
    `random.Random(self.seed)`.
    """

    needs_ecn: bool = False
    """Asks for ECN and grants it, whatever `tcp_ecn` says, and as a receiver echoes the mark of
    each packet, as DCTCP does (TCP_CONG_NEEDS_ECN)."""

    seed: int
    """The connection's own, set before `__init__`."""

    def init(self, tp: TcpSock) -> None:
        """The connection is established, or has changed to this control."""

    def cong_avoid(self, tp: TcpSock, acked: int) -> None:
        """So many segments were acknowledged in a state that lets the window grow.

        Sets `tp.snd_cwnd`, or calls one of its helpers.
        """
        if tp.is_cwnd_limited:
            tp.reno_cong_avoid(acked)

    def ssthresh(self, tp: TcpSock) -> int:
        """The slow-start threshold after a loss or a congestion signal, segments."""
        return tp.reno_ssthresh()

    def undo_cwnd(self, tp: TcpSock) -> int:
        """The window to return to when a reduction turns out to have been needless, segments."""
        return tp.reno_undo_cwnd()

    def set_state(self, tp: TcpSock, new_state: str) -> None:
        """The state is about to change from `tp.ca_state` to this: "open", "disorder", "cwr",
        "recovery" or "loss".
        """

    def cwnd_event(self, tp: TcpSock, event: str) -> None:
        """Something happened: "tx_start", "cwnd_restart", "complete_cwr" or "loss"."""

    def pkts_acked(self, tp: TcpSock, sample: AckSample) -> None:
        """Segments were acknowledged, selectively or not; with the round trip measured."""

    def in_ack_event(self, tp: TcpSock, ack: Ack) -> None:
        """Every acknowledgement, before it changes the window."""

    def cong_control(self, tp: TcpSock, rs: RateSample) -> None:
        """Every acknowledgement, when the state is what it will be, with a delivery-rate sample.

        A class that has this method is in full control, as BBR is: it sets `tp.snd_cwnd` and
        `tp.sk_pacing_rate` in all states, its segments are paced, and `cong_avoid` is not called.
        """
