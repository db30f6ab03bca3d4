//! Datagrams at a constant rate, each with its number and the time it was sent at, and their exact count at the
//! receiver.

use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use super::Context;
use super::options::{self, Buffer};
use super::socket::said;
use crate::config;
use crate::delays::Delays;
use crate::record::Record;

/// Bytes of a datagram's number, and of the time at which it was sent, behind that where there is room.
const NUMBER_BYTES: usize = 8;
const TIME_BYTES: usize = 8;

/// Largest UDP payload over IPv4.
const PAYLOAD_BYTES_MAX: usize = 65_507;

pub(super) fn source(context: &Context<'_>, task: &config::UdpSource) -> io::Result<()> {
    let clock = context.clock;
    let length = task.payload_bytes as usize;
    if !(NUMBER_BYTES..=PAYLOAD_BYTES_MAX).contains(&length) || task.rate_bps == 0 {
        return Err(io::Error::other(format!(
            "a payload of {length} bytes at {} bit/s; from {NUMBER_BYTES} to {PAYLOAD_BYTES_MAX} \
             bytes, and a rate above zero",
            task.rate_bps
        )));
    }
    let peer = SocketAddrV4::new(task.address, task.port);
    let socket = UdpSocket::bind((context.address(), 0))?;
    socket.connect(peer)?;
    let mut payload = vec![0; length];
    let started_ns = clock.now_ns();
    let (mut datagrams, mut refused) = (0_u64, 0_u64);
    // The n-th leaves at n payloads' time, so that rounding never adds up.
    let due_ns = |n: u64| {
        let bits = u128::from(n) * length as u128 * 8;
        (bits * 1_000_000_000 / u128::from(task.rate_bps)) as u64
    };
    let is_over = || clock.now_ns() >= started_ns + task.duration_ns;
    while due_ns(datagrams + refused) < task.duration_ns && !is_over() {
        clock.sleep_until(started_ns + due_ns(datagrams + refused));
        payload[..NUMBER_BYTES].copy_from_slice(&(datagrams + refused).to_be_bytes());
        if let Some(time) = payload[NUMBER_BYTES..].first_chunk_mut::<TIME_BYTES>() {
            *time = clock.now_ns().to_be_bytes();
        }
        match socket.send(&payload) {
            Ok(_) => datagrams += 1,
            // The queue is full (ENOBUFS), or an earlier one met nobody: the next is due soon.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => refused += 1,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(said(&format!("send to {peer}"), &error)),
        }
    }
    context.recorder.add(&Record::UdpSent {
        peer,
        datagrams,
        refused,
        bytes: datagrams * length as u64,
        started_ns,
        ended_ns: clock.now_ns(),
    });
    Ok(())
}

/// What has come, by number.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arrivals {
    /// A bit for each number up to the highest.
    seen: Vec<u64>,
    /// One more than the highest number.
    end: u64,
    datagrams: u64,
    different: u64,
    /// Numbers that came after a higher one, or again.
    late: Vec<u64>,
}

impl Arrivals {
    fn add(&mut self, number: u64) {
        self.datagrams += 1;
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit == 0 {
            self.seen[word] |= bit;
            self.different += 1;
        }
        if number < self.end {
            self.late.push(number);
        }
        self.end = self.end.max(number + 1);
    }

    fn lost(&self) -> u64 {
        self.end - self.different
    }

    /// What is missing, in rows.
    fn missing(&self) -> Vec<(u64, u64)> {
        let mut rows: Vec<(u64, u64)> = Vec::new();
        let came = |number: u64| self.seen[(number / 64) as usize] & (1 << (number % 64)) != 0;
        for number in (0..self.end).filter(|number| !came(*number)) {
            match rows.last_mut() {
                Some((first, count)) if *first + *count == number => *count += 1,
                _ => rows.push((number, 1)),
            }
        }
        rows
    }

    fn duplicates(&self) -> u64 {
        self.datagrams - self.different
    }
}

/// RFC 3550, 6.4.1: the mean change of the transit time from one datagram to the next, each weighing
/// a sixteenth.
#[derive(Debug, Default)]
struct Jitter {
    last_ns: Option<u64>,
    mean_ns: u64,
}

impl Jitter {
    /// A datagram was so long on its way, but for a constant.
    fn add(&mut self, transit_ns: u64) {
        if let Some(last_ns) = self.last_ns.replace(transit_ns) {
            let change_ns = transit_ns.abs_diff(last_ns);
            self.mean_ns = self.mean_ns - self.mean_ns / 16 + change_ns / 16;
        }
    }
}

pub(super) fn sink(context: &Context<'_>, task: &config::UdpSink) -> io::Result<()> {
    let clock = context.clock;
    let socket = UdpSocket::bind((context.address(), task.port))?;
    if let Some(bytes) = task.window_bytes {
        options::set_buffer(socket.as_fd(), Buffer::Receive, bytes, context.config)?;
    }
    let wait_until = |time_ns| {
        let left_ns = clock.left_ns(time_ns);
        socket.set_read_timeout(Some(Duration::from_nanos(left_ns.max(1))))
    };
    if let Some(end_ns) = task.end_ns {
        wait_until(end_ns)?;
    }
    // Whether the time-out has been shortened: what others send must not make it last.
    let mut is_shortened = false;
    let mut jitter = Jitter::default();
    let mut delays = Delays::default();
    let mut buffer = vec![0; PAYLOAD_BYTES_MAX];
    let mut arrivals = Arrivals::default();
    let (mut bytes, mut started_ns, mut ended_ns) = (0, 0, 0);
    loop {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // Datagrams may be rarer than it is patient: that ends nothing before its end.
                let left_ns = task.end_ns.map_or(0, |end_ns| clock.left_ns(end_ns));
                if left_ns == 0 {
                    break;
                }
                let patience_ns = left_ns.min(task.idle_ns.max(1));
                socket.set_read_timeout(Some(Duration::from_nanos(patience_ns)))?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let number = buffer[..length].first_chunk::<NUMBER_BYTES>();
        let number = number.map(|number| u64::from_be_bytes(*number));
        let own = |number: &u64| task.numbers.is_none_or(|numbers| *number < numbers);
        let Some(number) = number.filter(own).filter(|_| context.takes_from(&from)) else {
            let patient_ns = (arrivals.datagrams > 0).then_some(ended_ns + task.idle_ns);
            if let Some(end_ns) = task.end_ns.or(patient_ns) {
                if clock.left_ns(end_ns) == 0 {
                    break;
                }
                wait_until(end_ns)?;
                is_shortened = true;
            }
            continue;
        };
        ended_ns = clock.now_ns();
        if arrivals.datagrams == 0 || is_shortened {
            socket.set_read_timeout(Some(Duration::from_nanos(task.idle_ns.max(1))))?;
            is_shortened = false;
        }
        if arrivals.datagrams == 0 {
            started_ns = ended_ns;
        }
        bytes += length as u64;
        arrivals.add(number);
        if let Some(sent_ns) = buffer[NUMBER_BYTES..length.max(NUMBER_BYTES)].first_chunk() {
            delays.add(ended_ns.saturating_sub(u64::from_be_bytes(*sent_ns)));
        }
        jitter.add(ended_ns.saturating_sub(number.saturating_mul(task.gap_ns)));
    }
    context.recorder.add(&Record::UdpReceived {
        port: task.port,
        datagrams: arrivals.datagrams,
        bytes,
        lost: arrivals.lost(),
        reordered: arrivals.late.len() as u64,
        duplicates: arrivals.duplicates(),
        missing: arrivals.missing(),
        late: arrivals.late,
        jitter_ns: jitter.mean_ns,
        delays: delays.told(),
        started_ns,
        ended_ns,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_reordering_and_duplicates_are_told_apart() {
        let mut arrivals = Arrivals::default();
        for number in [0, 1, 4, 3, 4, 200] {
            arrivals.add(number);
        }
        assert_eq!(arrivals.lost(), 201 - 5);
        assert_eq!(arrivals.duplicates(), 1);
        assert_eq!(arrivals.late, [3, 4]);
        assert_eq!(arrivals.missing(), [(2, 1), (5, 195)]);
    }
}
