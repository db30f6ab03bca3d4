//! `struct tcp_info` as Linux 7.2 lays it out (include/uapi/linux/tcp.h).

use tailback_tcp::TcpInfo;

/// The struct's bytes. What the stack leaves out (fackets, last_ack_sent, rehashing) is zero.
pub(crate) fn bytes(info: &TcpInfo) -> Vec<u8> {
    let mut out = vec![
        info.state,
        info.ca_state,
        info.retransmits,
        info.probes,
        info.backoff,
        info.options,
        info.snd_wscale | info.rcv_wscale << 4,
        u8::from(info.delivery_rate_app_limited),
    ];
    let mut words = |values: &[u32]| {
        for value in values {
            out.extend(value.to_ne_bytes());
        }
    };
    words(&[info.rto, info.ato, info.snd_mss, info.rcv_mss]);
    words(&[info.unacked, info.sacked, info.lost, info.retrans, 0]);
    words(&[
        info.last_data_sent,
        0,
        info.last_data_recv,
        info.last_ack_recv,
    ]);
    words(&[info.pmtu, info.rcv_ssthresh, info.rtt, info.rttvar]);
    words(&[
        info.snd_ssthresh,
        info.snd_cwnd,
        info.advmss,
        info.reordering,
    ]);
    words(&[info.rcv_rtt, info.rcv_space, info.total_retrans]);
    words(&halves(info.pacing_rate));
    words(&halves(info.max_pacing_rate));
    words(&halves(info.bytes_acked));
    words(&halves(info.bytes_received));
    words(&[
        info.segs_out,
        info.segs_in,
        info.notsent_bytes,
        info.min_rtt,
    ]);
    words(&[info.data_segs_in, info.data_segs_out]);
    words(&halves(info.delivery_rate));
    words(&halves(info.busy_time));
    words(&halves(info.rwnd_limited));
    words(&halves(info.sndbuf_limited));
    words(&[info.delivered, info.delivered_ce]);
    words(&halves(info.bytes_sent));
    words(&halves(info.bytes_retrans));
    words(&[info.dsack_dups, info.reord_seen, info.rcv_ooopack]);
    words(&[info.snd_wnd, info.rcv_wnd, 0]);
    out.extend(info.total_rto.to_ne_bytes());
    out.extend(info.total_rto_recoveries.to_ne_bytes());
    out.extend(info.total_rto_time.to_ne_bytes());
    let counters = [info.delivered_ecn_bytes, info.received_ecn_bytes];
    for value in [info.received_ce].iter().chain(counters.as_flattened()) {
        out.extend(value.to_ne_bytes());
    }
    let bits = info.ecn_mode | info.accecn_opt_seen << 2 | info.accecn_fail_mode << 4;
    out.extend(u32::from(bits).to_ne_bytes());
    out
}

fn halves(value: u64) -> [u32; 2] {
    let bytes = value.to_ne_bytes();
    [0, 4].map(|at| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

#[cfg(test)]
mod tests {
    use tailback_tcp::TcpInfo;

    #[test]
    fn fields_are_where_linux_has_them() {
        let info = TcpInfo {
            rto: 0x0101_0101,
            snd_cwnd: 0x0202_0202,
            bytes_acked: 0x0303_0303_0303_0303,
            delivered: 0x0404_0404,
            rcv_wnd: 0x0505_0505,
            total_rto: 0x0606,
            ..TcpInfo::default()
        };
        let bytes = super::bytes(&info);
        assert_eq!(bytes.len(), 280);
        for (at, value, length) in [
            (8, 1, 4),
            (80, 2, 4),
            (120, 3, 8),
            (192, 4, 4),
            (232, 5, 4),
            (240, 6, 2),
        ] {
            assert_eq!(bytes[at..at + length], vec![value; length], "at {at}");
        }
        assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 26);
    }
}
