//! The receiving half: buffer, window, out-of-order data, acknowledgement policy.
//!
//! Models Linux net/ipv4/tcp_input.c (tcp_init_buffer_space, tcp_measure_rcv_mss, tcp_epollin_ready) of
//! 2.6.18 and of 7.2; `rules` says in what they differ. `window` has the window offered, `memory` what
//! frames cost and what is thrown away, `tuning` how buffer and window grow, `ack` when to acknowledge,
//! `compression` which acknowledgements are held back, `reassembly` data out of order, `waiting` packets that
//! wait to be read, `collapse` into what they are copied when memory is short, `reserve` memory that is reserved
//! and not used.
//! Memory is charged per received frame (truesize), whatever it carries, or as the host says.
//! Left out: memory pressure of the whole machine.

mod ack;
mod collapse;
mod compression;
mod memory;
mod reassembly;
mod reserve;
mod rules;
mod tuning;
mod waiting;
mod window;

use std::mem::offset_of;

use crate::clock::Jiffies;
use crate::connection::{Arrival, Shortage, SocketOptions, TcpInfo};
use crate::segment::{Flags, Header};
use crate::seq::Seq;
use crate::stack::Stack;

use waiting::Behind;

pub(crate) use ack::AckPolicy;
pub(crate) use reassembly::{Lying, Placed, Reassembly};
pub use rules::{InitialReceiveWindow, RcvbufTuning, Receiver, WinFromSpace};

/// Segments that a sender is taken to begin with (TCP_INIT_CWND, include/net/tcp.h).
const INIT_CWND: u32 = 10;

/// The part of the buffer that is window before data tells more, in 256ths
/// (TCP_DEFAULT_SCALING_RATIO, include/net/tcp.h).
const SCALING_RATIO: u32 = 128;

/// The timestamp option, padded (TCPOLEN_TSTAMP_ALIGNED), bytes.
pub(crate) const TIMESTAMP_BYTES: u32 = 12;

/// Receive buffer and window.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Receive {
    // In the order of memory: what both ends need, …
    pub(crate) rcv_nxt: Seq,
    /// Up to where the application has read.
    pub(crate) copied: Seq,
    /// rcv_nxt when the window was last advertised.
    pub(crate) rcv_wup: Seq,
    /// The window last advertised, bytes from rcv_wup on.
    pub(crate) rcv_wnd: u32,
    rcv_ssthresh: u32,
    window_clamp: u32,
    /// The rightmost edge ever offered (rcv_mwnd_seq).
    rightmost: Seq,
    rcvbuf: u32,
    pub(crate) window_shift: u8,
    /// Windows are scaled: offered, and then agreed.
    pub(crate) scaling: bool,
    tuning: RcvbufTuning,
    receiver: Receiver,
    moderate: bool,
    /// The next acknowledgement tells that there is no room at all (ICSK_ACK_NOMEM).
    no_memory: bool,
    signed: bool,
    shrinks: bool,
    /// The buffer's size was set by the application (SOCK_RCVBUF_LOCK).
    locked: bool,
    initial_window: InitialReceiveWindow,
    /// Fragments of the last packet that waits to be read, of which there are few (MAX_SKB_FRAGS).
    joined: u8,
    /// What more fits behind what was copied into its head, bytes (skb_tailroom).
    room: u8,
    /// A page of memory more is reserved than what is used needs.
    spare_page: bool,
    pub(crate) ack: AckPolicy,
    pub(crate) reassembly: Reassembly,
    // … what the receiver does, …
    /// Memory of frames in the in-order and the out-of-order queue.
    queued_memory: u32,
    truesize: u32,
    /// The part of a frame's memory that is given up when its data joins the frame before.
    head: u32,
    /// Packets that wait to be read.
    packets: u32,
    /// Bytes that a reader waits for (SO_RCVLOWAT).
    pub(crate) rcvlowat: u32,
    /// The part of the buffer that is window, in 256ths; zero: by `adv_win_scale`.
    scaling_ratio: u32,
    /// How the segment at hand came.
    frame: Arrival,
    /// Where the peer's FIN ends, once it has come, in order or not.
    pub(crate) fin_end: Option<Seq>,
    /// Round trip as the receiver sees it, times 8, in the ticks of its clock: jiffies, or
    /// microseconds where tuning is of today.
    rtt: u32,
    rtt_seq: Seq,
    rtt_time: u32,
    last_echo: u32,
    space: u32,
    space_seq: Seq,
    space_time: u32,
    // … and what is needed rarely.
    adv_win_scale: u32,
    app_win: u32,
    /// Largest payload this side takes, options off.
    advmss: u32,
    /// TCP_WINDOW_CLAMP as it was set before opening.
    clamp: u32,
    rmem_max: u32,
    /// net.core.rmem_max.
    core_rmem_max: u32,
    low_rtt_us: u32,
    /// What has been done for want of memory, once anything has: few connections ever need it.
    shortage: Option<Box<Shortage>>,
    /// Packets that wait to be read behind the first, once there were any.
    behind: Option<Box<Behind>>,
}

impl Receive {
    /// Up to here is what an end needs that sends, …
    pub(crate) const RECEIVING: usize = offset_of!(Receive, queued_memory);
    /// … and one that receives.
    pub(crate) const RARE: usize = offset_of!(Receive, adv_win_scale);

    pub(crate) fn new(stack: &Stack, advmss: u32, truesize: u32, ack: AckPolicy) -> Receive {
        let bytes = |b: tailback_units::Bytes| b.get().min(u64::from(u32::MAX / 2)) as u32;
        Receive {
            rcv_nxt: Seq(0),
            copied: Seq(0),
            rcv_wup: Seq(0),
            rcv_wnd: 0,
            rcv_ssthresh: 0,
            window_clamp: 65_535 << 14,
            clamp: 0,
            rcvbuf: bytes(stack.tcp_rmem[1]),
            queued_memory: 0,
            truesize,
            head: 0,
            joined: 0,
            room: 0,
            spare_page: false,
            packets: 0,
            behind: None,
            frame: Arrival {
                mss: 0,
                memory_bytes: truesize,
                fragments: 1,
                room: 0,
            },
            advmss,
            window_shift: 0,
            scaling: stack.tcp_window_scaling,
            rcvlowat: 1,
            locked: false,
            initial_window: stack.initial_receive_window,
            signed: stack.tcp_workaround_signed_windows,
            rightmost: Seq(0),
            core_rmem_max: bytes(stack.rmem_max),
            rmem_max: bytes(stack.tcp_rmem[2]),
            scaling_ratio: match stack.win_from_space {
                WinFromSpace::AdvWinScale => 0,
                WinFromSpace::ScalingRatio => SCALING_RATIO,
            },
            adv_win_scale: stack.tcp_adv_win_scale,
            app_win: stack.tcp_app_win,
            moderate: stack.tcp_moderate_rcvbuf,
            tuning: stack.rcvbuf_tuning,
            low_rtt_us: stack.tcp_rcvbuf_low_rtt.as_us() as u32,
            receiver: stack.receiver,
            shrinks: stack.tcp_shrink_window,
            no_memory: false,
            last_echo: 0,
            rtt: 0,
            rtt_seq: Seq(0),
            rtt_time: 0,
            space: 0,
            space_seq: Seq(0),
            space_time: 0,
            ack,
            reassembly: Reassembly::default(),
            fin_end: None,
            shortage: None,
        }
    }

    /// Whether it follows today's rules.
    #[inline(always)]
    pub(crate) fn today(&self) -> bool {
        self.receiver == Receiver::Linux72
    }

    /// Takes over the socket's options, and settles the window that a SYN offers.
    pub(crate) fn apply(&mut self, options: &SocketOptions, stack: &Stack) {
        if let Some(bytes) = options.rcvbuf_bytes(stack) {
            self.rcvbuf = bytes;
            self.locked = true;
        }
        self.set_low_mark(options.rcvlowat);
        self.clamp = match options.window_clamp {
            0 => 0,
            bytes => bytes.max(window::CLAMP_LEAST),
        };
        self.select_initial_window();
    }

    /// So many bytes are waited for (SO_RCVLOWAT). Today no more than half of what the buffer may be, and the
    /// buffer grows to hold them (tcp_set_rcvlowat).
    pub(crate) fn set_low_mark(&mut self, bytes: u32) {
        self.rcvlowat = bytes;
        if !self.today() {
            return;
        }
        let most = match self.locked {
            true => self.rcvbuf,
            false => self.rmem_max,
        };
        let bytes = bytes.min(most / 2);
        self.rcvlowat = bytes.max(1);
        let space = self.space_of(bytes.into()).min(u64::from(u32::MAX / 2)) as u32;
        if !self.locked && space > self.rcvbuf {
            self.rcvbuf = space;
            self.window_clamp = self.window_clamp.max(bytes);
        }
    }

    /// The application sets the buffer's size (SO_RCVBUF).
    pub(crate) fn lock_buffer(&mut self, bytes: u32) {
        self.rcvbuf = bytes;
        self.locked = true;
        self.window_clamp = self.window_of(bytes);
    }

    /// The peer's SYN is in: sequence numbers are known. `scaled` if both sides scale,
    /// `timestamps` if both send them; `answering` if this side's SYN is still to be sent.
    pub(crate) fn synchronise(
        &mut self,
        next: Seq,
        scaled: bool,
        timestamps: bool,
        answering: bool,
    ) {
        if timestamps {
            self.advmss = self.advmss.saturating_sub(TIMESTAMP_BYTES).max(1);
        }
        self.scaling &= scaled;
        self.reassembly.settle(timestamps, self.today());
        if answering {
            self.select_initial_window();
        }
        self.rcv_nxt = next;
        self.rcv_wup = next;
        self.rightmost = next + self.rcv_wnd;
        self.copied = next;
        self.space_seq = next;
        if !scaled {
            self.window_shift = 0;
            self.window_clamp = self.window_clamp.min(65_535);
        }
    }

    /// The connection is established (tcp_init_buffer_space); `now` by the receiver's clock.
    pub(crate) fn establish(&mut self, now: u32) {
        if self.tuning == RcvbufTuning::TwiceRead {
            let room = self.segment_room();
            if !self.locked {
                self.rcvbuf = self.rcvbuf.max((4 * room).min(self.rmem_max));
            }
            self.space = self.rcv_wnd;
        } else {
            self.space_seq = self.copied;
            self.space_time = now;
        }
        let most = self.full_space();
        if self.window_clamp >= most {
            self.window_clamp = most;
            if self.app_win != 0 && most > 4 * self.advmss {
                self.window_clamp =
                    (most - most.checked_shr(self.app_win).unwrap_or(0)).max(4 * self.advmss);
            }
        }
        if self.app_win != 0
            && self.window_clamp > 2 * self.advmss
            && self.window_clamp + self.advmss > most
        {
            self.window_clamp = (2 * self.advmss).max(most - self.advmss);
        }
        self.rcv_ssthresh = self.rcv_ssthresh.min(self.window_clamp);
        if self.tuning != RcvbufTuning::TwiceRead {
            let begin = INIT_CWND * self.advmss;
            self.space = self.rcv_ssthresh.min(self.rcv_wnd).min(begin);
        }
    }

    /// The round trip as the receiver sees it, times 8, microseconds.
    pub(crate) fn rtt_us_8(&self) -> u32 {
        self.rtt
    }

    /// Whether the receiver's clock is in microseconds, not in jiffies.
    #[inline]
    pub(crate) fn counts_us(&self) -> bool {
        self.tuning != RcvbufTuning::TwiceRead
    }

    /// Whether a read does not look at the clock, but has the time of what was before it (tcp_rcv_space_adjust of 7.2).
    #[inline]
    pub(crate) fn measures_by_last_event(&self) -> bool {
        self.tuning == RcvbufTuning::LowRtt
    }

    /// The size of the peer's segments, and how much of a frame is payload (tcp_measure_rcv_mss).
    #[inline(always)]
    pub(crate) fn measure_mss(&mut self, segment: &Header, fixed_bytes: u32) {
        let whole = u32::from(segment.payload_bytes);
        let payload_bytes = match self.frame.mss {
            0 => whole,
            mss => whole.min(mss.into()),
        };
        if self.scaling_ratio > 0 && payload_bytes > self.ack.rcv_mss {
            self.measure_ratio(whole);
        }
        let ends = segment.flags.intersects(Flags::PSH.with(Flags::FIN));
        let pushes = segment.flags.intersects(Flags::PSH);
        if self.ack.is_full(payload_bytes, pushes) {
            return;
        }
        let header_bytes = segment.header_bytes();
        self.ack
            .measure_mss(payload_bytes, header_bytes, fixed_bytes, ends);
    }

    #[inline(never)]
    fn measure_ratio(&mut self, payload_bytes: u32) {
        let ratio = ((payload_bytes << 8) / self.frame.memory_bytes.max(1)).clamp(1, 255);
        if ratio != self.scaling_ratio {
            self.scaling_ratio = ratio;
            self.window_clamp = self.window_of(self.rcvbuf);
            self.space = self.space.min(self.window_clamp);
        }
    }

    /// Bytes in order that the application has not read.
    #[inline]
    pub(crate) fn readable(&self) -> u32 {
        let fin = u32::from(self.fin_end == Some(self.rcv_nxt));
        (self.rcv_nxt - self.copied).saturating_sub(fin)
    }

    /// Whether there is so much that a reader is woken (tcp_epollin_ready of 7.2; a read of 2.6.18 goes
    /// on waiting until it has as much): SO_RCVLOWAT, or all that there is room for.
    #[inline]
    pub(crate) fn is_enough(&self) -> bool {
        self.rcvlowat <= 1
            || self.readable() >= self.rcvlowat
            || self.fin_end.is_some()
            || self.queued_memory > self.rcvbuf - (self.rcvbuf >> 3)
            || self.window_left() <= self.ack.rcv_mss
    }

    /// The application reads `bytes` of what is readable.
    #[inline(always)]
    pub(crate) fn read(&mut self, bytes: u32, now: u32) {
        let readable = self.readable();
        let in_order = self.queued_memory - self.reassembly.memory().min(self.queued_memory);
        let first = self.first_of(bytes);
        let freed = if bytes >= readable {
            self.forget_packets();
            in_order
        } else {
            self.read_packets(bytes, in_order)
        };
        self.queued_memory -= freed;
        self.spare_page = false;
        self.copied += bytes;
        self.adjust_space(now, bytes - first);
    }

    /// What TCP_INFO tells of this half; `us` makes microseconds of ticks.
    pub(crate) fn tell(&self, info: &mut TcpInfo, us: impl Fn(Jiffies) -> u32) {
        info.rcv_ssthresh = self.rcv_ssthresh;
        info.advmss = self.advmss;
        info.rcv_rtt = if self.counts_us() {
            self.rtt / 8
        } else {
            us(self.rtt) / 8
        };
        info.rcv_space = self.space;
        info.rcv_wnd = self.rcv_wnd;
    }

    pub(crate) fn rcvbuf(&self) -> u32 {
        self.rcvbuf
    }

    #[cfg(test)]
    pub(crate) fn window_clamp(&self) -> u32 {
        self.window_clamp
    }

    #[cfg(test)]
    pub(crate) fn rcv_ssthresh(&self) -> u32 {
        self.rcv_ssthresh
    }
}
