//! Memory that a connection's end takes while nothing goes on: opens many pairs, lets each carry a
//! request, and prints what the process has grown by, per end:
//! `cargo run --release -p tailback-tcp --example idle`

use std::error::Error;
use std::sync::Arc;

use tailback_tcp::{Config, Connection, PRESETS, SocketOptions, Stack};
use tailback_units::{Duration, Time};

/// Pairs opened.
const PAIRS: u64 = 50_000;
/// Payload of a full segment on Ethernet, bytes.
const MSS: u16 = 1460;
/// Bytes of a request.
const REQUEST_BYTES: u64 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let (_, text) = PRESETS
        .iter()
        .find(|(name, _)| *name == "linux-7.2")
        .ok_or("no such preset")?;
    let stack: Arc<Stack> = Arc::new(toml::from_str(text)?);
    let options = Arc::new(SocketOptions::default());
    let config = |seed| Config {
        stack: Arc::clone(&stack),
        mss: MSS,
        clock_phase: Duration::ZERO,
        options: Arc::clone(&options),
        rx_truesize_bytes: 2304,
        rx_head_bytes: 0,
        seed,
    };
    let before = resident_bytes()?;
    let mut pairs = Vec::new();
    for number in 0..PAIRS {
        let now = Time::ZERO + Duration::from_ms(number);
        pairs.push(pair(&config(2 * number), &config(2 * number + 1), now)?);
    }
    let bytes = (resident_bytes()? - before) / (2 * PAIRS);
    println!(
        r#"{{"bytes_per_end": {bytes}, "struct_bytes": {}}}"#,
        size_of::<Connection>()
    );
    Ok(())
}

/// Two ends that have opened a connection, and of which the first has sent a request.
fn pair(
    client: &Config,
    server: &Config,
    now: Time,
) -> Result<[Box<Connection>; 2], Box<dyn Error>> {
    let mut client = Box::new(Connection::connect(client, now));
    let syn = client.poll_transmit(now).ok_or("no SYN")?.segment;
    let mut server = Box::new(Connection::accept(server, now, &syn));
    exchange([&mut client, &mut server], now);
    client.write(now, REQUEST_BYTES);
    exchange([&mut client, &mut server], now);
    let later = now + Duration::from_ms(200);
    server.handle_timeout(later);
    exchange([&mut client, &mut server], later);
    if client.stats().bytes_acked < REQUEST_BYTES {
        return Err("the request did not arrive".into());
    }
    Ok([client, server])
}

/// Hands segments over until there are none.
fn exchange(ends: [&mut Connection; 2], now: Time) {
    let mut any = true;
    while std::mem::take(&mut any) {
        for from in [0, 1] {
            while let Some(transmit) = ends[from].poll_transmit(now) {
                any = true;
                ends[1 - from].handle_segment(now, &transmit.segment);
                while ends[1 - from].poll_event().is_some() {}
                ends[1 - from].read(now, u64::MAX);
            }
        }
    }
}

/// Memory of this process, bytes (/proc/self/status).
fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    Ok(1024 * kib.ok_or("/proc/self/status has no VmRSS")?)
}
