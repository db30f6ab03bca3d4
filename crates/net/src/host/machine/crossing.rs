//! What one core wrote, another waits for: lines of the cache that come over the bus.
//!
//! A packet costs more where one core made it and another sends it, sees to it when it has left or frees it, and
//! where one received it and another reads it; a TCP socket does where another core worked at it last. Each
//! is a number of lines, all of one time. Sources and what is counted: docs/models/host-crossing.md.
//!
//! A writer's packets are taken to be made where its thread is, a reader's to be read there. Which
//! packets an acknowledgement frees, and which a read takes, is kept in bytes: what crossed comes first, and what
//! is sent again counts again.
//! Left out: caches that two cores share, the allocator, the card's ring and queue, what a softirq only
//! puts into a backlog or prequeue, an UDP socket's own lines, buses that are busy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

/// What a packet costs that crosses from core to core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crossing {
    /// What a core waits for a line of the cache that another has written, on average over those below.
    pub line: Duration,
    /// Lines of a packet with payload that another core's writer made and this one sends.
    pub sent: u32,
    /// Lines of a packet that another core sent and that this one sees to when it has left.
    pub completed: u32,
    /// Lines of a packet that another core made and sent, and that an acknowledgement frees here.
    pub freed: u32,
    /// Lines of a packet that another core's softirq brought and a thread takes here.
    pub received: u32,
    /// Lines of a TCP socket at which another core worked last.
    pub socket: u32,
}

impl Crossing {
    /// What so many lines cost.
    #[inline]
    #[must_use]
    pub fn lines(&self, lines: u32) -> Duration {
        self.line * u64::from(lines)
    }

    /// What `lines` a packet cost for so many bytes in packets of a size.
    fn lines_of(&self, lines: u32, bytes: u64, packet_bytes: u32) -> Duration {
        let whole = self.lines(lines).as_ps() * bytes;
        Duration::from_ps(whole / u64::from(packet_bytes.max(1)))
    }
}

/// Which core has what of a socket. Cores by their number; `home` is that of the socket's thread.
#[derive(Clone, Debug, Default)]
pub struct Whereabouts {
    /// Who worked at the socket last.
    worked: Option<usize>,
    /// Whose softirq brought what waits for the thread in the backlog or prequeue.
    brought: Option<usize>,
    /// Bytes to be read that another core than the thread's has queued, and a packet's.
    queued_bytes: u64,
    received_bytes: u32,
    /// Bytes that the thread's core has sent and nobody has acknowledged, and a packet's.
    sent_bytes: u64,
    packet_bytes: u32,
    /// Where acknowledgements have come to.
    acked: Option<u32>,
}

impl Whereabouts {
    /// A core works at the socket: what it waits for.
    pub fn work(&mut self, crossing: &Crossing, core: usize) -> Duration {
        match self.worked.replace(core) {
            Some(before) if before != core => crossing.lines(crossing.socket),
            _ => Duration::ZERO,
        }
    }

    /// A core's softirq brings a packet that waits for the thread, or a datagram.
    pub fn bring(&mut self, core: usize) {
        self.brought = Some(core);
    }

    /// A core takes a packet that waits for the thread.
    #[must_use]
    pub fn take(&self, crossing: &Crossing, core: usize) -> Duration {
        match self.brought {
            Some(before) if before != core => crossing.lines(crossing.received),
            _ => Duration::ZERO,
        }
    }

    /// A core has put a packet with payload where the thread reads.
    pub fn queue(&mut self, payload_bytes: u32, core: usize, home: usize) {
        if payload_bytes > 0 && core != home {
            self.queued_bytes += u64::from(payload_bytes);
            self.received_bytes = payload_bytes;
        }
    }

    /// The thread reads so many of the bytes that are there.
    pub fn read(&mut self, crossing: &Crossing, bytes: u64, readable: u64) -> Duration {
        let crossed = self.queued_bytes.min(bytes);
        // Some came twice.
        let left = readable.saturating_sub(bytes);
        self.queued_bytes = (self.queued_bytes - crossed).min(left);
        crossing.lines_of(crossing.received, crossed, self.received_bytes)
    }

    /// A core sends a packet of the socket.
    pub fn send(
        &mut self,
        crossing: &Crossing,
        payload_bytes: u32,
        core: usize,
        home: usize,
    ) -> Duration {
        if payload_bytes == 0 {
            return Duration::ZERO;
        }
        if core != home {
            return crossing.lines(crossing.sent);
        }
        self.sent_bytes += u64::from(payload_bytes);
        self.packet_bytes = payload_bytes;
        Duration::ZERO
    }

    /// A core handles an acknowledgement up to `ack`.
    pub fn free(&mut self, crossing: &Crossing, ack: u32, core: usize, home: usize) -> Duration {
        let before = self.acked.unwrap_or(ack);
        let acked = ack.wrapping_sub(before);
        if acked > u32::MAX / 2 {
            // An old one.
            return Duration::ZERO;
        }
        self.acked = Some(ack);
        let crossed = self.sent_bytes.min(u64::from(acked));
        self.sent_bytes -= crossed;
        if core == home {
            return Duration::ZERO;
        }
        crossing.lines_of(crossing.freed, crossed, self.packet_bytes)
    }
}

#[cfg(test)]
#[path = "crossing_tests.rs"]
mod tests;
