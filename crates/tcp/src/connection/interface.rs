//! What goes into a connection and what comes out of it.

use std::sync::Arc;

use tailback_units::Duration;

use super::options::SocketOptions;
use crate::segment::{Flags, Segment};
use crate::stack::Stack;

/// What a connection's end is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// How it behaves.
    pub stack: Arc<Stack>,
    /// Largest payload without options that its host takes: the MTU less 40 bytes.
    pub mss: u16,
    /// How far into a tick of its host's clock time zero is.
    pub clock_phase: Duration,
    /// The socket's options; connections share them until one changes its own.
    pub options: Arc<SocketOptions>,
    /// Memory that a received frame is charged for, bytes (truesize).
    pub rx_truesize_bytes: u32,
    /// The part of it that is given up when the frame's data joins what waits before it, bytes: that
    /// of hosts whose cards put data into pages. Zero: it never joins.
    pub rx_head_bytes: u32,
    /// All randomness of the connection derives from it: the initial sequence number and, where
    /// timeouts are randomised, those.
    pub seed: u64,
}

/// How a segment came: what its host put it together of, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Payload of each frame in it but the last, bytes; zero: it is one frame.
    pub mss: u16,
    /// What it is charged for (truesize), bytes.
    pub memory_bytes: u32,
    /// Pieces of pages that it lies in: packets that would have more than 17 do not join.
    pub fragments: u8,
    /// What more fits behind what was copied into its head, bytes: so much of what follows takes no memory.
    pub room: u8,
}

/// Flags of a write (send(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    /// More is to come: a short last segment waits for it (MSG_MORE).
    pub more: bool,
    /// A record ends here: later writes are not joined to it (MSG_EOR).
    pub end_of_record: bool,
}

/// A segment to send; its payload may exceed `mss`: the host's card cuts it up.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// The segment. PSH and FIN are for the last piece.
    pub segment: Segment,
    /// Payload of each piece but the last, bytes.
    pub mss: u16,
    /// Flags that are for the first piece alone: CWR, but of accurate ECN, whose count is in every one
    /// (SKB_GSO_TCP_ACCECN).
    pub first_only: Flags,
}

/// Linux's congestion states (tcp_ca_state).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing amiss.
    Open,
    /// Duplicate acknowledgements, not enough to act.
    Disorder,
    /// Reducing the window without a loss: after ECE or local congestion.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// Recovery after a timeout.
    Loss,
}

/// What a connection's end has counted; what is rare in 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stats {
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Times fast recovery was entered.
    pub fast_recoveries: u32,
    /// Window reductions undone because they were not needed.
    pub undos: u32,
    /// Segments dropped at a window of zero (TCPZeroWindowDrop).
    pub zero_window_drops: u32,
    /// Segments in order dropped for want of memory (TCPRcvQDrop).
    pub receive_queue_drops: u32,
    /// Segments beyond the window (BeyondWindow).
    pub beyond_window: u32,
    /// Duplicate selective acknowledgements received.
    pub dsacks_received: u32,
    /// Retransmissions found lost by later acknowledgements (TCPLostRetransmit).
    pub lost_retransmissions: u32,
    /// Segments with payload received out of order.
    pub out_of_order_received: u32,
    /// Segments retransmitted (RetransSegs).
    pub retransmissions: u64,
    /// Segments without payload sent.
    pub acks_sent: u64,
    /// Segments with payload received.
    pub data_segments_received: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Payload bytes received in order.
    pub bytes_received: u64,
    /// Payload bytes acknowledged, and the FIN as one.
    pub bytes_acked: u64,
    /// Segments with payload sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
}

impl Stats {
    /// From here on is what most segments count.
    pub(super) const OFTEN: usize = std::mem::offset_of!(Stats, acks_sent);
}

/// What a socket's receive queues did because more memory was charged than the buffer has; the
/// kernel's counters by net/ipv4/proc.c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortage {
    /// Times room had to be made (PruneCalled).
    pub prune_called: u64,
    /// Packets that were copied together with others (TCPRcvCollapsed).
    pub rcv_collapsed: u64,
    /// Payload bytes of those, each time they were copied.
    pub collapsed_bytes: u64,
    /// Times out-of-order data was thrown away (OfoPruned).
    pub ofo_pruned: u64,
    /// Frames of it, of the peer's segment size.
    pub pruned_frames: u64,
    /// Payload bytes of it.
    pub pruned_bytes: u64,
    /// Times there was no room after all that (RcvPruned).
    pub rcv_pruned: u64,
    /// Frames that were then not taken (TCPRcvQDrop in order, TCPOFODrop out of order).
    pub refused_frames: u64,
    /// Payload bytes of those.
    pub refused_bytes: u64,
}

impl Shortage {
    /// Adds what another socket has counted.
    pub fn add(&mut self, other: &Shortage) {
        self.prune_called += other.prune_called;
        self.rcv_collapsed += other.rcv_collapsed;
        self.collapsed_bytes += other.collapsed_bytes;
        self.ofo_pruned += other.ofo_pruned;
        self.pruned_frames += other.pruned_frames;
        self.pruned_bytes += other.pruned_bytes;
        self.rcv_pruned += other.rcv_pruned;
        self.refused_frames += other.refused_frames;
        self.refused_bytes += other.refused_bytes;
    }
}

/// A look at a connection's variables, for time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Payload of a full segment, bytes: what a segment of the window is.
    pub mss_bytes: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Smoothed round trip.
    pub srtt: Duration,
    /// Retransmission timeout with back-off.
    pub rto: Duration,
    /// Segments in flight as the sender reckons.
    pub in_flight: u32,
    /// The peer's window, bytes.
    pub send_window_bytes: u32,
    /// Own window last advertised, bytes.
    pub receive_window_bytes: u32,
    /// Congestion state.
    pub state: CaState,
}
