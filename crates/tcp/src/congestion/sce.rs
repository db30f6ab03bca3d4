//! What the SCE senders have in common: a byte counter that moves the window by segments.
//!
//! Models the behaviour of the modules tcp_reno_sce and tcp_dctcp_sce of the SCE kernel
//! (chromi/sce, net/ipv4): the counter gains the bytes that come acknowledged without a mark and
//! loses a multiple of those acknowledged with ESCE; whenever it has moved by a window's bytes the
//! window moves by a segment, down to two. The first ESCE ends slow start. After a loss half of the
//! window is left; after CE half, and of that another quarter (an eighth if ESCE was seen within
//! about a window) goes when the reduction is complete, because generic code reduces first.
//! Left out: pacing of their own (the stack's does it), growth during recovery.

use super::{AckKind, CwndEvent, Growth, View, Window};

/// The window is never taken below, segments.
const CWND_MIN: u32 = 2;

/// The state of an SCE sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct SceWindow {
    /// Bytes gained or lost towards the next segment.
    count: i64,
    /// The window at the last mark or loss, or the largest since.
    last_cwnd: u32,
    /// Acknowledgements for which the last ESCE still counts as recent.
    recent: u32,
    /// The acknowledgement at hand is marked.
    marked: bool,
}

impl SceWindow {
    /// An acknowledgement; `lost` gives the counter's loss for the bytes that came with ESCE.
    #[inline]
    pub(crate) fn acked(
        &mut self,
        window: &mut Window,
        view: &View,
        kind: AckKind,
        lost: impl Fn(&Window, i64) -> i64,
    ) {
        self.recent = self.recent.saturating_sub(1);
        self.marked = kind.esce && !kind.ece;
        if !self.marked {
            return;
        }
        self.recent = window.cwnd + 1;
        self.take(window, view, lost(window, i64::from(kind.marked_bytes)));
    }

    /// The last marks are long past: an acknowledgement without one changes nothing.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.recent == 0 && !self.marked
    }

    /// Takes that much off the counter, for a mark: slow start is over.
    pub(crate) fn take(&mut self, window: &mut Window, view: &View, bytes: i64) {
        self.count -= bytes;
        self.last_cwnd = window.cwnd;
        window.ssthresh = window.ssthresh.min((window.cwnd >> 1).max(CWND_MIN));
        self.settle(window, view);
    }

    /// An acknowledgement that may raise the window.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited || self.marked {
            return;
        }
        let mut acked = growth.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        self.count += i64::from(acked) * i64::from(view.mss);
        self.last_cwnd = self.last_cwnd.max(window.cwnd);
        self.settle(window, view);
    }

    /// Half of the window as it was.
    pub(crate) fn ssthresh(&mut self, window: &Window) -> u32 {
        self.last_cwnd = window.cwnd;
        window.reno_ssthresh()
    }

    /// A timeout halves; the end of a reduction for CE takes a quarter or an eighth, where the
    /// sender does so.
    pub(crate) fn event(&mut self, window: &mut Window, event: CwndEvent, cuts_after_ce: bool) {
        match event {
            CwndEvent::CompleteCwr if cuts_after_ce => {
                self.cut(window, if self.recent > 0 { 3 } else { 2 });
            }
            CwndEvent::Loss => {
                self.count = 0;
                window.ssthresh = self.ssthresh(window);
            }
            _ => {}
        }
    }

    /// Whether ESCE was seen within about a window.
    pub(crate) fn is_recent(&self) -> bool {
        self.recent > 0
    }

    /// The window before the last reduction.
    pub(crate) fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.last_cwnd)
    }

    fn cut(&mut self, window: &mut Window, shift: u32) {
        self.last_cwnd = window.cwnd;
        self.count = 0;
        let less = (window.cwnd >> shift).max(1);
        window.cwnd = window.cwnd.saturating_sub(less).max(CWND_MIN);
        window.ssthresh = (self.last_cwnd >> 1).max(CWND_MIN);
    }

    /// Moves the window by what the counter has come to.
    #[inline]
    fn settle(&mut self, window: &mut Window, view: &View) {
        let step = i64::from(view.mss) * i64::from(window.cwnd.max(1));
        while self.count <= -step {
            self.count += step;
            window.cwnd = (window.cwnd - 1).max(CWND_MIN);
        }
        while self.count >= step {
            self.count -= step;
            window.cwnd = (window.cwnd + 1).min(window.cwnd_clamp);
        }
    }
}

#[cfg(test)]
#[path = "sce_tests.rs"]
mod tests;
