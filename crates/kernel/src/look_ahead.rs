//! How far a kernel may let its own time run: until something could interrupt it, and no further.
//!
//! Nothing comes to it but by its card, and its card interrupts for what it has sent, for what has
//! arrived, and for what others may yet send: the network's next event, or another host's and the time
//! a frame takes from there to the network. The latter wait for the card's own gap between interrupts.

use tailback_units::{Duration, Time};

use crate::nic::Nic;

/// How far a kernel may run ahead when nothing bounds it, so that a run can be given up and ends.
pub(crate) const LOOK_AHEAD_MAX: Duration = Duration::from_ms(1);

/// The earliest time at which others could put anything into the network, from `now` on: the others'
/// next events, each with the least time from there to the network.
pub(crate) fn leash(now: Time, others: impl Iterator<Item = (Time, Duration)>) -> Time {
    others
        .filter(|(event, _)| *event != Time::NEVER)
        .map(|(event, transit)| event + transit)
        .fold(now + LOOK_AHEAD_MAX, Time::min)
}

/// The earliest time at which a kernel's card could interrupt it, by the others' `leash`, the network's
/// next event, and the card's own work.
pub(crate) fn bound(leash: Time, network: Time, card: &Nic) -> Time {
    let foreign = card.interrupt_for(leash.min(network));
    foreign.min(card.next_event())
}

#[cfg(test)]
#[path = "look_ahead_tests.rs"]
mod tests;
