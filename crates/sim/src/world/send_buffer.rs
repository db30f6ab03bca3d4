//! The send buffer of a socket of datagrams: a call waits while it is full.
//!
//! Models sock_alloc_send_pskb and sock_def_write_space (Linux net/core/sock.c): a datagram is charged with its true
//! size until it has left the host, a call finds room while less is charged than SO_SNDBUF, and one that waits goes on
//! when no more than half of it is. The size is net.core.wmem_default's default, 256 small packets; a datagram lies
//! in one piece of memory (__ip_append_data, net/ipv4/ip_output.c; __alloc_skb, net/core/skbuff.c; both on x86_64).
//! Left out: SO_SNDBUF; the time from a frame's having left to the interrupt that frees it; cards that hold
//! frames back (PAUSE, rate limiters), where nobody waits.

use std::collections::VecDeque;

use tailback_tcp::Sender;
use tailback_units::Time;

/// Small packets that a buffer has room for (SK_WMEM_MAX).
const PACKETS: u32 = 256;
/// Payload of such a packet (_SK_MEM_OVERHEAD), bytes.
const SMALL: u32 = 256;
/// Headers of UDP and IPv4, bytes.
const HEADERS: u32 = 8 + 20;
/// Room for Ethernet's header (LL_RESERVED_SPACE), and what is added for its alignment, bytes.
const LINK_ROOM: u32 = 16 + 15;
/// A cache line, bytes.
const LINE: u32 = 64;
/// sizeof(struct skb_shared_info), aligned, bytes; charged today only.
const SHARED_INFO: u32 = 320;
/// The least memory for a head (SKB_SMALL_HEAD_CACHE_SIZE) of a kernel without wireless drivers, bytes: seen of a
/// 7.2.13. With them it is some 64 to 128 more.
const SMALL_HEAD: u32 = 576;
/// sizeof(struct sk_buff), aligned, today and in 2.6.18, bytes.
const SK_BUFF: u32 = 256;
const ONCE_SK_BUFF: u32 = 240;

/// What a socket has sent that is still at its host.
#[derive(Debug)]
pub(crate) struct SendBuffer {
    /// So many datagrams fill it.
    full: usize,
    /// A call that waits goes on when there are no more than these.
    half: usize,
    /// When each will have left, in order.
    leaving: VecDeque<Time>,
}

impl SendBuffer {
    /// That of a kernel of today or of then, for datagrams of so much payload.
    pub(crate) fn new(sender: Sender, payload_bytes: u16) -> SendBuffer {
        let truesize = truesize(sender, payload_bytes);
        let sndbuf = match sender {
            Sender::Linux26 => PACKETS * (SMALL + ONCE_SK_BUFF),
            Sender::Linux72 => PACKETS * (SMALL + SK_BUFF + SHARED_INFO),
        };
        SendBuffer {
            full: sndbuf.div_ceil(truesize) as usize,
            // The socket itself counts for one byte.
            half: ((sndbuf / 2 - 1) / truesize) as usize,
            leaving: VecDeque::new(),
        }
    }

    /// A datagram has been sent, and will have left its host at `at`.
    pub(crate) fn sent(&mut self, at: Time) {
        self.leaving.push_back(at);
    }

    /// When the next call can send: at once, or when there is room again.
    pub(crate) fn room_at(&mut self, now: Time) -> Time {
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() < self.full {
            return now;
        }
        self.leaving[self.leaving.len() - self.half - 1]
    }
}

/// What a datagram is charged with (truesize), bytes.
fn truesize(sender: Sender, payload_bytes: u16) -> u32 {
    let data = (u32::from(payload_bytes) + HEADERS + LINK_ROOM).next_multiple_of(LINE);
    match sender {
        Sender::Linux26 => data + ONCE_SK_BUFF,
        // Powers of two are what kmalloc has.
        Sender::Linux72 if data + SHARED_INFO <= SMALL_HEAD => SMALL_HEAD + SK_BUFF,
        Sender::Linux72 => (data + SHARED_INFO).next_power_of_two() + SK_BUFF,
    }
}

#[cfg(test)]
mod tests {
    use super::{SendBuffer, Sender, truesize};
    use tailback_units::{Duration, Time};

    fn us_after(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    #[test]
    fn a_full_frame_takes_a_half_page_and_its_descriptor() {
        assert_eq!(truesize(Sender::Linux72, 1472), 2048 + 256);
        assert_eq!(truesize(Sender::Linux72, 18), 832);
        assert_eq!(truesize(Sender::Linux26, 1472), 1536 + 240);
    }

    #[test]
    fn a_call_that_waits_goes_on_when_half_of_it_is_free() {
        // 212 992 bytes, net.core.wmem_default of every machine of today: 93 full frames fill it, 46 are half.
        let mut buffer = SendBuffer::new(Sender::Linux72, 1472);
        for us in 1..=92 {
            buffer.sent(us_after(us));
            assert_eq!(buffer.room_at(Time::ZERO), Time::ZERO);
        }
        buffer.sent(us_after(93));
        assert_eq!(buffer.room_at(Time::ZERO), us_after(93 - 46));
        assert_eq!(buffer.room_at(us_after(47)), us_after(47));
    }
}
