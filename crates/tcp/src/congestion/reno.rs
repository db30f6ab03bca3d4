//! Reno: RFC 5681 as Linux counts it (net/ipv4/tcp_cong.c of 2.6.18 and 7.2: tcp_reno_cong_avoid,
//! tcp_reno_ssthresh): one segment for each counted in slow start, one every cwnd beyond
//! ([`WindowCounting`](super::WindowCounting) says what is counted); half on loss, at least two,
//! though rate halving may go down to half of that (tcp_reno_min_cwnd, 2.6.18). Left out: byte
//! counting (tcp_abc is 0 by default there and gone today).

use super::{CongestionControl, Growth, View, Window};
use crate::stack::Stack;

/// Reno has no state of its own.
#[derive(Clone, Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    fn new(_stack: &Stack, _seed: u64) -> Reno {
        Reno
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if growth.cwnd_limited {
            window.reno_growth(growth.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_ssthresh()
    }

    fn cwnd_min(&self, window: &Window) -> u32 {
        window.ssthresh / 2
    }
}
