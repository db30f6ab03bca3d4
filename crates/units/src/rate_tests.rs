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
    for bps in [0, 3, 999_999_937, 9_584_640_000, 25_000_812_345, u64::MAX] {
        let rate = Rate::from_bps(bps);
        // 2 305 843 bytes are the most whose bits in picoseconds a second fit into 64 bits.
        for bytes in [0, 1, 64, 1538, 9038, 65_573, 2_305_843, 2_305_844, 1 << 40] {
            let prepared = rate.byte_time().time_for(bytes);
            assert_eq!(prepared, rate.time_for(bytes), "{bps} {bytes}");
        }
    }
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
