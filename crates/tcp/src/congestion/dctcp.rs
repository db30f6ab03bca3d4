//! DCTCP: RFC 8257, as in Linux net/ipv4/tcp_dctcp.c since 5.1. Once a window the share of marked
//! segments is averaged into alpha; a window with marks is cut by alpha/2, one with a loss by half.
//! Growth is Reno's, and all of it where ECN was not negotiated. The receiver's echo is in
//! `connection/input.rs`. Left out: PLB (tcp_plb_enabled is 0 by default).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckKind, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::CaState;
use crate::seq::Seq;
use crate::stack::Stack;

/// Alpha is in 1024ths (DCTCP_MAX_ALPHA).
const ALPHA_MAX: u32 = 1024;
/// 2^10 of them make one.
const ALPHA_SHIFT: u32 = 10;

/// Parameters of DCTCP, by their names in Linux net/ipv4/tcp_dctcp.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpParameters {
    /// The estimate's gain is 2^-n.
    #[schemars(range(min = 0, max = 10))]
    pub dctcp_shift_g: u32,
    /// The estimate to begin with, in 1024ths.
    #[schemars(range(min = 0, max = 1024))]
    pub dctcp_alpha_on_init: u32,
}

impl Default for DctcpParameters {
    fn default() -> DctcpParameters {
        DctcpParameters {
            dctcp_shift_g: 4,
            dctcp_alpha_on_init: 1024,
        }
    }
}

/// DCTCP's state.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    alpha: u32,
    shift_g: u32,
    /// Segments delivered, and marked, when the window under observation began.
    old_delivered: u32,
    old_delivered_ce: u32,
    /// The window under observation ends here.
    next_seq: Seq,
    /// Window before the last reduction.
    loss_cwnd: u32,
    /// ECN was negotiated; without it this is Reno.
    ecn: bool,
}

impl Dctcp {
    /// Nothing is known of marks, and nothing was sent or delivered since that was last reckoned.
    #[inline]
    pub(super) fn rests(&self, snd_nxt: Seq, (delivered, delivered_ce): (u32, u32)) -> bool {
        self.alpha == 0
            && self.next_seq == snd_nxt
            && self.old_delivered == delivered
            && self.old_delivered_ce == delivered_ce
    }

    /// dctcp_react_to_loss.
    fn react_to_loss(&mut self, window: &mut Window) {
        self.loss_cwnd = window.cwnd;
        window.ssthresh = window.reno_ssthresh();
    }

    /// dctcp_reset.
    fn observe(&mut self, snd_nxt: Seq, delivered: u32, delivered_ce: u32) {
        self.next_seq = snd_nxt;
        self.old_delivered = delivered;
        self.old_delivered_ce = delivered_ce;
    }
}

impl CongestionControl for Dctcp {
    fn new(stack: &Stack, _seed: u64) -> Dctcp {
        Dctcp {
            alpha: stack.dctcp.dctcp_alpha_on_init.min(ALPHA_MAX),
            shift_g: stack.dctcp.dctcp_shift_g.min(ALPHA_SHIFT),
            old_delivered: 0,
            old_delivered_ce: 0,
            next_seq: Seq(0),
            loss_cwnd: 0,
            ecn: false,
        }
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.ecn = view.ecn;
        self.observe(view.snd_nxt, view.delivered, view.delivered_ce);
    }

    #[inline(always)]
    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if growth.cwnd_limited {
            window.reno_growth(growth.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        if !self.ecn {
            return window.reno_ssthresh();
        }
        self.loss_cwnd = window.cwnd;
        let cut = (u64::from(window.cwnd) * u64::from(self.alpha)) >> (ALPHA_SHIFT + 1);
        (window.cwnd - cut as u32).max(2)
    }

    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        if self.ecn {
            window.cwnd.max(self.loss_cwnd)
        } else {
            window.reno_undo()
        }
    }

    fn set_state(&mut self, window: &mut Window, view: &View, state: CaState) {
        if self.ecn && state == CaState::Recovery && view.state != CaState::Recovery {
            self.react_to_loss(window);
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, _view: &View, event: CwndEvent) {
        if self.ecn && event == CwndEvent::Loss {
            self.react_to_loss(window);
        }
    }

    #[inline(always)]
    fn in_ack_event(&mut self, _window: &mut Window, view: &View, _kind: AckKind) {
        if !view.snd_una.before(self.next_seq) {
            self.update_alpha(view.snd_nxt, view.delivered, view.delivered_ce);
        }
    }
}

impl Dctcp {
    /// dctcp_update_alpha, once a window.
    #[inline(never)]
    fn update_alpha(&mut self, snd_nxt: Seq, all: u32, all_ce: u32) {
        let delivered = all.wrapping_sub(self.old_delivered);
        let delivered_ce = all_ce.wrapping_sub(self.old_delivered_ce);
        let decay = self.alpha >> self.shift_g;
        // Too little to decay by its share goes at once.
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let marked =
            (u64::from(delivered_ce) << (ALPHA_SHIFT - self.shift_g)) / u64::from(delivered.max(1));
        self.alpha = (self.alpha + marked as u32).min(ALPHA_MAX);
        self.observe(snd_nxt, all, all_ce);
    }
}
