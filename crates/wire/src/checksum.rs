//! The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit
//! words.

use std::net::IpAddr;

/// IP's protocol number of TCP (RFC 9293).
pub(crate) const TCP: u8 = 6;

/// A sum in the making.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes; a last odd one is padded with zero, so only the last piece may be odd.
    #[must_use]
    pub fn plus(mut self, bytes: &[u8]) -> Sum {
        let mut words = bytes.chunks_exact(2);
        for word in &mut words {
            self.0 += u64::from(u16::from_be_bytes([word[0], word[1]]));
        }
        if let [last] = words.remainder() {
            self.0 += u64::from(*last) << 8;
        }
        self
    }

    /// Adds TCP's pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1).
    #[must_use]
    pub fn pseudo_header(self, from: IpAddr, to: IpAddr, tcp_bytes: usize) -> Sum {
        let mut sum = match from {
            IpAddr::V4(address) => self.plus(&address.octets()),
            IpAddr::V6(address) => self.plus(&address.octets()),
        };
        sum = match to {
            IpAddr::V4(address) => sum.plus(&address.octets()),
            IpAddr::V6(address) => sum.plus(&address.octets()),
        };
        sum.0 += u64::from(TCP) + tcp_bytes as u64;
        sum
    }

    /// The checksum: what goes into the header, or zero over bytes that include a right one.
    #[must_use]
    pub fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn the_example_of_rfc_1071_sums_as_there() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().plus(&bytes).finish(), !0xddf2);
    }

    #[test]
    fn an_odd_byte_counts_as_a_high_one() {
        assert_eq!(Sum::default().plus(&[0x12]).finish(), !0x1200);
    }
}
