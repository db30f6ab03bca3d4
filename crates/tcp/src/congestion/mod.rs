//! Congestion control: one algorithm, one file, one trait.
//!
//! The sender asks on each occasion that Linux's tcp_congestion_ops has a hook for; an algorithm
//! changes the window or answers. Static dispatch over an enum: adding one is a file, a line
//! in each `match` below by way of the macro, and a page in docs/models.

mod bic;
mod dctcp;
mod reno;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Jiffies;
use crate::seq::Seq;
use crate::stack::Stack;

/// The congestion controls there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CongestionKind {
    /// Reno (RFC 5681) as Linux 2.6.18 counts it.
    Reno,
    /// BIC (Xu, Harfoush, Rhee, INFOCOM 2004) as in Linux 2.6.18.
    Bic,
    /// DCTCP (RFC 8257) as in Linux.
    Dctcp,
}

/// The sender's window, in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// Acknowledgements counted towards the next increase or decrease.
    pub(crate) cwnd_count: u32,
}

/// What an acknowledgement that may raise the window tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Jiffies,
    /// The window was in full use (tcp_is_cwnd_limited).
    pub(crate) cwnd_limited: bool,
}

/// What every acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInfo {
    /// Segments newly acknowledged, selectively or not.
    pub(crate) delivered: u32,
    /// It carried ECE.
    pub(crate) ece: bool,
    pub(crate) snd_una: Seq,
    pub(crate) snd_nxt: Seq,
}

/// One congestion control.
pub(crate) trait CongestionControl {
    /// An acknowledgement of new data in a state that lets the window grow.
    fn grow(&mut self, window: &mut Window, growth: Growth);
    /// The slow-start threshold after a loss or congestion signal at this window.
    fn ssthresh(&mut self, window: &Window) -> u32;
    /// What the window is halved down to after a loss.
    fn cwnd_min(&self, window: &Window) -> u32 {
        window.ssthresh
    }
    /// The window to return to when a reduction is undone.
    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(window.ssthresh << 1)
    }
    /// Fast recovery begins; the threshold has been set.
    fn enter_recovery(&mut self, _window: &mut Window) {}
    /// A retransmission timeout, the first of an episode; the threshold has been set.
    fn timed_out(&mut self, _window: &mut Window) {}
    /// A retransmission timeout begins loss recovery from scratch.
    fn enter_loss(&mut self) {}
    /// Whole packets were acknowledged while nothing was amiss.
    fn packets_acked(&mut self, _packets: u32) {}
    /// Every acknowledgement.
    fn on_ack(&mut self, _ack: AckInfo) {}
}

impl Window {
    /// Slow start as Linux 2.6.18 counts it: one segment an acknowledgement (tcp_slow_start, with
    /// tcp_abc 0).
    #[inline]
    pub(crate) fn slow_start(&mut self) {
        self.cwnd += 1;
    }

    /// One segment more every `acks` acknowledgements.
    #[inline]
    pub(crate) fn additive_increase(&mut self, acks: u32) {
        if self.cwnd_count >= acks {
            self.cwnd += 1;
            self.cwnd_count = 0;
        } else {
            self.cwnd_count += 1;
        }
    }
}

/// A connection's congestion control at work.
#[derive(Clone, Debug)]
pub(crate) enum Congestion {
    Reno(reno::Reno),
    Bic(bic::Bic),
    Dctcp(dctcp::Dctcp),
}

/// Calls the same method of whichever algorithm it is.
macro_rules! each {
    ($self:expr, $algorithm:ident => $call:expr) => {
        match $self {
            Congestion::Reno($algorithm) => $call,
            Congestion::Bic($algorithm) => $call,
            Congestion::Dctcp($algorithm) => $call,
        }
    };
}

impl Congestion {
    /// The algorithm of a stack, and the initial slow-start threshold.
    pub(crate) fn new(stack: &Stack) -> (Congestion, u32) {
        const INFINITE: u32 = 0x7fff_ffff;
        match stack.tcp_congestion_control {
            CongestionKind::Reno => (Congestion::Reno(reno::Reno), INFINITE),
            CongestionKind::Bic => {
                let initial = stack.bic.initial_ssthresh;
                let ssthresh = if initial == 0 { INFINITE } else { initial };
                (
                    Congestion::Bic(bic::Bic::new(&stack.bic, stack.hz)),
                    ssthresh,
                )
            }
            CongestionKind::Dctcp => (Congestion::Dctcp(dctcp::Dctcp::new(&stack.dctcp)), INFINITE),
        }
    }

    /// Whether the receiver echoes the state of every packet (DCTCP) rather than latching ECE.
    pub(crate) fn wants_precise_echo(&self) -> bool {
        matches!(self, Congestion::Dctcp(_))
    }
}

impl CongestionControl for Congestion {
    #[inline]
    fn grow(&mut self, window: &mut Window, growth: Growth) {
        each!(self, algorithm => algorithm.grow(window, growth));
    }

    fn ssthresh(&mut self, window: &Window) -> u32 {
        each!(self, algorithm => algorithm.ssthresh(window))
    }

    fn cwnd_min(&self, window: &Window) -> u32 {
        each!(self, algorithm => algorithm.cwnd_min(window))
    }

    fn undo_cwnd(&self, window: &Window) -> u32 {
        each!(self, algorithm => algorithm.undo_cwnd(window))
    }

    fn enter_recovery(&mut self, window: &mut Window) {
        each!(self, algorithm => algorithm.enter_recovery(window));
    }

    fn timed_out(&mut self, window: &mut Window) {
        each!(self, algorithm => algorithm.timed_out(window));
    }

    fn enter_loss(&mut self) {
        each!(self, algorithm => algorithm.enter_loss());
    }

    #[inline]
    fn packets_acked(&mut self, packets: u32) {
        each!(self, algorithm => algorithm.packets_acked(packets));
    }

    #[inline]
    fn on_ack(&mut self, ack: AckInfo) {
        each!(self, algorithm => algorithm.on_ack(ack));
    }
}

#[cfg(test)]
#[path = "congestion_tests.rs"]
mod tests;
