//! The receiver's side of SCE: "some congestion experienced", fed back as ESCE.
//!
//! Models draft-grimes-tcpm-tcpsce and the behaviour of the SCE kernel (chromi/sce,
//! net/ipv4/tcp_input.c) with sysctl tcp_sce: ECT(1) on a data packet is a mark; acknowledgements
//! carry ESCE (the former NS bit) while the last data packet had one. No acknowledgement speaks for
//! both: where marked and unmarked data meet, what is still to be acknowledged is acknowledged
//! first, as it was, and the new at once. CE leaves this state alone; it has RFC 3168's echo.
//! Left out: dithered feedback (tcp_sce_feedback 2).

use super::Connection;
use super::accurate_ecn::EcnMode;
use crate::segment::{Ecn, Flags, Header};

impl Connection {
    /// Data has come; called before it is taken over.
    #[inline]
    pub(super) fn feed_back_sce(&mut self, segment: &Header) {
        if !self.stack.tcp_sce || self.ecn != EcnMode::Classic {
            return;
        }
        let marked = match segment.ecn {
            Ecn::Ect1 => true,
            Ecn::Ect0 => false,
            Ecn::Ce | Ecn::NotEct => return,
        };
        if marked == self.esce {
            return;
        }
        if self.receive.ack.timer.is_some() {
            self.send_ack();
        }
        self.receive.ack.now = true;
        self.esce = marked;
    }

    /// The flag that acknowledgements carry now.
    #[inline]
    pub(super) fn esce_flag(&self) -> Flags {
        if self.esce { Flags::NS } else { Flags::NONE }
    }
}
