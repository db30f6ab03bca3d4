//! By which rules a receiver tunes its buffer and its window: kernels differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which receiver a stack has: how it takes data that is out of order or for which there is no
/// room, and how it closes its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Receiver {
    /// As `linux-2.6`, but the window that frames of much overhead may open ends at half the buffer's,
    /// windows are whole segments, and one that was too large for the buffer's memory stays small
    /// (Linux 2.4, and 2.6 up to 2.6.14).
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Out-of-order data makes acknowledgements quick, and is thrown away altogether when memory
    /// is short (Linux 2.6).
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// Acknowledgements of out-of-order data are held back for a while, only as much of it is thrown
    /// away as must be, and the window closes early (as in Linux 7.2).
    #[serde(rename = "linux-7.2")]
    Linux72,
}

/// How the receive buffer grows with what the application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RcvbufTuning {
    /// To twice what was read in the last round trip (Linux 2.4 to 4.13).
    TwiceRead,
    /// To twice what was read, and ahead of a sender in slow start by twice its growth
    /// (Linux 4.14 to 6.15).
    SlowStart,
    /// The same, but what waits to be read when it is measured counts for nothing (Linux 6.12 as Debian 13 has it:
    /// 6.12.117).
    QueueAware,
    /// The same, but below `tcp_rcvbuf_low_rtt` in proportion to the round trip, and with room
    /// for what is out of order (Linux 7.2; 6.18 has no such setting).
    LowRtt,
}

/// Which part of the receive buffer is window, the rest being overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WinFromSpace {
    /// All but the 2^-`tcp_adv_win_scale`-th part (up to Linux 6.5).
    AdvWinScale,
    /// The part that is payload in the frames that come, a half to begin with (since Linux 6.6).
    ScalingRatio,
}

/// The window that a SYN offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialReceiveWindow {
    /// Two to four segments, by their size (up to Linux 2.6.32).
    Segments,
    /// All of the buffer's window, as far as 16 bits go (since Linux 4.20).
    Buffer,
}
