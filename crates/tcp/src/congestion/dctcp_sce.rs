//! DCTCP-SCE: takes half of what ESCE acknowledges off the window, at once and without an average.
//!
//! Models the behaviour of tcp_dctcp_sce (chromi/sce, net/ipv4/tcp_dctcp_sce.c); `sce` has what it
//! shares with Reno-SCE. A window acknowledged with ESCE throughout is halved in a round trip. With
//! marks of probability p the window settles at 2(1−p)/p. Left out: that kernel's later change by
//! which a first ESCE does not end slow start.

use super::sce::SceWindow;
use super::{AckKind, CongestionControl, CwndEvent, Growth, View, Window};
use crate::stack::Stack;

/// DCTCP-SCE's state.
#[derive(Clone, Debug)]
pub(crate) struct DctcpSce {
    sce: SceWindow,
}

impl DctcpSce {
    /// No mark is being answered.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.sce.rests()
    }
}

impl CongestionControl for DctcpSce {
    fn new(_stack: &Stack, _seed: u64) -> DctcpSce {
        DctcpSce {
            sce: SceWindow::default(),
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        self.sce.grow(window, view, growth);
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        self.sce.ssthresh(window)
    }

    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        self.sce.undo_cwnd(window)
    }

    fn cwnd_event(&mut self, window: &mut Window, _view: &View, event: CwndEvent) {
        self.sce.event(window, event, true);
    }

    #[inline]
    fn in_ack_event(&mut self, window: &mut Window, view: &View, kind: AckKind) {
        self.sce.acked(window, view, kind, |window, bytes| {
            bytes * i64::from(window.cwnd) / 2
        });
    }
}
