//! Socket options: those that the stack models, and those that are only remembered.

use std::collections::BTreeMap;
use std::net::IpAddr;

use tailback_tcp::Config;

use super::{Errno, Fd, Host};

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

impl Host {
    pub(super) fn default_options(&self) -> BTreeMap<(i32, i32), OptionValue> {
        BTreeMap::new()
    }

    /// What a connection of this socket to `remote` is made with.
    pub(super) fn configured(&mut self, _fd: Fd, remote: IpAddr) -> Config {
        self.config(remote)
    }

    pub(super) fn apply_options(&mut self, _fd: Fd, _link: u32) {}

    /// The DSCP that the socket's IP_TOS gives.
    pub(super) fn dscp(&self, fd: Fd) -> u8 {
        let value = self.sockets.get(&fd).and_then(|socket| {
            let tos = socket.options.get(&(libc::SOL_IP, libc::IP_TOS));
            tos.or_else(|| socket.options.get(&(libc::SOL_IPV6, libc::IPV6_TCLASS)))
        });
        match value {
            Some(OptionValue::Int(tos)) => (*tos as u8) >> 2,
            _ => 0,
        }
    }

    /// setsockopt
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn set_option(
        &mut self,
        fd: Fd,
        level: i32,
        name: i32,
        value: OptionValue,
    ) -> Result<(), Errno> {
        let socket = self.sockets.get_mut(&fd).ok_or(libc::EBADF)?;
        socket.options.insert((level, name), value);
        Ok(())
    }

    /// getsockopt
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn option(&mut self, fd: Fd, level: i32, name: i32) -> Result<OptionValue, Errno> {
        if (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR) {
            let error = self.link_of(fd).and_then(|(_, link)| link.error.take());
            return Ok(OptionValue::Int(error.unwrap_or(0)));
        }
        if (level, name) == (libc::SOL_TCP, libc::TCP_INFO) {
            return Ok(OptionValue::Bytes(self.tcp_info(fd)));
        }
        let socket = self.sockets.get(&fd).ok_or(libc::EBADF)?;
        let value = socket.options.get(&(level, name));
        Ok(value.cloned().unwrap_or(OptionValue::Int(0)))
    }
}
