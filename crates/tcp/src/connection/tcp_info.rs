//! What getsockopt(TCP_INFO) tells.
//!
//! Models struct tcp_info (include/uapi/linux/tcp.h) and tcp_get_info (net/ipv4/tcp.c) of
//! Linux 7.2, field by field and by their names there, less `tcpi_`. Left out: fast open, rehashing,
//! accurate ECN's fields.

use super::accurate_ecn::EcnMode;
use super::{CaState, Connection, Life};

/// Bits of [`TcpInfo::options`] (TCPI_OPT_*).
const OPT_TIMESTAMPS: u8 = 1;
const OPT_SACK: u8 = 2;
const OPT_WSCALE: u8 = 4;
const OPT_ECN: u8 = 8;
const OPT_ECN_SEEN: u8 = 16;

/// A connection's state, in the units of Linux: times in microseconds where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// RFC 9293's state, by Linux's numbers (TCP_ESTABLISHED is 1).
    pub state: u8,
    /// Congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    /// Timeouts in a row.
    pub retransmits: u8,
    /// Unanswered probes.
    pub probes: u8,
    /// Doublings of the timeout.
    pub backoff: u8,
    /// Options in use: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN was seen to work.
    pub options: u8,
    /// The peer's window scale.
    pub snd_wscale: u8,
    /// This side's window scale.
    pub rcv_wscale: u8,
    /// The delivery rate was limited by the application.
    pub delivery_rate_app_limited: bool,
    /// Retransmission timeout.
    pub rto: u32,
    /// Delay of acknowledgements.
    pub ato: u32,
    /// Segment size to send, bytes.
    pub snd_mss: u32,
    /// Segment size that the peer sends, bytes.
    pub rcv_mss: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Of these, selectively acknowledged.
    pub sacked: u32,
    /// Of these, lost.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retrans: u32,
    /// Since data was sent, milliseconds.
    pub last_data_sent: u32,
    /// Since data came, milliseconds.
    pub last_data_recv: u32,
    /// Since an acknowledgement came, milliseconds.
    pub last_ack_recv: u32,
    /// Path MTU, bytes.
    pub pmtu: u32,
    /// Window that the receiver is ready to offer, bytes.
    pub rcv_ssthresh: u32,
    /// Smoothed round trip.
    pub rtt: u32,
    /// Its mean deviation.
    pub rttvar: u32,
    /// Slow-start threshold, segments.
    pub snd_ssthresh: u32,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    /// Segment size offered, less the options of every segment, bytes.
    pub advmss: u32,
    /// Reordering assumed, segments.
    pub reordering: u32,
    /// Round trip as the receiver sees it.
    pub rcv_rtt: u32,
    /// What the application reads in a round trip, bytes.
    pub rcv_space: u32,
    /// Segments retransmitted so far.
    pub total_retrans: u32,
    /// Pacing rate, bytes a second; all ones for none.
    pub pacing_rate: u64,
    /// Its limit, bytes a second; all ones for none.
    pub max_pacing_rate: u64,
    /// Bytes acknowledged; the SYN of who opened and the FIN are one each.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Segments sent.
    pub segs_out: u32,
    /// Segments received.
    pub segs_in: u32,
    /// Bytes written and not sent yet.
    pub notsent_bytes: u32,
    /// Least round trip.
    pub min_rtt: u32,
    /// Segments with data received.
    pub data_segs_in: u32,
    /// Segments with data sent.
    pub data_segs_out: u32,
    /// Delivery rate, bytes a second.
    pub delivery_rate: u64,
    /// Time with data to send.
    pub busy_time: u64,
    /// Of it, limited by the peer's window.
    pub rwnd_limited: u64,
    /// Of it, limited by the send buffer.
    pub sndbuf_limited: u64,
    /// Segments delivered.
    pub delivered: u32,
    /// Of these, acknowledged with ECE.
    pub delivered_ce: u32,
    /// Bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Bytes retransmitted.
    pub bytes_retrans: u64,
    /// Duplicates that the peer has told of.
    pub dsack_dups: u32,
    /// Times reordering was seen.
    pub reord_seen: u32,
    /// Segments received out of order.
    pub rcv_ooopack: u32,
    /// The peer's window, bytes.
    pub snd_wnd: u32,
    /// The window offered, bytes.
    pub rcv_wnd: u32,
    /// Packets received with CE, under accurate ECN.
    pub received_ce: u32,
    /// Payload bytes with ECT(1), ECT(0) and CE that the peer's option of accurate ECN has told of.
    pub delivered_ecn_bytes: [u32; 3],
    /// Those that were received.
    pub received_ecn_bytes: [u32; 3],
    /// No ECN, RFC 3168's or accurate ECN: 0, 1, 2.
    pub ecn_mode: u8,
    /// What was seen of the peer's option: nothing, one without counters, counters, counters not to be gone by.
    pub accecn_opt_seen: u8,
    /// What of accurate ECN does not work, as bits.
    pub accecn_fail_mode: u8,
    /// Timeouts so far.
    pub total_rto: u16,
    /// Recoveries from timeouts so far.
    pub total_rto_recoveries: u16,
    /// Time in them, milliseconds.
    pub total_rto_time: u32,
}

impl Connection {
    /// The connection's state as Linux tells it.
    #[must_use]
    pub fn tcp_info(&self, now: tailback_units::Time) -> TcpInfo {
        let mut clock = self.clock.clone();
        let jiffies = clock.jiffies(now);
        let us = |ticks| self.clock.span(ticks).as_us() as u32;
        let since = |then| (self.clock.span(jiffies.wrapping_sub(then)).as_us() / 1000) as u32;
        let byte = |n: u32| n.min(255) as u8;
        let mut info = TcpInfo {
            state: self.state_number(),
            ca_state: match self.state {
                CaState::Open => 0,
                CaState::Disorder => 1,
                CaState::Cwr => 2,
                CaState::Recovery => 3,
                CaState::Loss => 4,
            },
            retransmits: byte(self.retransmits),
            probes: byte(self.probes),
            backoff: byte(self.backoff),
            rto: us(self.rtt.rto),
            ato: us(self.receive.ack.ato()),
            snd_mss: self.mss,
            rcv_mss: self.receive.ack.rcv_mss,
            unacked: self.packets_out,
            sacked: self.sacked_out,
            lost: self.lost_out,
            retrans: self.retrans_out,
            last_data_sent: since(self.last_sent),
            last_data_recv: since(self.receive.ack.last_received()),
            last_ack_recv: since(self.ack_received),
            pmtu: u32::from(self.syn_mss) + 40,
            rtt: us(self.rtt.srtt) / 8,
            snd_ssthresh: self.window.ssthresh,
            snd_cwnd: self.window.cwnd,
            reordering: self.reordering,
            total_retrans: self.stats.retransmissions as u32,
            pacing_rate: u64::MAX,
            max_pacing_rate: u64::MAX,
            bytes_acked: self.bytes_acked(),
            segs_out: (self.stats.segments_sent + self.stats.acks_sent) as u32,
            segs_in: self.stats.segments_received as u32,
            data_segs_in: self.stats.data_segments_received as u32,
            bytes_received: self.stats.bytes_received,
            rcv_ooopack: self.stats.out_of_order_received,
            notsent_bytes: self.unsent.min(u64::from(u32::MAX)) as u32,
            data_segs_out: self.stats.segments_sent as u32,
            bytes_sent: self.stats.bytes_sent,
            dsack_dups: self.stats.dsacks_received,
            snd_wnd: self.snd_wnd,
            total_rto: self.stats.timeouts as u16,
            ..TcpInfo::default()
        };
        self.receive.tell(&mut info, us);
        if self.is_modern() {
            self.tell_sender(jiffies, &mut info);
        }
        self.tell_options(&mut info);
        info
    }

    /// What was acknowledged as Linux counts it (tcp_sock.bytes_acked): the SYN of who opened is a byte.
    pub(super) fn bytes_acked(&self) -> u64 {
        let syn = !self.passive && self.life != Life::SynSent;
        self.stats.bytes_acked + u64::from(syn)
    }

    fn tell_options(&self, info: &mut TcpInfo) {
        let scaled = self.send_shift > 0 || self.receive.window_shift > 0;
        for (used, bit) in [
            (self.timestamps, OPT_TIMESTAMPS),
            (self.sack, OPT_SACK),
            (scaled, OPT_WSCALE),
            (self.ecn != EcnMode::Off, OPT_ECN),
            (self.ecn_seen, OPT_ECN_SEEN),
        ] {
            if used {
                info.options |= bit;
            }
        }
        if let Some(accurate) = &self.accurate {
            info.received_ce = accurate.received_ce;
            info.delivered_ecn_bytes = accurate.option.delivered;
            info.received_ecn_bytes = accurate.option.received;
            info.accecn_opt_seen = accurate.option.seen as u8;
            info.accecn_fail_mode = accurate.fails.0;
        }
        info.ecn_mode = self.ecn as u8;
        info.snd_wscale = self.send_shift;
        info.rcv_wscale = self.receive.window_shift;
    }

    /// The state's number in include/net/tcp_states.h.
    fn state_number(&self) -> u8 {
        match self.life {
            Life::Established => 1,
            Life::SynSent => 2,
            Life::SynReceived => 3,
            Life::FinWait1 => 4,
            Life::FinWait2 => 5,
            Life::TimeWait => 6,
            Life::Closed => 7,
            Life::CloseWait => 8,
            Life::LastAck => 9,
            Life::Closing => 11,
        }
    }
}
