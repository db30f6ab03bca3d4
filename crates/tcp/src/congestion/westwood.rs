//! Westwood+: Grieco, Mascolo, "Performance evaluation and comparison of Westwood+, New Reno and
//! Vegas TCP congestion control" (CCR 34(2), 2004) as in Linux net/ipv4/tcp_westwood.c (7.2).
//! Growth is Reno's. Acknowledged bytes per interval of at least a round trip and 50 ms, twice
//! filtered by 7/8, are the bandwidth; what it makes of the least round trip is the window after a
//! reduction and the threshold after a timeout. Times are in jiffies, as there.
//! Left out: nothing.

use super::{AckKind, AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::clock::{Jiffies, jiffies_of_us};
use crate::seq::Seq;
use crate::stack::Stack;

/// Westwood+'s state.
#[derive(Clone, Debug)]
pub(crate) struct Westwood {
    hz: u32,
    /// Bandwidth, bytes a jiffy: filtered once, and twice.
    bandwidth_once: u32,
    bandwidth: u32,
    /// The interval's begin, and bytes acknowledged in it.
    since: Jiffies,
    acked_bytes: u32,
    /// Up to where acknowledgements are counted; `None` before the first.
    counted_to: Option<Seq>,
    /// Bytes counted for duplicate acknowledgements and not yet for what they announced.
    accounted: u32,
    rtt: Jiffies,
    rtt_min: Jiffies,
    /// The least round trip is the next sample.
    reset_rtt_min: bool,
}

impl Westwood {
    /// westwood_update_window: closes the interval when it is long enough.
    fn close_interval(&mut self, view: &View) {
        let length = view.now.wrapping_sub(self.since);
        if self.rtt == 0 || length as i32 <= self.rtt.max(self.hz / 20) as i32 {
            return;
        }
        let sample = self.acked_bytes / length;
        if self.bandwidth_once == 0 && self.bandwidth == 0 {
            self.bandwidth_once = sample;
            self.bandwidth = sample;
        } else {
            let filter = |old: u32, new: u32| ((7 * u64::from(old) + u64::from(new)) >> 3) as u32;
            self.bandwidth_once = filter(self.bandwidth_once, sample);
            self.bandwidth = filter(self.bandwidth, self.bandwidth_once);
        }
        self.acked_bytes = 0;
        self.since = view.now;
    }

    /// Bytes that an acknowledgement stands for: a duplicate for a segment, and what acknowledges
    /// many for what duplicates have not stood for (westwood_acked_count).
    fn bytes_of(&mut self, progress: u32, mss: u32) -> u32 {
        if progress == 0 {
            // An end that receives gigabytes counts all of its acknowledgements here: the sum wraps, as there.
            self.accounted = self.accounted.wrapping_add(mss);
            return mss;
        }
        if progress <= mss {
            return progress;
        }
        if self.accounted >= progress {
            self.accounted -= progress;
            mss
        } else {
            progress - std::mem::take(&mut self.accounted)
        }
    }

    /// The bandwidth's window, segments (tcp_westwood_bw_rttmin).
    fn share(&self, mss: u32) -> u32 {
        let bytes = u64::from(self.bandwidth) * u64::from(self.rtt_min);
        ((bytes / u64::from(mss.max(1))) as u32).max(2)
    }
}

impl CongestionControl for Westwood {
    fn new(stack: &Stack, _seed: u64) -> Westwood {
        Westwood {
            hz: stack.hz,
            bandwidth_once: 0,
            bandwidth: 0,
            since: 0,
            acked_bytes: 0,
            counted_to: None,
            accounted: 0,
            rtt: 20 * stack.hz,
            rtt_min: 20 * stack.hz,
            reset_rtt_min: true,
        }
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.since = view.now;
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

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        match event {
            CwndEvent::CompleteCwr => {
                window.ssthresh = self.share(view.mss);
                window.cwnd = window.ssthresh;
            }
            CwndEvent::Loss => {
                window.ssthresh = self.share(view.mss);
                self.reset_rtt_min = true;
            }
            CwndEvent::TxStart | CwndEvent::CwndRestart => {}
        }
    }

    #[inline]
    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, sample: AckSample) {
        if let Some(us) = sample.rtt_us.filter(|&us| us > 0) {
            self.rtt = jiffies_of_us(us, self.hz);
        }
    }

    fn in_ack_event(&mut self, _window: &mut Window, view: &View, kind: AckKind) {
        let from = *self.counted_to.get_or_insert(view.snd_una);
        self.close_interval(view);
        let progress = view.snd_una - from;
        self.acked_bytes = self.acked_bytes.wrapping_add(if kind.slow_path {
            self.bytes_of(progress, view.mss)
        } else {
            progress
        });
        self.counted_to = Some(view.snd_una);
        self.rtt_min = if std::mem::take(&mut self.reset_rtt_min) {
            self.rtt
        } else {
            self.rtt.min(self.rtt_min)
        };
    }
}
