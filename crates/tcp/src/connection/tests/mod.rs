//! What this kernel does, mechanism by mechanism, between two ends in virtual time.

mod accurate_ecn;
mod ack_policy;
mod ack_policy_today;
mod closing;
mod ecn;
mod ecn_option;
mod loss;
mod metrics;
mod opening;
mod options;
mod profiles;
mod property;
mod receiving;
mod receiving_once;
mod receiving_today;
mod receiving_tuning;
mod sce;
mod sending;
mod settings;
mod shortage;
mod timeouts;
mod undo;
mod walks;

/// What an idle end takes is little more than this: `examples/idle.rs` measures it.
#[test]
fn a_connection_is_small() {
    assert!(size_of::<super::Connection>() <= 1400);
}
