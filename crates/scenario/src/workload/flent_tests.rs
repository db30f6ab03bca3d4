use tailback_units::{Duration, Time};

use super::{Flent, FlentTest};

fn flent(test: FlentTest, clients: u32) -> Flent {
    Flent {
        test,
        clients,
        length: Duration::from_secs(30),
        delay: Duration::from_secs(5),
        step_size: Duration::from_ms(200),
        hosts: Vec::new(),
    }
}

#[test]
fn an_upload_is_a_connection_a_client_between_two_quiet_times() {
    let run = flent(FlentTest::TcpUpload, 2).measurement(&[0, 1, 2]);
    let at = |s| Time::ZERO + Duration::from_secs(s);
    assert_eq!(
        (run.begin, run.load, run.end),
        (at(0), (at(5), at(35)), at(40))
    );
    let ways: Vec<_> = run
        .flows
        .iter()
        .map(|one| (one.sender, one.flow.source, one.flow.destination))
        .collect();
    assert_eq!(ways, [(1, 1, 0), (2, 2, 0)]);
    let down = flent(FlentTest::TcpDownload, 1).measurement(&[0, 1, 2]);
    assert_eq!(
        (down.flows[0].flow.source, down.flows[0].flow.destination),
        (0, 1)
    );
}

#[test]
fn rrul_has_four_each_way_and_four_pings() {
    let run = flent(FlentTest::Rrul, 1).measurement(&[0, 1, 2]);
    let names: Vec<&str> = run.flows.iter().map(|one| one.series.as_str()).collect();
    assert_eq!(
        names,
        [
            "TCP upload BE",
            "TCP upload BK",
            "TCP upload CS5",
            "TCP upload EF",
            "TCP download BE",
            "TCP download BK",
            "TCP download CS5",
            "TCP download EF",
        ]
    );
    let classes: Vec<u8> = run.flows.iter().map(|one| one.flow.priority).collect();
    assert_eq!(classes, [0, 1, 5, 5, 0, 1, 5, 5]);
    let pings: Vec<&str> = run.pings.iter().map(|one| one.series.as_str()).collect();
    assert_eq!(
        pings,
        [
            "Ping (ms) ICMP",
            "Ping (ms) UDP EF",
            "Ping (ms) UDP BK",
            "Ping (ms) UDP BE",
        ]
    );
}

#[test]
fn more_clients_than_hosts_and_no_time_are_told() {
    let wrong = Flent {
        length: Duration::ZERO,
        step_size: Duration::from_us(1),
        ..flent(FlentTest::TcpUpload, 4)
    };
    let found = wrong.findings(4);
    let paths: Vec<&str> = found.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["clients", "length", "step_size"]);
}

#[test]
fn a_row_of_a_series_is_at_most_as_long_as_the_load() {
    let spec = |ms| Flent {
        length: Duration::from_ms(ms),
        ..flent(FlentTest::TcpUpload, 2)
    };
    for (ms, interval_ms) in [(199, 199), (201, 200)] {
        assert_eq!(spec(ms).findings(4), []);
        let interval = spec(ms).measurement(&[0, 1, 2]).interval;
        assert_eq!(interval, Duration::from_ms(interval_ms));
    }
}

#[test]
fn hosts_have_the_parts_that_their_order_gives_them() {
    let run = flent(FlentTest::Rrul, 1).measurement(&[3, 1]);
    let ends = |one: &super::MeasuredFlow| (one.flow.source, one.flow.destination);
    let ways: Vec<_> = run.flows.iter().map(ends).collect();
    assert_eq!(ways, [[(1, 3); 4], [(3, 1); 4]].concat());
    assert_eq!(run.receiver, 3);
    assert!(
        run.pings
            .iter()
            .all(|one| (one.source, one.destination) == (1, 3))
    );
}
