//! DCQCN between cards: a card that gets a marked frame tells the one that sent it.
//!
//! A CNP takes the line times, delays and switch latencies of the way back; like a switch's congestion
//! messages it waits in no queue, is not stopped by PAUSE and takes no room on its links, as in a class of its
//! own above all others. What the two cards do is [`tailback_net::l2cm::dcqcn`]'s.

use tailback_net::frame::{EndpointId, GAP_BYTES, HostId};
use tailback_net::l2cm::dcqcn::{CNP_FRAME_BYTES, DcqcnConfig, NotificationPoint};
use tailback_net::pool::Flight;
use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use super::World;
use super::network::Sink;
use super::pushback::Message;

/// Bytes of line time of a CNP.
const CNP_WIRE_BYTES: u64 = CNP_FRAME_BYTES + GAP_BYTES as u64;

/// A card that speaks it.
#[derive(Debug)]
pub(super) struct Dcqcn {
    pub(super) config: DcqcnConfig,
    pub(super) point: NotificationPoint,
}

impl Dcqcn {
    pub(super) fn new(config: &DcqcnConfig) -> Dcqcn {
        Dcqcn {
            config: config.clone(),
            point: NotificationPoint::new(config),
        }
    }
}

impl World {
    /// A frame comes to the card at the end of a link.
    pub(super) fn look_for_mark(&mut self, link: u32, frame: &Flight) {
        if self.frames.header(frame.frame).ecn != Ecn::Ce {
            return;
        }
        let (Sink::Host { host, .. }
        | Sink::Polled { host }
        | Sink::Spread { host }
        | Sink::Machine { host }) = self.links[link as usize].sink
        else {
            return;
        };
        let Some(source) = self.limited_source(frame) else {
            return;
        };
        let now = self.now;
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        let Some(dcqcn) = &mut pushback.cards[usize::from(host.0)].dcqcn else {
            return;
        };
        if dcqcn.point.marked(now, frame.to.0) {
            pushback.notices += 1;
            let at = now + self.way_from(host, source, frame.to);
            let message = Message::Cnp {
                host: source,
                flow: frame.to,
            };
            self.send_message(at, message);
        }
    }

    /// The time that a CNP takes from a host to another.
    fn way_from(&self, from: HostId, to: HostId, flow: EndpointId) -> Duration {
        let uplink = self.hosts[usize::from(from.0)].uplink;
        let link = &self.links[uplink as usize].link;
        let sent = Time::ZERO + link.rate().time_for(CNP_WIRE_BYTES);
        let time = link.reaches(sent).since(Time::ZERO);
        match self.end_of(uplink) {
            Sink::Switch { switch, .. } => time + self.way_back(switch, to, flow, CNP_WIRE_BYTES),
            _ => time,
        }
    }

    /// A CNP has come to a host.
    pub(super) fn obey_cnp(&mut self, host: usize, flow: EndpointId) {
        let now = self.now;
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        let card = &mut pushback.cards[host];
        if let Some(dcqcn) = &card.dcqcn {
            card.port.notified(now, &dcqcn.config, flow);
            self.serve_card(host);
        }
    }
}
