//! TCP segmentation offload: one large packet becomes frames of the segment size.
//!
//! As cards do it and Linux' own software segmentation (net/ipv4/tcp_offload.c, behaviour): sequence
//! number and IP identification advance from segment to segment, FIN and PSH are on the last only,
//! CWR on the first only, lengths and the IPv4 header checksum are each segment's own.

use tailback_wire::Sum;

use super::packet::{Checksum, Network, Packet, network};

const FIN_AND_PSH: u8 = 0x01 | 0x08;
const CWR: u8 = 0x80;
/// IP's protocol number of TCP as a word of the pseudo-header.
const TCP: [u8; 2] = [0, 6];
/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM: usize = 16;

/// Cuts a TCP packet into segments with `segment_bytes` of payload at most, each written into a
/// buffer that `buffer` gives, and hands them to `emit` in order.
pub(super) fn cut<B, E>(
    packet: &[u8],
    segment_bytes: u16,
    mut buffer: B,
    mut emit: E,
) -> Result<(), String>
where
    B: FnMut() -> Vec<u8>,
    E: FnMut(Packet),
{
    let malformed = || "a packet to be cut into segments is no TCP packet".to_owned();
    let ip = network(packet).ok_or_else(malformed)?;
    let tcp = match ip {
        Network::V4(at) => at + 4 * usize::from(packet.get(at).ok_or_else(malformed)? & 0x0f),
        Network::V6(at) => at + 40,
    };
    let words = packet.get(tcp + 12).ok_or_else(malformed)? >> 4;
    let headers = tcp + 4 * usize::from(words);
    if packet.len() <= headers || words < 5 {
        return Err(malformed());
    }
    let first_seq = u32::from_be_bytes([0, 1, 2, 3].map(|i| packet[tcp + 4 + i]));
    let payload = &packet[headers..];
    let step = usize::from(segment_bytes);
    let count = payload.len().div_ceil(step);
    for (number, part) in payload.chunks(step).enumerate() {
        let mut bytes = buffer();
        bytes.clear();
        bytes.extend_from_slice(&packet[..headers]);
        bytes.extend_from_slice(part);
        let seq = first_seq.wrapping_add((number * step) as u32);
        bytes[tcp + 4..tcp + 8].copy_from_slice(&seq.to_be_bytes());
        if number + 1 < count {
            bytes[tcp + 13] &= !FIN_AND_PSH;
        }
        if number > 0 {
            bytes[tcp + 13] &= !CWR;
        }
        let addresses = match ip {
            Network::V4(at) => {
                finish_ipv4(&mut bytes[at..], number as u16, tcp - at);
                at + 12..at + 20
            }
            Network::V6(at) => {
                let length = (bytes.len() - at - 40) as u16;
                bytes[at + 4..at + 6].copy_from_slice(&length.to_be_bytes());
                at + 8..at + 40
            }
        };
        let length = (bytes.len() - tcp) as u16;
        let sum = Sum::default().plus(&bytes[addresses]).plus(&TCP);
        let pseudo = !sum.plus(&length.to_be_bytes()).finish();
        let field = tcp + TCP_CHECKSUM;
        bytes[field..field + 2].copy_from_slice(&pseudo.to_be_bytes());
        emit(Packet {
            bytes,
            checksum: Checksum::Partial {
                start: tcp as u16,
                offset: TCP_CHECKSUM as u16,
            },
        });
    }
    Ok(())
}

/// Gives segment `number` its IPv4 length, identification and header checksum.
fn finish_ipv4(ip: &mut [u8], number: u16, header: usize) {
    let length = ip.len() as u16;
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(number);
    ip[4..6].copy_from_slice(&identification.to_be_bytes());
    ip[10..12].fill(0);
    let sum = Sum::default().plus(&ip[..header]).finish();
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
