//! One end of a TCP connection.
//!
//! Models Linux 2.6.18's tcp_sock, spread over the files of this folder as the kernel spreads it:
//! `handshake`, `input` (tcp_rcv_established, tcp_data_queue), `ack` (tcp_ack,
//! tcp_clean_rtx_queue), `sack` (tcp_sacktag_write_queue), `recovery` (tcp_fastretrans_alert and
//! what belongs to it), `reduction` and `undo` of the window, `output` (tcp_write_xmit), `transmit`
//! (tcp_transmit_skb), `write` (tcp_sendmsg and the send buffer), `retransmit`, `timers`.
//! `interface` has what is public beside the connection itself.
//! `life` has the states, `time_wait` the last of them, `validate` which segments may be taken in,
//! `patience` when a connection is given up, `keepalive`, `options` the socket's, `tcp_info`, `mem_info`.
//! `metrics` has what one connection leaves to the next, `accurate_ecn` which ECN is agreed on, `ecn_option` its option.
//! Left out: urgent data, path-MTU probing, F-RTO (off by default there).

mod accurate_ecn;
mod ack;
mod ecn_option;
mod events;
mod foresee;
mod handshake;
mod input;
mod interface;
#[cfg(test)]
mod invariants;
mod keepalive;
mod life;
mod mem_info;
mod metrics;
mod modern;
mod options;
mod output;
mod patience;
mod predicted;
mod prefetch;
mod rate_limit;
mod recovery;
mod reduction;
mod refused;
mod retransmit;
mod sack;
mod sce;
mod tcp_info;
mod tell;
mod time_wait;
mod timers;
mod transmit;
mod undo;
mod validate;
mod write;

pub use events::{Event, Told};
pub use interface::{Arrival, CaState, Config, Probe, Shortage, Stats, Transmit, WriteFlags};
pub use life::{Failure, Life, Shutdown};
pub use mem_info::MemInfo;
pub use metrics::{Learned, Metrics, MetricsCache};
pub use modern::{Pacing, Pieces, Sender};
pub use options::{InvalidOption, SocketOption, SocketOptions};
pub use recovery::FastRecovery;
pub use reduction::CwndReduction;
pub use tcp_info::TcpInfo;

use accurate_ecn::EcnMode;
use tell::{apart, tell_with};

use std::collections::VecDeque;
use std::sync::Arc;

use tailback_units::{Duration, Time};

use crate::clock::{self, Jiffies, JiffyClock, Stamp};
use crate::congestion::{Congestion, CongestionKind, View, Window};
use crate::queue::{LazyQueue, take_front};
use crate::receive::{AckPolicy, Receive};
use crate::rtt::RttEstimator;
use crate::seq::Seq;
use crate::stack::Stack;

/// What the transmission timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimerKind {
    Retransmit,
    ZeroWindowProbe,
    /// Today's sender waits for what may be late rather than lost.
    Reordering,
    /// Today's sender waits before it probes the tail.
    LossProbe,
}

/// Flags of an acknowledgement as it is processed (FLAG_* in tcp_input.c).
#[derive(Clone, Copy, Debug, Default)]
struct AckFlags {
    data: bool,
    window_update: bool,
    data_acked: bool,
    retransmitted_acked: bool,
    data_sacked: bool,
    ece: bool,
    data_lost: bool,
}

/// One end of a TCP connection.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Connection {
    // In the order of memory, by who needs it while data comes and is acknowledged in order: so that it lies in
    // few lines of the processor's cache. The sender, …
    stats: Stats,
    modern: modern::Modern,
    congestion: Congestion,
    window: Window,
    options: Arc<SocketOptions>,
    /// Bytes written and not sent yet; of those, the first packet's.
    unsent: u64,
    head_left: u32,
    cwnd_stamp: Jiffies,
    cwnd_used: u32,
    last_sent: Jiffies,
    /// End of the last segment shorter than the MSS (Minshall's variant of Nagle).
    small_end: Seq,
    /// What was written up to here has been pushed.
    pushed_seq: Seq,
    sndbuf: u32,
    reordering: u32,
    fackets_out: u32,
    /// Segments delivered so far, and those of them acknowledged with ECE.
    delivered: u32,
    delivered_ce: u32,
    high_seq: Seq,
    max_window: u32,
    /// The segment size if the peer's window were large enough.
    mss_most: u32,
    prior_ssthresh: u32,
    backoff: u32,
    rtt: RttEstimator,
    // … both ends, …
    timer: Option<(TimerKind, Jiffies)>,
    /// Keep-alive's, FIN-WAIT-2's and TIME-WAIT's timer.
    life_timer: Option<Jiffies>,
    out: VecDeque<Transmit>,
    stack: Arc<Stack>,
    snd_una: Seq,
    snd_nxt: Seq,
    snd_wnd: u32,
    snd_wl1: Seq,
    mss: u32,
    packets_out: u32,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Timeouts in a row.
    retransmits: u32,
    probes: u32,
    /// When an acknowledgement last came (rcv_tstamp).
    ack_received: Jiffies,
    ts_recent: u32,
    /// Keep-alive's questions that are not answered.
    questions: u32,
    state: CaState,
    life: Life,
    events: events::Pending,
    /// An acknowledgement has freed memory of the send buffer (SOCK_QUEUE_SHRUNK).
    queue_shrunk: bool,
    /// A write found the send buffer full, and the application waits.
    no_space: bool,
    sack: bool,
    timestamps: bool,
    /// What was expected takes a shorter way in (`predicted`, `modern/predicted`).
    predicts: predicted::Predicts,
    /// The stack's.
    sender: Sender,
    send_shift: u8,
    /// What this end wants; once both have spoken, what they agreed on.
    ecn: EcnMode,
    /// A segment has come that could be marked.
    ecn_seen: bool,
    queue_cwr: bool,
    demand_cwr: bool,
    ce_state: bool,
    /// The last data packet had SCE's mark.
    esce: bool,
    fin_queued: bool,
    fin_sent: bool,
    /// What was sent last was a FIN with data, not sent before.
    fin_data_last: bool,
    /// The application has closed it (SOCK_DEAD).
    orphan: bool,
    /// Nobody will read any more (RCV_SHUTDOWN).
    no_reader: bool,
    fack: bool,
    /// No application has accepted it yet.
    unaccepted: bool,
    /// The peer opened the connection.
    passive: bool,
    /// Times that a repeated SYN was answered.
    answered_again: u8,
    /// Why it ended, if not in order.
    failure: Option<Failure>,
    /// The MSS option of this side's SYN.
    syn_mss: u16,
    clock: JiffyClock,
    // … the receiver, …
    receive: Receive,
    // … and what is needed rarely.
    undo_marker: Option<Seq>,
    /// When the first retransmission of an episode was sent.
    retrans_stamp: Stamp,
    undo_retrans: i32,
    prr: reduction::Prr,
    /// The peer's MSS option.
    mss_clamp: u32,
    /// The timestamp of the first SYN sent.
    syn_stamp: u32,
    queue: LazyQueue,
    /// Answers to invalid segments.
    answers: rate_limit::RateLimit,
    /// When the first probe of a closed window was sent.
    probes_since: Stamp,
    time_wait: Option<Box<time_wait::TimeWait>>,
    random: u64,
    /// What was known of the way when it opened, or what it leaves of it.
    way: Option<Box<metrics::OfTheWay>>,
    /// Where accurate ECN was agreed on.
    accurate: Option<Box<accurate_ecn::AccurateEcn>>,
}

// With its two or three small buffers an idle end takes less than 1500 bytes (examples/idle.rs).
const _: () = assert!(size_of::<Connection>() <= 1368);

impl Connection {
    fn new(config: &Config, life: Life) -> Connection {
        let options = Arc::clone(&config.options);
        let stack = Arc::clone(&config.stack);
        let clock = JiffyClock::new(stack.hz, stack.timestamp_hz, config.clock_phase)
            .with_timestamp_offset(scramble(config.seed.rotate_left(32)) as u32);
        let kind = options.congestion.unwrap_or(stack.tcp_congestion_control);
        let congestion = Congestion::new(kind, &stack, scramble(!config.seed));
        let ack = AckPolicy::new(&clock, &stack);
        let mss = match options.maxseg {
            0 => u32::from(config.mss),
            asked => u32::from(config.mss).min(asked),
        };
        let ecn = EcnMode::wanted(&stack, life, &congestion);
        let mut receive = Receive::new(&stack, mss, config.rx_truesize_bytes, ack);
        receive.set_head(config.rx_head_bytes);
        receive.apply(&options, &stack);
        let rtt = RttEstimator::new(
            clock.ticks(stack.rto_initial),
            clock.ticks(stack.rto_min),
            clock.ticks(stack.rto_max),
        );
        let initial = Seq(scramble(config.seed) as u32);
        let modern = modern::Modern::new(&stack, &clock, initial);
        let mut window = Window::new(2, stack.window_counting);
        window.limit_pacing_rate(options.max_pacing_rate);
        Connection {
            snd_una: initial,
            snd_nxt: initial,
            snd_wnd: 0,
            snd_wl1: Seq(0),
            max_window: 0,
            mss,
            mss_most: mss,
            mss_clamp: mss,
            syn_mss: mss as u16,
            window,
            state: CaState::Open,
            life,
            packets_out: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            fackets_out: 0,
            delivered: 0,
            delivered_ce: 0,
            reordering: stack.tcp_reordering,
            fack: stack.tcp_fack,
            high_seq: initial,
            undo_marker: None,
            undo_retrans: 0,
            prior_ssthresh: 0,
            prr: reduction::Prr::default(),
            retrans_stamp: Stamp::NONE,
            cwnd_stamp: 0,
            cwnd_used: 0,
            last_sent: 0,
            ack_received: 0,
            small_end: initial,
            retransmits: 0,
            probes: 0,
            backoff: 0,
            timer: None,
            queue: LazyQueue::default(),
            congestion,
            rtt,
            unsent: 0,
            head_left: 0,
            sndbuf: options
                .sndbuf_bytes(&stack)
                .unwrap_or(stack.tcp_wmem[1].get().min(u64::from(u32::MAX / 2)) as u32),
            no_space: false,
            queue_shrunk: false,
            pushed_seq: initial,
            send_shift: 0,
            fin_queued: false,
            fin_sent: false,
            fin_data_last: false,
            timestamps: stack.tcp_timestamps,
            sack: stack.tcp_sack,
            ts_recent: 0,
            ecn,
            ecn_seen: false,
            syn_stamp: 0,
            queue_cwr: false,
            demand_cwr: false,
            ce_state: false,
            receive,
            failure: None,
            orphan: false,
            unaccepted: false,
            no_reader: false,
            options,
            life_timer: None,
            time_wait: None,
            answers: rate_limit::RateLimit::default(),
            probes_since: Stamp::NONE,
            questions: 0,
            esce: false,
            passive: life == Life::SynReceived,
            answered_again: 0,
            predicts: predicted::Predicts::of(stack.sender),
            sender: stack.sender,
            clock,
            random: config.seed,
            modern,
            way: None,
            accurate: None,
            stats: Stats::default(),
            // Most that wait at all wait alone.
            out: VecDeque::with_capacity(1),
            events: events::Pending::default(),
            stack,
        }
    }

    /// The next segment to send, if there is one. Call it after anything else until it is `None`.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        if !self.may_have_output() {
            return None;
        }
        self.next_transmit(now)
    }

    #[inline(always)]
    fn next_transmit(&mut self, now: Time) -> Option<Transmit> {
        if !self.is_modern() {
            return take_front(&mut self.out);
        }
        if !self.lets_go(now) {
            return None;
        }
        let transmit = take_front(&mut self.out)?;
        self.polled(transmit.segment.payload_bytes.into());
        Some(transmit)
    }

    /// Whether there may be segments to send: if not, there is no need to ask for them.
    #[inline(always)]
    #[must_use]
    pub fn may_have_output(&self) -> bool {
        !self.out.is_empty() || self.modern.waits_for_host()
    }

    /// The next segment to send, as [`Connection::poll_transmit`] gives it, but left in its place until
    /// [`Connection::handed_over`] says what became of it.
    #[inline(always)]
    pub fn peek_transmit(&mut self, now: Time) -> Option<&Transmit> {
        if !self.may_have_output() || !self.lets_go(now) {
            return None;
        }
        self.out.front()
    }

    /// The segment just looked at will have left the host at `left`, as [`Connection::left_host`] is to
    /// be told, its frames at those times if the kernel cuts it; or the host's queue refuses it ([`Connection::refused`]).
    #[inline(always)]
    pub fn handed_over(&mut self, now: Time, left: Option<Time>, pieces: Option<Pieces>) {
        let Some(Transmit { segment, .. }) = take_front(&mut self.out) else {
            return;
        };
        let bytes = segment.payload_bytes;
        if bytes > 0 && self.is_modern() {
            self.polled(bytes.into());
            if let Some(at) = left {
                let range = (segment.seq, segment.end_seq());
                self.waits_until(now, at, pieces, range, bytes.into());
            }
        }
        if left.is_none() {
            self.refused(now, &segment);
        }
    }

    /// When [`Connection::handle_timeout`] is to be called; [`Time::NEVER`] if no timer runs.
    #[inline(always)]
    #[must_use]
    pub fn poll_timeout(&self) -> Time {
        let now = self.clock.tick();
        let ahead = |at: Option<Jiffies>| at.map_or(i32::MAX, |at| at.wrapping_sub(now) as i32);
        let first = ahead(self.timer.map(|(_, at)| at))
            .min(ahead(self.receive.ack.deadline()))
            .min(ahead(self.life_timer));
        let mut deadline = self.receive.ack.compression.due();
        if first != i32::MAX {
            deadline = deadline.min(self.clock.time_ahead(first));
        }
        // As `handle_timeout` does: what a connection that is over had set, nobody would handle.
        if self.modern.has_deadline() && self.is_modern() && self.life.is_synchronised() {
            deadline.min(self.sender_deadline())
        } else {
            deadline
        }
    }

    /// Whether [`Connection::poll_timeout`] may be before `at`, of which [`Connection::first_tick`] has told the
    /// tick; if not, it surely is not. Costs less than that.
    #[inline(always)]
    #[must_use]
    pub fn may_time_out_before(&self, at: Time, tick: u32) -> bool {
        let sooner = |timer: Option<Jiffies>| timer.is_some_and(|due| clock::before(due, tick));
        sooner(self.timer.map(|(_, due)| due))
            || sooner(self.receive.ack.deadline())
            || sooner(self.life_timer)
            || self.receive.ack.compression.due() < at
            || self.modern.has_deadline()
    }

    /// The first tick of this host's clock that begins at `at` or after it, if it is not far away.
    #[must_use]
    pub fn first_tick(&self, at: Time) -> Option<u32> {
        self.clock.first_tick(at)
    }

    /// What has been counted so far.
    #[inline]
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What its socket has done so far because memory was short.
    #[must_use]
    pub fn shortage(&self) -> Shortage {
        self.receive.shortage()
    }

    /// Bytes that its kernel has copied together so far because memory was short.
    #[inline(always)]
    #[must_use]
    pub fn collapsed_bytes(&self) -> u64 {
        self.receive.collapsed_bytes()
    }

    /// The connection's variables as they stand.
    #[must_use]
    pub fn probe(&self) -> Probe {
        Probe {
            cwnd: self.window.cwnd,
            mss_bytes: self.mss,
            ssthresh: self.window.ssthresh,
            srtt: self.smoothed_rtt(),
            rto: self.clock.span(self.rtt.rto),
            in_flight: self.in_flight(),
            send_window_bytes: self.snd_wnd,
            receive_window_bytes: self.receive.rcv_wnd,
            state: self.state,
        }
    }

    /// Bytes that have come in order and have not been read.
    #[inline]
    #[must_use]
    pub fn readable(&self) -> u64 {
        u64::from(self.receive.readable())
    }

    /// What the congestion control sees.
    fn view(&self, now: Jiffies) -> View {
        if self.is_modern() {
            self.view_today(now)
        } else {
            self.view_once(now)
        }
    }

    /// The same of 2.6.18's sender.
    #[inline(always)]
    fn view_once(&self, now: Jiffies) -> View {
        View {
            now,
            now_us: self.clock.now_us(),
            state: self.state,
            mss: self.mss,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            in_flight: self.in_flight(),
            srtt_us8: self.clock.micros(self.rtt.srtt),
            min_rtt_us: u32::MAX,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            lost: 0,
            delivered_us: self.clock.now_us(),
            app_limited: false,
            sacked: self.sacked_out > 0,
            ts_now: now,
            ts_hz: self.stack.hz,
            ts_val: self.ts_recent,
            ts_ecr: 0,
            last_sent: self.last_sent,
            ecn: self.ecn != EcnMode::Off,
            paced: self.window.pacing_rate != u64::MAX,
        }
    }

    /// The smoothed round trip in ticks.
    #[inline]
    fn srtt_ticks(&self) -> Jiffies {
        if self.is_modern() {
            self.srtt_ticks_today()
        } else {
            self.rtt.srtt >> 3
        }
    }

    /// The smoothed round trip; zero before the first sample.
    fn smoothed_rtt(&self) -> Duration {
        if self.is_modern() {
            self.smoothed_rtt_today()
        } else {
            self.clock.span(self.rtt.srtt) / 8
        }
    }

    /// Changes the congestion control, as TCP_CONGESTION does; the window stays.
    pub fn set_congestion(&mut self, now: Time, kind: CongestionKind) {
        if kind == self.congestion.kind() {
            return;
        }
        let now = self.clock.jiffies(now);
        let seed = u64::from(self.random());
        self.congestion = Congestion::new(kind, &self.stack, seed);
        self.modern.forget_growth();
        if self.life == Life::Established {
            self.give_way_without_count();
            let view = self.view(now);
            self.congestion.init(&mut self.window, &view);
        }
    }

    /// The congestion control in use.
    #[must_use]
    pub fn congestion(&self) -> CongestionKind {
        self.congestion.kind()
    }

    /// Segments that the sender believes to be in the network (tcp_packets_in_flight).
    #[inline]
    fn in_flight(&self) -> u32 {
        (self.packets_out + self.retrans_out).saturating_sub(self.sacked_out + self.lost_out)
    }

    /// A random number of 32 bits, from the connection's own stream.
    fn random(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (scramble(self.random) >> 32) as u32
    }
}

/// SplitMix64's finaliser.
pub(crate) fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
