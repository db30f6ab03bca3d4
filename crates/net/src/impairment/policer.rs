//! A policer: a carrier that has sold a rate and drops what comes faster, at once.
//!
//! A [`crate::token_bucket`] without a queue, at the far end of each direction of a link, as `tc`'s `action police ...
//! conform-exceed drop` at the ingress there (`net/sched/act_police.c`), and a bandwidth profile of MEF 10.3 that is not
//! colour-aware and whose excess rate is zero. What other impairments lose takes no tokens. Left out: an excess rate,
//! policing by class, by flow or by address, marking instead of dropping.

use tailback_units::Time;

use crate::token_bucket::{TokenBucket, TokenBucketConfig};

/// The policer of one direction of a link.
#[derive(Clone, Debug)]
pub(super) struct Policer(TokenBucket);

impl Policer {
    pub(super) fn new(config: &TokenBucketConfig) -> Policer {
        Policer(TokenBucket::new(config))
    }

    /// Whether a frame that comes at `at` is dropped.
    pub(super) fn drops(&mut self, at: Time, frame_bytes: u16) -> bool {
        !self.0.conforms(at, frame_bytes.into())
    }
}
