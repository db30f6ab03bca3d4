//! What workload `ping` adds to the tables.

use tailback_units::Duration;

use crate::outcome::quantile;
use crate::tables::Table;
use crate::workload::{PingApp, Request};
use crate::world::{Totals, World};

/// The table `summary`: all pairs together.
pub(crate) fn summary(world: &World, app: &PingApp, queue_bytes_max: u64) -> Table {
    let counted = |value: fn(&Totals) -> u64| {
        let whole = world.transactions.first();
        [whole.map_or(0, |whole| value(&whole.counted))]
    };
    let all = Pinged::of(app.requests().iter());
    let share = 100.0 * all.lost() as f64 / all.sent.max(1) as f64;
    Table::new("summary")
        .counts("iterations", [world.transactions.len() as u64])
        .counts("pings", [all.sent])
        .counts("pings_lost", [all.lost()])
        .measures("loss_percent", [share])
        .measures("ping_ms_min", [all.ms(0.0)])
        .measures("ping_ms_mean", [all.ms_mean()])
        .measures("ping_ms_median", [all.ms(0.5)])
        .measures("ping_ms_p95", [all.ms(0.95)])
        .measures("ping_ms_p99", [all.ms(0.99)])
        .measures("ping_ms_max", [all.ms(1.0)])
        .counts("switch_drops", counted(|t| t.switch_drops))
        .counts("host_drops", counted(|t| t.host_drops))
        .counts("link_losses", counted(|t| t.link_losses))
        .counts("queue_bytes_max", [queue_bytes_max])
        .counts("data_bytes_total", [world.workload.answer_bytes_total()])
        .measures("duration_s_total", [app.span().as_secs_f64()])
}

/// The table `flows`: a row for each pair.
pub(crate) fn flows(world: &World, app: &PingApp) -> Table {
    let mut by_pair: Vec<Vec<&Request>> = vec![Vec::new(); app.pingers().len()];
    for request in app.requests() {
        by_pair[request.pair].push(request);
    }
    let pairs: Vec<Pinged> = by_pair
        .into_iter()
        .map(|requests| Pinged::of(requests.into_iter()))
        .collect();
    let name = |host: usize| world.hosts[host].name.clone();
    let ms = |q| pairs.iter().map(move |pair: &Pinged| pair.ms(q));
    Table::new("flows")
        .counts("flow", 0..pairs.len() as u64)
        .names("source", app.pingers().iter().map(|p| name(p.source)))
        .names(
            "destination",
            app.pingers().iter().map(|p| name(p.destination)),
        )
        .counts("pings", pairs.iter().map(|pair| pair.sent))
        .counts("pings_lost", pairs.iter().map(Pinged::lost))
        .measures("ping_ms_min", ms(0.0))
        .measures("ping_ms_mean", pairs.iter().map(Pinged::ms_mean))
        .measures("ping_ms_p99", ms(0.99))
        .measures("ping_ms_max", ms(1.0))
}

/// The table `pings`: every request, in the order of sending. The round trip of one without an answer is zero.
pub(crate) fn table(world: &World, app: &PingApp) -> Table {
    let requests = app.requests();
    let pinger = |request: &Request| app.pingers()[request.pair];
    let name = |host: usize| world.hosts[host].name.clone();
    let ms = |request: &Request| request.rtt.unwrap_or(Duration::ZERO).as_ms_f64();
    Table::new("pings")
        .measures("time_s", requests.iter().map(|r| r.sent.as_secs_f64()))
        .counts("flow", requests.iter().map(|r| r.pair as u64))
        .names("source", requests.iter().map(|r| name(pinger(r).source)))
        .names(
            "destination",
            requests.iter().map(|r| name(pinger(r).destination)),
        )
        .counts("sequence", requests.iter().map(|r| u64::from(r.sequence)))
        .flags("answered", requests.iter().map(|r| r.rtt.is_some()))
        .measures("rtt_ms", requests.iter().map(ms))
}

/// Requests, and the round trips of those that were answered.
struct Pinged {
    sent: u64,
    sorted: Vec<Duration>,
}

impl Pinged {
    fn of<'a>(requests: impl Iterator<Item = &'a Request> + Clone) -> Pinged {
        let mut sorted: Vec<Duration> = requests.clone().filter_map(|r| r.rtt).collect();
        sorted.sort_unstable();
        Pinged {
            sent: requests.count() as u64,
            sorted,
        }
    }

    fn lost(&self) -> u64 {
        self.sent - self.sorted.len() as u64
    }

    /// No number (NaN) where nothing was answered.
    fn ms(&self, q: f64) -> f64 {
        if self.sorted.is_empty() {
            return f64::NAN;
        }
        quantile(&self.sorted, q).as_ms_f64()
    }

    fn ms_mean(&self) -> f64 {
        if self.sorted.is_empty() {
            return f64::NAN;
        }
        let sum: u128 = self.sorted.iter().map(|rtt| u128::from(rtt.as_ps())).sum();
        let mean = sum / self.sorted.len().max(1) as u128;
        Duration::from_ps(mean as u64).as_ms_f64()
    }
}
