//! What today's sender tells in tcp_info (Linux 7.2 net/ipv4/tcp.c: tcp_get_info,
//! tcp_compute_delivery_rate).

use super::super::{Connection, TcpInfo};
use crate::clock::Jiffies;

impl Connection {
    pub(in crate::connection) fn tell_sender(&self, now: Jiffies, info: &mut TcpInfo) {
        let modern = &self.modern;
        info.rtt = modern.rtt.srtt_us8 >> 3;
        info.rttvar = modern.rtt.mdev_us() >> 2;
        info.min_rtt = modern.rtt.min.get();
        info.pacing_rate = self.window.pacing_rate;
        info.max_pacing_rate = self.window.pacing_rate_max;
        info.total_retrans = modern.total_retrans;
        info.delivered = self.delivered;
        info.delivered_ce = self.delivered_ce;
        info.delivery_rate = modern.rate.bytes_per_second(self.mss);
        info.delivery_rate_app_limited = modern.rate.is_sample_app_limited();
        info.dsack_dups = modern.dsack_dups;
        info.reord_seen = modern.reord_seen;
        info.bytes_retrans = modern.bytes_retrans;
        self.tell_limits(now, info);
    }
}
