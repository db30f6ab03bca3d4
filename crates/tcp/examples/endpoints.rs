//! Two endpoints back to back, without a network between them, and what they cost as a line of JSON:
//! `cargo run --release -p tailback-tcp --example endpoints -- PROFILE SEGMENTS LOSS_EVERY`
//!
//! One end writes without pause, the other reads at once; frames arrive 10 µs after they are sent,
//! in order. Of the data frames each LOSS_EVERY-th is lost; 0: none.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use tailback_tcp::{Config, Connection, Event, PRESETS, Segment, Stack};
use tailback_units::{Duration, Time};

const DELAY: Duration = Duration::from_us(10);
/// What a frame of 1538 bytes takes on a link of 10 Gb/s.
const FRAME_TIME: Duration = Duration::from_ns(1230);

fn main() -> ExitCode {
    match measure() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<String, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [profile, segments, loss_every] = &arguments[..] else {
        return Err("name a profile, the number of segments, and which of them is lost".into());
    };
    let number = |text: &str| text.parse::<u64>().map_err(|e| format!("{text}: {e}"));
    let preset = PRESETS.iter().find(|(name, _)| name == profile);
    let (_, text) = preset.ok_or_else(|| format!("no profile is called {profile}"))?;
    let stack: Stack = toml::from_str(text).map_err(|e| format!("{profile}: {e}"))?;
    let before = cpu_s();
    let frames = run(&Arc::new(stack), number(segments)?, number(loss_every)?);
    let cpu_s = cpu_s() - before;
    Ok(format!(
        r#"{{"segments": {frames}, "cpu_s": {cpu_s:.4}, "segments_per_cpu_s": {:.0}, "connection_bytes": {}}}"#,
        frames as f64 / cpu_s,
        size_of::<Connection>(),
    ))
}

/// CPU time of this process so far, seconds.
fn cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Converses for at least so many segments: how many there were.
fn run(stack: &Arc<Stack>, segments: u64, loss_every: u64) -> u64 {
    let config = |seed| Config {
        stack: Arc::clone(stack),
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
    while frames < segments {
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
    frames
}
