//! Opening and closing.
//!
//! Models the three-way handshake with MSS, window scaling, SACK-permitted, timestamps and ECN
//! (RFC 9293, 7323, 2018, 3168; Linux 2.6.18 tcp_connect, tcp_rcv_synsent_state_process,
//! tcp_make_synack) and a FIN in each direction. Left out: simultaneous open, SYN cookies,
//! TIME_WAIT, data on a SYN.

use tailback_units::Time;

use super::{Config, Connection, Event, Life, TimerKind, Transmit};
use crate::clock::Jiffies;
use crate::receive::TIMESTAMP_BYTES;
use crate::segment::{Flags, Segment, SynOptions};

/// Least segment size with options (tcp_mtu_to_mss, net/ipv4/tcp_output.c), bytes.
const MSS_LEAST: u32 = 48;

impl Connection {
    /// Opens a connection: a SYN leaves.
    #[must_use]
    pub fn connect(config: &Config, now: Time) -> Connection {
        let mut connection = Connection::new(config, Life::SynSent);
        connection.clock.jiffies(now);
        connection.send_syn(now);
        connection
    }

    /// Answers a SYN: a SYN with an acknowledgement leaves.
    #[must_use]
    pub fn accept(config: &Config, now: Time, syn: &Segment) -> Connection {
        let mut connection = Connection::new(config, Life::SynReceived);
        connection.clock.jiffies(now);
        connection.negotiate(syn);
        connection.send_syn(now);
        connection
    }

    /// The application writes no more; what it wrote is still sent.
    pub fn close(&mut self, now: Time) {
        if self.fin_queued || self.life == Life::Closed {
            return;
        }
        self.fin_queued = true;
        let now = self.clock.jiffies(now);
        self.push(now);
    }

    /// Takes over what the peer's SYN offers.
    fn negotiate(&mut self, syn: &Segment) {
        let Some(offer) = syn.syn_options() else {
            return;
        };
        let stack = &self.stack;
        self.timestamps &= syn.has_timestamps;
        self.sack &= offer.sack_permitted;
        self.fack &= self.sack;
        let scaled = stack.tcp_window_scaling && offer.window_scale.is_some();
        self.send_shift = if scaled {
            offer.window_scale.unwrap_or(0).min(14)
        } else {
            0
        };
        // A SYN asks with ECE and CWR, its answer grants with ECE alone (RFC 3168 section 6.1.1).
        let asked = if self.life == Life::SynSent {
            Flags::ECE
        } else {
            Flags::ECE.with(Flags::CWR)
        };
        self.ecn &= syn.flags.contains(asked);
        if syn.has_timestamps {
            self.ts_recent = syn.ts_val;
        }
        let answering = self.life == Life::SynReceived;
        self.receive
            .synchronise(syn.seq + 1, scaled, self.timestamps, answering);
        self.mss_clamp = u32::from(offer.mss);
        let options = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.mss_most = self.mss_most.min(u32::from(offer.mss)).max(MSS_LEAST) - options;
        self.snd_wnd = u32::from(syn.window);
        self.max_window = self.snd_wnd;
        self.bound_mss();
        self.snd_wl1 = syn.seq;
        self.receive
            .ack
            .initialise_rcv_mss(self.mss, self.receive.rcv_wnd);
    }

    /// Sends the SYN of this side, again if it was sent before.
    pub(super) fn send_syn(&mut self, now: Time) {
        let jiffies = self.clock.jiffies(now);
        let answering = self.life == Life::SynReceived;
        let mut segment = Segment::EMPTY;
        segment.seq = self.snd_una;
        segment.window = self.receive.rcv_wnd.min(65_535) as u16;
        segment.has_timestamps = self.timestamps;
        segment.ts_val = jiffies;
        if answering {
            segment.ack = self.receive.rcv_nxt;
            segment.flags = Flags::ACK;
            segment.ts_ecr = self.ts_recent;
        }
        if self.ecn {
            let flags = if answering {
                Flags::ECE
            } else {
                Flags::ECE.with(Flags::CWR)
            };
            segment.flags = segment.flags.with(flags);
        }
        segment.set_syn_options(SynOptions {
            mss: self.syn_mss,
            window_scale: self
                .stack
                .tcp_window_scaling
                .then_some(self.receive.window_shift),
            sack_permitted: self.sack,
        });
        if self.ecn && self.congestion.wants_precise_echo() {
            segment.ecn = crate::segment::Ecn::Ect0;
        }
        self.snd_nxt = self.snd_una + 1;
        self.out.push_back(Transmit {
            segment,
            mss: self.syn_mss,
        });
        self.timer = Some((TimerKind::Retransmit, jiffies.wrapping_add(self.rtt.rto)));
    }

    /// A segment before the connection is established. True if it is to be processed further.
    pub(super) fn handshake_segment(&mut self, now: Time, segment: &Segment) -> bool {
        let acknowledged = segment.flags.contains(Flags::ACK) && segment.ack == self.snd_nxt;
        if segment.flags.intersects(Flags::RST) {
            let valid = match self.life {
                Life::SynSent => acknowledged,
                _ => segment.seq == self.receive.rcv_nxt,
            };
            if valid {
                self.give_up(Event::Reset);
            }
            return false;
        }
        match self.life {
            Life::SynSent if segment.flags.intersects(Flags::ACK) && !acknowledged => {
                self.refuse(segment);
                false
            }
            Life::SynSent if segment.flags.contains(Flags::SYN) && acknowledged => {
                self.negotiate(segment);
                self.establish(now, segment);
                self.send_ack(now);
                false
            }
            Life::SynReceived if segment.flags.contains(Flags::SYN) => {
                self.send_syn(now);
                false
            }
            Life::SynReceived if acknowledged => {
                self.snd_wnd = u32::from(segment.window) << self.send_shift;
                self.max_window = self.snd_wnd;
                self.bound_mss();
                self.snd_wl1 = segment.seq;
                self.establish(now, segment);
                true
            }
            _ => false,
        }
    }

    fn establish(&mut self, now: Time, segment: &Segment) {
        let jiffies = self.clock.jiffies(now);
        self.life = Life::Established;
        self.snd_una = segment.ack;
        self.high_seq = self.snd_una;
        self.small_end = self.snd_una;
        self.timer = None;
        // Without metrics of the route tcp_init_metrics leaves cwnd as it is: 2, or 1 after a
        // SYN was lost.
        if self.retransmits > 0 && !self.passive {
            self.window.cwnd = 1;
        }
        self.retransmits = 0;
        self.receive.establish();
        self.cwnd_stamp = jiffies;
        self.last_sent = jiffies;
        self.pushed_seq = self.snd_una;
        self.fix_up_sndbuf();
        if segment.has_timestamps && segment.ts_ecr != 0 {
            let sample = jiffies.wrapping_sub(segment.ts_ecr);
            self.rtt.sample(sample, self.snd_una, self.snd_nxt);
        }
        let view = self.view(jiffies);
        self.congestion.init(&mut self.window, &view);
        self.events.push(Event::Connected);
    }

    /// The segment size: no more than half of the largest window seen (tcp_sync_mss).
    pub(super) fn bound_mss(&mut self) {
        let options = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        let half = (self.max_window >> 1).max(68 - 20 - options);
        self.mss = if self.max_window > 0 {
            self.mss_most.min(half)
        } else {
            self.mss_most
        };
    }

    /// RFC 3390's window as Linux 2.6.18 counts it (tcp_init_cwnd), segments: what cwnd is not
    /// cut below after idleness.
    pub(super) fn initial_cwnd(&self) -> u32 {
        match self.mss {
            m if m > 1460 => 2,
            m if m > 1095 => 3,
            _ => 4,
        }
    }

    /// The connection ends here and now.
    pub(super) fn give_up(&mut self, event: Event) {
        self.life = Life::Closed;
        self.aborted = true;
        self.timer = None;
        self.receive.ack.timer = None;
        self.events.push(event);
    }

    /// Answers a segment that belongs to no connection (tcp_v4_send_reset).
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.flags.intersects(Flags::RST) {
            return;
        }
        let mut reset = Segment::EMPTY;
        reset.flags = Flags::RST;
        if segment.flags.intersects(Flags::ACK) {
            reset.seq = segment.ack;
        } else {
            reset.flags = Flags::RST.with(Flags::ACK);
            reset.ack = segment.end_seq();
        }
        self.out.push_back(Transmit {
            segment: reset,
            mss: self.syn_mss,
        });
    }

    /// The peer's FIN is in order (tcp_fin): acknowledged at once if this side has closed too,
    /// else later, perhaps with this side's own.
    pub(super) fn peer_fin(&mut self, now: Jiffies) {
        self.peer_closed = true;
        self.receive.purge();
        self.receive.ack.scheduled = true;
        if self.fin_sent {
            self.send_ack_at(now);
        } else {
            self.receive.ack.pingpong = true;
        }
        self.events.push(Event::PeerClosed);
        self.close_if_done();
    }

    /// Both FINs are sent, received and acknowledged.
    pub(super) fn close_if_done(&mut self) {
        if self.peer_closed
            && self.fin_sent
            && self.snd_una == self.snd_nxt
            && self.life == Life::Established
        {
            self.life = Life::Closed;
            self.events.push(Event::Closed);
        }
    }
}
