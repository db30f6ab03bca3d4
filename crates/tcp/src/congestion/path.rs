//! A sender and a path of fixed round trip for the algorithms' tests: every segment of a window
//! is acknowledged on its own, evenly over the round trip.

use super::tests::{FULL, VIEW, modern, stack};
use super::{AckKind, AckSample, Congestion, CongestionKind, CwndEvent, View, Window};
use crate::connection::CaState;
use crate::stack::Stack;

/// The sender.
pub(super) struct Path {
    pub(super) congestion: Congestion,
    pub(super) window: Window,
    pub(super) view: View,
    pub(super) rtt_us: u32,
}

impl Path {
    /// Of this window, in congestion avoidance, with 1000 ticks a second.
    pub(super) fn new(kind: CongestionKind, cwnd: u32, rtt_us: u32) -> Path {
        Path::with(kind, cwnd, rtt_us, |_| {})
    }

    /// The same with the stack changed.
    pub(super) fn with(
        kind: CongestionKind,
        cwnd: u32,
        rtt_us: u32,
        change: impl FnOnce(&mut Stack),
    ) -> Path {
        let stack = stack(|stack| {
            stack.hz = 1000;
            change(stack);
        });
        let mut path = Path {
            congestion: Congestion::new(kind, &stack, 1),
            window: modern(cwnd, 2),
            view: View {
                now: 1000,
                now_us: 1_000_000,
                srtt_us8: rtt_us * 8,
                ..VIEW
            },
            rtt_us,
        };
        path.view.snd_nxt = path.view.snd_una + cwnd * path.view.mss;
        path.congestion.init(&mut path.window, &path.view);
        path.window.cwnd = cwnd;
        path
    }

    /// One segment is acknowledged, a window's part of a round trip later.
    pub(super) fn ack(&mut self) {
        let Path { window, view, .. } = self;
        view.now_us += u64::from(self.rtt_us / window.cwnd.max(1)).max(1);
        view.now = (view.now_us / 1000) as u32;
        view.delivered_us = view.now_us;
        view.snd_una += view.mss;
        view.snd_nxt = view.snd_una + window.cwnd * view.mss;
        view.delivered += 1;
        view.in_flight = window.cwnd;
        let sample = AckSample {
            packets: 1,
            rtt_us: Some(self.rtt_us),
            in_flight: window.cwnd,
        };
        self.congestion.pkts_acked(window, view, sample);
        self.congestion
            .in_ack_event(window, view, AckKind::default());
        self.congestion.grow(window, view, FULL);
    }

    /// That many windows are acknowledged.
    pub(super) fn rounds(&mut self, rounds: u32) {
        for _ in 0..rounds {
            for _ in 0..self.window.cwnd {
                self.ack();
            }
        }
    }

    /// A loss, and recovery at once.
    pub(super) fn lose(&mut self) {
        let Path { window, view, .. } = self;
        window.prior_cwnd = window.cwnd;
        window.ssthresh = self.congestion.ssthresh(window, view);
        self.congestion.set_state(window, view, CaState::Recovery);
        view.state = CaState::Recovery;
        window.cwnd = window.ssthresh;
        window.cwnd_count = 0;
        self.congestion
            .cwnd_event(window, view, CwndEvent::CompleteCwr);
        self.congestion.set_state(window, view, CaState::Open);
        view.state = CaState::Open;
    }
}
