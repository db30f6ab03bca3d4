//! What the hosts send: one file for each kind.
//!
//! A workload says what is asked of whom and how much; when it happens follows from the network.
//! Every backend replays the same workload. A new kind is a file here, a variant below and a
//! page in docs/models.

mod incast;

pub use incast::Incast;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Finding;

/// What the hosts send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// Synchronised reads: one client asks many servers at once.
    Incast(Incast),
}

impl Workload {
    /// What is wrong with it on a network of `hosts` hosts; paths are relative to the workload.
    #[must_use]
    pub fn findings(&self, hosts: usize) -> Vec<Finding> {
        match self {
            Workload::Incast(incast) => incast.findings(hosts),
        }
    }

    /// Payload bytes that an iteration brings to their receivers.
    #[must_use]
    pub fn iteration_bytes(&self) -> u64 {
        match self {
            Workload::Incast(incast) => incast.iteration_bytes(),
        }
    }

    /// How many iterations it has: the steps in which a run reports its progress.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        match self {
            Workload::Incast(incast) => u64::from(incast.iterations),
        }
    }
}
