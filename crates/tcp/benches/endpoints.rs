//! Two endpoints back to back: segments for each second of CPU, without a network between them.
//!
//! `cargo bench -p tailback-tcp`. One end writes without pause, the other reads at once; frames
//! arrive 10 µs after they are sent, in order. Each profile runs without loss, and losing one data
//! frame in a thousand.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tailback_tcp::{Config, Connection, Event, PRESETS, Segment, Stack};
use tailback_units::{Duration, Time};

const FRAMES: u64 = 3_000_000;
const DELAY: Duration = Duration::from_us(10);
/// What a frame of 1538 bytes takes on a link of 10 Gb/s.
const FRAME_TIME: Duration = Duration::from_ns(1230);

fn main() {
    println!("{} bytes a connection", size_of::<Connection>());
    for profile in ["linux-2.6.18", "linux-7.2"] {
        for loss_every in [0, 1000] {
            let (frames, seconds) = run(profile, loss_every);
            let name = if loss_every == 0 {
                "no loss"
            } else {
                "one frame in 1000 lost"
            };
            println!(
                "{profile:14} {name:24} {:8.2} M segments/s ({frames} segments in {seconds:.2} s)",
                frames as f64 / seconds / 1e6
            );
        }
    }
}

fn run(profile: &str, loss_every: u64) -> (u64, f64) {
    let preset = PRESETS.iter().find(|(name, _)| *name == profile);
    let (_, text) = preset.expect("the preset exists");
    let stack: Stack = toml::from_str(text).expect("the preset is complete");
    let stack = Arc::new(stack);
    let config = |seed| Config {
        stack: Arc::clone(&stack),
        mss: 1460,
        clock_phase: Duration::ZERO,
        options: tailback_tcp::SocketOptions::default().into(),
        rx_truesize_bytes: 1900,
        rx_head_bytes: 0,
        seed,
    };
    let mut now = Time::ZERO + Duration::from_ms(1);
    let mut ends = [Some(Connection::connect(&config(1), now)), None];
    let mut wires = [VecDeque::<(Time, Segment)>::new(), VecDeque::new()];
    let (mut frames, mut lost_after) = (0_u64, 0_u64);
    let started = Instant::now();
    while frames < FRAMES {
        for end in 0..2 {
            let Some(connection) = &mut ends[end] else {
                continue;
            };
            while let Some(event) = connection.poll_event() {
                match event {
                    Event::Readable => {
                        connection.read(now, u64::MAX);
                    }
                    Event::Connected | Event::Writable if end == 0 => {
                        connection.write(now, 1 << 30);
                    }
                    _ => {}
                }
            }
            let mut leaves = wires[end]
                .back()
                .map_or(now, |(at, _)| at.before(DELAY))
                .max(now);
            while let Some(transmit) = connection.poll_transmit(now) {
                let mut left = u32::from(transmit.segment.payload_bytes);
                let mut segment = transmit.segment;
                loop {
                    let bytes = left.min(u32::from(transmit.mss));
                    segment.payload_bytes = bytes as u16;
                    leaves += FRAME_TIME;
                    lost_after += u64::from(bytes > 0);
                    if loss_every == 0 || bytes == 0 || !lost_after.is_multiple_of(loss_every) {
                        wires[end].push_back((leaves + DELAY, segment));
                    }
                    frames += 1;
                    segment.seq += bytes;
                    left -= bytes;
                    if left == 0 {
                        break;
                    }
                }
            }
        }
        let deadline =
            |c: &Option<Connection>| c.as_ref().map_or(Time::NEVER, Connection::poll_timeout);
        let arrival = |w: &VecDeque<(Time, Segment)>| w.front().map_or(Time::NEVER, |(at, _)| *at);
        let next = [
            deadline(&ends[0]),
            deadline(&ends[1]),
            arrival(&wires[0]),
            arrival(&wires[1]),
        ];
        now = next.into_iter().min().unwrap_or(now).max(now);
        for end in 0..2 {
            let wire = &mut wires[1 - end];
            if wire.front().is_some_and(|(at, _)| *at <= now) {
                let Some((_, segment)) = wire.pop_front() else {
                    continue;
                };
                match &mut ends[end] {
                    Some(connection) => connection.handle_segment(now, &segment),
                    None => ends[end] = Some(Connection::accept(&config(2), now, &segment)),
                }
            }
            if let Some(connection) = ends[end].as_mut().filter(|c| c.poll_timeout() <= now) {
                connection.handle_timeout(now);
            }
        }
    }
    (frames, started.elapsed().as_secs_f64())
}
