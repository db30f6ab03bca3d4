//! Reno-SCE: Reno that answers ESCE with a reduction by the square root of the window.
//!
//! Models the behaviour of tcp_reno_sce (chromi/sce, net/ipv4/tcp_reno_sce.c) in its two published
//! versions; `sce` has what they share. A window acknowledged with ESCE throughout shrinks by
//! √cwnd segments in version A, by half of that in version B. On CE version A cuts a quarter or an
//! eighth once a reduction is complete, version B takes it off acknowledgement by acknowledgement
//! as long as ECE is set; an acknowledgement with both is ESCE to B, to A it is CE. With marks of probability p the window settles at ((1−p)/p)² in A and at
//! (2(1−p)/p)² in B. The kernel's root is whole, rounded up while the window grows and down while it
//! shrinks; here it is to half a segment. Left out: its use of the largest window since the last mark for the threshold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sce::SceWindow;
use super::{AckKind, CongestionControl, CwndEvent, Growth, View, Window};
use crate::stack::Stack;

/// Which of the published versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenoSceVersion {
    /// √cwnd a marked window; CE is answered when its reduction is complete.
    #[default]
    A,
    /// √cwnd / 2 a marked window; CE is answered on every acknowledgement.
    B,
}

/// Parameters of `reno-sce`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RenoSceParameters {
    /// Which of the two published versions.
    pub version: RenoSceVersion,
}

/// Reno-SCE's state.
#[derive(Clone, Debug)]
pub(crate) struct RenoSce {
    sce: SceWindow,
    version: RenoSceVersion,
}

impl RenoSce {
    /// No mark is being answered.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.sce.rests()
    }
}

impl CongestionControl for RenoSce {
    fn new(stack: &Stack, _seed: u64) -> RenoSce {
        RenoSce {
            sce: SceWindow::default(),
            version: stack.reno_sce.version,
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
        self.sce
            .event(window, event, self.version == RenoSceVersion::A);
    }

    #[inline]
    fn in_ack_event(&mut self, window: &mut Window, view: &View, mut kind: AckKind) {
        let parts = match self.version {
            RenoSceVersion::A => 1,
            RenoSceVersion::B => 2,
        };
        if self.version == RenoSceVersion::B {
            kind.ece &= !kind.esce;
        }
        self.sce.acked(window, view, kind, |window, bytes| {
            bytes * i64::from((4 * window.cwnd).isqrt()) / (2 * parts)
        });
        if kind.ece && self.version == RenoSceVersion::B {
            let parts = if self.sce.is_recent() { 8 } else { 4 };
            let bytes = i64::from(kind.marked_bytes) * i64::from(window.cwnd) / parts;
            self.sce.take(window, view, bytes);
        }
    }
}
