//! How today's receivers, and those of 6.12 and before, tune their buffers.

use tailback_units::{Bytes, Duration};

use super::receiving_today::{ahead, opened, today};
use crate::testing::{CLIENT, Net, SERVER};
use crate::{RcvbufTuning, Stack};

const MS: Duration = Duration::from_ms(1);
const MSS: u32 = 1448;

#[test]
fn the_buffer_grows_with_what_is_read_in_a_round_trip() {
    let mut net = Net::of(today());
    for wire in &mut net.wires {
        wire.delay = MS * 20;
    }
    net.connect();
    net.run_for(MS * 100);
    net.write(CLIENT, 100_000_000);
    net.run_for(MS * 3000);
    let tuned = net.end(SERVER).receive.rcvbuf();
    // A gigabit for 40 ms is five million bytes.
    assert!(tuned > 5_000_000 * 256 / 195, "{tuned}");
    assert!(tuned <= 32 << 20);
    // With SO_RCVBUF it stays as it is.
    let mut net = opened();
    let now = net.now;
    let option = crate::SocketOption::RcvBuf(Bytes::new(100_000));
    net.end(SERVER).set_option(now, option).unwrap();
    net.write(CLIENT, 5_000_000);
    net.run_for(MS * 500);
    assert_eq!(net.end(SERVER).receive.rcvbuf(), 200_000);
}

#[test]
fn a_read_is_measured_at_its_first_packet() {
    // tcp_recvmsg_locked asks after each packet: at the first of a filled hole what waits is no need for more, and
    // at the others no time has passed.
    let space_after = |frames: u32| {
        let mut net = Net::of(today());
        for wire in &mut net.wires {
            wire.delay = MS * 5;
        }
        net.connect();
        net.write(CLIENT, 4 * u64::from(MSS));
        net.run_for(MS * 200);
        net.end(SERVER).receive.set_head(832);
        for n in 1..=frames {
            let segment = ahead(&mut net, n * MSS);
            net.inject(SERVER, &segment);
        }
        net.run_for(MS * 50);
        let missing = ahead(&mut net, 0);
        net.inject(SERVER, &missing);
        assert_eq!(net.delivered[SERVER], u64::from((4 + 1 + frames) * MSS));
        let now = net.now;
        let at_once = net.end(SERVER).tcp_info(now).rcv_space;
        net.run_for(MS * 50);
        let next = ahead(&mut net, 0);
        net.inject(SERVER, &next);
        let now = net.now;
        (at_once, net.end(SERVER).tcp_info(now).rcv_space)
    };
    // A round trip later all counts but that first packet.
    assert_eq!(space_after(40), (10 * MSS, 41 * MSS));
    // Where a packet has pages for all, it is the first.
    let (at_once, later) = space_after(16);
    assert!(at_once >= 17 * MSS && later == at_once, "{at_once} {later}");
}

#[test]
fn what_waits_to_be_read_is_no_need_for_more_but_of_old() {
    // `copied -= inq` of 6.12.117 and of 7.2.
    for (rcvbuf_tuning, grows) in [
        (RcvbufTuning::SlowStart, true),
        (RcvbufTuning::QueueAware, false),
        (RcvbufTuning::LowRtt, false),
    ] {
        let mut net = Net::of(Stack {
            rcvbuf_tuning,
            ..today()
        });
        for wire in &mut net.wires {
            wire.delay = MS * 5;
        }
        net.connect();
        net.write(CLIENT, 40 * u64::from(MSS));
        net.run_for(MS * 200);
        net.reads[SERVER] = false;
        let now = net.now;
        let before = net.end(SERVER).tcp_info(now).rcv_space;
        net.write(CLIENT, 60 * u64::from(MSS));
        net.run_for(MS * 100);
        net.read(SERVER, 29 * u64::from(MSS));
        net.run_for(MS * 100);
        net.read(SERVER, u64::from(MSS));
        let now = net.now;
        let after = net.end(SERVER).tcp_info(now).rcv_space;
        assert_eq!(after > before, grows, "{rcvbuf_tuning:?}: {before} {after}");
    }
}

#[test]
fn in_a_lan_it_grows_with_the_round_trip_only() {
    // tcp_rcvbuf_low_rtt: below a millisecond in proportion.
    let grown = |low_rtt| {
        let mut net = Net::of(Stack {
            tcp_rcvbuf_low_rtt: low_rtt,
            ..today()
        });
        net.open();
        net.write(CLIENT, 30_000_000);
        net.run_for(MS * 400);
        net.end(SERVER).receive.rcvbuf()
    };
    assert!(grown(MS) <= grown(Duration::ZERO));
}

#[test]
fn an_echo_that_an_acknowledgement_brought_is_no_round_trip() {
    // tcp_rcv_established: the answer echoes what the acknowledgement of the question did, however late it is.
    let measured = |acknowledged: bool| {
        let mut net = Net::of(today());
        for wire in &mut net.wires {
            wire.delay = MS * 5;
        }
        net.connect();
        net.run_for(MS * 100);
        if !acknowledged {
            net.end(SERVER).receive.ack.enter_pingpong();
        }
        net.write(CLIENT, 100);
        net.run_for(MS * 8);
        net.write(SERVER, u64::from(MSS));
        net.run_for(MS * 10);
        assert_eq!(net.delivered[CLIENT], u64::from(MSS));
        let now = net.now;
        net.end(CLIENT).tcp_info(now).rcv_rtt
    };
    assert_eq!(measured(true), 0);
    assert_eq!(measured(false), 13_000);
}
