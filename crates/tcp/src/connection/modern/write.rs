//! The send buffer: what the application writes, and when it may write again.
//!
//! Models Linux 7.2 net/ipv4/tcp.c (tcp_sendmsg_locked, tcp_push with autocorking,
//! tcp_stream_memory_free), net/core/stream.c (sk_stream_wait_memory) and tcp_input.c (tcp_sndbuf_expand, tcp_new_space,
//! tcp_init_buffer_space's part). Left out: pages, memory limits of the whole machine.

use super::super::{Connection, Event, WriteFlags};
use super::chrono::Limiter;
use super::output::{Limit, Nagle};
use super::queue::{EOR, PSH};
use crate::clock::Jiffies;
use crate::seq::Seq;

/// The initial window, which the send buffer is made for at least (TCP_INIT_CWND).
const INIT_CWND: u32 = 10;
/// sizeof(struct sk_buff), aligned, bytes.
const SK_BUFF: u32 = 256;

impl Connection {
    /// The application writes; answers how many bytes the send buffer took.
    pub(in crate::connection) fn write_today(
        &mut self,
        now: Jiffies,
        bytes: u64,
        flags: WriteFlags,
    ) -> u64 {
        self.forget_departed();
        // Who waits in a call is not asked again when there is room.
        let goes_on = self.modern.rate.write_waits;
        if !goes_on {
            self.check_app_limited();
        }
        let mss = self.current_mss();
        let goal = self.size_goal_today(mss);
        let mut accepted = 0;
        while accepted < bytes {
            let mut room = self.tail_room(goal);
            if room == 0 {
                if !self.has_send_memory() {
                    self.no_space = true;
                    break;
                }
                self.modern.unsent.push(0);
                if self.modern.unsent.len() == 1 {
                    self.modern.chrono.start(now, Limiter::Busy);
                }
                self.modern.nagle_push = false;
                self.check_idle_restart(now);
                room = goal;
            }
            let piece = u64::from(room).min(bytes - accepted) as u32;
            if let Some(tail) = self.modern.unsent.back_mut() {
                if accepted == 0 && !goes_on {
                    tail.marks &= !PSH;
                }
                tail.bytes += piece;
            }
            self.unsent += u64::from(piece);
            accepted += u64::from(piece);
            if accepted == bytes {
                if flags.end_of_record
                    && let Some(tail) = self.modern.unsent.back_mut()
                {
                    tail.marks |= EOR;
                }
                break;
            }
            if self.is_push_forced() {
                self.mark_push();
                self.push_segments_of(now, mss, Nagle::Push);
            } else if self.modern.unsent.len() == 1 && self.life.is_synchronised() {
                self.write_out(now, mss, Nagle::Push, Limit::One);
            }
        }
        self.modern.rate.write_waits = accepted < bytes;
        if accepted > 0 {
            let nagle = match self.nagle() {
                _ if accepted < bytes => Nagle::Push,
                _ if flags.more => Nagle::Cork,
                nagle => nagle,
            };
            let push = !flags.more || accepted < bytes || self.is_push_forced();
            self.push_written(now, nagle, push, (mss, goal));
        }
        if accepted < bytes {
            // The writer begins to wait after that push (sk_stream_wait_memory).
            self.no_space = true;
            self.events.take_back(Event::Writable);
        }
        accepted
    }

    /// Room in the last packet that waits.
    fn tail_room(&self, goal: u32) -> u32 {
        match self.modern.unsent.back() {
            Some(tail) if tail.marks & EOR == 0 => goal.saturating_sub(tail.bytes),
            _ => 0,
        }
    }

    /// sk_stream_memory_free.
    pub(in crate::connection) fn has_send_memory(&self) -> bool {
        self.queued_memory_today() < u64::from(self.sndbuf) && self.unsent < self.notsent_lowat()
    }

    /// Bytes unsent from which on a writer waits (TCP_NOTSENT_LOWAT, tcp_notsent_lowat).
    fn notsent_lowat(&self) -> u64 {
        u64::from(match self.options.notsent_lowat {
            0 => self.stack.tcp_notsent_lowat,
            bytes => bytes,
        })
    }

    /// The sequence number after the last byte written.
    fn written_seq(&self) -> Seq {
        self.snd_nxt + self.unsent as u32
    }

    /// More than half of the largest window has been written since the last push.
    fn is_push_forced(&self) -> bool {
        self.written_seq()
            .after(self.pushed_seq + (self.max_window >> 1))
    }

    fn mark_push(&mut self) {
        self.pushed_seq = self.written_seq();
        if let Some(tail) = self.modern.unsent.back_mut() {
            tail.marks |= PSH;
        }
    }

    /// tcp_push.
    fn push_written(&mut self, now: Jiffies, nagle: Nagle, push: bool, (mss, goal): (u32, u32)) {
        let Some(tail) = self.modern.unsent.back() else {
            return;
        };
        let bytes = tail.bytes;
        let autocork = bytes < goal
            && self.stack.tcp_autocorking
            && !self.modern.sent.is_empty()
            && tail.marks & EOR == 0
            && self.host_holds_more_than(bytes);
        if push {
            self.mark_push();
        }
        if autocork {
            self.wait_for_host();
            return;
        }
        self.push_segments_of(now, mss, nagle);
    }

    /// Memory held by what is written and not acknowledged (sk_wmem_queued).
    pub(in crate::connection) fn queued_memory_today(&self) -> u64 {
        let packets = (self.modern.sent.len() + self.modern.unsent.len()) as u64;
        u64::from(self.snd_nxt - self.snd_una)
            + self.unsent
            + packets * self.stack.tx_skb_overhead.get()
    }

    /// The send buffer is made large enough for the window (tcp_sndbuf_expand).
    #[inline(always)]
    pub(in crate::connection) fn expand_sndbuf(&mut self) {
        if self.options.sndbuf.is_some() {
            return;
        }
        let segments = INIT_CWND.max(self.window.cwnd).max(self.reordering + 1);
        if segments > self.modern.grown_for {
            self.modern.grown_for = segments;
            self.expand_sndbuf_for(segments);
        }
    }

    /// The same for so many segments.
    #[inline(never)]
    fn expand_sndbuf_for(&mut self, segments: u32) {
        // The overhead is a header's room, skb_shared_info and sk_buff; the last is apart from
        // the data, which is allocated in powers of two.
        let room = (self.stack.tx_skb_overhead.get() as u32).saturating_sub(SK_BUFF);
        let data = self.mss_clamp.max(self.mss) + room;
        let per_segment = data.next_power_of_two() + SK_BUFF;
        let bytes = u64::from(self.congestion.sndbuf_expand())
            * u64::from(segments)
            * u64::from(per_segment);
        let most = self.stack.tcp_wmem[2].get().min(u64::from(u32::MAX / 2));
        if u64::from(self.sndbuf) < bytes {
            self.sndbuf = bytes.min(most) as u32;
        }
    }

    /// Whether there is a fair amount of room in the send buffer (__sk_stream_is_writeable).
    pub(in crate::connection) fn is_writeable_today(&self) -> bool {
        let queued = self.queued_memory_today();
        queued + queued / 2 <= u64::from(self.sndbuf) && self.unsent * 2 < self.notsent_lowat()
    }

    /// Room in the send buffer may let a waiting application go on (tcp_check_space,
    /// tcp_new_space, sk_stream_write_space).
    #[inline(always)]
    pub(in crate::connection) fn check_space_today(&mut self, now: Jiffies) {
        if !self.no_space {
            return;
        }
        if self.in_flight() < self.window.cwnd {
            self.expand_sndbuf();
            self.cwnd_stamp = now;
        }
        if self.is_writeable_today() {
            self.no_space = false;
            self.stop_chrono(now, Limiter::SendBuffer);
            self.events.push(Event::Writable);
        } else if self.events.holds(Event::Readable) || self.events.holds(Event::PeerClosed) {
            // It has been woken, and finds the room that this segment has made.
            self.look_for_space();
        }
    }
}
