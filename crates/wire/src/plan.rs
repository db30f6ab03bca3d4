//! The address plan: which MAC and IP address a host has, and which port an endpoint.
//!
//! Hosts are numbered in a run, endpoints too. A host's IPv4 address is in 10.0.0.0/8 (RFC 1918),
//! its IPv6 address in fd00::/8 (RFC 4193), its MAC address is locally administered (IEEE 802
//! clause 8.4). Endpoint numbers are unique in a run, so two connections between the same hosts
//! differ in their ports as long as a run has no more than [`PORTS`] endpoints.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::ethernet::Mac;

/// First port given out: those below are the system's (RFC 6335 section 6).
pub const FIRST_PORT: u16 = 1024;
/// Ports given out before they repeat.
pub const PORTS: u32 = 65_536 - FIRST_PORT as u32;

/// The MAC address of a host.
#[must_use]
pub const fn mac(host: u16) -> Mac {
    let [high, low] = host.to_be_bytes();
    [0x02, 0x54, 0x42, 0x00, high, low]
}

/// The host with this MAC address, if it is one of the plan.
#[must_use]
pub fn host_of_mac(address: Mac) -> Option<u16> {
    let host = u16::from_be_bytes([address[4], address[5]]);
    (mac(host) == address).then_some(host)
}

/// The IPv4 address of a host: 10.0.0.1 for host 0; the last byte is never 0 or 255.
#[must_use]
pub const fn ipv4(host: u16) -> Ipv4Addr {
    let (network, last) = (host / 254, host % 254);
    let [high, low] = network.to_be_bytes();
    Ipv4Addr::new(10, high, low, last as u8 + 1)
}

/// The host with this IPv4 address, if it is one of the plan.
#[must_use]
pub fn host_of_ipv4(address: Ipv4Addr) -> Option<u16> {
    let [_, high, low, last] = address.octets();
    let host = u32::from(u16::from_be_bytes([high, low])) * 254 + u32::from(last.checked_sub(1)?);
    let host = u16::try_from(host).ok()?;
    (ipv4(host) == address).then_some(host)
}

/// The IPv6 address of a host: fd54:42::1 for host 0.
#[must_use]
pub const fn ipv6(host: u16) -> Ipv6Addr {
    let number = host as u32 + 1;
    Ipv6Addr::new(
        0xfd54,
        0x42,
        0,
        0,
        0,
        0,
        (number >> 16) as u16,
        number as u16,
    )
}

/// The port of an endpoint.
#[must_use]
pub const fn port(endpoint: u32) -> u16 {
    FIRST_PORT + (endpoint % PORTS) as u16
}

#[cfg(test)]
mod tests {
    use super::{host_of_ipv4, host_of_mac, ipv4, mac};

    #[test]
    fn every_host_has_addresses_of_its_own() {
        for host in 0..=u16::MAX {
            assert_eq!(host_of_ipv4(ipv4(host)), Some(host));
            assert_eq!(host_of_mac(mac(host)), Some(host));
            assert!(!matches!(ipv4(host).octets()[3], 0 | 255));
        }
    }
}
