//! What CAKE is told, in the words of `tc cake` (net/sched/sch_cake.c of Linux 7.2: cake_config_besteffort and its like).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate};

use crate::frame::ETHERNET_BYTES;

/// Ethernet's header, which Linux counts by itself, bytes.
const ETHERNET_HEADER_BYTES: i32 = 14;
/// Turns of a tin by weight, bytes: of a mode with eight and with fewer tins (cake_config_diffserv8 and its like).
const TIN_TURN_OF_EIGHT: u64 = 256;
const TIN_TURN: u64 = 1024;
const TIN_TURN_ALONE: u64 = 65_535;

/// What has a share of its own, in the words of `tc cake`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowMode {
    /// Nothing: one queue.
    Flowblind,
    /// Each source host.
    Srchost,
    /// Each destination host.
    Dsthost,
    /// Each pair of hosts.
    Hosts,
    /// Each flow.
    Flows,
    /// Each source host, and in it each flow.
    DualSrchost,
    /// Each destination host, and in it each flow.
    DualDsthost,
    /// Each host at either end, and in it each flow.
    #[default]
    TripleIsolate,
}

impl FlowMode {
    pub(super) fn keeps_flows(self) -> bool {
        use FlowMode::{DualDsthost, DualSrchost, Flows, TripleIsolate};
        matches!(self, Flows | DualSrchost | DualDsthost | TripleIsolate)
    }

    pub(super) fn shares_by_source(self) -> bool {
        matches!(self, FlowMode::DualSrchost | FlowMode::TripleIsolate)
    }

    pub(super) fn shares_by_destination(self) -> bool {
        matches!(self, FlowMode::DualDsthost | FlowMode::TripleIsolate)
    }
}

/// Which tins there are, in the words of `tc cake`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiffservMode {
    /// One for all.
    Besteffort,
    /// One for each class selector.
    Precedence,
    /// Voice (6 and 7), best effort, bulk (1).
    #[default]
    Diffserv3,
    /// Voice (4 to 7), video (2 and 3), best effort, bulk (1).
    Diffserv4,
    /// 6 and 7; 4 and 5; 2; 3; none; 1 have one each, of eight.
    Diffserv8,
}

impl DiffservMode {
    /// The tin of each class selector, as the kernel's tables of code points have it.
    pub(super) fn tins(self) -> [usize; 8] {
        match self {
            DiffservMode::Besteffort => [0; 8],
            DiffservMode::Precedence => [0, 1, 2, 3, 4, 5, 6, 7],
            DiffservMode::Diffserv3 => [0, 1, 0, 0, 0, 0, 2, 2],
            DiffservMode::Diffserv4 => [0, 1, 2, 2, 3, 3, 3, 3],
            DiffservMode::Diffserv8 => [2, 1, 5, 3, 6, 6, 7, 7],
        }
    }

    /// Of each tin: its part of so many bytes a second, and its turn by weight in bytes.
    pub(super) fn shares(self, rate_bytes: u64) -> Vec<(u64, u64)> {
        let shifted = |shifts: &[u32]| {
            let tins = shifts.iter();
            tins.map(|shift| (rate_bytes >> shift, TIN_TURN >> shift))
                .collect()
        };
        match self {
            DiffservMode::Besteffort => vec![(rate_bytes, TIN_TURN_ALONE)],
            DiffservMode::Diffserv3 => shifted(&[0, 4, 2]),
            DiffservMode::Diffserv4 => shifted(&[0, 4, 1, 2]),
            DiffservMode::Precedence | DiffservMode::Diffserv8 => {
                let next = |(rate, turn): &(u64, u64)| Some(((rate * 7) >> 3, (turn * 7) >> 3));
                std::iter::successors(Some((rate_bytes, TIN_TURN_OF_EIGHT)), next)
                    .take(8)
                    .collect()
            }
        }
    }
}

/// How a link cuts up what it carries, in the words of `tc cake`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AtmMode {
    /// Not at all.
    #[default]
    Noatm,
    /// Into cells of 53 bytes with 48 of what is carried (ADSL).
    Atm,
    /// Into blocks of 64 bytes, each with one more (VDSL2; PTM's 64b/65b).
    Ptm,
}

/// Which acknowledgements are dropped when a later one joins their queue, in the words of `tc cake`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    #[default]
    NoAckFilter,
    /// Of those that a later one says again, all but the last two.
    AckFilter,
    /// All of those.
    AckFilterAggressive,
}

/// Parameters of CAKE, by the names and words of `tc cake`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CakeConfig {
    /// What has a share of its own.
    pub flow_mode: FlowMode,
    /// Which tins there are.
    pub diffserv_mode: DiffservMode,
    /// The longest round trip: a delay is too long from a twentieth of it on.
    pub rtt: Duration,
    /// Frames leave no faster than this, as they count by `overhead`, `mpu` and `atm_mode`, and tins have shares of it;
    /// absent: as fast as the link is, and tins take turns (`unlimited`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// Bytes that a packet counts for beyond its own from the IP header on, -64 to 256; absent: the 14 of Ethernet's header.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -64, max = 256))]
    pub overhead: Option<i32>,
    /// Bytes that a packet counts for at least, `overhead` included, up to 256.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(range(max = 256))]
    pub mpu: u32,
    /// What the link's cells or blocks add to that.
    #[serde(skip_serializing_if = "is_default")]
    pub atm_mode: AtmMode,
    /// What CAKE drops counts against `bandwidth` too, as where it has come over the slow link already.
    #[serde(skip_serializing_if = "is_default")]
    pub ingress: bool,
    /// Which acknowledgements are dropped when a later one joins their queue.
    #[serde(skip_serializing_if = "is_default")]
    pub ack_filter: AckFilter,
    /// Bytes that may wait in all queues together; absent: what the switch's memory takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memlimit: Option<Bytes>,
}

impl Default for CakeConfig {
    /// The defaults of `tc cake` (net/sched/sch_cake.c: cake_config_init).
    fn default() -> CakeConfig {
        CakeConfig {
            flow_mode: FlowMode::default(),
            diffserv_mode: DiffservMode::default(),
            rtt: Duration::from_ms(100),
            bandwidth: None,
            overhead: None,
            mpu: 0,
            atm_mode: AtmMode::default(),
            ingress: false,
            ack_filter: AckFilter::default(),
            memlimit: None,
        }
    }
}

/// What a frame counts for, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    overhead: i32,
    mpu: u32,
    atm_mode: AtmMode,
}

impl Framing {
    pub(super) fn new(config: &CakeConfig) -> Framing {
        Framing {
            overhead: config.overhead.unwrap_or(ETHERNET_HEADER_BYTES),
            mpu: config.mpu,
            atm_mode: config.atm_mode,
        }
    }

    /// Of a frame of so many bytes from destination address to FCS (cake_calc_overhead).
    pub(super) fn counted_bytes(&self, frame_bytes: u16) -> u64 {
        let packet = u32::from(frame_bytes).saturating_sub(ETHERNET_BYTES);
        let bytes = u64::from(packet.saturating_add_signed(self.overhead).max(self.mpu));
        match self.atm_mode {
            AtmMode::Noatm => bytes,
            AtmMode::Atm => bytes.div_ceil(48) * 53,
            AtmMode::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
