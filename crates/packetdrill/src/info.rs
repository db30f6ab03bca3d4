//! `struct tcp_info` as Linux 7.2 lays it out (include/uapi/linux/tcp.h).

use crate::host::{Fd, Host};

/// Bytes of the struct.
const BYTES: usize = 280;

impl Host {
    /// TCP_INFO of a socket.
    pub(crate) fn tcp_info(&mut self, fd: Fd) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        let Some((_, link)) = self.link_of(fd) else {
            return bytes;
        };
        let probe = link.tcp.probe();
        let mut put = |at: usize, value: u32| {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        };
        put(8, probe.rto.as_us() as u32);
        put(24, probe.in_flight);
        put(68, probe.srtt.as_us() as u32);
        put(76, probe.ssthresh);
        put(80, probe.cwnd);
        bytes[1] = probe.state as u8;
        bytes
    }
}
