//! When to acknowledge: delayed, quick and at once.
//!
//! Models Linux 2.6.18's icsk_ack: net/ipv4/tcp_input.c (tcp_measure_rcv_mss, tcp_incr_quickack,
//! tcp_event_data_recv, __tcp_ack_snd_check) and tcp_output.c (tcp_send_delayed_ack,
//! tcp_event_ack_sent, tcp_event_data_sent), tcp_timer.c (tcp_delack_timer). Of 7.2's receiver:
//! tcp_delack_max, and the bounds of the estimate.

use super::compression::Compression;
use super::rules::Receiver;
use crate::clock::{self, Jiffies, JiffyClock};
use crate::connection::Sender;
use crate::stack::Stack;

/// Smallest segment size the receiver assumes (TCP_MIN_RCVMSS, include/net/tcp.h).
const MIN_RCVMSS: u32 = 536;
/// Smallest segment size at all (TCP_MIN_MSS, include/net/tcp.h).
const MIN_MSS: u32 = 88;
/// sizeof(struct tcphdr), bytes.
const TCP_HEADER: u32 = 20;

/// The acknowledgement policy's state.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct AckPolicy {
    /// The estimate's greatest, and that of what is interactive.
    delay_max: Jiffies,
    /// The greatest delay there is (tcp_delack_max).
    delay_most: Jiffies,
    half_second: Jiffies,
    quick_max: u16,
    quick_ecn: u16,
    /// Acknowledgements of out-of-order data.
    pub(crate) compression: Compression,
    delay_min: Jiffies,
    /// Ticks a second of a kernel whose timers wait in a wheel; zero: they fire on their tick.
    wheel_hz: u32,
    /// Estimated delay, jiffies; zero before the first data.
    ato: Jiffies,
    last_received: Jiffies,
    /// The peer's segment size as seen.
    pub(crate) rcv_mss: u32,
    last_size: u32,
    /// Segments still to be acknowledged at once.
    pub(crate) quick: u32,
    fires: Jiffies,
    /// When the delayed acknowledgement's timer is to fire, and when it does.
    pub(crate) timer: Option<Jiffies>,
    /// The kernel's timer runs on when an acknowledgement has left, and has not fired yet.
    runs_on: bool,
    /// An acknowledgement is owed.
    pub(crate) scheduled: bool,
    /// The connection is interactive: acknowledge with the answer.
    pingpong: u8,
    pingpong_thresh: u8,
    /// The next acknowledgement is due at once (ICSK_ACK_NOW, which only DCTCP sets here).
    pub(crate) now: bool,
    pub(crate) pushed: bool,
    pub(crate) pushed_twice: bool,
    /// 7.2's rules: no estimate is longer than the greatest, and only owed acknowledgements count.
    bounded: bool,
}

impl AckPolicy {
    pub(crate) fn new(clock: &JiffyClock, stack: &Stack) -> AckPolicy {
        let (delay_min, delay_max) = (clock.ticks(stack.delack_min), clock.ticks(stack.delack_max));
        let bounded = stack.receiver == Receiver::Linux72;
        // Sooner than the peer's least timeout, if that is this end's too.
        let delay_most = match bounded {
            true => delay_max.min(clock.ticks(stack.rto_min).max(2) - 1),
            false => Jiffies::MAX,
        };
        AckPolicy {
            scheduled: false,
            timer: None,
            runs_on: false,
            fires: 0,
            wheel_hz: match stack.sender {
                Sender::Linux26 => 0,
                Sender::Linux72 => stack.hz,
            },
            pingpong: 0,
            pingpong_thresh: stack.tcp_pingpong_thresh.clamp(1, 255) as u8,
            now: false,
            quick: 0,
            ato: 0,
            last_received: 0,
            rcv_mss: MIN_RCVMSS,
            last_size: 0,
            pushed: false,
            pushed_twice: false,
            delay_min: delay_min.max(1),
            delay_max: delay_max.max(1),
            delay_most: delay_most.max(1),
            half_second: (stack.hz / 2).max(1),
            quick_max: stack.quickacks.min(255) as u16,
            quick_ecn: stack.quickacks_ecn.min(255) as u16,
            bounded,
            compression: Compression::new(stack),
        }
    }

    /// Whether the connection is interactive (inet_csk_in_pingpong_mode).
    #[inline]
    pub(crate) fn in_pingpong(&self) -> bool {
        self.pingpong >= self.pingpong_thresh
    }

    pub(crate) fn enter_pingpong(&mut self) {
        self.pingpong = self.pingpong_thresh;
    }

    pub(crate) fn exit_pingpong(&mut self) {
        self.pingpong = 0;
    }

    /// The estimated delay, jiffies.
    pub(crate) fn ato(&self) -> Jiffies {
        self.ato.min(self.delay_max).min(self.delay_most)
    }

    /// The connection is established.
    pub(crate) fn begin(&mut self, now: Jiffies) {
        self.last_received = now;
    }

    /// When data last came.
    pub(crate) fn last_received(&self) -> Jiffies {
        self.last_received
    }

    /// tcp_initialize_rcv_mss.
    pub(crate) fn initialise_rcv_mss(&mut self, mss: u32, rcv_wnd: u32) {
        self.rcv_mss = mss.min(rcv_wnd / 2).clamp(MIN_MSS, MIN_RCVMSS);
    }

    /// tcp_incr_quickack.
    #[inline(never)]
    fn increase_quick(&mut self, rcv_wnd: u32, most: u32) {
        let segments = match rcv_wnd / (2 * self.rcv_mss.max(1)) {
            0 => 2,
            n => n,
        };
        if segments > self.quick {
            self.quick = self.quick.max(segments.min(most));
        }
    }

    /// tcp_enter_quickack_mode.
    pub(crate) fn enter_quick_mode(&mut self, rcv_wnd: u32) {
        self.enter_quick(rcv_wnd, self.quick_max.into());
    }

    /// The same after a mark, or a segment that cannot be marked.
    pub(crate) fn enter_quick_mode_for_ecn(&mut self, rcv_wnd: u32) {
        self.enter_quick(rcv_wnd, self.quick_ecn.into());
    }

    fn enter_quick(&mut self, rcv_wnd: u32, most: u32) {
        self.increase_quick(rcv_wnd, most);
        self.exit_pingpong();
        self.ato = self.delay_min;
    }

    /// Whether each segment is acknowledged at once.
    #[inline]
    pub(crate) fn in_quick_mode(&self) -> bool {
        self.quick > 0 && !self.in_pingpong()
    }

    /// Data has come in order (tcp_event_data_recv).
    #[inline]
    pub(crate) fn data_received(&mut self, rcv_wnd: u32, rto: Jiffies, now: Jiffies) {
        self.scheduled = true;
        if self.ato == 0 {
            self.increase_quick(rcv_wnd, self.quick_max.into());
            self.ato = self.delay_min;
        } else {
            let gap = now.wrapping_sub(self.last_received);
            if gap <= self.delay_min / 2 {
                self.ato = (self.ato >> 1) + self.delay_min / 2;
            } else if gap < self.ato {
                self.ato = self.bound(((self.ato >> 1) + gap).min(rto));
            } else if gap > rto {
                self.increase_quick(rcv_wnd, self.quick_max.into());
            }
        }
        self.last_received = now;
    }

    /// Data of at least the peer's segment size has come; false if it is less.
    #[inline]
    pub(crate) fn is_full(&mut self, payload_bytes: u32, pushes: bool) -> bool {
        if payload_bytes < self.rcv_mss {
            return false;
        }
        self.last_size = 0;
        self.rcv_mss = payload_bytes;
        // The end of what was written: the peer may wait for it to be acknowledged.
        self.pushed |= self.bounded && pushes;
        true
    }

    /// The peer's segment size, from shorter data that came in order (tcp_measure_rcv_mss): of
    /// `payload_bytes` payload and `header_bytes` header, of which `fixed_bytes` are in every
    /// segment; `ends` if it is pushed or finishes.
    #[inline(never)]
    pub(crate) fn measure_mss(
        &mut self,
        payload_bytes: u32,
        header_bytes: u32,
        fixed_bytes: u32,
        ends: bool,
    ) {
        let last = std::mem::take(&mut self.last_size);
        let bytes = payload_bytes + header_bytes;
        if bytes >= MIN_RCVMSS + TCP_HEADER || (bytes >= MIN_MSS + TCP_HEADER && !ends) {
            let size = bytes.saturating_sub(fixed_bytes);
            self.last_size = size;
            if size == last {
                self.rcv_mss = size;
                return;
            }
        }
        self.pushed_twice |= self.pushed;
        self.pushed = true;
    }

    /// A segment with an acknowledgement has left; it stood for `segments` segments. Today one is taken off
    /// what is to be acknowledged at once if an acknowledgement was owed (tcp_dec_quickack_mode of 7.2); once
    /// it was all of the segments, whatever they were for.
    #[inline]
    pub(crate) fn sent(&mut self, segments: u32) {
        if self.quick > 0 {
            let segments = match self.bounded {
                true => u32::from(self.scheduled),
                false => segments,
            };
            if segments >= self.quick {
                self.quick = 0;
                self.ato = self.delay_min;
            } else {
                self.quick -= segments;
            }
        }
        self.scheduled = false;
        self.now = false;
        self.timer = None;
        self.pushed = false;
        self.pushed_twice = false;
        self.compression.sent();
    }

    /// An estimate no longer than the greatest, where the stack says so.
    #[inline]
    fn bound(&self, ticks: Jiffies) -> Jiffies {
        if self.bounded {
            ticks.min(self.delay_max)
        } else {
            ticks
        }
    }

    /// Data is about to be sent; an answer soon after data makes the connection interactive.
    #[inline]
    pub(crate) fn data_sent(&mut self, now: Jiffies) {
        if now.wrapping_sub(self.last_received) < self.ato {
            self.pingpong = self.pingpong.saturating_add(1);
        }
    }

    /// Whether the round trip matters to how long an acknowledgement is delayed.
    #[inline]
    pub(crate) fn asks_for_srtt(&self) -> bool {
        self.ato > self.delay_min
    }

    /// Delays the acknowledgement (tcp_send_delayed_ack). True if it is due now instead; `srtt` is not
    /// asked for unless [`AckPolicy::asks_for_srtt`] says so.
    #[inline(always)]
    pub(crate) fn delay(&mut self, srtt: Jiffies, now: Jiffies) -> bool {
        let mut delay = self.ato;
        if delay > self.delay_min {
            let mut most = if self.in_pingpong() || self.pushed {
                self.delay_max
            } else {
                self.half_second
            };
            if srtt > 0 {
                most = most.min(srtt.max(self.delay_min));
            }
            delay = delay.min(most);
        }
        delay = delay.min(self.delay_most);
        // A timer that is due already fires at the next tick; one in a wheel does so by itself.
        let least = Jiffies::from(self.wheel_hz == 0);
        let mut due = now.wrapping_add(delay.max(least));
        if let Some(timer) = self.timer {
            if !clock::before(now.wrapping_add(delay >> 2), timer) {
                return true;
            }
            if clock::before(timer, due) {
                due = timer;
            }
        }
        self.scheduled = true;
        self.arm(now, due);
        false
    }

    /// Delays an acknowledgement as long as may be.
    pub(crate) fn wait_longest(&mut self, now: Jiffies) {
        self.arm(now, now.wrapping_add(self.delay_max));
    }

    #[inline]
    fn arm(&mut self, now: Jiffies, due: Jiffies) {
        // A timer set to the tick it has is left as it is (mod_timer).
        if self.timer == Some(due) {
            return;
        }
        self.timer = Some(due);
        self.runs_on = true;
        self.fires = match self.wheel_hz {
            0 => due,
            hz => clock::wheel(hz, due, now),
        };
    }

    /// When the timer fires, if it runs and matters: one that an acknowledgement has outrun sends what is held back.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Jiffies> {
        let matters = self.timer.is_some() || (self.runs_on && self.compression.is_holding());
        matters.then_some(self.fires)
    }

    /// An acknowledgement is about to be held back: a timer that has fired by `now` had nothing to do.
    pub(crate) fn notice_fired(&mut self, now: Jiffies) {
        self.runs_on &= self.timer.is_some() || clock::before(now, self.fires);
    }

    /// The timer fired (tcp_delack_timer). True if an acknowledgement is owed.
    pub(crate) fn fired(&mut self, rto: Jiffies) -> bool {
        self.runs_on = false;
        if self.compression.is_holding() {
            return true;
        }
        self.timer = None;
        if !self.scheduled {
            return false;
        }
        if self.in_pingpong() {
            self.exit_pingpong();
            self.ato = self.delay_min;
        } else {
            self.ato = self.bound((self.ato << 1).min(rto));
        }
        true
    }
}
