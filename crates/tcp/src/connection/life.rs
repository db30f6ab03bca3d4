//! A connection's life: from SYN to TIME-WAIT, and the ways out of it.
//!
//! Models RFC 9293 section 3.3.2 as Linux has it: net/ipv4/tcp.c (tcp_shutdown, tcp_close_state,
//! __tcp_close, tcp_disconnect) and tcp_input.c (tcp_fin, tcp_reset, the closing states of
//! tcp_rcv_state_process), alike in 2.6.18 and 7.2. Like there, a state says what the application
//! has asked for: FIN-WAIT-1 begins with the call, also while the FIN waits behind data.
//! Left out: limits on the number of connections without an application.

use tailback_units::Time;

use super::{Connection, Event};
use crate::clock::Jiffies;
use crate::segment::{Flags, Segment};

/// Where in its life a connection is (RFC 9293's states).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// A SYN is out.
    SynSent,
    /// A SYN has come and is answered.
    SynReceived,
    /// Open in both directions.
    Established,
    /// This side has closed; its FIN is not acknowledged.
    FinWait1,
    /// This side has closed, the peer has not.
    FinWait2,
    /// The peer has closed, this side has not.
    CloseWait,
    /// Both have closed at the same time; this side's FIN is not acknowledged.
    Closing,
    /// Both have closed, the peer first; this side's FIN is not acknowledged.
    LastAck,
    /// Over; late segments are still answered.
    TimeWait,
    /// Over.
    Closed,
}

impl Life {
    /// Whether both sides know of the connection and it is not over.
    #[inline]
    #[must_use]
    pub fn is_synchronised(self) -> bool {
        !matches!(
            self,
            Life::SynSent | Life::SynReceived | Life::TimeWait | Life::Closed
        )
    }

    /// Whether the application may write.
    #[inline]
    #[must_use]
    pub fn may_write(self) -> bool {
        matches!(
            self,
            Life::SynSent | Life::SynReceived | Life::Established | Life::CloseWait
        )
    }

    /// Whether the peer has said that it sends no more.
    #[inline]
    pub(super) fn peer_is_done(self) -> bool {
        matches!(self, Life::CloseWait | Life::Closing | Life::LastAck)
    }
}

/// Which direction [`Connection::shutdown`] closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Nothing more is read (SHUT_RD).
    Read,
    /// Nothing more is written (SHUT_WR).
    Write,
    /// Neither (SHUT_RDWR).
    Both,
}

/// Why a connection ended before its time, as the application is told it (errno).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer takes no connections there (ECONNREFUSED).
    Refused,
    /// The peer has reset it (ECONNRESET).
    Reset,
    /// The peer has reset it after its FIN (EPIPE).
    BrokenPipe,
    /// The peer does not answer (ETIMEDOUT).
    TimedOut,
    /// The application has aborted it (ECONNABORTED).
    Aborted,
}

impl Connection {
    /// Where in its life the connection is.
    #[inline]
    #[must_use]
    pub fn life(&self) -> Life {
        self.life
    }

    /// Whether the application has closed the socket: nobody reads or writes any more (SOCK_DEAD).
    #[inline]
    #[must_use]
    pub fn is_orphan(&self) -> bool {
        self.orphan
    }

    /// Why it ended, if not in order.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Whether an application has the connection, or it still waits to be accepted; at first it has.
    pub fn set_accepted(&mut self, accepted: bool) {
        self.unaccepted = !accepted;
    }

    /// Closes a direction; what was written is still sent.
    pub fn shutdown(&mut self, now: Time, how: Shutdown) {
        let jiffies = self.clock.jiffies(now);
        if how != Shutdown::Write {
            self.no_reader = true;
        }
        if how != Shutdown::Read {
            self.finish(jiffies);
        }
    }

    /// The application is done with the connection: what was written is still sent, what comes
    /// is refused. With unread data, or a linger time of zero, the connection is reset.
    pub fn close(&mut self, now: Time) {
        let lingers = self.options.linger != Some(tailback_units::Duration::ZERO);
        self.close_socket(now, lingers);
    }

    /// Closes with a linger time of zero, whatever the socket's own is: the connection is reset.
    pub fn close_hard(&mut self, now: Time) {
        self.close_socket(now, false);
    }

    fn close_socket(&mut self, now: Time, lingers: bool) {
        let jiffies = self.clock.jiffies(now);
        if self.orphan {
            return;
        }
        self.orphan = true;
        self.no_reader = true;
        let unread = self.receive.readable() > 0;
        if matches!(self.life, Life::Closed | Life::TimeWait) {
            return;
        }
        self.receive.drop_unread();
        if unread {
            self.send_reset();
            return self.end(None);
        }
        if !lingers {
            return self.disconnect();
        }
        self.finish(jiffies);
        if self.life == Life::FinWait2 {
            self.wait_for_fin(jiffies);
        }
    }

    /// Ends the connection at once, with a reset where the peer could be waiting
    /// (tcp_disconnect, tcp_abort).
    pub fn abort(&mut self, now: Time) {
        self.clock.jiffies(now);
        self.disconnect();
    }

    fn disconnect(&mut self) {
        let waiting = match self.life {
            Life::Established | Life::CloseWait | Life::FinWait1 | Life::FinWait2 => true,
            Life::SynReceived => true,
            Life::Closing | Life::LastAck => self.snd_nxt != self.snd_una || self.has_unsent(),
            Life::SynSent | Life::TimeWait | Life::Closed => false,
        };
        if waiting {
            self.send_reset();
        }
        self.end(Some(Failure::Aborted));
    }

    /// No more will be written: a FIN goes behind the data (tcp_close_state, tcp_send_fin).
    fn finish(&mut self, now: Jiffies) {
        self.life = match self.life {
            Life::Established => Life::FinWait1,
            Life::CloseWait => Life::LastAck,
            Life::SynSent => return self.end(None),
            // The FIN follows once the handshake is done.
            Life::SynReceived => {
                self.fin_queued = true;
                return;
            }
            _ => return,
        };
        self.fin_queued = true;
        self.push(now);
    }

    /// The handshake is done.
    pub(super) fn become_established(&mut self) {
        self.life = if self.fin_queued {
            Life::FinWait1
        } else {
            Life::Established
        };
    }

    /// An acknowledgement has been taken in: a FIN of this side may be acknowledged by it. True
    /// if the segment is used up (tcp_rcv_state_process, step 5).
    pub(super) fn own_fin_acknowledged(&mut self, now: Jiffies, segment: &Segment) -> bool {
        if !self.fin_sent || self.snd_una != self.snd_nxt {
            return false;
        }
        match self.life {
            Life::FinWait1 => {
                self.life = Life::FinWait2;
                self.orphan && self.orphan_in_fin_wait_2(now, segment)
            }
            Life::Closing => {
                self.enter_time_wait(now, false);
                true
            }
            Life::LastAck => {
                self.leave_metrics();
                self.end(None);
                true
            }
            _ => false,
        }
    }

    /// Nobody will read what the peer may still send.
    fn orphan_in_fin_wait_2(&mut self, now: Jiffies, segment: &Segment) -> bool {
        let fin = u32::from(segment.flags.intersects(Flags::FIN));
        let more = segment.seq_len() > 0 && (segment.end_seq() - fin).after(self.receive.rcv_nxt);
        if self.options.linger2.is_none() || more {
            self.end(None);
            self.refuse(segment);
            return true;
        }
        if fin > 0 {
            // It is taken in first.
            self.arm_life_timer(now, self.fin_timeout());
            return false;
        }
        self.wait_for_fin(now);
        self.life == Life::TimeWait
    }

    /// Closed by the application, waiting for the peer's FIN: for a while, and in TIME-WAIT's
    /// small state as far as that lasts (the end of __tcp_close).
    fn wait_for_fin(&mut self, now: Jiffies) {
        if self.options.linger2.is_none() {
            self.send_reset();
            return self.end(None);
        }
        let (wait, small) = (self.fin_timeout(), self.clock.ticks(self.stack.time_wait));
        if wait > small {
            self.arm_life_timer(now, wait - small);
        } else {
            self.enter_time_wait(now, true);
        }
    }

    /// tcp_fin_time: at least three and a half timeouts.
    pub(super) fn fin_timeout(&self) -> Jiffies {
        let asked = self
            .options
            .linger2
            .filter(|d| *d > tailback_units::Duration::ZERO);
        let ticks = self
            .clock
            .ticks(asked.unwrap_or(self.stack.tcp_fin_timeout));
        let rto = self.timeout();
        ticks.max((rto << 2) - (rto >> 1))
    }

    /// FIN-WAIT-2 without an application has lasted long enough for the full state.
    pub(super) fn fin_wait_2_timed_out(&mut self, now: Jiffies) {
        let small = self.clock.ticks(self.stack.time_wait);
        if self.options.linger2.is_some() && self.fin_timeout() > small {
            return self.enter_time_wait(now, true);
        }
        self.send_reset();
        self.end(None);
    }

    /// The peer's FIN is in order (tcp_fin).
    pub(super) fn peer_fin(&mut self, now: Jiffies) {
        self.receive.ack.scheduled = true;
        let first = !self.life.peer_is_done();
        match self.life {
            Life::Established | Life::SynReceived => {
                self.life = Life::CloseWait;
                self.receive.ack.enter_pingpong();
            }
            Life::FinWait1 => {
                self.send_ack();
                self.life = Life::Closing;
            }
            Life::FinWait2 => {
                self.send_ack();
                self.enter_time_wait(now, false);
            }
            _ => {}
        }
        self.receive.purge();
        if first {
            // A reader that waited for more gets what there is.
            if self.receive.readable() > 0 {
                self.events.push(Event::Readable);
            }
            self.events.push(Event::PeerClosed);
            self.look_for_space();
        }
    }

    /// Data for which there is no reader any more: RFC 9293 has it refused. True if so.
    pub(super) fn refuses_data(&mut self, segment: &Segment) -> bool {
        let fin = u32::from(segment.flags.intersects(Flags::FIN));
        let news = segment.seq_len() > 0 && (segment.end_seq() - fin).after(self.receive.rcv_nxt);
        let refused = match self.life {
            Life::FinWait1 | Life::FinWait2 => self.no_reader && news,
            life if life.peer_is_done() => segment.seq.before(self.receive.rcv_nxt) && news,
            _ => false,
        };
        if refused {
            self.reset_received();
            self.refuse(segment);
        }
        refused
    }

    /// The peer has reset the connection (tcp_reset).
    pub(super) fn reset_received(&mut self) {
        self.end(Some(match self.life {
            Life::SynSent => Failure::Refused,
            Life::CloseWait => Failure::BrokenPipe,
            _ => Failure::Reset,
        }));
    }

    /// The peer has not answered for too long (tcp_write_err).
    pub(super) fn give_up(&mut self) {
        self.end(Some(Failure::TimedOut));
    }

    /// The connection is over (tcp_done).
    pub(super) fn end(&mut self, failure: Option<Failure>) {
        self.life = Life::Closed;
        self.failure = self.failure.or(failure);
        self.stop_timers();
        self.events.push(if failure.is_some() {
            Event::Reset
        } else {
            Event::Closed
        });
    }

    pub(super) fn stop_timers(&mut self) {
        self.timer = None;
        self.life_timer = None;
        self.receive.ack.timer = None;
    }

    /// Sends a reset that the peer will take, with the flags of whatever is sent (tcp_send_active_reset).
    pub(super) fn send_reset(&mut self) {
        let mut segment = self.header();
        segment.flags = segment.flags.with(Flags::RST);
        self.emit(segment);
    }

    /// Answers a segment that belongs to no connection (tcp_v4_send_reset).
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.flags.intersects(Flags::RST) {
            return;
        }
        let mut reset = Segment::EMPTY;
        if segment.flags.intersects(Flags::ACK) {
            reset.flags = Flags::RST;
            reset.seq = segment.ack;
        } else {
            reset.flags = Flags::RST.with(Flags::ACK);
            reset.ack = segment.end_seq();
        }
        self.emit(reset);
    }
}
