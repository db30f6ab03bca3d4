//! The send buffer: what the application writes, and when it may write again.
//!
//! Models Linux 2.6.18 net/ipv4/tcp.c (tcp_sendmsg: packets are filled one after another; a full
//! one is sent at once if nothing waits before it, and all are pushed once half of the greatest
//! window has been written), tcp_input.c (tcp_check_space, tcp_new_space) and net/core/stream.c
//! (sk_stream_write_space). Left out: memory limits of the whole machine, pages.

use tailback_units::Time;

use super::{Connection, Event, WriteFlags};
use crate::clock::Jiffies;

impl Connection {
    /// The application writes `bytes` bytes; answers how many the send buffer took. For the rest
    /// [`Event::Writable`] says when to try again.
    pub fn write(&mut self, now: Time, bytes: u64) -> u64 {
        self.write_flags(now, bytes, WriteFlags::default())
    }

    /// Whether a write has found the send buffer full, and [`Event::Writable`] is still to come.
    #[must_use]
    pub fn awaits_space(&self) -> bool {
        self.no_space
    }

    /// The same, with flags of send(2). Senders of Linux 2.6 know none of them.
    pub fn write_flags(&mut self, now: Time, bytes: u64, flags: WriteFlags) -> u64 {
        if self.fin_queued || !self.life.may_write() {
            return 0;
        }
        let jiffies = self.clock.jiffies(now);
        if self.is_modern() {
            return self.write_today(jiffies, bytes, flags);
        }
        let mss = self.current_mss();
        let goal = self.size_goal();
        let mut accepted = 0;
        while accepted < bytes {
            let tail = self.tail_bytes(goal);
            if tail == 0 && self.queued_memory() >= u64::from(self.sndbuf) {
                self.no_space = true;
                break;
            }
            let piece = u64::from(goal - tail).min(bytes - accepted);
            self.append(tail, piece);
            accepted += piece;
            if accepted == bytes {
                break;
            }
            if (self.write_seq()).after(self.pushed_seq + (self.max_window >> 1)) {
                self.pushed_seq = self.write_seq();
                self.push(jiffies);
            } else if self.unsent == u64::from(self.head_bytes()) {
                self.push_one(jiffies, mss);
            }
        }
        if accepted > 0 {
            self.pushed_seq = self.write_seq();
            self.push(jiffies);
        }
        accepted
    }

    /// Whether the send buffer has room worth telling of: a third of it is free
    /// (sk_stream_is_writeable).
    #[must_use]
    pub fn writable(&self) -> bool {
        if self.is_modern() {
            return self.is_writeable_today();
        }
        let queued = self.queued_memory();
        queued + queued / 2 <= u64::from(self.sndbuf)
    }

    /// The sequence number after the last byte written.
    fn write_seq(&self) -> crate::Seq {
        self.snd_nxt + self.unsent as u32
    }

    /// Bytes of the last packet that waits, if it is not full yet.
    fn tail_bytes(&self, goal: u32) -> u32 {
        let head = u64::from(self.head_left);
        let tail = if self.unsent == head {
            head
        } else {
            self.unsent.saturating_sub(head) % u64::from(goal)
        };
        if tail < u64::from(goal) {
            tail as u32
        } else {
            0
        }
    }

    /// Adds to the last packet, of which there are `tail` bytes, or begins a new one.
    fn append(&mut self, tail: u32, bytes: u64) {
        if tail > 0 && self.unsent == u64::from(self.head_left) {
            self.head_left += bytes as u32;
        }
        self.unsent += bytes;
    }

    /// Memory held by what is written and not acknowledged (sk_wmem_queued).
    pub(super) fn queued_memory(&self) -> u64 {
        let goal = u64::from(self.size_goal());
        let in_flight = u64::from(self.snd_nxt - self.snd_una);
        let packets = self.queue.len() as u64 + self.unsent.div_ceil(goal);
        in_flight + self.unsent + packets * self.stack.tx_skb_overhead.get()
    }

    /// The send buffer is made large enough for three segments (tcp_fixup_sndbuf).
    pub(super) fn fix_up_sndbuf(&mut self) {
        if self.is_modern() {
            return self.expand_sndbuf();
        }
        let room = 3 * u64::from(self.mss_clamp) + 3 * self.stack.tx_skb_overhead.get();
        self.sndbuf = self.sndbuf.max(self.bounded_sndbuf(room));
    }

    /// Room in the send buffer may let a waiting application go on; the buffer grows with the
    /// window (tcp_check_space, tcp_new_space, sk_stream_write_space).
    #[inline]
    pub(super) fn check_space(&mut self, now: Jiffies) {
        if self.is_modern() {
            return self.check_space_today(now);
        }
        self.check_space_once(now);
    }

    /// The same of 2.6.18's sender.
    #[inline]
    pub(super) fn check_space_once(&mut self, now: Jiffies) {
        if !std::mem::take(&mut self.queue_shrunk) || !self.no_space {
            return;
        }
        // tcp_should_expand_sndbuf: the window is not in full use.
        if self.packets_out < self.window.cwnd {
            let room = u64::from(self.mss_clamp.max(self.mss)) + self.stack.tx_skb_overhead.get();
            let demanded = u64::from(self.window.cwnd.max(self.reordering + 1));
            self.sndbuf = self.sndbuf.max(self.bounded_sndbuf(2 * demanded * room));
            self.cwnd_stamp = now;
        }
        // The bytes alone often say that there is none, without a division.
        let bytes = u64::from(self.snd_nxt - self.snd_una) + self.unsent;
        if bytes + bytes / 2 > u64::from(self.sndbuf) {
            return;
        }
        let queued = self.queued_memory();
        if queued + queued / 2 <= u64::from(self.sndbuf) {
            self.no_space = false;
            self.events.push(Event::Writable);
        }
    }

    /// Tells the application that there is something to read (tcp_data_ready).
    #[inline(always)]
    pub(super) fn tell_of_data_to_read(&mut self) {
        self.events.push(Event::Readable);
        self.look_for_space();
    }

    /// Something has happened for which all that wait for this socket are woken. A writer that waits in a call looks
    /// again, and goes on if there is any room at all (sk_stream_wait_memory).
    #[inline(always)]
    pub(super) fn look_for_space(&mut self) {
        if self.no_space && self.has_any_space() {
            self.events.push(Event::Writable);
        }
    }

    /// Whether there is any room in the send buffer (sk_stream_memory_free).
    #[inline(never)]
    fn has_any_space(&self) -> bool {
        if self.is_modern() {
            return self.modern.writer_waits() && self.has_send_memory();
        }
        self.queued_memory() < u64::from(self.sndbuf)
    }

    fn bounded_sndbuf(&self, bytes: u64) -> u32 {
        bytes
            .min(self.stack.tcp_wmem[2].get())
            .min(u64::from(u32::MAX / 2)) as u32
    }
}
