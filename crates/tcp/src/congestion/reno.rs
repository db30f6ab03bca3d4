//! Reno: RFC 5681 as Linux 2.6.18 counts it (net/ipv4/tcp_cong.c: tcp_reno_cong_avoid,
//! tcp_reno_ssthresh): one segment an acknowledgement in slow start, one every cwnd
//! acknowledgements beyond; half on loss, at least two, though rate halving
//! may go down to half of that (tcp_reno_min_cwnd). Left out: byte counting (tcp_abc is 0).

use super::{CongestionControl, Growth, Window};

/// Reno has no state of its own.
#[derive(Clone, Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    #[inline]
    fn grow(&mut self, window: &mut Window, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        if window.cwnd <= window.ssthresh {
            window.slow_start();
        } else {
            window.additive_increase(window.cwnd);
        }
    }

    fn ssthresh(&mut self, window: &Window) -> u32 {
        (window.cwnd >> 1).max(2)
    }

    fn cwnd_min(&self, window: &Window) -> u32 {
        window.ssthresh / 2
    }
}
