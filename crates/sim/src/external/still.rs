//! Runs whose kernels wait for each other: their clocks tick on, and would for ever.

use tailback_net::host::HostConfig;
use tailback_scenario::{Run, Workload};
use tailback_units::Duration;

use super::cable::Cable;
use crate::SimError;

/// What is to be sent, or sent again, is sent within minutes (TCP_RTO_MAX, 120 s).
const STILL: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3600);

/// An exponential draw is that many times its mean in one of 10^17 cases.
const MEANS: u64 = 40;

/// # Errors
///
/// [`SimError::Stalled`] if a workload without a time of its own has stood still for longer than anything takes in it.
pub(super) fn check(run: &Run, cable: &Cable) -> Result<(), SimError> {
    let longest_ps = match &run.workload {
        Workload::Incast(_) => {
            let hosts = run.network.hosts.iter();
            hosts.map(|host| longest_ps(&host.config)).max()
        }
        Workload::Collective(spec) => {
            let jitter_ps = spec.compute_jitter.as_ps().saturating_mul(MEANS);
            Some(spec.compute.as_ps().saturating_add(jitter_ps))
        }
        _ => return Ok(()),
    };
    let patience_ps = longest_ps.unwrap_or(0).saturating_add(STILL.as_ps());
    let still = cable.world.now.since(cable.moved);
    if still.as_ps() <= patience_ps {
        return Ok(());
    }
    Err(SimError::Stalled {
        at: cable.world.now,
        done: cable.world.workload.progress(),
        why: format!(
            "for {} hours no payload has come to a kernel or left one; SO_RCVLOWAT no larger than what is sent at a \
             time",
            still.as_ps() / HOUR.as_ps()
        ),
    })
}

/// How long a program may think, at the most.
fn longest_ps(host: &HostConfig) -> u64 {
    let jitter = host.service_jitter.as_ps().saturating_mul(MEANS);
    let all = [
        host.service_latency.as_ps(),
        host.client_latency.as_ps(),
        jitter,
    ];
    all.into_iter().fold(0, u64::saturating_add)
}
