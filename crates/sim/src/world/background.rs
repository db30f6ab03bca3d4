//! Background traffic: datagrams beside the workload ([`tailback_scenario::Background`]).
//!
//! Its frames go through the sending host's transmit queue, links and switches as any do, and through the
//! receiving host's receive path, a machine's included, which throws them away. Left out: what sending
//! costs the sender's CPU, and the ICMP message that answers a datagram nobody reads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailback_net::frame::{Frame, HostId};
use tailback_net::random::Stream;
use tailback_scenario::{Arrivals, Background as Spec, Run};
use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use super::World;
use super::echo::Stray;
use crate::tables::Table;

/// What datagrams bear that are ECN-capable, and those that are not.
pub(super) fn ecn(is_capable: bool) -> Ecn {
    if is_capable { Ecn::Ect0 } else { Ecn::NotEct }
}

/// One source and its destination.
#[derive(Debug)]
struct Source {
    hosts: [HostId; 2],
    payload_bytes: u16,
    priority: u8,
    ecn: Ecn,
    arrivals: Arrivals,
    gap: Duration,
    from: Time,
    until: Time,
    stream: Stream,
    sent: u64,
    received: u64,
    /// Datagrams that the host's transmit queue had no room for.
    refused: u64,
}

impl Source {
    fn new(spec: &Spec, number: u64, run: &Run) -> Source {
        let (source, destination) = spec.ends(&run.network);
        Source {
            hosts: [source, destination].map(|host| HostId(host as u16)),
            payload_bytes: spec.datagram.get() as u16,
            priority: spec.priority,
            ecn: ecn(spec.ecn),
            arrivals: spec.arrivals,
            gap: spec.gap(),
            from: Time::ZERO + spec.from,
            until: spec.until.map_or(Time::NEVER, |until| Time::ZERO + until),
            stream: Stream::new(run.seed, "background", number),
            sent: 0,
            received: 0,
            refused: 0,
        }
    }

    /// How long after one datagram the next comes.
    fn next_gap(&mut self) -> Duration {
        match self.arrivals {
            Arrivals::Constant => self.gap,
            Arrivals::Poisson => self.exponential(),
        }
    }

    fn exponential(&mut self) -> Duration {
        Duration::from_ps(self.stream.exponential(self.gap.as_ps()))
    }

    /// When the first comes: sources of one rate are not in step.
    fn first(&mut self) -> Time {
        let ahead = match self.arrivals {
            Arrivals::Constant => Duration::from_ps(self.stream.below(self.gap.as_ps().max(1))),
            Arrivals::Poisson => self.exponential(),
        };
        self.from + ahead
    }
}

/// All background traffic of a run.
#[derive(Debug)]
pub(crate) struct Background {
    /// Its rank in the calendar.
    pub(crate) rank: u32,
    sources: Vec<Source>,
    next: BinaryHeap<Reverse<(Time, usize)>>,
}

impl Background {
    /// That of a run, if it has any.
    pub(crate) fn new(run: &Run, rank: u32) -> Option<Box<Background>> {
        let mut sources: Vec<Source> = (0..)
            .zip(&run.background)
            .map(|(number, spec)| Source::new(spec, number, run))
            .collect();
        let firsts = sources.iter_mut().enumerate();
        let next = firsts
            .map(|(i, source)| Reverse((source.first(), i)))
            .collect();
        (!sources.is_empty()).then(|| {
            Box::new(Background {
                rank,
                sources,
                next,
            })
        })
    }

    fn due(&self) -> Option<Time> {
        self.next.peek().map(|Reverse((at, _))| *at)
    }

    /// The table `background`: a row for each source.
    pub(crate) fn table(&self, names: &[String]) -> Table {
        let rows = &self.sources;
        let host = |end: usize| {
            rows.iter()
                .map(move |s| names[usize::from(s.hosts[end].0)].clone())
        };
        let payload_bytes = rows.iter().map(|s| s.received * u64::from(s.payload_bytes));
        Table::new("background")
            .names("source", host(0))
            .names("destination", host(1))
            .counts("datagrams_sent", rows.iter().map(|s| s.sent))
            .counts("datagrams_received", rows.iter().map(|s| s.received))
            .counts("datagrams_refused", rows.iter().map(|s| s.refused))
            .counts("received_bytes", payload_bytes)
    }
}

impl World {
    /// Sees to it that background traffic begins.
    pub(super) fn start_background(&mut self) {
        if let Some(background) = &self.background
            && let Some(at) = background.due()
        {
            self.calendar.schedule(background.rank, at);
        }
    }

    /// A datagram of the background is due.
    #[cold]
    pub(super) fn handle_background(&mut self) {
        let now = self.now;
        while let Some(background) = &mut self.background
            && let Some(Reverse((at, number))) = background.next.peek().copied()
            && at <= now
        {
            background.next.pop();
            let source = &mut background.sources[number];
            let next = at + source.next_gap();
            if at >= source.until {
                continue;
            }
            let [from, to] = source.hosts;
            let end = Stray::background(number);
            let offered = (source.sent + source.refused) as u32;
            let mut frame = Frame::datagram(offered, source.ecn, source.payload_bytes, end, to);
            frame.segment.ack = tailback_tcp::Seq(from.0.into());
            frame.segment.priority = source.priority;
            background.next.push(Reverse((next, number)));
            let admitted = self.send_frame(usize::from(from.0), frame).is_some();
            if let Some(background) = &mut self.background {
                let source = &mut background.sources[number];
                source.sent += u64::from(admitted);
                source.refused += u64::from(!admitted);
            }
        }
        self.start_background();
    }

    /// A datagram of the background has come through its destination's receive path.
    pub(super) fn background_came(&mut self, source: usize) {
        if let Some(background) = &mut self.background
            && let Some(source) = background.sources.get_mut(source)
        {
            source.received += 1;
        }
    }
}
