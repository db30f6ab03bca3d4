use tailback_units::{Duration, Time};

use super::{FlowLook, LOOKS_MAX, Recorder, Samples};
use crate::tables::ColumnData;

fn flow(received_bytes: u64, segments_sent: u64, timeouts: u64) -> FlowLook {
    FlowLook {
        received_bytes,
        cwnd: 10,
        segments_sent,
        timeouts,
    }
}

#[test]
fn only_the_chosen_iteration_is_looked_at() {
    let mut recorder = Recorder::new(Some(3), Samples::new(None), vec!["s:0".into()], 1);
    recorder.begin(Time::ZERO, 2);
    assert!(!recorder.due(Time::ZERO + Duration::from_secs(100)));
    recorder.begin(Time::from_ps(5), 3);
    assert!(recorder.due(Time::from_ps(5)));
    recorder.end();
    assert!(!recorder.due(Time::ZERO + Duration::from_secs(100)));
}

#[test]
fn a_flow_waits_from_its_last_segment_to_its_timeout() {
    let mut recorder = Recorder::new(Some(0), Samples::new(None), vec!["s:0".into()], 1);
    recorder.begin(Time::ZERO, 0);
    for (sent, timeouts) in [(1, 0), (5, 0), (5, 0), (5, 0), (6, 1), (9, 1)] {
        recorder.look(
            [0].into_iter(),
            [flow(sent * 100, sent, timeouts)].into_iter(),
        );
    }
    let progress = &recorder.tables(&[])[1];
    let expected = vec![false, true, true, true, false, false];
    assert_eq!(
        progress.column("waiting_for_timeout"),
        Some(&ColumnData::Bool(expected))
    );
    let received = vec![0, 400, 400, 400, 500, 800];
    assert_eq!(
        progress.column("received_bytes"),
        Some(&ColumnData::U64(received))
    );
}

#[test]
fn a_long_iteration_keeps_its_extremes_in_few_rows() {
    let mut recorder = Recorder::new(
        Some(0),
        Samples::new(None),
        vec!["s:0".into(), "s:1".into()],
        1,
    );
    recorder.begin(Time::ZERO, 0);
    for look in 0..(3 * LOOKS_MAX as u64) {
        // A burst long enough to survive the thinning out.
        let queued = if (50_000..50_040).contains(&look) {
            777
        } else {
            1
        };
        recorder.look([queued, 0].into_iter(), [flow(look, look, 0)].into_iter());
    }
    let tables = recorder.tables(&[]);
    let queues = &tables[0];
    assert!(queues.rows() <= super::ROWS_MAX, "{} rows", queues.rows());
    let Some(ColumnData::U64(most)) = queues.column("queue_bytes_max") else {
        panic!("no column")
    };
    assert_eq!(most.iter().max(), Some(&777));
}
