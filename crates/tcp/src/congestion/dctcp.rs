//! DCTCP: RFC 8257, as in Linux net/ipv4/tcp_dctcp.c since 5.1. Once a window the share of marked
//! segments is averaged into alpha; a window with marks is cut by alpha/2, one with a loss by half.
//! Growth is Reno's. The receiver's echo is in `connection/input.rs`. Left out: the fall-back to
//! Reno where ECN was not negotiated is the connection's matter (no ECE: alpha decays unused).

use super::{AckInfo, CongestionControl, Growth, Window, reno::Reno};
use crate::seq::Seq;
use crate::stack::DctcpParameters;

/// Alpha is in 1024ths (DCTCP_MAX_ALPHA).
const ALPHA_MAX: u32 = 1024;
/// 2^10 of them make one.
const ALPHA_SHIFT: u32 = 10;

/// DCTCP's state.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    alpha: u32,
    shift_g: u32,
    delivered: u32,
    delivered_marked: u32,
    /// The window under observation ends here.
    next_seq: Option<Seq>,
    /// Window before the last reduction.
    loss_cwnd: u32,
}

impl Dctcp {
    pub(crate) fn new(parameters: &DctcpParameters) -> Dctcp {
        Dctcp {
            alpha: parameters.dctcp_alpha_on_init.min(ALPHA_MAX),
            shift_g: parameters.dctcp_shift_g.min(ALPHA_SHIFT),
            delivered: 0,
            delivered_marked: 0,
            next_seq: None,
            loss_cwnd: 0,
        }
    }

    /// dctcp_react_to_loss.
    fn react_to_loss(&mut self, window: &mut Window) {
        self.loss_cwnd = window.cwnd;
        window.ssthresh = (window.cwnd >> 1).max(2);
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn grow(&mut self, window: &mut Window, growth: Growth) {
        Reno.grow(window, growth);
    }

    fn ssthresh(&mut self, window: &Window) -> u32 {
        self.loss_cwnd = window.cwnd;
        let cut = (u64::from(window.cwnd) * u64::from(self.alpha)) >> (ALPHA_SHIFT + 1);
        (window.cwnd - cut as u32).max(2)
    }

    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.loss_cwnd)
    }

    fn enter_recovery(&mut self, window: &mut Window) {
        self.react_to_loss(window);
    }

    fn timed_out(&mut self, window: &mut Window) {
        self.react_to_loss(window);
    }

    /// dctcp_update_alpha.
    #[inline]
    fn on_ack(&mut self, ack: AckInfo) {
        self.delivered = self.delivered.saturating_add(ack.delivered);
        if ack.ece {
            self.delivered_marked = self.delivered_marked.saturating_add(ack.delivered);
        }
        if self.next_seq.is_some_and(|end| ack.snd_una.before(end)) {
            return;
        }
        let decay = self.alpha >> self.shift_g;
        // Too little to decay by its share goes at once.
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let marked = (u64::from(self.delivered_marked) << (ALPHA_SHIFT - self.shift_g))
            / u64::from(self.delivered.max(1));
        self.alpha = (self.alpha + marked as u32).min(ALPHA_MAX);
        self.delivered = 0;
        self.delivered_marked = 0;
        self.next_seq = Some(ack.snd_nxt);
    }
}
