//! Socket options: those that the stack models, and those that are only remembered.

use std::net::IpAddr;

use tailback_tcp::congestion::CongestionKind;
use tailback_tcp::{Config, SocketOption, SocketOptions};
use tailback_units::{Bytes, Duration};

use super::{Errno, Fd, Host, Kind};
use crate::info;

/// The value of an option: a number, or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// An int.
    Int(i32),
    /// Anything else, a name or a struct.
    Bytes(Vec<u8>),
}

/// Flags of a writing call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    /// Do not block (MSG_DONTWAIT).
    pub dont_wait: bool,
    /// More is to come (MSG_MORE).
    pub more: bool,
    /// A record ends here (MSG_EOR).
    pub end_of_record: bool,
}

// include/uapi/linux/tcp.h and asm-generic/socket.h; not all are in libc.
const TCP_NOTSENT_LOWAT: i32 = 25;
const TCP_CC_INFO: i32 = 26;
const SO_MEMINFO: i32 = 55;
/// Words of SO_MEMINFO's answer (SK_MEMINFO_VARS), and which of them are known.
const MEMINFO_WORDS: usize = 9;
const MEMINFO_RCVBUF: usize = 1;
const MEMINFO_SNDBUF: usize = 3;

impl Host {
    /// What a connection of this socket to `remote` is made with.
    pub(super) fn configured(&mut self, fd: Fd, remote: IpAddr) -> Config {
        let options = self.sockets.get(&fd).map(|socket| socket.tcp.clone());
        self.config(remote, options.unwrap_or_default())
    }

    /// The DSCP that the socket's IP_TOS gives.
    pub(super) fn dscp(&self, fd: Fd) -> u8 {
        let value = self.sockets.get(&fd).and_then(|socket| {
            let tos = socket.others.get(&(libc::SOL_IP, libc::IP_TOS));
            tos.or_else(|| socket.others.get(&(libc::SOL_IPV6, libc::IPV6_TCLASS)))
        });
        match value {
            Some(OptionValue::Int(tos)) => (*tos as u8) >> 2,
            _ => 0,
        }
    }

    /// setsockopt. Options that the stack does not model are remembered.
    ///
    /// # Errors
    ///
    /// EBADF, EINVAL, ENOENT.
    pub fn set_option(
        &mut self,
        fd: Fd,
        level: i32,
        name: i32,
        value: OptionValue,
    ) -> Result<(), Errno> {
        let now = self.now;
        let option = modelled(level, name, &value)?;
        let socket = self.sockets.get_mut(&fd).ok_or(libc::EBADF)?;
        let Some(option) = option else {
            socket.others.insert((level, name), value);
            let dscp = self.dscp(fd);
            if let Some((_, link)) = self.link_of(fd) {
                link.dscp = dscp;
            }
            return Ok(());
        };
        socket.tcp.set(option).map_err(|_| libc::EINVAL)?;
        if let Some((number, link)) = self.link_of(fd) {
            let result = link.tcp.set_option(now, option);
            self.drive(number);
            result.map_err(|_| libc::EINVAL)?;
        }
        Ok(())
    }

    /// getsockopt
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn option(&mut self, fd: Fd, level: i32, name: i32) -> Result<OptionValue, Errno> {
        let socket = self.sockets.get(&fd).ok_or(libc::EBADF)?;
        let stack = self.view.stack();
        let tcp = &socket.tcp;
        let (sndbuf, rcvbuf) = match socket.kind {
            Kind::Connected(number) if self.links.contains_key(&number) => {
                self.links[&number].tcp.buffers()
            }
            _ => (
                tcp.sndbuf_bytes(&stack)
                    .unwrap_or(stack.tcp_wmem[1].get() as u32),
                tcp.rcvbuf_bytes(&stack)
                    .unwrap_or(stack.tcp_rmem[1].get() as u32),
            ),
        };
        let seconds = |span: Duration, or: Duration| {
            let span = if span.is_zero() { or } else { span };
            (span.as_us() / 1_000_000) as i32
        };
        let value = match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => {
                let error = self.link_of(fd).and_then(|(_, link)| link.take_error());
                error.unwrap_or(0)
            }
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => sndbuf as i32,
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => rcvbuf as i32,
            (libc::SOL_SOCKET, libc::SO_RCVLOWAT) => tcp.rcvlowat as i32,
            (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE) => tcp.max_pacing_rate as i32,
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => i32::from(tcp.keepalive),
            (libc::SOL_SOCKET, SO_MEMINFO) => {
                let mut words = [0; MEMINFO_WORDS];
                (words[MEMINFO_RCVBUF], words[MEMINFO_SNDBUF]) = (rcvbuf, sndbuf);
                let bytes = words.iter().flat_map(|word: &u32| word.to_ne_bytes());
                return Ok(OptionValue::Bytes(bytes.collect()));
            }
            (libc::SOL_TCP, libc::TCP_INFO) => return Ok(self.tcp_info(fd)),
            (libc::SOL_TCP, TCP_CC_INFO) => return Ok(OptionValue::Bytes(Vec::new())),
            (libc::SOL_TCP, libc::TCP_MAXSEG) => self.segment_size(fd),
            (libc::SOL_TCP, libc::TCP_NODELAY) => i32::from(tcp.nodelay),
            (libc::SOL_TCP, libc::TCP_CORK) => i32::from(tcp.cork),
            (libc::SOL_TCP, TCP_NOTSENT_LOWAT) => tcp.notsent_lowat as i32,
            (libc::SOL_TCP, libc::TCP_USER_TIMEOUT) => (tcp.user_timeout.as_us() / 1000) as i32,
            (libc::SOL_TCP, libc::TCP_WINDOW_CLAMP) => tcp.window_clamp as i32,
            (libc::SOL_TCP, libc::TCP_SYNCNT) if tcp.syncnt == 0 => stack.tcp_syn_retries as i32,
            (libc::SOL_TCP, libc::TCP_SYNCNT) => tcp.syncnt as i32,
            (libc::SOL_TCP, libc::TCP_LINGER2) => tcp
                .linger2
                .map_or(-1, |span| seconds(span, stack.tcp_fin_timeout)),
            (libc::SOL_TCP, libc::TCP_KEEPIDLE) => seconds(tcp.keepidle, stack.tcp_keepalive_time),
            (libc::SOL_TCP, libc::TCP_KEEPINTVL) => {
                seconds(tcp.keepintvl, stack.tcp_keepalive_intvl)
            }
            (libc::SOL_TCP, libc::TCP_CONGESTION) => {
                let kind = tcp.congestion.unwrap_or(stack.tcp_congestion_control);
                let name = toml::Value::try_from(kind).unwrap_or_else(|_| "".into());
                let mut name = name.as_str().unwrap_or("").as_bytes().to_vec();
                name.resize(CONGESTION_NAME_BYTES, 0);
                return Ok(OptionValue::Bytes(name));
            }
            other => {
                let value = socket.others.get(&other);
                return Ok(value.cloned().unwrap_or(OptionValue::Int(0)));
            }
        };
        Ok(OptionValue::Int(value))
    }

    fn tcp_info(&mut self, fd: Fd) -> OptionValue {
        let now = self.now;
        let info = match self.link_of(fd) {
            Some((_, link)) => link.tcp.tcp_info(now),
            None => tailback_tcp::TcpInfo::default(),
        };
        OptionValue::Bytes(info::bytes(&info))
    }

    /// TCP_MAXSEG: what was asked for until the connection has a segment size of its own.
    fn segment_size(&mut self, fd: Fd) -> i32 {
        let now = self.now;
        let asked = self.sockets.get(&fd).map_or(0, |socket| match socket.kind {
            Kind::Connected(_) => 0,
            _ => socket.tcp.maxseg,
        });
        match self.link_of(fd) {
            Some((_, link)) => link.tcp.tcp_info(now).snd_mss as i32,
            None if asked > 0 => asked as i32,
            None => MSS_DEFAULT,
        }
    }
}

/// Bytes of the name of a congestion control (TCP_CA_NAME_MAX).
const CONGESTION_NAME_BYTES: usize = 16;
/// Segment size of a socket without a connection (TCP_MSS_DEFAULT), bytes.
const MSS_DEFAULT: i32 = 536;

/// The option in the stack's terms; none if it is one that the stack does not model.
fn modelled(level: i32, name: i32, value: &OptionValue) -> Result<Option<SocketOption>, Errno> {
    let number = match value {
        OptionValue::Int(number) => *number,
        OptionValue::Bytes(_) => 0,
    };
    let unsigned = u32::try_from(number).map_err(|_| libc::EINVAL);
    let seconds = || unsigned.map(|seconds| Duration::from_secs(seconds.into()));
    let on = number != 0;
    Ok(Some(match (level, name) {
        // Above the limit, and a negative number reads as one, the limit is what is set.
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
            SocketOption::SndBuf(Bytes::new((number as u32).into()))
        }
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => {
            SocketOption::RcvBuf(Bytes::new((number as u32).into()))
        }
        (libc::SOL_SOCKET, libc::SO_RCVLOWAT) => SocketOption::RcvLowat(number as u32),
        // An int with all bits set is no limit.
        (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE) => SocketOption::MaxPacingRate(match value {
            OptionValue::Int(-1) => u64::MAX,
            OptionValue::Int(rate) => u64::from(*rate as u32),
            OptionValue::Bytes(long) => {
                let long = long.as_slice().try_into().map_err(|_| libc::EINVAL)?;
                u64::from_ne_bytes(long)
            }
        }),
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => SocketOption::KeepAlive(on),
        (libc::SOL_SOCKET, libc::SO_LINGER) => SocketOption::Linger(linger(value)?),
        (libc::SOL_TCP, libc::TCP_NODELAY) => SocketOption::NoDelay(on),
        (libc::SOL_TCP, libc::TCP_CORK) => SocketOption::Cork(on),
        (libc::SOL_TCP, libc::TCP_MAXSEG) => SocketOption::MaxSeg(unsigned?),
        (libc::SOL_TCP, TCP_NOTSENT_LOWAT) => SocketOption::NotsentLowat(number as u32),
        (libc::SOL_TCP, libc::TCP_USER_TIMEOUT) => {
            SocketOption::UserTimeout(Duration::from_ms(unsigned?.into()))
        }
        (libc::SOL_TCP, libc::TCP_QUICKACK) => SocketOption::QuickAck(on),
        (libc::SOL_TCP, libc::TCP_WINDOW_CLAMP) => SocketOption::WindowClamp(unsigned?),
        (libc::SOL_TCP, libc::TCP_LINGER2) if number < 0 => SocketOption::Linger2(None),
        (libc::SOL_TCP, libc::TCP_LINGER2) => SocketOption::Linger2(Some(seconds()?)),
        (libc::SOL_TCP, libc::TCP_SYNCNT) => SocketOption::SynCnt(unsigned?),
        (libc::SOL_TCP, libc::TCP_KEEPIDLE) => SocketOption::KeepIdle(seconds()?),
        (libc::SOL_TCP, libc::TCP_KEEPINTVL) => SocketOption::KeepIntvl(seconds()?),
        (libc::SOL_TCP, libc::TCP_KEEPCNT) => SocketOption::KeepCnt(unsigned?),
        (libc::SOL_TCP, libc::TCP_CONGESTION) => SocketOption::Congestion(congestion(value)?),
        _ => return Ok(None),
    }))
}

/// `struct linger`: whether, and how many seconds.
fn linger(value: &OptionValue) -> Result<Option<Duration>, Errno> {
    let OptionValue::Bytes(bytes) = value else {
        return Err(libc::EINVAL);
    };
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map(i32::from_ne_bytes).ok_or(libc::EINVAL)
    };
    let seconds = u64::try_from(word(4)?).map_err(|_| libc::EINVAL)?;
    Ok((word(0)? != 0).then(|| Duration::from_secs(seconds)))
}

fn congestion(value: &OptionValue) -> Result<CongestionKind, Errno> {
    let bytes = match value {
        OptionValue::Int(number) => number.to_ne_bytes().to_vec(),
        OptionValue::Bytes(bytes) => bytes.clone(),
    };
    let name = String::from_utf8_lossy(&bytes);
    let name = name.trim_end_matches('\0').to_string();
    toml::Value::String(name)
        .try_into()
        .map_err(|_| libc::ENOENT)
}

impl super::Socket {
    pub(super) fn new(kind: Kind, ipv6: bool, nonblocking: bool) -> super::Socket {
        super::Socket {
            kind,
            ipv6,
            local: None,
            nonblocking,
            shut_read: false,
            shut_write: false,
            tcp: SocketOptions::default(),
            others: std::collections::BTreeMap::new(),
        }
    }
}
