//! What the BBRs share: bandwidth as segments a microsecond in fixed point, and what follows from
//! it (Linux net/ipv4/tcp_bbr.c, 7.2: bbr_rate_bytes_per_sec, bbr_bdp, bbr_tso_segs_goal).

use super::View;

/// One segment a microsecond (BW_UNIT).
pub(super) const BW_SHIFT: u32 = 24;
/// One, of a gain (BBR_UNIT).
pub(super) const UNIT: u32 = 256;
/// Paced below the bandwidth by this, per cent (bbr_pacing_margin_percent).
const PACING_MARGIN_PERCENT: u64 = 1;
/// Below this packets for offload are single segments, bytes a second (bbr_min_tso_rate).
const TSO_RATE_MIN: u64 = 1_200_000 / 8;
/// A packet for offload takes 2^-10 of a second at the pacing rate (sk_pacing_shift), and is this
/// long at most, bytes.
const TSO_SHIFT: u32 = 10;
const TSO_BYTES_MAX: u64 = 65_536 - 1 - 320;
/// Window without a round trip measured, segments (TCP_INIT_CWND).
pub(super) const INITIAL_CWND: u32 = 10;
/// Least window, segments: two acknowledgements of two each (bbr_cwnd_min_target).
pub(super) const CWND_MIN: u32 = 4;

/// Bandwidth of `segments` in `interval_us`.
pub(super) fn bandwidth(segments: u32, interval_us: u64) -> u32 {
    let scaled = u64::from(segments) << BW_SHIFT;
    (scaled / interval_us.max(1)).min(u64::from(u32::MAX)) as u32
}

/// Segments that `bandwidth` delivers in `us`.
pub(super) fn delivered_in(bandwidth: u32, us: u64) -> u32 {
    ((u128::from(bandwidth) * u128::from(us)) >> BW_SHIFT).min(u128::from(u32::MAX)) as u32
}

/// The pacing rate for a gain, bytes a second.
pub(super) fn pacing_rate(bandwidth: u32, gain: u32, mss: u32) -> u64 {
    let rate = (u64::from(bandwidth) * u64::from(mss) * u64::from(gain)) >> 8;
    let rate = u128::from(rate) * u128::from(10_000 * (100 - PACING_MARGIN_PERCENT));
    (rate >> BW_SHIFT) as u64
}

/// The window of a gain over bandwidth and round trip, segments, rounded up.
pub(super) fn bdp(bandwidth: u32, rtt_us: u32, gain: u32) -> u32 {
    if rtt_us == u32::MAX {
        return INITIAL_CWND;
    }
    let product = u64::from(bandwidth) * u64::from(rtt_us);
    let gained = (u128::from(product) * u128::from(gain)) >> 8;
    gained.div_ceil(1 << BW_SHIFT).min(u128::from(u32::MAX / 2)) as u32
}

/// Segments that a packet for offload should have at least.
pub(super) fn min_tso_segs(pacing_rate: u64) -> u32 {
    if pacing_rate < TSO_RATE_MIN { 1 } else { 2 }
}

/// Segments of a packet for offload.
pub(super) fn tso_segs(pacing_rate: u64, view: &View) -> u32 {
    let bytes = (pacing_rate >> TSO_SHIFT).min(TSO_BYTES_MAX);
    ((bytes / u64::from(view.mss.max(1))) as u32)
        .max(min_tso_segs(pacing_rate))
        .min(127)
}
