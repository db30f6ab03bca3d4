//! The network as a scenario file writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::host::HostConfig;
use tailback_net::impairment::ImpairmentConfig;
use tailback_net::link::{Framing, LinkConfig};
use tailback_net::queue::LinkQdiscs;
use tailback_net::switch::SwitchConfig;
use tailback_net::trace::LinkTraces;
use tailback_tcp::Stack;
use tailback_units::{Bytes, Duration, Rate};

use crate::kernel::{HostKind, KernelConfig};
use crate::reroute::Reroute;
use crate::schema::Presettable;
use crate::socket::SocketConfig;

/// Hosts, switches and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "topology", rename_all = "kebab-case")]
pub enum Network {
    /// One switch; every host has one link to it.
    Star(Star),
    /// Stars whose switches are joined by one core switch.
    Stars(Box<Stars>),
    /// A fat-tree of switches with the same number of ports.
    FatTree(FatTree),
    /// Leaf switches with hosts, each linked to every spine switch.
    LeafSpine(Box<LeafSpine>),
    /// Hosts at the two ends of a chain of switches.
    Dumbbell(Dumbbell),
    /// A chain of switches with hosts that send over all of it and hosts that send over one link.
    ParkingLot(ParkingLot),
    /// Every host, switch and link by name.
    Explicit(Explicit),
}

impl Network {
    /// Links that differ from others of their kind.
    pub(crate) fn exceptions(&self) -> &[LinkException] {
        match self {
            Network::Star(star) => &star.except,
            Network::Stars(stars) => &stars.except,
            Network::FatTree(tree) => &tree.except,
            Network::LeafSpine(fabric) => &fabric.except,
            Network::Dumbbell(dumbbell) => &dumbbell.except,
            Network::ParkingLot(lot) => &lot.except,
            Network::Explicit(_) => &[],
        }
    }

    /// When switches learn that a link is down; only where there may be another way.
    pub(crate) fn reroute(&self) -> Option<Reroute> {
        match self {
            Network::FatTree(tree) => tree.reroute,
            Network::LeafSpine(fabric) => fabric.reroute,
            Network::Explicit(explicit) => explicit.reroute,
            _ => None,
        }
    }
}

/// Whether clocks are off by nothing.
fn is_exact(clock_ppm: &u32) -> bool {
    *clock_ppm == 0
}

/// One switch with a link to every host. Port 0 of the switch is host 0's, port 1 host 1's, ….
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// The switch.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub switch: SwitchConfig,
    /// Number of hosts; no more than the switch has ports. May be left out where `names` has them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1024))]
    pub hosts: Option<u32>,
    /// The link of every host to the switch.
    pub link: LinkConfig,
    /// The hosts' names, in port order; absent: host0, host1, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 1024), extend("examples" = [["client", "10.0.0.1"]]))]
    pub names: Option<Vec<String>>,
    /// Names of the hosts that are real Linux kernels; the others are modelled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["host0"]]))]
    pub kernels: Vec<String>,
    /// Links that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<LinkException>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

impl Star {
    /// Number of hosts: what it says, or as many as have names.
    pub(crate) fn count(&self) -> Option<usize> {
        let named = self.names.as_ref().map(Vec::len);
        self.hosts.map(|hosts| hosts as usize).or(named)
    }
}

/// Stars whose switches are joined by one core switch.
///
/// Hosts are named `star0-host0`, `star0-host1`, …, switches `star0`, …, `core`. A star's switch has its
/// hosts at its first ports and the core at the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stars {
    /// Number of stars; no more than the core has ports.
    #[schemars(range(min = 1, max = 1024))]
    pub stars: u32,
    /// Number of hosts in each star; fewer than its switch has ports.
    #[schemars(range(min = 1, max = 1023))]
    pub hosts: u32,
    /// The switch of each star.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub switch: SwitchConfig,
    /// The link of every host to its star's switch.
    pub link: LinkConfig,
    /// The switch that joins the stars.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub core: SwitchConfig,
    /// The link of every star's switch to the core.
    pub uplink: LinkConfig,
    /// Links that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<LinkException>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

/// A fat-tree of switches with `k` ports (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
///
/// k pods of k/2 edge and k/2 aggregation switches each, (k/2)² core switches, k³/4 hosts. Hosts are named
/// `host0`, … in the order of pods and edge switches; switches `edge0`, …, `aggregation0`, …, `core0`, ….
/// Flows are spread over equal paths by a hash, unless the switch's `multipath` says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of each switch that are in use: even.
    #[schemars(range(min = 2, max = 48))]
    pub k: u32,
    /// Every switch.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub switch: SwitchConfig,
    /// Every link.
    pub link: LinkConfig,
    /// Links that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<LinkException>,
    /// When switches learn that a link between them is down, and take other ways; absent: routes stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reroute: Option<Reroute>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

/// Leaf switches with hosts, each linked to every spine switch: a folded Clos network of two layers.
///
/// Hosts are named `host0`, … in the order of leaves; switches `leaf0`, …, `spine0`, …. A leaf has its hosts at
/// its first ports, then the spines in their order; a spine's port 0 is leaf 0's. Flows are spread over the spines
/// by a hash, unless the leaves' `multipath` says otherwise. The hosts of a leaf over its spines, times the rate of `link` over that of `uplink`, is by how much
/// uplinks are oversubscribed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaves; no more than a spine has ports.
    #[schemars(range(min = 2, max = 1024))]
    pub leaves: u32,
    /// Number of spines.
    #[schemars(range(min = 1, max = 256))]
    pub spines: u32,
    /// Number of hosts of each leaf; with the spines no more than a leaf has ports.
    #[schemars(range(min = 1, max = 1023))]
    pub hosts: u32,
    /// Every leaf, and every spine if `spine` does not say otherwise.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub switch: SwitchConfig,
    /// Every spine: a preset's name, or a table laid over `switch`; absent: as the leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Presettable<SwitchConfig>", extend("x-tailback-over" = "switch"))]
    pub spine: Option<SwitchConfig>,
    /// The link of every host to its leaf.
    pub link: LinkConfig,
    /// The link of every leaf to every spine: what it leaves out is as in `link`.
    #[serde(default, skip_serializing_if = "Uplink::is_as_link")]
    #[schemars(extend("x-tailback-over" = "link"))]
    pub uplink: Uplink,
    /// Links that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<LinkException>,
    /// When switches learn that a link between them is down, and take other ways; absent: routes stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reroute: Option<Reroute>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

/// A link by the names of what it joins, or all links of a host or switch, as far as they differ from the others of their
/// kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))] // serde cannot, with a flattened field
pub struct LinkException {
    /// The two hosts or switches that it joins; `*` for one of them: every neighbour of the other.
    #[schemars(extend("examples" = [["leaf0", "spine0"], ["spine0", "*"]]))]
    pub ends: [String; 2],
    /// In what it differs.
    #[serde(flatten)]
    pub link: Uplink,
}

/// A link, as far as it differs from others: one between switches from those of the hosts, or one from its like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uplink {
    /// Line rate in decimal bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay, one way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Largest IP packet that the link carries, 576 B to 9216 B; no less than the hosts' links carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
    /// Probability that a frame is lost on the link, in each direction, independently; 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: Option<f64>,
    /// What surrounds an IP packet on the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// What else the link does to frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impairment: Option<ImpairmentConfig>,
    /// How its capacity changes, as of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<LinkTraces>,
    /// How frames wait for it, as of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<Box<LinkQdiscs>>,
}

impl Uplink {
    /// Whether it differs in nothing.
    pub(crate) fn is_as_link(&self) -> bool {
        *self == Uplink::default()
    }

    /// The whole link, where the hosts' are such.
    pub(crate) fn over(&self, link: &LinkConfig) -> LinkConfig {
        LinkConfig {
            rate: self.rate.unwrap_or(link.rate),
            delay: self.delay.unwrap_or(link.delay),
            mtu: self.mtu.unwrap_or(link.mtu),
            loss: self.loss.unwrap_or(link.loss),
            framing: self.framing.unwrap_or(link.framing),
            impairment: self.impairment.clone().or_else(|| link.impairment.clone()),
            trace: self.trace.clone().or_else(|| link.trace.clone()),
            qdisc: self.qdisc.clone().or_else(|| link.qdisc.clone()),
        }
    }
}

impl LeafSpine {
    /// The link of every leaf to every spine.
    pub(crate) fn uplink(&self) -> LinkConfig {
        self.uplink.over(&self.link)
    }

    /// Every spine.
    pub(crate) fn spine(&self) -> &SwitchConfig {
        self.spine.as_ref().unwrap_or(&self.switch)
    }
}

/// Hosts at the two ends of a chain of switches.
///
/// Hosts are named `left0`, …, then `right0`, …; switches `switch0`, … from left to right, one more than
/// the chain has links. A switch's first ports are its hosts', then comes the link to the left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Hosts at each end.
    #[schemars(range(min = 1, max = 1023))]
    pub pairs: u32,
    /// Every switch.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub switch: SwitchConfig,
    /// The link of every host to its switch.
    pub link: LinkConfig,
    /// The links between switches, from left to right.
    #[schemars(length(min = 1, max = 256))]
    pub trunk: Vec<LinkConfig>,
    /// Links that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<LinkException>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

/// A chain of switches with hosts that send over all of it, and for each of its links hosts that send over
/// that one.
///
/// Hosts are named `left0`, … at the left end of the chain, then `hop0-left0`, … of each link from left to
/// right, then `right0`, … and `hop0-right0`, … likewise, so that pairs of kind `across` are those over all of
/// the chain, then those over its first link, and so on. Switches are `switch0`, … from left to right, one more
/// than the chain has links. A switch's first ports are its hosts', in their order, then come the links to the
/// left and to the right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParkingLot {
    /// Hosts at each end of the chain.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 255), default = "one")]
    pub pairs: u32,
    /// Hosts at each end of every link of the chain.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 255), default = "one")]
    pub hop_pairs: u32,
    /// Every switch.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub switch: SwitchConfig,
    /// The link of every host to its switch.
    pub link: LinkConfig,
    /// The links between switches, from left to right.
    #[schemars(length(min = 1, max = 64))]
    pub trunk: Vec<LinkConfig>,
    /// Links that differ from the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<LinkException>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

fn one() -> u32 {
    1
}

/// Every host, switch and link by name.
///
/// A switch's ports are its links in the order in which the file lists them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explicit {
    /// The hosts, in the order in which a workload takes them.
    #[schemars(length(min = 2))]
    pub host: Vec<ExplicitHost>,
    /// The switches.
    #[serde(default)]
    pub switch: Vec<ExplicitSwitch>,
    /// The links.
    #[schemars(length(min = 1))]
    pub link: Vec<ExplicitLink>,
    /// When switches learn that a link between them is down, and take other ways; absent: routes stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reroute: Option<Reroute>,
    /// How far a host's or switch's clock is off at most, parts in a million, 0 to 1000 (IEEE 802.3 allows
    /// 100). Each draws its deviation from the run's seed and sends over all its links that much faster or slower.
    #[serde(default, skip_serializing_if = "is_exact")]
    #[schemars(range(min = 0, max = 1000), extend("examples" = [100]))]
    pub clock_ppm: u32,
}

/// A host by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplicitHost {
    /// Its name, unique among hosts and switches.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Its machine: a preset's name, or a table laid over the scenario's `host`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Presettable<HostConfig>")]
    pub host: Option<HostConfig>,
    /// Its TCP: a preset's name, or a table laid over the scenario's `stack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Presettable<Stack>")]
    pub stack: Option<Stack>,
    /// Options of its TCP sockets, over the scenario's `socket`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<SocketConfig>,
    /// Whether it is modelled or a real Linux kernel.
    #[serde(default)]
    pub kind: HostKind,
    /// Settings as a kernel, over the scenario's `kernel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelConfig>,
}

/// A switch by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplicitSwitch {
    /// Its name, unique among hosts and switches.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What it is.
    #[schemars(with = "Presettable<SwitchConfig>")]
    pub model: SwitchConfig,
}

/// A link by the names of what it joins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))] // serde cannot, with a flattened field
pub struct ExplicitLink {
    /// The two hosts or switches that it joins.
    pub ends: [String; 2],
    /// VLANs that it carries, by their identifiers (IEEE 802.1Q); none: all there are. Hosts are in the
    /// VLANs of their link. Frames of several need a tag: `framing = "vlan"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlans: Vec<u16>,
    /// The link itself.
    #[serde(flatten)]
    pub link: LinkConfig,
}
