//! SCE's echo: acknowledgements that speak for marked or for unmarked data, never for both.

use std::cell::Cell;
use std::rc::Rc;

use tailback_units::Duration;

use crate::congestion::CongestionKind;
use crate::testing::{CLIENT, Fate, Net, SERVER, stack};
use crate::{Flags, Stack};

const MSS: u64 = 1448;

fn sce(tcp_sce: bool) -> Stack {
    Stack {
        tcp_ecn: 1,
        tcp_sce,
        tcp_congestion_control: CongestionKind::RenoSce,
        ..stack()
    }
}

/// What a transfer saw in which, from frame 200 on, 5 of every 20 frames are marked.
struct Seen {
    marked_bytes: u64,
    esce_bytes: u64,
    acks: usize,
}

fn transfer(stack: Stack) -> Seen {
    let mut net = Net::of(stack);
    let marked_bytes = Rc::new(Cell::new(0));
    let count = Rc::clone(&marked_bytes);
    net.judge(CLIENT, move |f| {
        if f.segment.payload_bytes > 0 && f.data_index >= 200 && f.data_index % 20 < 5 {
            count.set(count.get() + u64::from(f.segment.payload_bytes));
            Fate::MarkSce
        } else {
            Fate::Pass
        }
    });
    net.open();
    net.write(CLIENT, 400 * MSS);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.delivered[SERVER], 400 * MSS);
    let acks: Vec<_> = net
        .trace
        .iter()
        .filter(|sent| sent.from == SERVER && !sent.segment.flags.intersects(Flags::SYN))
        .map(|sent| sent.segment)
        .collect();
    let mut esce_bytes = 0;
    for pair in acks.windows(2) {
        if pair[1].flags.contains(Flags::NS) {
            esce_bytes += u64::from(pair[1].ack - pair[0].ack);
        }
    }
    Seen {
        marked_bytes: marked_bytes.get(),
        esce_bytes,
        acks: acks.len(),
    }
}

#[test]
fn exactly_the_marked_bytes_are_acknowledged_with_esce() {
    let seen = transfer(sce(true));
    assert!(seen.marked_bytes >= 49 * MSS, "{}", seen.marked_bytes);
    assert_eq!(seen.esce_bytes, seen.marked_bytes);
}

#[test]
fn marks_cost_acknowledgements() {
    // 20 changes of state, each with an acknowledgement that need not have been.
    let with = transfer(sce(true)).acks;
    let without = transfer(sce(false)).acks;
    assert!(
        (10..=25).contains(&(with - without)),
        "{with} and {without}"
    );
}

#[test]
fn without_the_setting_ect_1_says_nothing() {
    assert_eq!(transfer(sce(false)).esce_bytes, 0);
}

#[test]
fn the_sender_comes_down_without_a_reduction() {
    let mut net = Net::of(Stack {
        tcp_congestion_control: CongestionKind::DctcpSce,
        ..sce(true)
    });
    net.judge(CLIENT, |f| {
        if f.data_index >= 300 {
            Fate::MarkSce
        } else {
            Fate::Pass
        }
    });
    net.open();
    net.write(CLIENT, 2000 * MSS);
    net.run_for(Duration::from_secs(2));
    assert_eq!(net.delivered[SERVER], 2000 * MSS);
    let end = net.end(CLIENT);
    assert_eq!(end.probe().cwnd, 2);
    assert_eq!(end.stats().retransmissions, 0);
}
