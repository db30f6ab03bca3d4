use tailback_units::Duration;

use super::Interfaces;
use crate::tables::ColumnData;

#[test]
fn no_counter_runs_back() {
    let mut interfaces = Interfaces::new(Duration::from_secs(1));
    interfaces.keep([(9_000, 1), (0, 0)].into_iter());
    // A queue of short frames behind a long one: the mean takes too much off.
    interfaces.keep([(8_000, 1), (0, 0)].into_iter());
    interfaces.keep([(10_000, 3), (0, 0)].into_iter());
    let table = interfaces.table(&["a>b", "b>a"]);
    let octets = ColumnData::U64(vec![9_000, 9_000, 10_000]);
    assert_eq!(table.column("out_octets"), Some(&octets));
    let mbps = ColumnData::F64(vec![0.072, 0.0, 0.008]);
    assert_eq!(table.column("out_mbps"), Some(&mbps));
}
