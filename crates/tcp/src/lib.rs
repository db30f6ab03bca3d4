//! TCP without a clock, a socket, an event loop or a simulator inside.
//!
//! A [`Connection`] is one end. Segments, calls of the application and the time go in as
//! arguments ([`Connection::handle_segment`], [`Connection::write`], …); segments to send, events
//! for the application and the next deadline are polled. A [`Stack`] says how it behaves: it is a
//! profile of a kernel with every value open to change.
//!
//! What is modelled is Linux 2.6.18 (RHEL 5.4's 2.6.18-164.el5), structure by structure; each file
//! names the functions of that kernel it follows and what it leaves out.

mod clock;
pub mod congestion;
mod connection;
mod places;
mod queue;
mod receive;
mod rtt;
mod segment;
mod seq;
mod stack;

pub use connection::{
    Arrival, CaState, Config, Connection, CwndReduction, Event, Failure, FastRecovery,
    InvalidOption, Learned, Life, MemInfo, Metrics, MetricsCache, Pacing, Pieces, Probe, Sender,
    Shortage, Shutdown, SocketOption, SocketOptions, Stats, TcpInfo, Told, Transmit, WriteFlags,
};
pub use receive::{InitialReceiveWindow, RcvbufTuning, Receiver, WinFromSpace};
pub use segment::{
    Blocks, Ecn, EcnCounters, Flags, Header, SackBlock, SackBlocks, Segment, SynOptions,
};
pub use seq::Seq;
pub use stack::{PRESETS, Stack};

#[cfg(test)]
mod testing;
