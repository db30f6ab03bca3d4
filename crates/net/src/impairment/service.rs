//! A router's service: frames are held for a while, and none overtakes another.
//!
//! Jitter models a forwarding engine whose time varies from frame to frame; batches one that hands
//! on what it has a fixed time apart, so that frames leave in chains. Such chains were seen behind a
//! few hops of an optical path though frames had been sent evenly spaced (Freedman et al., "Exact
//! Temporal Characterization of 10 Gbps Optical WAN", IMC 2010). Where a chain is
//! handed on its frames follow one another at the link's line rate: it is a serial line still.
//! A delay that changes by [`super::delay_steps`] comes first. Left out: what in a router makes it so; a limit to what it holds.

use tailback_units::{Duration, Time};

use super::ImpairmentConfig;
use super::delay_steps::DelaySteps;
use crate::random::Stream;

/// The service of one direction of a link, at work.
#[derive(Clone, Debug)]
pub(super) struct Service {
    jitter: Duration,
    batch: Duration,
    steps: Option<DelaySteps>,
    /// When the last frame was handed on.
    last: Time,
}

impl Service {
    /// The service at a link's end, if it is not immediate.
    pub(super) fn new(config: &ImpairmentConfig) -> Option<Service> {
        let [jitter, batch] = [config.jitter, config.batch].map(Option::unwrap_or_default);
        let steps = config.delay_steps.clone();
        let any = !jitter.is_zero() || !batch.is_zero() || steps.is_some();
        any.then_some(Service {
            jitter,
            batch,
            steps,
            last: Time::ZERO,
        })
    }

    /// How long a frame that has arrived at `at`, and takes the line for so long, is held.
    pub(super) fn hold(&mut self, at: Time, line: Duration, stream: &mut Stream) -> Duration {
        let mut until = at;
        if let Some(steps) = &self.steps {
            until += steps.at(at);
        }
        if !self.jitter.is_zero() {
            until += Duration::from_ps(stream.below(self.jitter.as_ps() + 1));
        }
        if !self.batch.is_zero() {
            let batch = self.batch.as_ps();
            until = Time::from_ps(until.as_ps().div_ceil(batch) * batch);
        }
        self.last = until.max(self.last + line);
        self.last.since(at)
    }
}
