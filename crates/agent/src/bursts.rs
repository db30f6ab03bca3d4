//! Bursts of datagrams whose every one says when it was sent: what queue disciplines are held against.
//!
//! A burst's datagrams leave back to back. Each begins with its flow and its number (four bytes each) and the
//! time of the call since the first flow's zero (eight bytes, ns), big-endian.

use std::net::{Ipv4Addr, UdpSocket};
use std::str::FromStr;
use std::time::{Duration, Instant};

use socket2::SockRef;

use crate::sys;

/// Flow, number and time.
const STAMP_BYTES: usize = 16;

/// A flow's bursts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flow {
    port: u16,
    payload_bytes: usize,
    tos: u32,
    start: Duration,
    gap: Duration,
    bursts: u32,
    datagrams: u32,
}

impl FromStr for Flow {
    type Err = String;

    fn from_str(text: &str) -> Result<Flow, String> {
        let numbers: Vec<u32> = text
            .split(',')
            .map(|part| {
                part.parse()
                    .map_err(|_| format!("{text}: {part} is no number"))
            })
            .collect::<Result<_, String>>()?;
        let [port, bytes, tos, start_us, gap_us, bursts, datagrams] = numbers[..] else {
            return Err(format!("{text}: seven numbers make a flow"));
        };
        Ok(Flow {
            port: u16::try_from(port).map_err(|_| format!("{text}: {port} is no port"))?,
            payload_bytes: (bytes as usize).max(STAMP_BYTES),
            tos,
            start: Duration::from_micros(start_us.into()),
            gap: Duration::from_micros(gap_us.into()),
            bursts,
            datagrams,
        })
    }
}

/// Sends to `address` the flows that are said as `port,bytes,tos,start_us,gap_us,bursts,datagrams`.
///
/// # Errors
///
/// In words, if a flow cannot be read or its socket not be had; what a full queue refuses is no error.
pub fn send(address: &str, flows: &[&str]) -> Result<(), String> {
    sys::least_timer_slack();
    let address: Ipv4Addr = address
        .parse()
        .map_err(|_| format!("{address} is no address"))?;
    let flows: Vec<Flow> = flows
        .iter()
        .map(|flow| flow.parse())
        .collect::<Result<_, _>>()?;
    let mut due: Vec<(Duration, usize)> = Vec::new();
    for (number, flow) in flows.iter().enumerate() {
        due.extend((0..flow.bursts).map(|burst| (flow.start + flow.gap * burst, number)));
    }
    due.sort();
    let open = |flow: &Flow| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, flow.port))?;
        SockRef::from(&socket).set_tos_v4(flow.tos)?;
        std::io::Result::Ok(socket)
    };
    let sockets: Vec<UdpSocket> = flows
        .iter()
        .map(|flow| open(flow).map_err(|error| format!("port {}: {error}", flow.port)))
        .collect::<Result<_, _>>()?;
    let mut numbers = vec![0_u32; flows.len()];
    let started = Instant::now();
    for (at, flow) in due {
        std::thread::sleep(at.saturating_sub(started.elapsed()));
        let Flow {
            port,
            payload_bytes,
            datagrams,
            ..
        } = flows[flow];
        let mut payload = vec![0; payload_bytes];
        for _ in 0..datagrams {
            payload[..4].copy_from_slice(&(flow as u32).to_be_bytes());
            payload[4..8].copy_from_slice(&numbers[flow].to_be_bytes());
            let now = started.elapsed().as_nanos() as u64;
            payload[8..STAMP_BYTES].copy_from_slice(&now.to_be_bytes());
            numbers[flow] += 1;
            // What the queue drops at once it says (ENOBUFS); what is missing on the wire says so too.
            let _ = sockets[flow].send_to(&payload, (address, port));
        }
    }
    Ok(())
}
