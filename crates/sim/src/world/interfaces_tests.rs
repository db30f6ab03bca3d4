use tailback_units::{Duration, Time};

use super::{Interfaces, Unsent};
use crate::tables::ColumnData;

#[test]
fn a_poll_sees_what_has_left() {
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let mut unsent = Unsent::new(at(1));
    // Short frames behind a long one; the second poll comes as one of them has just left.
    for (finish, octets) in [(at(1), 64), (at(2), 1518), (at(3), 64), (at(4), 64)] {
        unsent.note(finish, octets);
    }
    assert_eq!(unsent.left((1710, 4), at(3)), (64, 1));
    assert_eq!(unsent.left((1710, 4), at(5)), (1646, 3));
    assert_eq!(unsent.left((1710, 4), at(7)), (1710, 4));
}

#[test]
fn the_rate_is_between_two_polls() {
    let mut interfaces = Interfaces::new(Duration::from_secs(1));
    interfaces.keep([(9_000, 1), (0, 0)].into_iter());
    interfaces.keep([(9_000, 1), (0, 0)].into_iter());
    interfaces.keep([(10_000, 3), (0, 0)].into_iter());
    let table = interfaces.table(&["a>b", "b>a"]);
    let octets = ColumnData::U64(vec![9_000, 9_000, 10_000]);
    assert_eq!(table.column("out_octets"), Some(&octets));
    let mbps = ColumnData::F64(vec![0.072, 0.0, 0.008]);
    assert_eq!(table.column("out_mbps"), Some(&mbps));
}
