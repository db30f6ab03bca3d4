use tailback_net::frame::HostId;
use tailback_tcp::{MemInfo, TcpInfo};
use tailback_units::{Duration, Time};

use super::{LOOKS_MAX, Looked, Samples};
use crate::tables::ColumnData;

fn look(samples: &mut Samples, at: Time, queued: [u64; 2], cwnd: u32) {
    let info = TcpInfo {
        snd_cwnd: cwnd,
        ..TcpInfo::default()
    };
    let end = Looked {
        endpoint: 0,
        host: HostId(0),
        peer: 1,
        peer_host: HostId(1),
        bytes: 5,
        info,
        memory: MemInfo {
            rmem_alloc: 768,
            ..MemInfo::default()
        },
    };
    samples.look(at, queued.into_iter(), [end].into_iter());
}

#[test]
fn looks_are_an_interval_apart_from_zero_on() {
    let samples = Samples::new(Some(Duration::from_ms(3)));
    assert_eq!(samples.next(None), Time::ZERO);
    let third = Time::ZERO + Duration::from_ms(6);
    assert_eq!(samples.next(Some(third)), third + Duration::from_ms(3));
    assert_eq!(Samples::new(None).next(None), Time::NEVER);
}

#[test]
fn a_row_for_each_end_and_each_place_that_ever_held_anything() {
    let mut samples = Samples::new(Some(Duration::from_ms(1)));
    look(&mut samples, Time::ZERO, [0, 0], 10);
    look(&mut samples, Time::ZERO + Duration::from_ms(1), [0, 7], 20);
    let places = ["s:0".to_owned(), "s:1".to_owned()];
    let tables = samples.tables(&places, &["a".to_owned(), "b".to_owned()]);
    let [queues, ends] = tables.as_slice() else {
        panic!("{tables:?}")
    };
    let texts = |texts: &[&str]| ColumnData::Str(texts.iter().map(|&t| t.to_owned()).collect());
    assert_eq!(queues.column("place"), Some(&texts(&["s:1", "s:1"])));
    assert_eq!(
        queues.column("queue_bytes"),
        Some(&ColumnData::U64(vec![0, 7]))
    );
    assert_eq!(
        ends.column("snd_cwnd"),
        Some(&ColumnData::U64(vec![10, 20]))
    );
    assert_eq!(
        ends.column("rmem_alloc_bytes"),
        Some(&ColumnData::U64(vec![768, 768]))
    );
    assert_eq!(ends.column("host"), Some(&texts(&["a", "a"])));
    assert_eq!(ends.column("local"), Some(&texts(&["10.0.0.1:1024"; 2])));
    assert_eq!(ends.column("peer"), Some(&texts(&["10.0.0.2:1025"; 2])));
    assert_eq!(
        ends.column("time_s"),
        Some(&ColumnData::F64(vec![0.0, 0.001]))
    );
}

#[test]
fn more_looks_than_are_kept_are_said_and_not_kept() {
    let mut samples = Samples::new(Some(Duration::from_us(1)));
    let ports = |samples: &mut Samples, at: Time, count: usize| {
        samples.look(at, std::iter::repeat_n(0, count), std::iter::empty());
    };
    ports(&mut samples, Time::ZERO, LOOKS_MAX);
    assert_eq!(samples.too_many(), None);
    let then = Time::ZERO + Duration::from_us(1);
    assert_eq!(samples.next(Some(Time::ZERO)), then);
    ports(&mut samples, then, 1);
    assert_eq!(samples.too_many(), Some((then, Duration::from_us(1))));
    assert_eq!(samples.next(Some(then)), Time::NEVER);
    assert_eq!(samples.tables(&[], &[]).len(), 0);
}
