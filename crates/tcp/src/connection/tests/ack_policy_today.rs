//! When today's receiver acknowledges.

use tailback_units::Duration;

use crate::testing::{CLIENT, Net, SERVER, preset};
use crate::{Flags, Stack};

const MSS: u64 = 1448;
const MS: Duration = Duration::from_ms(1);

fn opened(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    net.open();
    net.write(CLIENT, 300 * MSS);
    net.run_for(MS * 150);
    net.trace.clear();
    net
}

#[test]
fn no_acknowledgement_waits_as_long_as_the_least_timeout() {
    for (rto_min_ms, least_ms, most_ms) in [(5, 3, 6), (200, 38, 42)] {
        let mut net = opened(Stack {
            rto_min: MS * rto_min_ms,
            ..preset("linux-7.2")
        });
        net.end(SERVER).receive.ack.enter_pingpong();
        net.write(CLIENT, MSS);
        let sent = net.now;
        net.run_for(MS * 100);
        assert_eq!(net.acks(SERVER).count(), 1, "{rto_min_ms}");
        let waited = net.acks(SERVER).next().unwrap().at.since(sent);
        let expected = MS * least_ms..MS * most_ms;
        assert!(expected.contains(&waited), "{rto_min_ms}: {waited}");
        // It used to come after the probe that the wait had provoked.
        assert_eq!(net.data(CLIENT).count(), 1, "{rto_min_ms}");
    }
}

#[test]
fn what_is_sent_for_itself_takes_nothing_off_quick_acknowledgements() {
    let mut net = Net::of(preset("linux-7.2"));
    net.open();
    net.write(CLIENT, 100);
    net.run_for(MS * 10);
    assert_eq!(net.acks(SERVER).count(), 1);
    let left = net.end(SERVER).receive.ack.quick;
    assert!(left > 2, "{left}");
    net.write(SERVER, 300 * MSS);
    net.run_for(MS * 50);
    assert_eq!(net.end(SERVER).receive.ack.quick, left);
    // An acknowledgement that was owed does.
    net.end(SERVER).receive.ack.exit_pingpong();
    net.write(CLIENT, 100);
    net.run_for(MS * 2);
    assert_eq!(net.end(SERVER).receive.ack.quick, left - 1);
}

#[test]
fn a_fin_to_an_end_that_never_got_data_is_acknowledged_at_the_next_tick() {
    // Nothing has been estimated (icsk_ack.ato is zero): the timer is set for now.
    let mut net = Net::of(preset("linux-7.2"));
    net.open();
    net.write(CLIENT, 100);
    net.run_for(MS * 100);
    net.trace.clear();
    net.shut(SERVER);
    let sent = net.now;
    net.run_for(MS * 10);
    let waited = net.acks(CLIENT).next().unwrap().at.since(sent);
    assert!(waited <= MS + Duration::from_us(300), "{waited}");
}

#[test]
fn a_predicted_segment_without_data_leaves_what_is_owed_to_its_timer() {
    // tcp_rcv_established does not come by tcp_ack_snd_check then; after a header that was not predicted it does,
    // and the timer fires in less than a quarter of `ato`.
    for (wider, at_once) in [(0, 0), (100, 1)] {
        let mut net = opened(preset("linux-7.2"));
        net.end(SERVER).receive.ack.enter_pingpong();
        net.write(CLIENT, MSS);
        net.run_for(MS * 35);
        assert_eq!(net.acks(SERVER).count(), 0);
        let mut bare = net.data(CLIENT).next().unwrap().segment;
        bare.seq = bare.end_seq();
        bare.payload_bytes = 0;
        bare.flags = Flags::ACK;
        bare.window += wider;
        net.inject(SERVER, &bare);
        assert_eq!(net.acks(SERVER).count(), at_once, "{wider}");
        net.run_for(MS * 10);
        assert_eq!(net.acks(SERVER).count(), 1, "{wider}");
    }
}
