//! Stack profiles: how a kernel's TCP behaves, value by value.
//!
//! A value that is a Linux sysctl bears its name; constants of the kernel bear theirs in lower
//! case. The profiles are files in `presets/`, each value with its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use crate::congestion::{
    BicParameters, CdgParameters, CompoundParameters, CongestionKind, Cubic21Parameters,
    CubicParameters, DctcpParameters, HtcpParameters, HyblaParameters, IllinoisParameters,
    NvParameters, PragueParameters, RenoSceParameters, ScalableParameters, VegasParameters,
    WindowCounting, own::OwnControls,
};
use crate::connection::{CwndReduction, FastRecovery, Pacing, Sender};
use crate::receive::{InitialReceiveWindow, RcvbufTuning, Receiver, WinFromSpace};

/// The built-in profiles: name and text (TOML).
pub const PRESETS: &[(&str, &str)] = &[
    ("linux-2.6.18", include_str!("../presets/linux-2.6.18.toml")),
    ("linux-2.6.24", include_str!("../presets/linux-2.6.24.toml")),
    (
        "linux-2.4-web100",
        include_str!("../presets/linux-2.4-web100.toml"),
    ),
    ("windows-xp", include_str!("../presets/windows-xp.toml")),
    ("linux-sce", include_str!("../presets/linux-sce.toml")),
    ("linux-6.12", include_str!("../presets/linux-6.12.toml")),
    ("linux-7.2", include_str!("../presets/linux-7.2.toml")),
];

/// A TCP stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Ticks of the kernel's clock a second: what timers are rounded to.
    #[schemars(range(min = 10, max = 1_000_000))]
    pub hz: u32,
    /// Congestion control.
    pub tcp_congestion_control: CongestionKind,
    /// What the congestion window grows by.
    pub window_counting: WindowCounting,
    /// Explicit congestion notification: 1 asks for it and grants it, 2 grants it only, 0 does
    /// neither. With accurate ECN (RFC 9768; sender linux-7.2): 3 asks for it, 4 for that of RFC 3168, 5 for
    /// none, and all three grant it. `dctcp` and `prague` ask for it and grant it whatever this says, as on Linux
    /// (TCP_CONG_NEEDS_ECN).
    #[schemars(range(min = 0, max = 5))]
    pub tcp_ecn: u8,
    /// A SYN that is sent again asks for no ECN (RFC 3168 section 6.1.1.1); for accurate ECN one that is
    /// sent for the third time, and an end whose peer tells of a mark that its SYN, or its answer, cannot have had is
    /// not believed.
    pub tcp_ecn_fallback: bool,
    /// The option of accurate ECN, with counters of bytes: 2 has it on every packet where it fits, 1 where something has
    /// changed and as `tcp_ecn_option_beacon` says, 3 as 2 even where packets seem to be lost for it, 0 never (sender
    /// linux-7.2).
    #[schemars(range(min = 0, max = 3))]
    pub tcp_ecn_option: u8,
    /// How often in a round trip that option is sent whatever has changed, where `tcp_ecn_option` is 1; 0: not at all.
    #[schemars(range(min = 0, max = 3))]
    pub tcp_ecn_option_beacon: u8,
    /// It knows accurate ECN (Linux 6.18 does, 6.12 does not). One that does not takes `tcp_ecn` 0 to 2, and an answer to a SYN
    /// that is sent again for the second time still grants ECN.
    pub accurate_ecn: bool,
    /// Selective acknowledgements.
    pub tcp_sack: bool,
    /// Forward acknowledgement: what lies further behind the highest selectively acknowledged
    /// segment than `tcp_reordering` is lost. Ends for a connection that has seen reordering.
    pub tcp_fack: bool,
    /// Duplicate selective acknowledgements.
    pub tcp_dsack: bool,
    /// Timestamps.
    pub tcp_timestamps: bool,
    /// Window scaling.
    pub tcp_window_scaling: bool,
    /// Which sender it has. What follows some settings holds for one of them only.
    pub sender: Sender,
    /// RACK (sender linux-7.2), as bits: 2 never widens its reordering window, 4 does not take
    /// three segments out of order for a loss; 1, RACK itself, is always on.
    #[schemars(range(min = 0, max = 7))]
    pub tcp_recovery: u8,
    /// Tail loss probes if 3 or 4 (sender linux-7.2).
    #[schemars(range(min = 0, max = 4))]
    pub tcp_early_retrans: u8,
    /// F-RTO (RFC 5682) if not 0 (sender linux-7.2).
    #[schemars(range(min = 0, max = 2))]
    pub tcp_frto: u8,
    /// Short packets are joined when they are retransmitted (sender linux-7.2).
    pub tcp_retrans_collapse: bool,
    /// Seconds over which the least round trip is taken (sender linux-7.2).
    #[schemars(range(min = 0, max = 86_400))]
    pub tcp_min_rtt_wlen: u32,
    /// Segments of the initial window; 0: 2 to 4 by the segment size, as in Linux 2.6.
    #[schemars(range(min = 0, max = 65_535))]
    pub initial_cwnd: u32,
    /// Who keeps segments to the pacing rate (sender linux-7.2).
    pub pacing: Pacing,
    /// The pacing rate in slow start, percent of a window a round trip.
    #[schemars(range(min = 0, max = 1000))]
    pub tcp_pacing_ss_ratio: u32,
    /// The same after slow start.
    #[schemars(range(min = 0, max = 1000))]
    pub tcp_pacing_ca_ratio: u32,
    /// Most that a connection has waiting in its own host (sender linux-7.2).
    pub tcp_limit_output_bytes: Bytes,
    /// It bounds connections that are paced, too (sender linux-7.2): not so in Linux 6.12, where these have up to a
    /// millisecond's worth waiting, however much that is.
    pub limits_paced_output: bool,
    /// Segments that a packet for offload has at least (sender linux-7.2).
    #[schemars(range(min = 1, max = 255))]
    pub tcp_min_tso_segs: u32,
    /// Packets for offload are halved for every 2^n microseconds of the least round trip.
    #[schemars(range(min = 0, max = 31))]
    pub tcp_tso_rtt_log: u32,
    /// A short write waits while a packet of the connection is in the host (sender linux-7.2).
    pub tcp_autocorking: bool,
    /// Bytes unsent from which on a writer waits (sender linux-7.2).
    pub tcp_notsent_lowat: u32,
    /// How the window comes down in fast recovery and after a congestion signal (sender linux-2.6;
    /// linux-7.2 knows prr alone).
    pub cwnd_reduction: CwndReduction,
    /// When fast recovery ends (sender linux-2.6; linux-7.2 knows newreno alone).
    pub fast_recovery: FastRecovery,
    /// Segments that reordering is assumed to reach, to begin with.
    #[schemars(range(min = 1, max = 1000))]
    pub tcp_reordering: u32,
    /// Segments that it is assumed to reach at most (sender linux-7.2; linux-2.6: 127).
    #[schemars(range(min = 1, max = 65_535))]
    pub tcp_max_reordering: u32,
    /// Receive buffer: least, initial, most.
    pub tcp_rmem: [Bytes; 3],
    /// Send buffer: least, initial, most.
    pub tcp_wmem: [Bytes; 3],
    /// Largest receive buffer that SO_RCVBUF grants, before it is doubled (net.core).
    pub rmem_max: Bytes,
    /// Largest send buffer that SO_SNDBUF grants, before it is doubled (net.core).
    pub wmem_max: Bytes,
    /// Receive-buffer auto-tuning.
    pub tcp_moderate_rcvbuf: bool,
    /// How out-of-order data is taken, and the window closed.
    pub receiver: Receiver,
    /// How the receive buffer grows with what the application reads.
    pub rcvbuf_tuning: RcvbufTuning,
    /// Round trips shorter than this grow the buffer in proportion only (`rcvbuf_tuning` low-rtt).
    pub tcp_rcvbuf_low_rtt: Duration,
    /// Which part of the receive buffer is window.
    pub win_from_space: WinFromSpace,
    /// The window is the buffer less its 2^-n-th part (`win_from_space` adv-win-scale).
    #[schemars(range(min = 1, max = 14))]
    pub tcp_adv_win_scale: u32,
    /// The window that a SYN offers.
    pub initial_receive_window: InitialReceiveWindow,
    /// A window without scaling is at most 32767 bytes.
    pub tcp_workaround_signed_windows: bool,
    /// The window offered may shrink when memory is short.
    pub tcp_shrink_window: bool,
    /// The 2^-n-th part of the window, but at least a segment, is kept for the application.
    #[schemars(range(min = 0, max = 31))]
    pub tcp_app_win: u32,
    /// Shrink cwnd after an idle time longer than the retransmission timeout.
    pub tcp_slow_start_after_idle: bool,
    /// A connection that ends leaves nothing to the next between the same hosts.
    pub tcp_no_metrics_save: bool,
    /// It leaves no slow-start threshold.
    pub tcp_no_ssthresh_metrics_save: bool,
    /// Timeouts in a row after which the route is doubted.
    #[schemars(range(min = 0, max = 255))]
    pub tcp_retries1: u32,
    /// Timeouts in a row after which a connection is given up.
    #[schemars(range(min = 0, max = 255))]
    pub tcp_retries2: u32,
    /// The same for a connection that the application has closed; 0: 8.
    #[schemars(range(min = 0, max = 255))]
    pub tcp_orphan_retries: u32,
    /// Times a SYN is sent again.
    #[schemars(range(min = 1, max = 127))]
    pub tcp_syn_retries: u32,
    /// Of these, how many wait no longer than the first.
    #[schemars(range(min = 0, max = 127))]
    pub tcp_syn_linear_timeouts: u32,
    /// Times the answer to a SYN is sent again.
    #[schemars(range(min = 0, max = 255))]
    pub tcp_synack_retries: u32,
    /// How long a closed connection waits for the peer's FIN (FIN-WAIT-2).
    pub tcp_fin_timeout: Duration,
    /// How long a port rests after a connection (TCP_TIMEWAIT_LEN).
    pub time_wait: Duration,
    /// TIME-WAIT is not ended by a reset (RFC 1337).
    pub tcp_rfc1337: bool,
    /// Idle time before keep-alive asks (with SO_KEEPALIVE).
    pub tcp_keepalive_time: Duration,
    /// Time between its questions.
    pub tcp_keepalive_intvl: Duration,
    /// Questions without an answer before it gives up.
    #[schemars(range(min = 1, max = 127))]
    pub tcp_keepalive_probes: u32,
    /// Segments are validated as RFC 5961 has it: resets and SYNs inside the window are answered
    /// with a challenge unless they are exactly where they should be, acknowledgements out of range
    /// and segments without any are dropped.
    pub rfc5961: bool,
    /// A segment that ends outside the window is not taken, and an old acknowledgement with an old
    /// timestamp is dropped in silence.
    pub checks_end_of_window: bool,
    /// `tcp_retries2` and its like stand for the time that so many timeouts take from 200 ms on
    /// (TCP_RTO_MIN; SYNs: from `rto_initial` on), not for their number.
    pub retries_by_time: bool,
    /// Challenges a second that a host sends; 2147483647 for no limit.
    #[schemars(range(min = 0, max = 2_147_483_647))]
    pub tcp_challenge_ack_limit: u32,
    /// Least time between answers to invalid segments without data; zero for no limit.
    pub tcp_invalid_ratelimit: Duration,
    /// Smallest segment size that a peer can ask for, bytes, options included.
    #[schemars(range(min = 28, max = 65535))]
    pub tcp_min_snd_mss: u32,
    /// An offloaded packet is deferred until this part of a window may be sent; 0: until more
    /// than three segments may.
    #[schemars(range(min = 0, max = 64))]
    pub tcp_tso_win_divisor: u32,
    /// The card segments packets (`ethtool -K … tso`). If it does not, the sender linux-7.2 makes them all the same and
    /// cuts them itself before the card, as Linux has since 4.17 (sk_setup_caps); linux-2.6 sends segments one by one.
    pub tso: bool,
    /// Segments that a packet has at most, as the device says (`ip link set … gso_max_segs`; GSO_MAX_SEGS,
    /// include/linux/netdevice.h); 1 is a packet for each (sender linux-7.2).
    #[schemars(range(min = 1, max = 65535))]
    pub gso_max_segs: u32,
    /// Largest packet handed to segmentation offload: its payload with sender linux-7.2, headers included
    /// with linux-2.6.
    pub tso_max: Bytes,
    /// Minimum retransmission timeout (the variance's floor; also per route).
    pub rto_min: Duration,
    /// Maximum retransmission timeout.
    pub rto_max: Duration,
    /// Retransmission timeout before the first sample.
    pub rto_initial: Duration,
    /// Randomised timeouts: each waits up to this part longer, uniformly. 0.5 in Vasudevan et al.
    /// (SIGCOMM 2009); 0 in every kernel (sender linux-2.6).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub rto_jitter: f64,
    /// Least delay of an acknowledgement, and the estimate's floor (TCP_ATO_MIN, TCP_DELACK_MIN).
    pub delack_min: Duration,
    /// Greatest delay of an acknowledgement (TCP_DELACK_MAX); with receiver linux-7.2 also less than
    /// `rto_min` by a tick.
    pub delack_max: Duration,
    /// Segments acknowledged at once at the start and after a gap (TCP_MAX_QUICKACKS).
    #[schemars(range(min = 0, max = 255))]
    pub quickacks: u32,
    /// Segments acknowledged at once after one that was marked, or not markable, under ECN.
    #[schemars(range(min = 0, max = 255))]
    pub quickacks_ecn: u32,
    /// Answers soon after data that make a connection interactive.
    #[schemars(range(min = 1, max = 255))]
    pub tcp_pingpong_thresh: u32,
    /// An acknowledgement is due at once when a hole has been filled (RFC 5681 section 4.2).
    pub ack_filled_hole: bool,
    /// Longest that acknowledgements of out-of-order data are held back to be sent as one,
    /// nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub tcp_comp_sack_delay_ns: u64,
    /// How much later their timer may fire, nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    pub tcp_comp_sack_slack_ns: u64,
    /// Acknowledgements held back at most; 0 for none.
    #[schemars(range(min = 0, max = 255))]
    pub tcp_comp_sack_nr: u32,
    /// The delay's part of the round trip, percent.
    #[schemars(range(min = 1, max = 1000))]
    pub tcp_comp_sack_rtt_percent: u32,
    /// Ticks a second of timestamps; 0: they are the kernel's own clock (`hz`).
    #[schemars(range(min = 0, max = 1_000_000))]
    pub timestamp_hz: u32,
    /// Memory charged for a packet to send beyond its data: sizeof(sk_buff) and headers' room.
    pub tx_skb_overhead: Bytes,
    /// The first six timeouts of a connection with fewer than four packets in flight do not double
    /// (sender linux-7.2); off in every kernel unless asked for.
    #[serde(default)]
    pub tcp_thin_linear_timeouts: bool,
    /// Parameters of `bic`.
    #[serde(default)]
    pub bic: BicParameters,
    /// Feed "some congestion experienced" back: ECT(1) that comes in is echoed as ESCE (chromi/sce).
    #[serde(default)]
    pub tcp_sce: bool,
    /// Parameters of `reno-sce`.
    #[serde(default)]
    pub reno_sce: RenoSceParameters,
    /// Parameters of `prague`.
    #[serde(default)]
    pub prague: PragueParameters,
    /// Parameters of `dctcp`.
    #[serde(default)]
    pub dctcp: DctcpParameters,
    /// Parameters of `cubic`.
    #[serde(default)]
    pub cubic: CubicParameters,
    /// Parameters of `cubic-2.1`.
    #[serde(default)]
    pub cubic_2_1: Cubic21Parameters,
    /// Parameters of `htcp`.
    #[serde(default)]
    pub htcp: HtcpParameters,
    /// Parameters of `hybla`.
    #[serde(default)]
    pub hybla: HyblaParameters,
    /// Parameters of `vegas`.
    #[serde(default)]
    pub vegas: VegasParameters,
    /// Parameters of `nv`.
    #[serde(default)]
    pub nv: NvParameters,
    /// Parameters of `scalable`.
    #[serde(default)]
    pub scalable: ScalableParameters,
    /// Parameters of `illinois`.
    #[serde(default)]
    pub illinois: IllinoisParameters,
    /// Parameters of `cdg`.
    #[serde(default)]
    pub cdg: CdgParameters,
    /// Parameters of `compound`.
    #[serde(default)]
    pub compound: CompoundParameters,
    /// Who makes congestion controls that are of one's own; no setting, and in no file.
    #[serde(skip)]
    pub own: OwnControls,
}

impl Stack {
    /// Largest payload of a packet for segmentation offload, bytes (sk_gso_max_size); Linux 7.2.
    #[inline]
    pub(crate) fn tso_max_bytes(&self) -> u16 {
        self.tso_max.get().min(u64::from(u16::MAX)) as u16
    }
}
