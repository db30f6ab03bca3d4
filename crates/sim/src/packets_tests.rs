use std::net::{Ipv4Addr, SocketAddr};

use tailback_tcp::{Ecn, EcnCounters, Flags, SackBlock, Segment, Seq, SynOptions};
use tailback_units::Time;
use tailback_wire::pcapng::{Direction, Writer};
use tailback_wire::{IpFields, Payload, ethernet, ip};

use super::packets;
use crate::tables::{ColumnData, Table};

fn capture(segments: &[(bool, Segment)]) -> Vec<u8> {
    let ends = [1, 2].map(|n| SocketAddr::from((Ipv4Addr::new(10, 0, 0, n), 1023 + u16::from(n))));
    let mut writer = Writer::new(Vec::new(), "tailback").expect("a vector takes all");
    let interface = writer.interface("a>b", 1_000_000_000).expect("written");
    for (number, (back, segment)) in segments.iter().enumerate() {
        let (from, to) = if *back {
            (ends[1], ends[0])
        } else {
            (ends[0], ends[1])
        };
        let mut frame = Vec::new();
        ethernet::write(&mut frame, [2; 6], [4; 6], |out| {
            ip::write(out, segment, from, to, IpFields::default(), Payload::Zeros);
        });
        let at = Time::from_ps(number as u64 * 1000);
        writer
            .packet(interface, at, &frame, Direction::Outbound, None)
            .expect("written");
    }
    writer.finish().expect("flushed")
}

fn texts(table: &Table, column: &str) -> Vec<String> {
    match table.column(column) {
        Some(ColumnData::Str(values)) => values.clone(),
        other => panic!("{column}: {other:?}"),
    }
}

fn numbers(table: &Table, column: &str) -> Vec<u64> {
    match table.column(column) {
        Some(ColumnData::U64(values)) => values.clone(),
        other => panic!("{column}: {other:?}"),
    }
}

#[test]
fn numbers_count_from_the_syn_of_their_direction_even_across_the_wrap() {
    let mut syn = Segment::EMPTY;
    syn.seq = Seq(u32::MAX - 1);
    syn.set_syn_options(SynOptions {
        mss: 1460,
        window_scale: Some(7),
        sack_permitted: true,
    });
    let mut answer = syn;
    answer.seq = Seq(500);
    answer.ack = Seq(u32::MAX);
    answer.flags = answer.flags.with(Flags::ACK);
    let mut data = Segment::EMPTY;
    data.seq = Seq(99);
    data.ack = Seq(501);
    data.flags = Flags::ACK.with(Flags::PSH);
    data.payload_bytes = 10;
    data.ecn = Ecn::Ce;
    let mut ack = Segment::EMPTY;
    ack.seq = Seq(501);
    ack.ack = Seq(u32::MAX);
    ack.flags = Flags::ACK;
    ack.push_sack(SackBlock {
        start: Seq(99),
        end: Seq(109),
    });
    answer.set_ecn_counters(EcnCounters::new(false, &[1, 0, 1]));
    data.set_ecn_counters(EcnCounters::new(true, &[11]));
    ack.set_ecn_counters(EcnCounters::new(false, &[]));
    let rows = [(false, syn), (true, answer), (false, data), (true, ack)];
    let table = packets(&capture(&rows)).expect("a capture");
    assert_eq!(numbers(&table, "seq"), [0, 0, 101, 1]);
    assert_eq!(numbers(&table, "ack"), [0, 1, 1, 1]);
    assert_eq!(texts(&table, "flags"), ["S", "S.", "P.", "."]);
    assert_eq!(texts(&table, "sack"), ["", "", "", "101:111"]);
    assert_eq!(texts(&table, "ecn"), ["", "", "CE", ""]);
    assert_eq!(
        texts(&table, "ecn_counters"),
        ["", "e1b 1 ceb 0 e0b 1", "e0b 11", "none"]
    );
    assert_eq!(
        texts(&table, "syn_options")[0],
        "mss 1460, sackOK, wscale 7"
    );
    assert_eq!(numbers(&table, "time_ns"), [0, 1, 2, 3]);
}
