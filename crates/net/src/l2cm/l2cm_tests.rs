use tailback_units::Bytes;

use super::{feedback, quantise, scaled, worst};

const QEQ: Bytes = Bytes::new(409 * 64);

#[test]
fn feedback_counts_the_offset_once_and_the_change_twice() {
    let w = scaled(2.0);
    let worst = worst(QEQ, w);
    assert_eq!(worst, 2045);
    // (409 - 1000) - 2 · (1000 - 800)
    assert_eq!(feedback(QEQ, w, worst, 1000, 800), -991);
    // A queue that falls makes up for its length: (409 - 1000) + 2 · 400.
    assert_eq!(feedback(QEQ, w, worst, 1000, 1400), 209);
    assert_eq!(feedback(QEQ, w, worst, 5000, 0), -2045);
}

#[test]
fn six_bits_round_to_the_nearest() {
    // 63 · 991 / 2045 = 30.53
    assert_eq!(quantise(-991, 2045), 31);
    assert_eq!(quantise(-2045, 2045), 63);
    assert_eq!(quantise(-16, 2045), 0);
    assert_eq!(quantise(-17, 2045), 1);
}
