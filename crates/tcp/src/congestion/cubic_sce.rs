//! CUBIC-SCE: CUBIC that answers ESCE by flattening its curve and by the square root of the window.
//!
//! Models the behaviour of tcp_cubic_sce (chromi/sce, net/ipv4/tcp_cubic_sce.c) on the CUBIC of `cubic`. The
//! counter by which CUBIC follows Reno loses √cwnd times what comes acknowledged with ESCE; each time
//! it has fallen by a window's bytes the window and the curve's origin go down by a segment. The flat
//! part of the curve comes nearer to now, by the share that the segments acknowledged are of √cwnd.
//! The first ESCE ends slow start at half of the window. On CE an eighth goes if ESCE was seen within about a
//! window, else what CUBIC takes. With marks of probability p on a short path, where Reno rules, the window
//! settles at 1/p².
//! Departures: that kernel compares bytes with the root of segments, so that the curve is flat at once, and
//! its new origin overflows there; it leaves Reno's window as it is when it takes its own down, which undoes
//! that at once. Both are modelled as they are meant.

use super::cubic::Cubic;
use super::{AckKind, AckSample, CongestionControl, CwndEvent, Growth, View, Window};
use crate::connection::CaState;
use crate::stack::Stack;

/// The window is never taken below, segments.
const CWND_MIN: u32 = 2;

/// CUBIC-SCE's state.
#[derive(Clone, Debug)]
pub(crate) struct CubicSce(Box<State>);

#[derive(Clone, Debug)]
struct State {
    cubic: Cubic,
    /// Bytes counted towards Reno's next segment, less what marks took.
    count: i64,
    /// Acknowledgements for which the last ESCE still counts as recent.
    recent: u32,
}

impl CongestionControl for CubicSce {
    fn new(stack: &Stack, seed: u64) -> CubicSce {
        CubicSce(Box::new(State {
            cubic: Cubic::new(stack, seed),
            count: 0,
            recent: 0,
        }))
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        self.0.cubic.init(window, view);
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        let acked = window.slow_start_first(growth.acked);
        if acked == 0 {
            return;
        }
        let (state, mss) = (&mut *self.0, i64::from(view.mss.max(1)));
        state.count += i64::from(acked) * mss;
        let counted = u32::try_from(state.count / mss).unwrap_or(0);
        let left = state.cubic.grow_counted(window, view, (acked, counted));
        state.count -= i64::from(counted - left) * mss;
    }

    fn ssthresh(&mut self, window: &Window, view: &View) -> u32 {
        let cubics = self.0.cubic.ssthresh(window, view);
        if self.0.recent > 0 {
            (window.cwnd - window.cwnd.div_ceil(8)).max(CWND_MIN)
        } else {
            cubics
        }
    }

    fn set_state(&mut self, window: &mut Window, view: &View, state: CaState) {
        self.0.cubic.set_state(window, view, state);
        if state == CaState::Loss {
            self.0.count = 0;
            self.0.recent = 0;
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        self.0.cubic.cwnd_event(window, view, event);
    }

    #[inline]
    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        self.0.cubic.pkts_acked(window, view, sample);
    }

    #[inline]
    fn in_ack_event(&mut self, window: &mut Window, view: &View, kind: AckKind) {
        let state = &mut *self.0;
        state.recent = state.recent.saturating_sub(1);
        if !kind.esce || kind.ece {
            return;
        }
        if !state.cubic.in_epoch() {
            window.ssthresh = (window.cwnd / 2).max(CWND_MIN);
            return;
        }
        let (root, mss) = (window.cwnd.isqrt().max(1), view.mss.max(1));
        let segments = kind.marked_bytes.div_ceil(mss).min(root);
        state.cubic.flatten((segments, root), view.now);
        state.count -= i64::from(kind.marked_bytes) * i64::from(root);
        state.recent = window.cwnd + 1;
        let step = i64::from(mss) * i64::from(window.cwnd.max(1));
        while state.count <= -step {
            state.count += step;
            window.cwnd = (window.cwnd - 1).max(CWND_MIN);
            state.cubic.step_down();
        }
        window.ssthresh = (window.cwnd / 2).max(CWND_MIN);
    }
}

#[cfg(test)]
#[path = "cubic_sce_tests.rs"]
mod tests;
