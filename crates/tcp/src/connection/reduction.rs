//! How the window comes down during recovery and after a congestion signal.
//!
//! Rate halving models Linux 2.6.18 net/ipv4/tcp_input.c (tcp_cwnd_down, tcp_enter_cwr,
//! tcp_complete_cwr): a segment less every second acknowledgement, and never more than a segment
//! above what is in flight, so a sender with little in flight ends with a window of one.
//! Proportional rate reduction models RFC 6937 as Linux 3.18 has it (tcp_init_cwnd_reduction,
//! tcp_cwnd_reduction, tcp_end_cwnd_reduction): what is sent is in proportion to what is delivered,
//! and the window ends at ssthresh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CaState, Connection};
use crate::clock::Jiffies;
use crate::congestion::{CwndEvent, INFINITE_SSTHRESH};

/// How the window comes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CwndReduction {
    /// Rate halving, as in Linux before 3.2.
    RateHalving,
    /// Proportional rate reduction (RFC 6937), as in Linux from 3.2 on.
    Prr,
}

/// The state of proportional rate reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    prior_cwnd: u32,
    /// Segments delivered since the reduction began, and sent.
    delivered: u32,
    pub(super) sent: u32,
    /// Segments that the acknowledgement at hand has delivered.
    pub(super) newly_delivered: u32,
}

impl Connection {
    /// A reduction begins; ssthresh is set. On a congestion signal rate halving cuts the window to
    /// what is in flight at once.
    pub(super) fn begin_reduction(&mut self, signalled: bool) {
        self.window.cwnd_count = 0;
        match self.stack.cwnd_reduction {
            CwndReduction::RateHalving if signalled => {
                self.window.cwnd = self.window.cwnd.min(self.in_flight() + 1);
            }
            CwndReduction::RateHalving => {}
            CwndReduction::Prr => {
                self.prr = Prr {
                    prior_cwnd: self.window.cwnd.max(1),
                    newly_delivered: self.prr.newly_delivered,
                    ..Prr::default()
                };
            }
        }
    }

    /// An acknowledgement during a reduction; `entering` if it began the recovery of a loss.
    pub(super) fn reduce_cwnd(&mut self, now: Jiffies, entering: bool) {
        match self.stack.cwnd_reduction {
            CwndReduction::RateHalving => self.halve_rate(),
            CwndReduction::Prr => self.reduce_proportionally(entering),
        }
        self.cwnd_stamp = now;
    }

    /// The reduction is done.
    pub(super) fn end_reduction(&mut self, now: Jiffies) {
        self.window.cwnd = match self.stack.cwnd_reduction {
            CwndReduction::RateHalving => self.window.cwnd.min(self.window.ssthresh),
            // Unless it was undone: then ssthresh is that of before, or none.
            CwndReduction::Prr
                if self.state == CaState::Cwr
                    || (self.undo_marker.is_some() && self.window.ssthresh < INFINITE_SSTHRESH) =>
            {
                self.window.ssthresh
            }
            CwndReduction::Prr => self.window.cwnd,
        };
        let view = self.view(now);
        self.congestion
            .cwnd_event(&mut self.window, &view, CwndEvent::CompleteCwr);
        self.cwnd_stamp = now;
    }

    fn halve_rate(&mut self) {
        let decrease = self.window.cwnd_count + 1;
        self.window.cwnd_count = decrease & 1;
        if decrease >> 1 > 0 && self.window.cwnd > self.cwnd_min() {
            self.window.cwnd -= decrease >> 1;
        }
        self.window.cwnd = self.window.cwnd.min(self.in_flight() + 1);
    }

    fn reduce_proportionally(&mut self, entering: bool) {
        let in_flight = self.in_flight();
        let ssthresh = self.window.ssthresh;
        let newly = self.prr.newly_delivered;
        self.prr.delivered += newly;
        let Prr {
            prior_cwnd,
            delivered,
            sent,
            ..
        } = self.prr;
        let send = if in_flight > ssthresh {
            let due = (u64::from(ssthresh) * u64::from(delivered)).div_ceil(u64::from(prior_cwnd));
            (due as u32).saturating_sub(sent)
        } else {
            (ssthresh - in_flight).min(delivered.saturating_sub(sent).max(newly) + 1)
        };
        self.window.cwnd = in_flight + send.max(u32::from(entering));
    }
}

#[cfg(test)]
#[path = "reduction_tests.rs"]
mod tests;
