//! DCTCP: RFC 8257, as in Linux net/ipv4/tcp_dctcp.c. Once a window the share of marked segments
//! is averaged into alpha; a window with marks is cut by alpha/2. Growth is Reno's; a loss
//! halves the window. Left out: the fall-back to Reno without ECN is the connection's matter (no
//! ECE, no marks).

use super::{AckInfo, CongestionControl, Growth, Window, reno::Reno};
use crate::seq::Seq;
use crate::stack::DctcpParameters;

/// Alpha is in 1024ths (DCTCP_MAX_ALPHA).
const ALPHA_MAX: u32 = 1024;

/// DCTCP's state.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    alpha: u32,
    shift_g: u32,
    acked: u32,
    acked_marked: u32,
    /// The window under observation ends here.
    next_seq: Option<Seq>,
}

impl Dctcp {
    pub(crate) fn new(parameters: &DctcpParameters) -> Dctcp {
        Dctcp {
            alpha: parameters.dctcp_alpha_on_init,
            shift_g: parameters.dctcp_shift_g,
            acked: 0,
            acked_marked: 0,
            next_seq: None,
        }
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn grow(&mut self, window: &mut Window, growth: Growth) {
        Reno.grow(window, growth);
    }

    fn ssthresh(&mut self, window: &Window) -> u32 {
        let cut = (u64::from(window.cwnd) * u64::from(self.alpha)) >> 11;
        (window.cwnd - cut as u32).max(2)
    }

    #[inline]
    fn on_ack(&mut self, ack: AckInfo) {
        self.acked += ack.acked;
        if ack.ece {
            self.acked_marked += ack.acked;
        }
        let end = *self.next_seq.get_or_insert(ack.snd_nxt);
        if ack.snd_una.before(end) {
            return;
        }
        // At least one while alpha is not zero, so that it gets there.
        let decay = (self.alpha >> self.shift_g)
            .max(u32::from(self.alpha > 0 && self.alpha >> self.shift_g == 0));
        self.alpha -= decay.min(self.alpha);
        if self.acked_marked > 0 {
            let marked = (u64::from(self.acked_marked) << (10 - self.shift_g))
                / u64::from(self.acked.max(1));
            self.alpha = (self.alpha + marked as u32).min(ALPHA_MAX);
        }
        self.acked = 0;
        self.acked_marked = 0;
        self.next_seq = Some(ack.snd_nxt);
    }
}
