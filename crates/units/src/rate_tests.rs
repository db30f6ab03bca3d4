use proptest::prelude::{prop_assert_eq, prop_oneof, proptest};

use super::Rate;

#[test]
fn a_byte_at_ten_gigabit_is_800_ps_either_way() {
    let rate: Rate = "10Gbit".parse().unwrap();
    assert_eq!(rate.time_for(9038).as_ps(), 9038 * 800);
    assert_eq!(rate.byte_time().time_for(9038), rate.time_for(9038));
}

#[test]
fn inexact_rates_round_up() {
    let rate = Rate::from_bps(3);
    assert_eq!(rate.time_for(1).as_ps(), 2_666_666_666_667);
    assert_eq!(rate.byte_time().time_for(1), rate.time_for(1));
}

#[test]
fn a_prepared_rate_gives_the_same_times() {
    for bps in [
        1,
        3,
        999_999_937,
        9_584_640_000,
        25_000_812_345,
        (1 << 46) - 1,
    ] {
        let rate = Rate::from_bps(bps);
        for bytes in [0, 1, 64, 1538, 9038, 65_573, (1 << 18) - 1] {
            let prepared = rate.byte_time().time_for(bytes);
            assert_eq!(prepared, rate.time_for(bytes), "{bps} {bytes}");
        }
    }
}

proptest! {
    #[test]
    fn any_prepared_rate_gives_the_same_times(
        bps in prop_oneof![1..200_u64, 1_000_000..500_000_000_000_u64, 1_u64..1 << 46],
        bytes in 0..1_u64 << 18,
    ) {
        let rate = Rate::from_bps(bps);
        prop_assert_eq!(rate.byte_time().time_for(bytes), rate.time_for(bytes));
    }

    #[test]
    fn times_that_are_whole_stay_so(mbps in 1..500_000_u64, times in 0..1_000_u64) {
        let rate = Rate::from_bps(mbps * 1_000_000);
        // So many bytes take a whole number of picoseconds.
        let bytes = mbps / gcd(mbps, 8_000_000);
        let bytes = bytes * (times % (262_143 / bytes).max(1));
        prop_assert_eq!(8_000_000 * bytes % mbps, 0);
        prop_assert_eq!(rate.byte_time().time_for(bytes), rate.time_for(bytes));
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn texts_round_trip() {
    for text in ["10Gbit", "2500Mbit", "1bit"] {
        assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
    }
    assert_eq!(
        "2.5Gbit/s".parse::<Rate>().unwrap(),
        Rate::from_bps(2_500_000_000)
    );
}
