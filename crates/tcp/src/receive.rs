//! The receiving half: buffer, window, out-of-order data, acknowledgement policy.
//!
//! Models Linux net/ipv4/tcp_input.c (tcp_init_buffer_space, tcp_clamp_window, tcp_prune_queue,
//! tcp_measure_rcv_mss) and tcp_output.c (tcp_select_initial_window, tcp_select_window,
//! __tcp_select_window) of 2.6.18 and of 7.2; `rules` says in what they differ. `tuning` has how
//! buffer and window grow, `ack` when to acknowledge, `compression` which acknowledgements are held
//! back, `reassembly` data out of order.
//! Memory is charged per received frame (truesize), whatever it carries, or as the host says.
//! Left out: collapsing of queues when memory is short (a fifth to be gained with full frames), the
//! prequeue, memory pressure of the whole machine.

mod ack;
mod compression;
mod reassembly;
mod rules;
mod tuning;

use crate::clock::Jiffies;
use crate::connection::{SocketOptions, TcpInfo};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;
use crate::stack::Stack;

pub(crate) use ack::AckPolicy;
pub(crate) use reassembly::{Placed, Reassembly};
pub use rules::{InitialReceiveWindow, RcvbufTuning, Receiver, WinFromSpace};

/// Headers' room that the kernel reckons with for a received segment: MAX_TCP_HEADER + 16 +
/// sizeof(sk_buff) (include/net/tcp.h, x86_64).
const SEGMENT_ROOM: u32 = 160 + 16 + 240;

/// Segments that a sender is taken to begin with (TCP_INIT_CWND, include/net/tcp.h).
const INIT_CWND: u32 = 10;

/// Largest window of a peer that takes it for a signed number (MAX_TCP_WINDOW), bytes.
const WINDOW_SIGNED: u32 = 32_767;

/// Pages that one packet holds at most (MAX_SKB_FRAGS, include/linux/skbuff.h).
const MAX_FRAGS: u32 = 17;

/// Least window that an application may set (half of SOCK_MIN_RCVBUF), bytes.
const CLAMP_LEAST: u32 = 1152;

/// The part of the buffer that is window before data tells more, in 256ths
/// (TCP_DEFAULT_SCALING_RATIO, include/net/tcp.h).
const SCALING_RATIO: u32 = 128;

/// The timestamp option, padded (TCPOLEN_TSTAMP_ALIGNED), bytes.
pub(crate) const TIMESTAMP_BYTES: u32 = 12;

/// Receive buffer and window.
#[derive(Clone, Debug)]
pub(crate) struct Receive {
    pub(crate) rcv_nxt: Seq,
    /// Up to where the application has read.
    pub(crate) copied: Seq,
    /// rcv_nxt when the window was last advertised.
    pub(crate) rcv_wup: Seq,
    /// The window last advertised, bytes from rcv_wup on.
    pub(crate) rcv_wnd: u32,
    rcv_ssthresh: u32,
    window_clamp: u32,
    /// TCP_WINDOW_CLAMP as it was set before opening.
    clamp: u32,
    rcvbuf: u32,
    /// Memory of frames in the in-order and the out-of-order queue.
    queued_memory: u32,
    truesize: u32,
    /// The part of a frame's memory that is given up when its data joins the frame before.
    head: u32,
    /// Frames joined to the last that waits to be read.
    joined: u32,
    /// Of the segment at hand: memory it is charged for, and payload of each segment in it; zero:
    /// it is one frame.
    frame: (u32, u32),
    /// Largest payload this side takes, options off.
    advmss: u32,
    pub(crate) window_shift: u8,
    /// Windows are scaled: offered, and then agreed.
    pub(crate) scaling: bool,
    /// Bytes that a reader waits for (SO_RCVLOWAT).
    pub(crate) rcvlowat: u32,
    /// The buffer's size was set by the application (SOCK_RCVBUF_LOCK).
    locked: bool,
    initial_window: InitialReceiveWindow,
    signed: bool,
    /// The rightmost edge ever offered (rcv_mwnd_seq).
    rightmost: Seq,
    rmem_max: u32,
    /// net.core.rmem_max.
    core_rmem_max: u32,
    /// The part of the buffer that is window, in 256ths; zero: by `adv_win_scale`.
    scaling_ratio: u32,
    adv_win_scale: u32,
    app_win: u32,
    moderate: bool,
    tuning: RcvbufTuning,
    low_rtt_us: u32,
    today: bool,
    shrinks: bool,
    /// The next acknowledgement tells that there is no room at all (ICSK_ACK_NOMEM).
    no_memory: bool,
    /// Round trip as the receiver sees it, times 8, in the ticks of its clock: jiffies, or
    /// microseconds where tuning is of today.
    rtt: u32,
    rtt_seq: Seq,
    rtt_time: u32,
    last_echo: u32,
    space: u32,
    space_seq: Seq,
    space_time: u32,
    pub(crate) ack: AckPolicy,
    pub(crate) reassembly: Reassembly,
    /// Where the peer's FIN ends, once it has come, in order or not.
    pub(crate) fin_end: Option<Seq>,
    /// Times out-of-order data had to be thrown away for want of memory.
    pub(crate) pruned: u64,
}

impl Receive {
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
            frame: (truesize, 0),
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
            today: stack.receiver == Receiver::Linux72,
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
            pruned: 0,
        }
    }

    /// Takes over the socket's options, and settles the window that a SYN offers.
    pub(crate) fn apply(&mut self, options: &SocketOptions, stack: &Stack) {
        self.rcvlowat = options.rcvlowat;
        if let Some(bytes) = options.rcvbuf_bytes(stack) {
            self.rcvbuf = bytes;
            self.locked = true;
        }
        self.clamp = options.window_clamp;
        self.select_initial_window();
    }

    /// The application sets the buffer's size (SO_RCVBUF).
    pub(crate) fn lock_buffer(&mut self, bytes: u32) {
        self.rcvbuf = bytes;
        self.locked = true;
        self.window_clamp = self.window_of(bytes);
    }

    /// The application limits the window (tcp_set_window_clamp); zero is no limit.
    pub(crate) fn clamp_window(&mut self, bytes: u32) {
        if bytes == 0 {
            return;
        }
        let clamp = bytes.max(CLAMP_LEAST);
        if clamp < self.window_clamp {
            self.rcv_ssthresh = self.rcv_ssthresh.min(clamp);
        } else {
            self.rcv_ssthresh = self.rcv_ssthresh.max(self.rcv_wnd.min(clamp));
        }
        self.window_clamp = clamp;
    }

    /// The window offered in the SYN, and its scale (tcp_select_initial_window).
    fn select_initial_window(&mut self) {
        let mss = self.advmss.max(1);
        self.window_clamp = match self.clamp {
            0 => 65_535 << 14,
            bytes => bytes,
        };
        if self.locked {
            self.window_clamp = self.window_clamp.min(self.full_space());
        }
        self.window_shift = 0;
        let mut space = self.full_space().min(self.window_clamp);
        if space > mss {
            space = space / mss * mss;
        }
        self.rcv_wnd = if self.signed {
            space.min(WINDOW_SIGNED)
        } else {
            space
        };
        if self.scaling {
            let mut most = self.rmem_max;
            if self.initial_window == InitialReceiveWindow::Buffer {
                most = most.max(space).max(self.core_rmem_max);
            }
            most = most.min(self.window_clamp);
            while most > 65_535 && self.window_shift < 14 {
                most >>= 1;
                self.window_shift += 1;
            }
        }
        if self.initial_window == InitialReceiveWindow::Segments && mss > 1 << self.window_shift {
            let segments = match mss {
                m if m > 1460 * 3 => 2,
                m if m > 1460 => 3,
                _ => 4,
            };
            self.rcv_wnd = self.rcv_wnd.min(segments * mss);
        }
        self.window_clamp = self.window_clamp.min(65_535 << self.window_shift);
        self.rcv_ssthresh = self.rcv_wnd;
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
        self.reassembly.settle(timestamps, self.today);
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

    /// Buffer that a full segment needs, with its overhead.
    fn segment_room(&self) -> u32 {
        let mut room = self.advmss + SEGMENT_ROOM;
        while self.window_of(room) < self.advmss {
            room += 128;
        }
        room
    }

    /// The part of `space` that is window (tcp_win_from_space).
    #[inline]
    pub(crate) fn window_of(&self, space: u32) -> u32 {
        if self.scaling_ratio > 0 {
            return ((u64::from(space) * u64::from(self.scaling_ratio)) >> 8) as u32;
        }
        space - (space >> self.adv_win_scale)
    }

    /// The buffer of which `window` is the window (tcp_space_from_win).
    fn space_of(&self, window: u64) -> u64 {
        if self.scaling_ratio > 0 {
            return (window << 8) / u64::from(self.scaling_ratio);
        }
        let segments = (window / u64::from(self.advmss.max(1))).max(1);
        segments * u64::from(self.segment_room())
    }

    #[inline]
    fn full_space(&self) -> u32 {
        self.window_of(self.rcvbuf)
    }

    #[inline]
    fn free_space(&self) -> u32 {
        self.window_of(self.rcvbuf.saturating_sub(self.queued_memory))
    }

    /// What is left of the window last advertised (tcp_receive_window).
    #[inline]
    pub(crate) fn window_left(&self) -> u32 {
        let left = (self.rcv_wup + self.rcv_wnd) - self.rcv_nxt;
        if left as i32 > 0 { left } else { 0 }
    }

    /// Whether data in order up to `end` is taken in without further ado: nothing is out of order,
    /// and there is room.
    #[inline]
    pub(crate) fn takes_at_once(&self, end: Seq) -> bool {
        self.reassembly.is_idle()
            && self.fin_end.is_none()
            && self.window_left() > 0
            && !end.after(self.rightmost())
            && self.queued_memory <= self.rcvbuf
    }

    /// Up to where data has ever been welcome (tcp_max_receive_window).
    #[inline]
    pub(crate) fn rightmost(&self) -> Seq {
        self.rightmost.max(self.rcv_nxt)
    }

    /// The window that could be advertised now (__tcp_select_window).
    pub(crate) fn selectable_window(&mut self) -> u32 {
        let mut free = self.free_space();
        let full = self.window_clamp.min(self.full_space());
        let mss = self.ack.rcv_mss.min(full);
        if self.today {
            return self.selectable_window_today(free, full, mss);
        }
        if free < full / 2 {
            self.ack.quick = 0;
            if free < mss {
                return 0;
            }
        }
        free = free.min(self.rcv_ssthresh);
        if self.window_shift > 0 {
            let unit = 1 << self.window_shift;
            return free.next_multiple_of(unit);
        }
        let window = self.rcv_wnd;
        if window + mss <= free || window > free {
            free / mss.max(1) * mss
        } else {
            window
        }
    }

    /// The same of today: zero is told before the buffer is quite full.
    fn selectable_window_today(&mut self, mut free: u32, full: u32, mss: u32) -> u32 {
        if mss == 0 {
            return 0;
        }
        let unit = 1 << self.window_shift;
        let shrinks = self.shrinks && self.window_shift > 0;
        if shrinks {
            free -= free % unit;
        }
        if free < full / 2 {
            self.ack.quick = 0;
            free -= free % unit;
            if free < self.full_space() >> 4 || free < mss || (shrinks && free < unit) {
                return 0;
            }
        }
        free = free.min(self.rcv_ssthresh);
        if self.window_shift > 0 {
            return free.next_multiple_of(unit);
        }
        let window = self.rcv_wnd;
        if window + mss <= free || window > free {
            free / mss * mss
        } else if mss == full && free > window + full / 2 {
            free
        } else {
            window
        }
    }

    /// The window field of a segment about to leave (tcp_select_window).
    pub(crate) fn advertise(&mut self) -> u16 {
        if std::mem::take(&mut self.no_memory) {
            self.rcv_wnd = 0;
            self.rcv_wup = self.rcv_nxt;
            return 0;
        }
        let (left, window) = (self.window_left(), self.selectable_window());
        self.rcv_wnd = if window >= left {
            window
        } else if !self.today {
            left
        } else if self.shrinks && self.window_shift > 0 {
            window
        } else {
            left.next_multiple_of(1 << self.window_shift)
        };
        self.rcv_wup = self.rcv_nxt;
        self.rightmost = self.rightmost.max(self.rcv_wup + self.rcv_wnd);
        let most = if self.signed && self.window_shift == 0 {
            WINDOW_SIGNED
        } else {
            65_535 << self.window_shift
        };
        (self.rcv_wnd.min(most) >> self.window_shift) as u16
    }

    /// Makes room for one more frame; false if there is none and it must be dropped
    /// (tcp_prune_queue).
    pub(crate) fn make_room(&mut self, seq: Seq) -> bool {
        if self.queued_memory <= self.rcvbuf {
            return true;
        }
        self.ack.quick = 0;
        if self.rcvbuf < self.rmem_max && !self.locked {
            self.rcvbuf = self.queued_memory.min(self.rmem_max);
        }
        if self.queued_memory <= self.rcvbuf {
            return true;
        }
        self.rcv_ssthresh = self.window_clamp.min(2 * self.advmss);
        if self.today {
            return self.prune(seq);
        }
        self.pruned += u64::from(!self.reassembly.is_empty());
        self.purge();
        self.queued_memory <= self.rcvbuf
    }

    /// Throws away what is furthest out of order, an eighth of the buffer at a time, but nothing
    /// before `seq` (tcp_prune_ofo_queue).
    fn prune(&mut self, seq: Seq) -> bool {
        let goal = (self.rcvbuf >> 3).max(1);
        let mut any = false;
        while self.queued_memory > self.rcvbuf {
            let memory = self.reassembly.prune(seq, goal, self.ack.rcv_mss);
            if memory == 0 {
                break;
            }
            any = true;
            self.release(memory);
        }
        self.pruned += u64::from(any);
        self.queued_memory <= self.rcvbuf
    }

    /// There is no room for what comes in order: the peer is told so at once. True if it is taken
    /// nevertheless, since nothing waits to be read.
    pub(crate) fn out_of_memory(&mut self) -> bool {
        if !self.today {
            return false;
        }
        self.no_memory = true;
        self.ack.now = true;
        self.ack.scheduled = true;
        self.readable() == 0
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

    /// The size of the peer's segments, and how much of a frame is payload (tcp_measure_rcv_mss).
    #[inline]
    pub(crate) fn measure_mss(&mut self, segment: &Segment, fixed_bytes: u32) {
        let whole = u32::from(segment.payload_bytes);
        let payload_bytes = match self.frame.1 {
            0 => whole,
            mss => mss.min(whole),
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

    fn measure_ratio(&mut self, payload_bytes: u32) {
        let ratio = ((payload_bytes << 8) / self.frame.0.max(1)).clamp(1, 255);
        if ratio != self.scaling_ratio {
            self.scaling_ratio = ratio;
            self.window_clamp = self.window_of(self.rcvbuf);
            self.space = self.space.min(self.window_clamp);
        }
    }

    /// Throws out-of-order data away.
    pub(crate) fn purge(&mut self) {
        let memory = self.reassembly.purge();
        self.release(memory);
    }

    /// The segment at hand is `mss` bytes of payload each, put together by the host, and takes
    /// `memory` bytes; zeros: one frame as usual.
    pub(crate) fn set_frame(&mut self, memory: u32, mss: u32) {
        let memory = if memory > 0 { memory } else { self.truesize };
        self.frame = (memory, mss);
    }

    /// Memory that the segment at hand takes.
    #[inline]
    pub(crate) fn frame_memory(&self) -> u32 {
        self.frame.0
    }

    /// The part of a frame's memory that is given up when its data joins the frame before.
    pub(crate) fn set_head(&mut self, bytes: u32) {
        self.head = bytes;
    }

    /// The data of the segment at hand is kept, out of order.
    #[inline]
    pub(crate) fn charge(&mut self) {
        self.queued_memory += self.frame.0;
    }

    /// The same in order: its pages join the frame before if that was not read (tcp_try_coalesce,
    /// skb_try_coalesce). What was kept out of order is not joined here.
    #[inline]
    pub(crate) fn charge_in_order(&mut self) {
        self.charge();
        if self.head == 0 {
            return;
        }
        if self.readable() > 0 && self.joined < MAX_FRAGS {
            self.joined += 1;
            self.release(self.head);
        } else {
            self.joined = 1;
        }
    }

    /// What was kept turned out to be superfluous.
    pub(crate) fn release(&mut self, memory: u32) {
        self.queued_memory -= memory.min(self.queued_memory);
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
    pub(crate) fn read(&mut self, bytes: u32, now: u32) {
        let readable = self.readable();
        let in_order = self.queued_memory - self.reassembly.memory().min(self.queued_memory);
        let freed = if bytes >= readable {
            in_order
        } else {
            let share = u64::from(in_order) * u64::from(bytes) / u64::from(readable.max(1));
            share as u32 / self.truesize * self.truesize
        };
        self.queued_memory -= freed;
        self.copied += bytes;
        self.adjust_space(now);
    }

    /// Whether a read has freed so much that the peer should be told (tcp_cleanup_rbuf).
    pub(crate) fn window_opened(&mut self) -> bool {
        let left = self.window_left();
        if 2 * left > self.window_clamp {
            return false;
        }
        let window = self.selectable_window();
        window > 0 && window >= 2 * left
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

    /// True if neither queue holds anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.queued_memory == 0
    }
}
