//! Scalable TCP: Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks"
//! (CCR 33(2), 2003) as in Linux net/ipv4/tcp_scalable.c (7.2): one segment for every 100 counted
//! (every window while it is smaller), an eighth less on loss. Linux 2.6.24 counts 50.
//! Left out: nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Growth, View, Window};
use crate::stack::Stack;

/// The cut is 2^-3 (TCP_SCALABLE_MD_SCALE).
const DECREASE_SHIFT: u32 = 3;

/// Parameters of Scalable TCP, by their names in Linux net/ipv4/tcp_scalable.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScalableParameters {
    /// Segments acknowledged for one of growth, at most (TCP_SCALABLE_AI_CNT): 100, and 50 before
    /// Linux 4.10.
    #[schemars(range(min = 1, max = 65535))]
    pub ai_cnt: u32,
}

impl Default for ScalableParameters {
    fn default() -> ScalableParameters {
        ScalableParameters { ai_cnt: 100 }
    }
}

/// Scalable TCP.
#[derive(Clone, Debug)]
pub(crate) struct Scalable {
    ai_cnt: u32,
}

impl CongestionControl for Scalable {
    fn new(stack: &Stack, _seed: u64) -> Scalable {
        Scalable {
            ai_cnt: stack.scalable.ai_cnt,
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        let left = window.slow_start_first(growth.acked);
        if left > 0 {
            window.additive_increase(window.cwnd.min(self.ai_cnt), left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        (window.cwnd - (window.cwnd >> DECREASE_SHIFT)).max(2)
    }
}
