//! Round trips between kernels are exact.

mod support;

use support::{Folder, Options, StarConfig, run};
use tailback_agent::Record;
use tailback_agent::config::{Ping, Task, UdpSink};
use tailback_units::{Duration, Rate};
use tailback_wire::plan;

#[test]
fn a_ping_takes_what_the_wire_takes() {
    let folder = Folder::new();
    let options = Options {
        clients: 1,
        keep_trace: true,
        ..Options::new(&folder)
    };
    let star = StarConfig {
        rates: vec![Rate::from_gbps(10); 2],
        delay: Duration::from_us(10),
        mtu_bytes: 1500,
        buffer_bytes: None,
        mark_above_bytes: None,
    };
    let ping = Task::Ping(Ping {
        address: plan::ipv4(1),
        count: 3,
        interval_ns: 1_000_000_000,
        payload_bytes: 56,
        priority: 0,
        wait_ns: 1_000_000_000,
        line: 0,
        start_ns: 100_000_000,
    });
    let serve = Task::UdpSink(UdpSink {
        numbers: None,
        port: 9,
        idle_ns: 1,
        end_ns: None,
        gap_ns: 0,
        window_bytes: None,
    });
    let outcome = run(&folder, &options, star, &[vec![ping], vec![serve]]).expect("it runs");
    let replies = outcome.records[0].iter().filter_map(|record| match record {
        Record::Ping { rtt_ns, .. } => *rtt_ns,
        _ => None,
    });
    assert_eq!(replies.count(), 3);
    // From the first bit of the request on its link to the last of the reply on its own: two
    // propagations and two serialisations of 98 bytes, FCS, preamble and gap (122 bytes, 97.6 ns,
    // which the guest sees at the next whole nanosecond).
    let own: Vec<_> = outcome.star.trace.iter().filter(|e| e.host == 0).collect();
    assert_eq!(own.len(), 6);
    for pair in own.chunks(2) {
        let [sent, came] = pair else {
            panic!("{pair:?}")
        };
        assert_eq!((sent.arrives, came.arrives), (false, true));
        let serialisation = Duration::from_ps(97_600);
        let answered = Duration::from_ps(400);
        let rtt = came.at.since(sent.at) + serialisation;
        assert_eq!(
            rtt,
            Duration::from_us(20) + serialisation + serialisation + answered
        );
    }
}
