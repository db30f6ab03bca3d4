//! Sending what is written.
//!
//! Models Linux 7.2 net/ipv4/tcp_output.c: tcp_write_xmit, tcp_cwnd_test, tcp_snd_wnd_test,
//! tcp_nagle_test with Minshall's variant, __tcp_transmit_skb, tcp_event_new_data_sent,
//! tcp_event_data_sent; include/net/tcp_ecn.h: tcp_ecn_send.

use super::super::accurate_ecn::EcnMode;
use super::super::{Connection, TimerKind, Transmit};
use super::Pacing;
use super::chrono::Limiter;
use super::queue::{EOR, FIN, PSH, Sent};
use crate::clock::Jiffies;
use crate::congestion::CwndEvent;
use crate::queue::segments;
use crate::segment::{Ecn, Flags};
use crate::seq::Seq;

/// How short segments are treated (tcp_sock.nonagle).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::connection) enum Nagle {
    /// A short segment waits for an earlier short one.
    On,
    /// It does not (TCP_NODELAY).
    Off,
    /// It waits for more in any case (TCP_CORK).
    Cork,
    /// What is there is to be sent.
    Push,
}

/// How much is sent in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// As the windows allow.
    Windows,
    /// One packet.
    One,
    /// One segment, even if the congestion window is full: a loss probe.
    Probe,
}

/// What came of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrote {
    Nothing,
    Sent,
    /// Something waits and nothing is in flight to wake it.
    Stalled,
}

/// The packet at the head of what is unsent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) bytes: u32,
    pub(super) fin: bool,
    pub(super) last: bool,
    pub(super) ends_record: bool,
    marks: u8,
}

impl Head {
    /// Only so many bytes of it are left at the head; marks, and its end, stay with the rest.
    fn cut_to(&mut self, bytes: u32) {
        *self = Head {
            bytes,
            fin: false,
            last: false,
            ends_record: false,
            marks: 0,
        };
    }
}

impl Connection {
    /// How the socket's options treat short segments.
    #[inline]
    pub(in crate::connection) fn nagle(&self) -> Nagle {
        if self.modern.nagle_push {
            return Nagle::Push;
        }
        match (self.options.cork, self.options.nodelay) {
            (true, _) => Nagle::Cork,
            (false, true) => Nagle::Off,
            (false, false) => Nagle::On,
        }
    }

    /// TCP_NODELAY was set or TCP_CORK taken away: what is there is sent
    /// (__tcp_sock_set_nodelay, __tcp_sock_set_cork).
    pub(in crate::connection) fn nagle_changed(&mut self, now: Jiffies) {
        self.modern.nagle_push |= self.options.nodelay;
        let nagle = self.nagle();
        self.push_today(now, nagle);
    }

    /// tcp_push_pending_frames. True if anything was sent.
    #[inline(always)]
    pub(in crate::connection) fn push_today(&mut self, now: Jiffies, nagle: Nagle) -> bool {
        if !self.life.is_synchronised() || !self.has_unsent() {
            return false;
        }
        let mss = self.current_mss();
        self.push_segments_of(now, mss, nagle)
    }

    /// The same where segments have so many bytes: as options stand when a call begins, until it ends.
    #[inline(always)]
    pub(in crate::connection) fn push_segments_of(
        &mut self,
        now: Jiffies,
        mss: u32,
        nagle: Nagle,
    ) -> bool {
        if !self.life.is_synchronised() || !self.has_unsent() {
            return false;
        }
        let wrote = self.write_out(now, mss, nagle, Limit::Windows);
        if wrote == Wrote::Stalled && self.timer.is_none() {
            let ticks = self.probe_base();
            self.arm_paced(now, TimerKind::ZeroWindowProbe, ticks);
        }
        wrote == Wrote::Sent
    }

    #[inline(always)]
    pub(super) fn head(&self) -> Option<Head> {
        let fin = self.fin_queued && !self.fin_sent;
        (fin || self.modern.unsent.len() > 0).then(|| self.head_or_end())
    }

    /// The same where there is one: there is something unsent.
    #[inline(always)]
    fn head_or_end(&self) -> Head {
        let chunks = &self.modern.unsent;
        let (bytes, marks) = chunks.front().map_or((0, 0), |c| (c.bytes, c.marks));
        let last = chunks.len() <= 1;
        Head {
            bytes,
            fin: last && self.fin_queued && !self.fin_sent,
            last,
            ends_record: marks & EOR != 0,
            marks,
        }
    }

    #[inline]
    pub(super) fn head_bytes_today(&self) -> u32 {
        self.modern.unsent.front().map_or(0, |c| c.bytes)
    }

    /// Where the packet at the head ends.
    pub(super) fn head_end(&self) -> Seq {
        self.snd_nxt + self.head().map_or(0, |h| h.bytes + u32::from(h.fin))
    }

    /// Whether the head's first segment fits the peer's window (tcp_snd_wnd_test).
    pub(super) fn head_fits(&self, mss: u32) -> bool {
        self.head().is_some_and(|head| self.fits(head, mss))
    }

    #[inline(always)]
    fn fits(&self, head: Head, mss: u32) -> bool {
        let bytes = if head.bytes > mss {
            mss
        } else {
            head.bytes + u32::from(head.fin)
        };
        !(self.snd_nxt + bytes).after(self.window_end())
    }

    /// tcp_nagle_check.
    #[inline]
    pub(super) fn nagle_holds_today(&self, partial: bool, nagle: Nagle) -> bool {
        partial
            && match nagle {
                Nagle::Cork => true,
                Nagle::On => {
                    self.packets_out > 0
                        && self.small_end.after(self.snd_una)
                        && !self.small_end.after(self.snd_nxt)
                }
                Nagle::Off | Nagle::Push => false,
            }
    }

    /// Segments that the congestion window has room for, but no more than half of it at once
    /// (tcp_cwnd_test).
    #[inline]
    fn cwnd_room(&self) -> u32 {
        let room = self.window.cwnd.saturating_sub(self.in_flight());
        room.min((self.window.cwnd >> 1).max(1))
    }

    /// tcp_write_xmit.
    pub(super) fn write_out(
        &mut self,
        now: Jiffies,
        mss: u32,
        nagle: Nagle,
        limit: Limit,
    ) -> Wrote {
        let mss = self.mss_by_beacon().unwrap_or(mss);
        let mut sent = 0;
        let (mut cwnd_limited, mut window_limited) = (false, false);
        // Reckoned once there is room for any.
        let mut max_segments = 0;
        while self.has_unsent() {
            if self.pacing_waits() {
                break;
            }
            let mut room = self.cwnd_room();
            if room == 0 {
                if limit != Limit::Probe {
                    break;
                }
                room = 1;
            }
            if max_segments == 0 {
                max_segments = self.tso_segments(mss);
            }
            let room = room.min(max_segments);
            let wanted = room * mss;
            // Filled up from the packet after it as far as it can be sent.
            self.modern.unsent.fill_front(wanted);
            let mut head = self.head_or_end();
            if !self.fits(head, mss) {
                window_limited = true;
                break;
            }
            let mut most = mss;
            if head.bytes <= mss {
                let waits =
                    head.last && !head.fin && self.nagle_holds_today(head.bytes < mss, nagle);
                if waits {
                    break;
                }
            } else {
                if limit == Limit::Windows
                    && self.defers(head, max_segments, &mut cwnd_limited, &mut window_limited)
                {
                    break;
                }
                most = self.split_point(head, mss, room, nagle);
            }
            if head.bytes > most {
                self.modern.unsent.split_front(most);
                head.cut_to(most);
            }
            if self.small_queue_waits(head.bytes, 0) {
                break;
            }
            // Otherwise a probe's timer takes the place of the timeout in the end.
            let rearms = limit == Limit::Probe || !self.may_probe_loss();
            let count = self.send_this(now, head, mss, rearms);
            sent += count;
            if count == 0 {
                break;
            }
            if limit != Limit::Windows {
                break;
            }
        }
        if window_limited {
            self.modern.chrono.start(now, Limiter::PeerWindow);
        } else {
            self.stop_chrono(now, Limiter::PeerWindow);
        }
        cwnd_limited |= self.in_flight() >= self.window.cwnd;
        if sent > 0 || cwnd_limited {
            self.validate_cwnd_today(now, cwnd_limited);
        }
        if sent == 0 {
            return if self.packets_out == 0 && self.has_unsent() {
                Wrote::Stalled
            } else {
                Wrote::Nothing
            };
        }
        if self.in_reduction() {
            self.modern.prr_out += sent;
        }
        if limit != Limit::Probe {
            self.schedule_loss_probe(now, false);
        }
        Wrote::Sent
    }

    /// Sends the packet at the head, and sets the timeout if that is due and `rearms`; answers its
    /// segments, none if the host refuses it.
    pub(super) fn send_head(&mut self, now: Jiffies, mss: u32, rearms: bool) -> u32 {
        let Some(head) = self.head() else { return 0 };
        self.send_this(now, head, mss, rearms)
    }

    /// The same where the packet at the head is known.
    #[inline(always)]
    fn send_this(&mut self, now: Jiffies, head: Head, mss: u32, rearms: bool) -> u32 {
        let mut marks = head.marks & (PSH | EOR);
        if head.fin {
            marks |= FIN;
        }
        let count = segments(head.bytes, mss);
        let packet = Sent {
            seq: self.snd_nxt,
            end_seq: self.snd_nxt + head.bytes + u32::from(head.fin),
            sent_ns: 0,
            first_tx_us: 0,
            delivered_us: 0,
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            in_flight: 0,
            turn: 0,
            segments: count,
            mss: mss as u16,
            tags: 0,
            marks,
        };
        let Some(packet) = self.transmit_today(now, packet, false) else {
            return 0;
        };
        self.fin_sent |= head.fin;
        self.modern.unsent.pop();
        self.unsent -= u64::from(head.bytes);
        self.snd_nxt = packet.end_seq;
        self.modern.sent.push(packet);
        let count = u32::from(count);
        let first = self.packets_out == 0;
        self.packets_out += count;
        if rearms && (first || matches!(self.timer, Some((TimerKind::LossProbe, _)))) {
            self.rearm_rto(now);
        }
        if head.bytes < count * mss {
            self.small_end = packet.end_seq;
        }
        // What is sent is no more unsent: a writer may go on, whoever sends
        // (tcp_event_new_data_sent).
        self.check_space_today(now);
        count
    }

    /// Puts a packet on the wire; answers it with its time and books, or none if the host drops
    /// it (__tcp_transmit_skb).
    #[inline(always)]
    pub(super) fn transmit_today(
        &mut self,
        now: Jiffies,
        mut packet: Sent,
        again: bool,
    ) -> Option<Sent> {
        let prior_ns = self.modern.wstamp_ns;
        self.modern.wstamp_ns = prior_ns.max(self.clock.ns());
        packet.sent_ns = self.modern.wstamp_ns;
        self.modern.turns = self.modern.turns.wrapping_add(1);
        packet.turn = self.modern.turns;
        let payload_bytes = packet.payload_bytes();
        let count = u32::from(packet.segments);
        let mut segment = self.header_of_data();
        segment.seq = packet.seq;
        segment.payload_bytes = payload_bytes as u16;
        if segment.has_timestamps {
            segment.ts_val = self.stamp_of(packet.sent_ns);
        }
        // Packets for offload are all pushed, so that the receiver's offload lets go of them.
        if packet.marked(PSH) || count > 1 {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if packet.marked(FIN) {
            segment.flags = segment.flags.with(Flags::FIN);
            self.fin_data_last = !again && payload_bytes > 0;
        }
        if self.ecn == EcnMode::Classic && !again && payload_bytes > 0 {
            segment.ecn = Ecn::Ect0;
            if std::mem::take(&mut self.queue_cwr) {
                segment.flags = segment.flags.with(Flags::CWR);
            }
        }
        self.receive.ack.sent(count);
        if payload_bytes > 0 {
            if self.in_flight() == 0 {
                self.tell(now, CwndEvent::TxStart);
            }
            self.last_sent = now;
            self.receive.ack.data_sent(now);
            self.modern.data_segments_out = self.modern.data_segments_out.saturating_add(count);
            self.stats.segments_sent += u64::from(count);
            self.stats.bytes_sent += u64::from(payload_bytes);
        }
        if self.modern.host.refuses() {
            self.enter_cwr_today(now);
            return None;
        }
        if payload_bytes > 0 {
            let memory = self.handed_memory(payload_bytes);
            self.modern.host.enters(memory);
            if self.stack.pacing == Pacing::Fq {
                self.modern.host.expect_queue();
                self.modern.fq.departs(packet.sent_ns);
            }
        }
        self.out.push_back(Transmit {
            segment,
            first_only: match self.ecn {
                EcnMode::Accurate => Flags::NONE,
                _ => Flags::CWR,
            },
            mss: packet.mss,
        });
        self.pace(payload_bytes, prior_ns);
        self.rate_sent(&mut packet);
        Some(packet)
    }
}
