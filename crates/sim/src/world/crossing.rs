//! Packets that cross from core to core: who pays for the lines of the cache that another core has.
//!
//! What is paid for, and of which lines, [`tailback_net::host::machine::Crossing`] says. Here it is asked
//! as packets are brought, handled, taken, read and sent; without it nothing is.

use tailback_net::host::machine::{Crossing, TaskId, Whereabouts};
use tailback_tcp::{Flags, Header};
use tailback_units::Duration;

use super::machines::{MachineState, NO_TASK};

/// One look at a socket: what crossing costs, which core is at work, and which is its thread's.
struct Look<'a> {
    crossing: Crossing,
    core: usize,
    home: usize,
    socket: &'a mut Whereabouts,
}

impl MachineState {
    /// Whether crossing costs anything.
    #[inline(always)]
    pub(super) fn crosses(&self) -> bool {
        self.machine.config().crossing.is_some()
    }

    #[inline]
    fn look(&mut self, task: u32) -> Option<Look<'_>> {
        let crossing = self.machine.config().crossing?;
        let core = self.machine.acting()?;
        if task == NO_TASK {
            return None;
        }
        let home = self.machine.core_of(TaskId(task));
        let socket = &mut self.thread_mut(task).whereabouts;
        Some(Look {
            crossing,
            core,
            home,
            socket,
        })
    }

    /// Whoever is at work pays what a look at a thread's socket says.
    #[inline]
    fn charge_look(&mut self, task: u32, cost: impl FnOnce(Look<'_>) -> Duration) {
        if let Some(cost) = self.look(task).map(cost) {
            self.machine.charge(cost);
        }
    }

    /// A softirq has brought a packet or a datagram.
    #[inline(always)]
    pub(super) fn note_brought(&mut self, task: u32) {
        if self.crosses() {
            self.charge_look(task, |look| {
                look.socket.bring(look.core);
                Duration::ZERO
            });
        }
    }

    /// TCP handles a packet.
    pub(super) fn charge_handling(&mut self, task: u32, header: &Header) {
        let payload_bytes = header.payload_bytes.into();
        self.charge_look(task, |look| {
            let Look { core, home, .. } = look;
            look.socket.queue(payload_bytes, core, home);
            let worked = look.socket.work(&look.crossing, core);
            if !header.flags.contains(Flags::ACK) {
                return worked;
            }
            worked + look.socket.free(&look.crossing, header.ack.0, core, home)
        });
    }

    /// A thread has its socket's lock.
    #[inline(always)]
    pub(super) fn charge_working(&mut self, task: u32) {
        if self.crosses() {
            self.charge_look(task, |look| look.socket.work(&look.crossing, look.core));
        }
    }

    /// A thread takes a packet that waited for it.
    #[inline(always)]
    pub(super) fn charge_taking(&mut self, task: u32) {
        if self.crosses() {
            self.charge_look(task, |look| look.socket.take(&look.crossing, look.core));
        }
    }

    /// A thread reads so many of the bytes that are there.
    #[inline(always)]
    pub(super) fn charge_reading(&mut self, task: u32, bytes: u64, readable: u64) {
        if self.crosses() {
            self.charge_look(task, |look| {
                look.socket.read(&look.crossing, bytes, readable)
            });
        }
    }

    /// What a thread that is about to read so many of the bytes that are there pays for where they were.
    #[inline(always)]
    pub(super) fn reading_cost(&mut self, task: u32, bytes: u64, readable: u64) -> Duration {
        if !self.crosses() {
            return Duration::ZERO;
        }
        let look = self.look(task);
        look.map_or(Duration::ZERO, |look| {
            look.socket.read(&look.crossing, bytes, readable)
        })
    }

    /// What a thread that is about to read a datagram pays for where it was.
    #[inline(always)]
    pub(super) fn taking_cost(&mut self, task: u32) -> Duration {
        if !self.crosses() {
            return Duration::ZERO;
        }
        let look = self.look(task);
        look.map_or(Duration::ZERO, |look| {
            look.socket.take(&look.crossing, look.home)
        })
    }

    /// What a packet costs that is sent now with so much payload, wherever it was made.
    #[inline(always)]
    pub(super) fn sending_cost(&mut self, task: u32, payload_bytes: u32) -> Duration {
        let cost = self.machine.config().costs.send(payload_bytes);
        if !self.crosses() {
            return cost;
        }
        let look = self.look(task);
        let beyond = look.map(|look| {
            let Look { core, home, .. } = look;
            look.socket.send(&look.crossing, payload_bytes, core, home)
        });
        cost + beyond.unwrap_or(Duration::ZERO)
    }
}
