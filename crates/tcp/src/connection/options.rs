//! Socket options.
//!
//! Models setsockopt(2) of Linux 7.2 (net/core/sock.c, net/ipv4/tcp.c: do_tcp_setsockopt,
//! tcp_sock_set_*, tcp_set_window_clamp), each option by its name there. Options of a socket are
//! those of [`Config::options`](super::Config), which a listening socket hands on to its
//! connections, and may be set while the connection lives.
//! Left out: options of other layers, and those that change nothing on the wire.

use std::sync::Arc;

use tailback_units::{Bytes, Duration};

use super::Connection;
use crate::congestion::CongestionKind;
use crate::stack::Stack;

/// Least send buffer (SOCK_MIN_SNDBUF, include/net/sock.h, x86_64), bytes.
const SNDBUF_LEAST: u64 = 4608;
/// Least receive buffer (SOCK_MIN_RCVBUF), bytes.
const RCVBUF_LEAST: u64 = 2304;
/// Segment sizes that TCP_MAXSEG takes (TCP_MIN_MSS, MAX_TCP_WINDOW, include/net/tcp.h), bytes.
const MAXSEG: std::ops::RangeInclusive<u32> = 88..=32_767;
/// Longest that TCP_LINGER2 takes (TCP_FIN_TIMEOUT_MAX, include/net/tcp.h).
const LINGER2_MOST: Duration = Duration::from_secs(120);
/// Longest that TCP_KEEPIDLE and TCP_KEEPINTVL take (MAX_TCP_KEEPIDLE), seconds.
const KEEPALIVE_MOST_S: u64 = 32_767;
/// Most that TCP_KEEPCNT and TCP_SYNCNT take (MAX_TCP_KEEPCNT, MAX_TCP_SYNCNT).
const COUNT_MOST: u32 = 127;

/// An option and its value, as setsockopt(2) takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SocketOption {
    /// TCP_NODELAY: short segments do not wait for acknowledgements.
    NoDelay(bool),
    /// TCP_CORK: only full segments are sent, until it is taken away.
    Cork(bool),
    /// TCP_MAXSEG: largest segment to offer and to send, bytes; 0 for none.
    MaxSeg(u32),
    /// TCP_NOTSENT_LOWAT: bytes not sent yet, above which writing waits; 0 for the stack's.
    NotsentLowat(u32),
    /// SO_MAX_PACING_RATE, bytes a second; `u64::MAX` for none. Who sets it is paced (by TCP's timer, if nobody else does).
    MaxPacingRate(u64),
    /// TCP_USER_TIMEOUT: how long data may stay unacknowledged; zero for the stack's rule.
    UserTimeout(Duration),
    /// SO_SNDBUF, bytes: doubled and then fixed.
    SndBuf(Bytes),
    /// SO_RCVBUF, bytes: doubled and then fixed.
    RcvBuf(Bytes),
    /// SO_RCVLOWAT: bytes that a reader waits for.
    RcvLowat(u32),
    /// TCP_CONGESTION.
    Congestion(CongestionKind),
    /// TCP_QUICKACK: acknowledge at once from now on, or when there is an answer to send.
    QuickAck(bool),
    /// TCP_WINDOW_CLAMP: largest window to offer, bytes.
    WindowClamp(u32),
    /// SO_LINGER: what closing does; of its times only zero changes anything on the wire.
    Linger(Option<Duration>),
    /// TCP_LINGER2: how long to wait for the peer's FIN; `None` not at all, zero as the stack
    /// does.
    Linger2(Option<Duration>),
    /// TCP_SYNCNT: times a SYN is sent again.
    SynCnt(u32),
    /// SO_KEEPALIVE.
    KeepAlive(bool),
    /// TCP_KEEPIDLE.
    KeepIdle(Duration),
    /// TCP_KEEPINTVL.
    KeepIntvl(Duration),
    /// TCP_KEEPCNT.
    KeepCnt(u32),
}

/// The value is not one that the option takes (EINVAL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOption;

impl std::fmt::Display for InvalidOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the socket option does not take this value")
    }
}

impl std::error::Error for InvalidOption {}

/// The options of a socket.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// TCP_CORK.
    pub cork: bool,
    /// SO_KEEPALIVE.
    pub keepalive: bool,
    /// TCP_QUICKACK, if it was set.
    pub quickack: Option<bool>,
    /// TCP_MAXSEG, bytes; 0 for none.
    pub maxseg: u32,
    /// TCP_NOTSENT_LOWAT, bytes; 0 for the stack's.
    pub notsent_lowat: u32,
    /// SO_MAX_PACING_RATE, bytes a second; `u64::MAX` for none.
    pub max_pacing_rate: u64,
    /// TCP_USER_TIMEOUT; zero for the stack's rule.
    pub user_timeout: Duration,
    /// SO_SNDBUF as it was asked for.
    pub sndbuf: Option<Bytes>,
    /// SO_RCVBUF as it was asked for.
    pub rcvbuf: Option<Bytes>,
    /// SO_RCVLOWAT, bytes.
    pub rcvlowat: u32,
    /// TCP_CONGESTION.
    pub congestion: Option<CongestionKind>,
    /// TCP_WINDOW_CLAMP, bytes; 0 for none.
    pub window_clamp: u32,
    /// SO_LINGER's time.
    pub linger: Option<Duration>,
    /// TCP_LINGER2; zero for the stack's tcp_fin_timeout.
    pub linger2: Option<Duration>,
    /// TCP_SYNCNT; 0 for the stack's tcp_syn_retries.
    pub syncnt: u32,
    /// TCP_KEEPIDLE; zero for the stack's tcp_keepalive_time.
    pub keepidle: Duration,
    /// TCP_KEEPINTVL; zero for the stack's tcp_keepalive_intvl.
    pub keepintvl: Duration,
    /// TCP_KEEPCNT; 0 for the stack's tcp_keepalive_probes.
    pub keepcnt: u32,
}

impl Default for SocketOptions {
    fn default() -> SocketOptions {
        SocketOptions {
            nodelay: false,
            cork: false,
            keepalive: false,
            quickack: None,
            maxseg: 0,
            notsent_lowat: 0,
            max_pacing_rate: u64::MAX,
            user_timeout: Duration::ZERO,
            sndbuf: None,
            rcvbuf: None,
            rcvlowat: 1,
            congestion: None,
            window_clamp: 0,
            linger: None,
            linger2: Some(Duration::ZERO),
            syncnt: 0,
            keepidle: Duration::ZERO,
            keepintvl: Duration::ZERO,
            keepcnt: 0,
        }
    }
}

impl SocketOptions {
    /// Sets an option of a socket that is not open yet.
    ///
    /// # Errors
    ///
    /// [`InvalidOption`] if the kernel would not take the value.
    pub fn set(&mut self, option: SocketOption) -> Result<(), InvalidOption> {
        let seconds_fit =
            |d: Duration| d >= Duration::from_secs(1) && d <= Duration::from_secs(KEEPALIVE_MOST_S);
        let count_fits = |n: u32| (1..=COUNT_MOST).contains(&n);
        let valid = match option {
            SocketOption::MaxSeg(bytes) => bytes == 0 || MAXSEG.contains(&bytes),
            SocketOption::SynCnt(n) | SocketOption::KeepCnt(n) => count_fits(n),
            SocketOption::KeepIdle(d) | SocketOption::KeepIntvl(d) => seconds_fit(d),
            _ => true,
        };
        if !valid {
            return Err(InvalidOption);
        }
        match option {
            SocketOption::NoDelay(on) => self.nodelay = on,
            SocketOption::Cork(on) => self.cork = on,
            SocketOption::MaxSeg(bytes) => self.maxseg = bytes,
            SocketOption::NotsentLowat(bytes) => self.notsent_lowat = bytes,
            SocketOption::MaxPacingRate(rate) => self.max_pacing_rate = rate,
            SocketOption::UserTimeout(d) => self.user_timeout = d,
            SocketOption::SndBuf(bytes) => self.sndbuf = Some(bytes),
            SocketOption::RcvBuf(bytes) => self.rcvbuf = Some(bytes),
            SocketOption::RcvLowat(bytes) => self.rcvlowat = bytes.max(1),
            SocketOption::Congestion(kind) => self.congestion = Some(kind),
            SocketOption::QuickAck(on) => self.quickack = Some(on),
            SocketOption::WindowClamp(bytes) => self.window_clamp = bytes,
            SocketOption::Linger(time) => self.linger = time,
            SocketOption::Linger2(time) => self.linger2 = time.map(|d| d.min(LINGER2_MOST)),
            SocketOption::SynCnt(n) => self.syncnt = n,
            SocketOption::KeepAlive(on) => self.keepalive = on,
            SocketOption::KeepIdle(d) => self.keepidle = d,
            SocketOption::KeepIntvl(d) => self.keepintvl = d,
            SocketOption::KeepCnt(n) => self.keepcnt = n,
        }
        Ok(())
    }

    /// The send buffer that SO_SNDBUF gives, if it was set, bytes.
    #[must_use]
    pub fn sndbuf_bytes(&self, stack: &Stack) -> Option<u32> {
        let asked = self.sndbuf?.get().min(stack.wmem_max.get());
        Some((2 * asked).clamp(SNDBUF_LEAST, u64::from(u32::MAX / 2)) as u32)
    }

    /// The receive buffer that SO_RCVBUF gives, if it was set, bytes.
    #[must_use]
    pub fn rcvbuf_bytes(&self, stack: &Stack) -> Option<u32> {
        let asked = self.rcvbuf?.get().min(stack.rmem_max.get());
        Some((2 * asked).clamp(RCVBUF_LEAST, u64::from(u32::MAX / 2)) as u32)
    }
}

impl Connection {
    /// The options as they stand.
    #[must_use]
    pub fn options(&self) -> &SocketOptions {
        &self.options
    }

    /// Send and receive buffer as they stand (sk_sndbuf, sk_rcvbuf), bytes.
    #[must_use]
    pub fn buffers(&self) -> (u32, u32) {
        (self.sndbuf, self.receive.rcvbuf())
    }

    /// Memory of what has been received and not been read, in order or not (sk_rmem_alloc), bytes.
    #[must_use]
    pub fn received_memory(&self) -> u32 {
        self.receive.queued_memory()
    }

    /// Sets an option.
    ///
    /// # Errors
    ///
    /// [`InvalidOption`] if the kernel would not take the value.
    pub fn set_option(
        &mut self,
        now: tailback_units::Time,
        option: SocketOption,
    ) -> Result<(), InvalidOption> {
        let jiffies = self.clock.jiffies(now);
        Arc::make_mut(&mut self.options).set(option)?;
        match option {
            SocketOption::NoDelay(true) | SocketOption::Cork(false) if self.is_modern() => {
                self.nagle_changed(jiffies);
            }
            SocketOption::NoDelay(true) | SocketOption::Cork(false) => self.push(jiffies),
            SocketOption::SndBuf(_) => {
                if let Some(bytes) = self.options.sndbuf_bytes(&self.stack) {
                    self.sndbuf = bytes;
                }
            }
            SocketOption::RcvBuf(_) => {
                if let Some(bytes) = self.options.rcvbuf_bytes(&self.stack) {
                    self.receive.lock_buffer(bytes);
                }
            }
            SocketOption::MaxPacingRate(rate) => self.window.limit_pacing_rate(rate),
            SocketOption::RcvLowat(_) => self.receive.set_low_mark(self.options.rcvlowat),
            SocketOption::Congestion(kind) => self.set_congestion(now, kind),
            SocketOption::WindowClamp(bytes) => self.receive.clamp_window(bytes),
            SocketOption::QuickAck(on) => self.set_quick_ack(on),
            SocketOption::KeepAlive(_) | SocketOption::KeepIdle(_) => self.arm_keepalive(jiffies),
            _ => {}
        }
        Ok(())
    }

    /// Changes the acknowledgement policy at the application's wish (__tcp_sock_set_quickack).
    fn set_quick_ack(&mut self, on: bool) {
        if !on {
            self.receive.ack.enter_pingpong();
            return;
        }
        self.receive.ack.exit_pingpong();
        if self.life.is_synchronised() && self.receive.ack.scheduled {
            self.receive.ack.pushed = true;
            self.clean_up_after_read();
        }
    }
}
