//! Socket options that applications set, by their Linux names (socket(7), tcp(7)).
//!
//! Sizes and times are texts with their unit, as everywhere in a scenario; what the kernel does with
//! a value (buffers are doubled, bounded by `rmem_max` and `wmem_max`) is done to it here too. Options
//! that change nothing on the wire are left out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::congestion::CongestionKind;
use tailback_tcp::{Sender, SocketOption, SocketOptions, Stack};
use tailback_units::{Bytes, Duration, Rate};

use crate::problem::Finding;

/// Socket options of every TCP connection of a host, at both ends; what is absent is as the system has
/// it. They are set before the connection opens. What a workload says of its own sockets (`bulk`'s
/// window, a flow's congestion control) goes before them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
pub struct SocketConfig {
    /// Short segments do not wait for acknowledgements (no Nagle).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_nodelay: Option<bool>,
    /// Only full segments are sent; what is short waits 200 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_cork: Option<bool>,
    /// Largest segment to offer and to send: 88 to 32767 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["1000B"]))]
    pub tcp_maxseg: Option<Bytes>,
    /// Bytes not sent yet, above which writing waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["16KiB"]))]
    pub tcp_notsent_lowat: Option<Bytes>,
    /// The most that is sent, headers included: packets are that far apart, by TCP's own timer unless `fq` does it (the stack's `pacing`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["240Mbit"]))]
    pub so_max_pacing_rate: Option<Rate>,
    /// How long data may stay unacknowledged before the connection is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["10s"]))]
    pub tcp_user_timeout: Option<Duration>,
    /// Send buffer: doubled and then fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["256KiB"]))]
    pub so_sndbuf: Option<Bytes>,
    /// Receive buffer: doubled and then fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["256KiB"]))]
    pub so_rcvbuf: Option<Bytes>,
    /// Congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_congestion: Option<CongestionKind>,
    /// Largest window to offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["64KiB"]))]
    pub tcp_window_clamp: Option<Bytes>,
    /// Bytes that a reader waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["4KiB"]))]
    pub so_rcvlowat: Option<Bytes>,
    /// How long a closed connection waits for the peer's FIN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["10s"]))]
    pub tcp_linger2: Option<Duration>,
    /// Times a SYN is sent again: 1 to 127.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 127))]
    pub tcp_syncnt: Option<u32>,
    /// Asks an idle peer whether it is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub so_keepalive: Option<bool>,
    /// Idle time before it asks: 1 s to 32767 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["60s"]))]
    pub tcp_keepidle: Option<Duration>,
    /// Time between its questions: 1 s to 32767 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["10s"]))]
    pub tcp_keepintvl: Option<Duration>,
    /// Questions without an answer before it gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 127))]
    pub tcp_keepcnt: Option<u32>,
}

/// A value as setsockopt(2) takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinuxValue {
    /// An int: bytes, milliseconds (TCP_USER_TIMEOUT), seconds, a count, or whether.
    Number(i32),
    /// A long: bytes a second.
    Long(u64),
    /// A name.
    Text(String),
}

impl SocketConfig {
    /// These options, and those of `base` that it leaves open.
    #[must_use]
    pub fn over(&self, base: &SocketConfig) -> SocketConfig {
        SocketConfig {
            tcp_nodelay: self.tcp_nodelay.or(base.tcp_nodelay),
            tcp_cork: self.tcp_cork.or(base.tcp_cork),
            tcp_maxseg: self.tcp_maxseg.or(base.tcp_maxseg),
            tcp_notsent_lowat: self.tcp_notsent_lowat.or(base.tcp_notsent_lowat),
            so_max_pacing_rate: self.so_max_pacing_rate.or(base.so_max_pacing_rate),
            tcp_user_timeout: self.tcp_user_timeout.or(base.tcp_user_timeout),
            so_sndbuf: self.so_sndbuf.or(base.so_sndbuf),
            so_rcvbuf: self.so_rcvbuf.or(base.so_rcvbuf),
            tcp_congestion: self.tcp_congestion.or(base.tcp_congestion),
            tcp_window_clamp: self.tcp_window_clamp.or(base.tcp_window_clamp),
            so_rcvlowat: self.so_rcvlowat.or(base.so_rcvlowat),
            tcp_linger2: self.tcp_linger2.or(base.tcp_linger2),
            tcp_syncnt: self.tcp_syncnt.or(base.tcp_syncnt),
            so_keepalive: self.so_keepalive.or(base.so_keepalive),
            tcp_keepidle: self.tcp_keepidle.or(base.tcp_keepidle),
            tcp_keepintvl: self.tcp_keepintvl.or(base.tcp_keepintvl),
            tcp_keepcnt: self.tcp_keepcnt.or(base.tcp_keepcnt),
        }
    }

    /// Each option that is set: its name and its value as the modelled TCP takes it.
    fn set(&self) -> Vec<(&'static str, SocketOption)> {
        let int = |bytes: Bytes| bytes.get().min(i32::MAX as u64) as u32;
        let options = [
            ("TCP_NODELAY", self.tcp_nodelay.map(SocketOption::NoDelay)),
            ("TCP_CORK", self.tcp_cork.map(SocketOption::Cork)),
            (
                "TCP_MAXSEG",
                self.tcp_maxseg.map(int).map(SocketOption::MaxSeg),
            ),
            (
                "TCP_NOTSENT_LOWAT",
                self.tcp_notsent_lowat
                    .map(int)
                    .map(SocketOption::NotsentLowat),
            ),
            (
                "SO_MAX_PACING_RATE",
                self.so_max_pacing_rate
                    .map(|rate| SocketOption::MaxPacingRate(rate.as_bps() / 8)),
            ),
            (
                "TCP_USER_TIMEOUT",
                self.tcp_user_timeout.map(SocketOption::UserTimeout),
            ),
            ("SO_SNDBUF", self.so_sndbuf.map(SocketOption::SndBuf)),
            ("SO_RCVBUF", self.so_rcvbuf.map(SocketOption::RcvBuf)),
            (
                "TCP_CONGESTION",
                self.tcp_congestion.map(SocketOption::Congestion),
            ),
            (
                "TCP_WINDOW_CLAMP",
                self.tcp_window_clamp
                    .map(int)
                    .map(SocketOption::WindowClamp),
            ),
            (
                "SO_RCVLOWAT",
                self.so_rcvlowat.map(int).map(SocketOption::RcvLowat),
            ),
            (
                "TCP_LINGER2",
                self.tcp_linger2.map(Some).map(SocketOption::Linger2),
            ),
            ("TCP_SYNCNT", self.tcp_syncnt.map(SocketOption::SynCnt)),
            (
                "SO_KEEPALIVE",
                self.so_keepalive.map(SocketOption::KeepAlive),
            ),
            (
                "TCP_KEEPIDLE",
                self.tcp_keepidle.map(SocketOption::KeepIdle),
            ),
            (
                "TCP_KEEPINTVL",
                self.tcp_keepintvl.map(SocketOption::KeepIntvl),
            ),
            ("TCP_KEEPCNT", self.tcp_keepcnt.map(SocketOption::KeepCnt)),
        ];
        let options = options.into_iter();
        options.filter_map(|(n, o)| Some((n, o?))).collect()
    }

    /// The options of a modelled socket.
    #[must_use]
    pub fn options(&self) -> SocketOptions {
        let mut options = SocketOptions::default();
        for (_, option) in self.set() {
            // Values that no kernel takes are refused when the scenario is checked.
            let _ = options.set(option);
        }
        options
    }

    /// The options by name, as a kernel takes them.
    #[must_use]
    pub fn linux(&self) -> BTreeMap<&'static str, LinuxValue> {
        let seconds = |d: Duration| (d.as_us() / 1_000_000) as i32;
        let value = |option: SocketOption| {
            LinuxValue::Number(match option {
                SocketOption::Congestion(kind) => {
                    return LinuxValue::Text(kind.linux_name().to_owned());
                }
                SocketOption::MaxPacingRate(rate) => return LinuxValue::Long(rate),
                SocketOption::NoDelay(on)
                | SocketOption::Cork(on)
                | SocketOption::QuickAck(on)
                | SocketOption::KeepAlive(on) => i32::from(on),
                SocketOption::MaxSeg(n)
                | SocketOption::NotsentLowat(n)
                | SocketOption::RcvLowat(n)
                | SocketOption::WindowClamp(n)
                | SocketOption::SynCnt(n)
                | SocketOption::KeepCnt(n) => n as i32,
                SocketOption::SndBuf(bytes) | SocketOption::RcvBuf(bytes) => {
                    bytes.get().min(i32::MAX as u64) as i32
                }
                SocketOption::UserTimeout(d) => (d.as_us() / 1000) as i32,
                SocketOption::KeepIdle(d) | SocketOption::KeepIntvl(d) => seconds(d),
                SocketOption::Linger(d) | SocketOption::Linger2(d) => d.map_or(-1, seconds),
            })
        };
        let options = self.set().into_iter();
        options.map(|(name, o)| (name, value(o))).collect()
    }

    /// Values that no kernel takes, or none of those that `stacks` model; paths are relative to it.
    pub(crate) fn findings<'a>(&self, mut stacks: impl Iterator<Item = &'a Stack>) -> Vec<Finding> {
        let refused =
            |(_, option): &(&str, SocketOption)| SocketOptions::default().set(*option).is_err();
        let paced = self.so_max_pacing_rate.and_then(|rate| {
            let old = stacks.any(|stack| stack.sender != Sender::Linux72);
            let (reason, remedy) = match rate.as_bps() {
                0..8 => ("nothing would ever go", "such as \"240Mbit\""),
                _ if old => (
                    "kernels before 3.13 do not have it, and the sender linux-2.6 paces nobody",
                    "stack.sender = \"linux-7.2\", or nothing",
                ),
                _ => return None,
            };
            Some(Finding::new("SO_MAX_PACING_RATE", reason, remedy))
        });
        let options = self.set().into_iter().filter(refused);
        options
            .map(|(name, _)| {
                let remedy = match name {
                    "TCP_MAXSEG" => "88B to 32767B",
                    _ => "1s to 32767s",
                };
                Finding::new(name, "Linux does not take this value (EINVAL)", remedy)
            })
            .chain(paced)
            .collect()
    }
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
