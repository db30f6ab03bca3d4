//! Stack profiles: how a kernel's TCP behaves, value by value.
//!
//! A value that is a Linux sysctl bears its name; constants of the kernel bear theirs in lower
//! case. The profiles are files in `presets/`, each value with its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use crate::congestion::CongestionKind;
use crate::connection::CwndReduction;

/// The built-in profiles: name and text (TOML).
pub const PRESETS: &[(&str, &str)] =
    &[("linux-2.6.18", include_str!("../presets/linux-2.6.18.toml"))];

/// A TCP stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Ticks of the kernel's clock a second: what timers are rounded to.
    #[schemars(range(min = 10, max = 1_000_000))]
    pub hz: u32,
    /// Congestion control.
    pub tcp_congestion_control: CongestionKind,
    /// Explicit congestion notification: 1 asks for it and grants it, 0 does neither.
    #[schemars(range(min = 0, max = 1))]
    pub tcp_ecn: u8,
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
    /// How the window comes down in fast recovery and after a congestion signal.
    pub cwnd_reduction: CwndReduction,
    /// Segments that reordering is assumed to reach, to begin with.
    #[schemars(range(min = 1, max = 127))]
    pub tcp_reordering: u32,
    /// Receive buffer: least, initial, most.
    pub tcp_rmem: [Bytes; 3],
    /// Send buffer: least, initial, most.
    pub tcp_wmem: [Bytes; 3],
    /// Receive-buffer auto-tuning.
    pub tcp_moderate_rcvbuf: bool,
    /// The window is the buffer less its 2^-n-th part.
    #[schemars(range(min = 1, max = 14))]
    pub tcp_adv_win_scale: u32,
    /// The 2^-n-th part of the window, but at least a segment, is kept for the application.
    #[schemars(range(min = 0, max = 31))]
    pub tcp_app_win: u32,
    /// Shrink cwnd after an idle time longer than the retransmission timeout.
    pub tcp_slow_start_after_idle: bool,
    /// Timeouts in a row after which a connection is given up.
    #[schemars(range(min = 1, max = 255))]
    pub tcp_retries2: u32,
    /// An offloaded packet is deferred until this part of a window may be sent; 0: until more
    /// than three segments may.
    #[schemars(range(min = 0, max = 64))]
    pub tcp_tso_win_divisor: u32,
    /// Segmentation offload.
    pub tso: bool,
    /// Largest packet handed to segmentation offload, headers included.
    pub tso_max: Bytes,
    /// Minimum retransmission timeout (the variance's floor; also per route).
    pub rto_min: Duration,
    /// Maximum retransmission timeout.
    pub rto_max: Duration,
    /// Retransmission timeout before the first sample.
    pub rto_initial: Duration,
    /// Randomised timeouts: each waits up to this part longer, uniformly. 0.5 in Vasudevan et al.
    /// (SIGCOMM 2009); 0 in every kernel.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub rto_jitter: f64,
    /// Least delay of an acknowledgement, and the estimate's floor (TCP_ATO_MIN, TCP_DELACK_MIN).
    pub delack_min: Duration,
    /// Greatest delay of an acknowledgement (TCP_DELACK_MAX).
    pub delack_max: Duration,
    /// Segments acknowledged at once at the start and after a gap (TCP_MAX_QUICKACKS).
    #[schemars(range(min = 0, max = 255))]
    pub quickacks: u32,
    /// Memory charged for a packet to send beyond its data: sizeof(sk_buff) and headers' room.
    pub tx_skb_overhead: Bytes,
    /// Parameters of `bic`.
    #[serde(default)]
    pub bic: BicParameters,
    /// Parameters of `dctcp`.
    #[serde(default)]
    pub dctcp: DctcpParameters,
}

/// Parameters of BIC, by their names in Linux net/ipv4/tcp_bic.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BicParameters {
    /// Remember a lower maximum when losses come at falling windows.
    pub fast_convergence: bool,
    /// Most that the search jumps, segments a round trip.
    #[schemars(range(min = 1, max = 1024))]
    pub max_increment: u32,
    /// Window up to which it is Reno, segments.
    #[schemars(range(min = 0, max = 65535))]
    pub low_window: u32,
    /// Window left after a loss, in 1024ths.
    #[schemars(range(min = 1, max = 1024))]
    pub beta: u32,
    /// ssthresh of a new connection, segments; 0 for none.
    pub initial_ssthresh: u32,
    /// Round trips from just below to the old maximum.
    #[schemars(range(min = 1, max = 1024))]
    pub smooth_part: u32,
}

impl Default for BicParameters {
    fn default() -> BicParameters {
        BicParameters {
            fast_convergence: true,
            max_increment: 16,
            low_window: 14,
            beta: 819,
            initial_ssthresh: 100,
            smooth_part: 20,
        }
    }
}

/// Parameters of DCTCP, by their names in Linux net/ipv4/tcp_dctcp.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpParameters {
    /// The estimate's gain is 2^-n.
    #[schemars(range(min = 0, max = 10))]
    pub dctcp_shift_g: u32,
    /// The estimate to begin with, in 1024ths.
    #[schemars(range(min = 0, max = 1024))]
    pub dctcp_alpha_on_init: u32,
}

impl Default for DctcpParameters {
    fn default() -> DctcpParameters {
        DctcpParameters {
            dctcp_shift_g: 4,
            dctcp_alpha_on_init: 1024,
        }
    }
}
