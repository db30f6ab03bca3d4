//! Congestion controls that are made elsewhere while the program runs: by whoever embeds this crate, such as
//! those that users write in Python.
//!
//! Their occasions are those of the built-in ones, with which they share what they are told ([`View`] and the
//! rest) and what they set ([`Window`]). A connection holds one behind a pointer; one that is built in never
//! pays for that. Models nothing itself.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::{AckKind, AckSample, CaState, CwndEvent, Growth, OwnName, RateSample, View, Window};

/// What a control listens to: what it does not ask for it is not called for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Every acknowledgement ([`OwnControl::in_ack_event`]).
    pub acks: bool,
    /// Round trips and counts ([`OwnControl::pkts_acked`]).
    pub samples: bool,
    /// It sets window and pacing rate itself ([`OwnControl::on_rate_sample`], Linux's cong_control): takes the
    /// place of growth and of recovery's reduction, and is paced.
    pub full_control: bool,
    /// It asks for ECN and grants it whatever `tcp_ecn` says, and its receiver echoes each packet's mark, as
    /// DCTCP's does (RFC 8257).
    pub ecn: bool,
}

/// A congestion control at work for one connection. Without a clock or randomness of its own: the same calls give
/// the same answers.
pub trait OwnControl: fmt::Debug + Send + Sync {
    /// What it listens to; always the same.
    fn needs(&self) -> Needs;
    /// This side's SYN was acknowledged after so long, microseconds.
    fn syn_acked(&mut self, _rtt_us: u32) {}
    /// The connection is established, or has changed to this algorithm (init).
    fn init(&mut self, _window: &mut Window, _view: &View) {}
    /// An acknowledgement in a state that lets the window grow (cong_avoid).
    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if growth.cwnd_limited {
            window.reno_growth(growth.acked);
        }
    }
    /// The slow-start threshold after a loss or congestion signal at this window, segments.
    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_ssthresh()
    }
    /// The window to return to when a reduction is undone, segments.
    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_undo()
    }
    /// The state is about to change to `state`; that of `view` is the one that is left.
    fn set_state(&mut self, _window: &mut Window, _view: &View, _state: CaState) {}
    /// Something happened to the window.
    fn cwnd_event(&mut self, _window: &mut Window, _view: &View, _event: CwndEvent) {}
    /// Segments were taken off the queue or acknowledged selectively.
    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, _sample: AckSample) {}
    /// Every acknowledgement, once what it acknowledges is counted.
    fn in_ack_event(&mut self, _window: &mut Window, _view: &View, _kind: AckKind) {}
    /// After every acknowledgement, when the state is what it will be (cong_control).
    fn on_rate_sample(&mut self, _window: &mut Window, _view: &View, _sample: &RateSample) {}
    /// What rate halving brings the window down to after a loss, segments.
    fn cwnd_min(&self, window: &Window) -> u32 {
        window.ssthresh
    }
    /// Segments that a packet for segmentation offload should have at least, if not the stack's own number.
    fn min_tso_segs(&self, _window: &Window) -> Option<u32> {
        None
    }
    /// What the send buffer is grown to, in windows.
    fn sndbuf_expand(&self) -> u32 {
        2
    }
    /// Another one in the same state.
    fn boxed_clone(&self) -> Box<dyn OwnControl>;
}

/// Makes controls by their names, without `python:`.
pub trait MakeControl: fmt::Debug + Send + Sync {
    /// One for a new connection, all of whose randomness derives from `seed`; nothing if there is none of this name.
    fn make(&self, name: &str, seed: u64) -> Option<Box<dyn OwnControl>>;
}

/// Who makes a stack's controls, if anybody does. Two are equal if they are the same.
#[derive(Clone, Debug, Default)]
pub struct OwnControls(pub Option<Arc<dyn MakeControl>>);

impl PartialEq for OwnControls {
    fn eq(&self, other: &OwnControls) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(another)) => Arc::ptr_eq(one, another),
            _ => false,
        }
    }
}

impl OwnControls {
    pub(super) fn make(&self, name: &OwnName, seed: u64) -> Option<Own> {
        let control = self.0.as_ref()?.make(name.linux_name(), seed)?;
        Some(Own {
            name: *name,
            needs: control.needs(),
            control,
        })
    }
}

/// One at work, and what it is called.
#[derive(Debug)]
pub(crate) struct Own {
    name: OwnName,
    needs: Needs,
    control: Box<dyn OwnControl>,
}

impl Own {
    pub(super) fn name(&self) -> OwnName {
        self.name
    }

    #[inline]
    pub(super) fn needs(&self) -> Needs {
        self.needs
    }
}

impl Clone for Own {
    fn clone(&self) -> Own {
        Own {
            control: self.control.boxed_clone(),
            ..*self
        }
    }
}

impl Deref for Own {
    type Target = dyn OwnControl;

    fn deref(&self) -> &(dyn OwnControl + 'static) {
        &*self.control
    }
}

impl DerefMut for Own {
    fn deref_mut(&mut self) -> &mut (dyn OwnControl + 'static) {
        &mut *self.control
    }
}

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;
