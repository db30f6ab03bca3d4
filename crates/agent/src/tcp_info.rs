//! TCP_INFO: what the kernel says of a connection.
//!
//! Names and places are those of `struct tcp_info` in Linux 7.2's include/uapi/linux/tcp.h, less
//! the prefix, plus the unit where it is not a count. An older kernel writes less: what it does
//! not write is absent.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;

use crate::sys;

/// Values by name, in the kernel's own units.
pub type TcpInfo = BTreeMap<String, u64>;

/// Name, offset and size in bytes.
const FIELDS: &[(&str, usize, usize)] = &[
    ("state", 0, 1),
    ("ca_state", 1, 1),
    ("retransmits", 2, 1),
    ("probes", 3, 1),
    ("backoff", 4, 1),
    ("options", 5, 1),
    ("rto_us", 8, 4),
    ("ato_us", 12, 4),
    ("snd_mss_bytes", 16, 4),
    ("rcv_mss_bytes", 20, 4),
    ("unacked", 24, 4),
    ("sacked", 28, 4),
    ("lost", 32, 4),
    ("retrans", 36, 4),
    ("pmtu_bytes", 60, 4),
    ("rcv_ssthresh_bytes", 64, 4),
    ("rtt_us", 68, 4),
    ("rttvar_us", 72, 4),
    ("snd_ssthresh", 76, 4),
    ("snd_cwnd", 80, 4),
    ("advmss_bytes", 84, 4),
    ("reordering", 88, 4),
    ("rcv_rtt_us", 92, 4),
    ("rcv_space_bytes", 96, 4),
    ("total_retrans", 100, 4),
    ("pacing_rate_bytes_per_s", 104, 8),
    ("bytes_acked", 120, 8),
    ("bytes_received", 128, 8),
    ("segs_out", 136, 4),
    ("segs_in", 140, 4),
    ("notsent_bytes", 144, 4),
    ("min_rtt_us", 148, 4),
    ("data_segs_in", 152, 4),
    ("data_segs_out", 156, 4),
    ("delivery_rate_bytes_per_s", 160, 8),
    ("busy_time_us", 168, 8),
    ("rwnd_limited_us", 176, 8),
    ("sndbuf_limited_us", 184, 8),
    ("delivered", 192, 4),
    ("delivered_ce", 196, 4),
    ("bytes_sent", 200, 8),
    ("bytes_retrans", 208, 8),
    ("dsack_dups", 216, 4),
    ("reord_seen", 220, 4),
    ("rcv_ooopack", 224, 4),
    ("snd_wnd_bytes", 228, 4),
    ("rcv_wnd_bytes", 232, 4),
    ("total_rto", 240, 2),
    ("total_rto_recoveries", 242, 2),
    ("total_rto_time_ms", 244, 4),
];

/// What the kernel says of a TCP socket.
///
/// # Errors
/// The socket is none of TCP's.
pub fn read(socket: &impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; 512];
    let length = sys::tcp_info(socket.as_fd(), &mut bytes)?;
    Ok(decode(&bytes[..length.min(bytes.len())]))
}

fn decode(bytes: &[u8]) -> TcpInfo {
    FIELDS
        .iter()
        .filter_map(|&(name, offset, size)| {
            let mut word = [0_u8; 8];
            word[..size].copy_from_slice(bytes.get(offset..offset + size)?);
            Some((name.to_owned(), u64::from_le_bytes(word)))
        })
        .collect()
}

#[cfg(test)]
#[path = "tcp_info_tests.rs"]
mod tests;
