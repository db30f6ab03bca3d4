//! The guest's interface: MTU, offloads, address, neighbours.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;

use crate::config::{GuestConfig, Offloads};
use crate::sys;

// include/uapi/linux/ethtool.h
const ETHTOOL_STXCSUM: u32 = 0x17;
const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGSO: u32 = 0x24;
const ETHTOOL_SGRO: u32 = 0x2c;

/// Sets the interface up as the configuration says, and loopback.
pub(super) fn set_up(config: &GuestConfig) -> Result<(), String> {
    let interface = &config.interface;
    let name = interface.name.as_str();
    let failed = |what: &str| {
        let what = format!("{name}: {what}");
        move |error: io::Error| format!("{what}: {error}")
    };
    // Any socket will do; it is closed again before there are addresses.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(failed("a socket"))?;
    let socket = socket.as_fd();
    sys::set_up(socket, "lo").map_err(failed("loopback up"))?;
    sys::set_mtu(socket, name, interface.mtu_bytes)
        .map_err(failed(&format!("MTU {}", interface.mtu_bytes)))?;
    for (what, command, value) in offloads(interface.offloads) {
        sys::ethtool(socket, name, command, u32::from(value)).map_err(failed(what))?;
    }
    if interface.whole_ring {
        let limit = format!("/sys/class/net/{name}/queues/tx-0/byte_queue_limits/limit_min");
        // More than any ring holds.
        fs::write(limit, "max").map_err(failed("byte queue limits"))?;
    }
    let mask = mask(interface.prefix_length);
    sys::set_address(socket, name, interface.address, mask)
        .map_err(failed(&format!("address {}", interface.address)))?;
    sys::set_up(socket, name).map_err(failed("up"))?;
    for neighbour in &config.neighbours {
        let mac = parse_mac(&neighbour.mac)
            .ok_or_else(|| format!("{name}: {:?} is no Ethernet address", neighbour.mac))?;
        sys::set_neighbour(socket, name, neighbour.address, mac)
            .map_err(failed(&format!("neighbour {}", neighbour.address)))?;
    }
    Ok(())
}

/// What to switch, in an order in which the kernel takes it: segmentation needs checksums.
fn offloads(wanted: Offloads) -> impl Iterator<Item = (&'static str, u32, bool)> {
    let switches = [
        ("tx_checksum", ETHTOOL_STXCSUM, wanted.tx_checksum),
        ("tso", ETHTOOL_STSO, wanted.tso),
        ("gso", ETHTOOL_SGSO, wanted.gso),
        ("gro", ETHTOOL_SGRO, wanted.gro),
    ];
    switches
        .into_iter()
        .filter_map(|(name, command, value)| value.map(|value| (name, command, value)))
}

fn mask(prefix_length: u8) -> Ipv4Addr {
    let host_bits = 32 - u32::from(prefix_length.min(32));
    Ipv4Addr::from(u32::MAX.checked_shl(host_bits).unwrap_or(0))
}

fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        *byte = u8::from_str_radix(parts.next()?, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!(mask(8), Ipv4Addr::new(255, 0, 0, 0));
        assert_eq!(mask(32), Ipv4Addr::BROADCAST);
        assert_eq!(mask(0), Ipv4Addr::UNSPECIFIED);
    }

    #[test]
    fn ethernet_addresses() {
        assert_eq!(parse_mac("02:00:0a:00:00:ff"), Some([2, 0, 10, 0, 0, 255]));
        assert_eq!(parse_mac("02:00:0a:00:00"), None);
        assert_eq!(parse_mac("02:00:0a:00:00:01:02"), None);
    }
}
