//! What the sender tells a congestion control, and what it asks.
//!
//! The occasions are those of Linux's tcp_congestion_ops (include/net/tcp.h, 7.2). An algorithm
//! either answers on these occasions and leaves recovery, pacing and ECN to the sender, or takes
//! full control ([`CongestionControl::full_control`]) and sets window and pacing rate itself from
//! delivery-rate samples, as Linux's cong_control does. What it is told is public, for those that are made
//! elsewhere ([`super::own`]).

use super::window::Window;
use crate::clock::Jiffies;
use crate::connection::CaState;
use crate::seq::Seq;
use crate::stack::Stack;

/// The sender's variables as an algorithm sees them.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The kernel's tick.
    pub now: Jiffies,
    /// Microseconds since the start (tcp_mstamp).
    pub now_us: u64,
    /// The state as it is; on [`CongestionControl::set_state`] the one that is left.
    pub state: CaState,
    /// Payload of a segment, bytes.
    pub mss: u32,
    /// First byte not acknowledged.
    pub snd_una: Seq,
    /// First byte not sent.
    pub snd_nxt: Seq,
    /// Segments in flight (tcp_packets_in_flight).
    pub in_flight: u32,
    /// Smoothed round trip, times 8 (srtt_us); zero before the first sample.
    pub srtt_us8: u32,
    /// Least round trip of late (tcp_min_rtt); `u32::MAX` before the first sample.
    pub min_rtt_us: u32,
    /// Segments delivered so far.
    pub delivered: u32,
    /// Those of them acknowledged with ECE.
    pub delivered_ce: u32,
    /// Segments found lost so far.
    pub lost: u32,
    /// When something was last delivered, microseconds (delivered_mstamp).
    pub delivered_us: u64,
    /// What is in flight was limited by the application (app_limited is set).
    pub app_limited: bool,
    /// Something is selectively acknowledged.
    pub sacked: bool,
    /// The timestamp clock now.
    pub ts_now: u32,
    /// Its ticks a second.
    pub ts_hz: u32,
    /// The timestamp last received; zero for none.
    pub ts_val: u32,
    /// The one it echoes; zero for none.
    pub ts_ecr: u32,
    /// When data last left.
    pub last_sent: Jiffies,
    /// ECN was negotiated.
    pub ecn: bool,
    /// The sender paces its segments.
    pub paced: bool,
}

/// What an acknowledgement that may raise the window tells.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Segments newly acknowledged, selectively or not; 1 where the stack counts
    /// acknowledgements ([`super::WindowCounting`]).
    pub acked: u32,
    /// The window was in full use (tcp_is_cwnd_limited).
    pub cwnd_limited: bool,
}

/// What was cumulatively or selectively acknowledged (ack_sample).
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Segments acknowledged; packets handed to segmentation offload in 2.6.18.
    pub packets: u32,
    /// The round trip measured, if it was.
    pub rtt_us: Option<u32>,
    /// Segments delivered since the newest acknowledged one was sent: what was in flight then.
    pub in_flight: u32,
}

/// What kind of acknowledgement it was (CA_ACK_*).
#[derive(Clone, Copy, Debug, Default)]
pub struct AckKind {
    /// Its header was not the one that was predicted, or its data did not fit what is reserved (CA_ACK_SLOWPATH).
    pub slow_path: bool,
    /// It carried ECE.
    pub ece: bool,
    /// It carried ESCE (SCE's echo).
    pub esce: bool,
    /// With either, the bytes it acknowledges: those newly acknowledged, or a segment's for a
    /// duplicate that is no window update.
    pub marked_bytes: u32,
}

/// Occasions (tcp_ca_event).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CwndEvent {
    /// First transmission with nothing in flight.
    TxStart,
    /// The window is restarted after idleness.
    CwndRestart,
    /// A reduction is complete.
    CompleteCwr,
    /// A retransmission timeout, the first of an episode; the threshold has been set.
    Loss,
}

/// A delivery-rate sample (rate_sample; draft-cheng-iccrg-delivery-rate-estimation), and what else
/// an algorithm in full control needs.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// `delivered` of the connection when the newest acknowledged segment was sent.
    pub prior_delivered: u32,
    /// Segments delivered over the interval; negative if there is no valid sample.
    pub delivered: i32,
    /// Of those, acknowledged with ECE.
    pub delivered_ce: i32,
    /// The interval, microseconds; negative if there is no valid sample.
    pub interval_us: i64,
    /// Round trip of the last segment acknowledged, if known.
    pub rtt_us: Option<u32>,
    /// Segments found lost on this acknowledgement.
    pub losses: u32,
    /// Segments newly acknowledged, selectively or not.
    pub acked_sacked: u32,
    /// In flight before this acknowledgement.
    pub prior_in_flight: u32,
    /// Segments lost since the newest acknowledged one was sent (bbr3).
    pub lost: u32,
    /// Segments in flight then (bbr3).
    pub tx_in_flight: u32,
    /// The application, not the network, set the pace.
    pub is_app_limited: bool,
    /// The acknowledgement was likely delayed.
    pub is_ack_delayed: bool,
    /// The window was in full use (tcp_is_cwnd_limited).
    pub cwnd_limited: bool,
    /// The next departure's time by pacing, less now; zero if due (tcp_wstamp_ns).
    pub departure_ahead_us: u32,
}

/// One congestion control.
pub(crate) trait CongestionControl: Sized {
    /// A new connection's; all its randomness derives from `seed`.
    fn new(stack: &Stack, seed: u64) -> Self;

    /// This side's SYN was acknowledged after so long, microseconds, which Linux tells before `init`
    /// (pkts_acked): for those whose `init` keeps it.
    fn syn_acked(&mut self, _rtt_us: u32) {}
    /// The connection is established, or has changed to this algorithm.
    fn init(&mut self, _window: &mut Window, _view: &View) {}
    /// An acknowledgement in a state that lets the window grow (cong_avoid).
    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth);
    /// The slow-start threshold after a loss or congestion signal at this window.
    fn ssthresh(&mut self, window: &Window, view: &View) -> u32;
    /// What rate halving brings the window down to after a loss (min_cwnd, gone since 3.2).
    fn cwnd_min(&self, window: &Window) -> u32 {
        window.ssthresh
    }
    /// The window to return to when a reduction is undone.
    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_undo()
    }
    /// The state is about to change to `state`.
    fn set_state(&mut self, _window: &mut Window, _view: &View, _state: CaState) {}
    /// Something happened to the window.
    fn cwnd_event(&mut self, _window: &mut Window, _view: &View, _event: CwndEvent) {}
    /// Segments were taken off the queue or acknowledged selectively.
    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, _sample: AckSample) {}
    /// Every acknowledgement, once what it acknowledges is counted.
    fn in_ack_event(&mut self, _window: &mut Window, _view: &View, _kind: AckKind) {}
    /// Full control: after every acknowledgement, when the state is what it will be
    /// (cong_control). Sets the window and [`Window::pacing_rate`].
    fn on_rate_sample(&mut self, _window: &mut Window, _view: &View, _sample: &RateSample) {}
    /// Segments that a packet for segmentation offload should have at least, if not the stack's
    /// own number.
    fn min_tso_segs(&self, _window: &Window) -> Option<u32> {
        None
    }
    /// Send-buffer windows: what the buffer is grown to, in windows.
    fn sndbuf_expand(&self) -> u32 {
        2
    }
}
