//! What an application writes and the send buffer has no room for yet.

use std::collections::VecDeque;

use tailback_tcp::Connection;
use tailback_units::Time;

/// Calls of an application's writes, one after another: the first waits for room, or goes on when its
/// thread does; the others begin when those before them are done. Where a call ends is where TCP pushes
/// (tcp_push), and the next is asked anew whether the application is what limits it.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// Of all calls.
    bytes: u64,
    /// What is left of the first.
    first: u64,
    behind: VecDeque<u64>,
}

impl Backlog {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Bytes of all calls.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that are left of the first call.
    #[inline]
    pub(crate) fn call(&self) -> u64 {
        self.first
    }

    /// The application writes so much in a call of its own.
    #[inline]
    pub(crate) fn push(&mut self, bytes: u64) {
        if self.is_empty() {
            self.first = bytes;
        } else if bytes > 0 {
            self.behind.push_back(bytes);
        }
        self.bytes += bytes;
    }

    /// TCP has taken so much of the first call.
    #[inline]
    pub(crate) fn taken(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.first -= bytes;
        if self.first == 0 && !self.is_empty() {
            self.first = self.behind.pop_front().unwrap_or(self.bytes);
        }
    }

    /// Writes call after call, as far as there is room; answers how much TCP has taken.
    pub(crate) fn write_to(&mut self, connection: &mut Connection, now: Time) -> u64 {
        let before = self.bytes;
        while !self.is_empty() {
            let asked = self.first;
            let accepted = connection.write(now, asked);
            self.taken(accepted);
            if accepted < asked {
                break;
            }
        }
        before - self.bytes
    }

    pub(crate) fn clear(&mut self) {
        *self = Backlog::default();
    }
}

#[cfg(test)]
mod tests {
    use super::Backlog;

    #[test]
    fn calls_keep_their_ends() {
        let mut backlog = Backlog::default();
        for bytes in [100, 30, 1] {
            backlog.push(bytes);
        }
        assert_eq!((backlog.bytes(), backlog.call()), (131, 100));
        backlog.taken(60);
        assert_eq!((backlog.bytes(), backlog.call()), (71, 40));
        backlog.taken(40);
        assert_eq!((backlog.bytes(), backlog.call()), (31, 30));
        backlog.taken(30);
        backlog.push(7);
        assert_eq!((backlog.bytes(), backlog.call()), (8, 1));
        backlog.taken(1);
        backlog.taken(7);
        assert!(backlog.is_empty());
        backlog.push(5);
        assert_eq!(backlog.call(), 5);
    }
}
