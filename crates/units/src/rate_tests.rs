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
fn texts_round_trip() {
    for text in ["10Gbit", "2500Mbit", "1bit"] {
        assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
    }
    assert_eq!(
        "2.5Gbit/s".parse::<Rate>().unwrap(),
        Rate::from_bps(2_500_000_000)
    );
}
