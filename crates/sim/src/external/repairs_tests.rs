use std::net::Ipv4Addr;

use tailback_agent::record::Flow;
use tailback_units::{Duration, Time};

use super::*;
use crate::world::Totals;

const CLIENT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000);

fn request(number: u64, retransmissions: u64, timeouts: u64) -> Record {
    Record::Request {
        peer: CLIENT,
        number,
        time_ns: 0,
        retransmissions,
        timeouts,
    }
}

fn end(retransmissions: u64, timeouts: u64) -> Record {
    let counts = [("total_retrans", retransmissions), ("total_rto", timeouts)];
    Record::Flow(Flow {
        local: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 5001),
        peer: CLIENT,
        sends: true,
        written_bytes: 0,
        read_bytes: 0,
        started_ns: 0,
        first_byte_ns: 0,
        last_byte_ns: 0,
        tcp_info: counts.map(|(name, n)| (name.to_owned(), n)).into(),
    })
}

fn asked(iteration: u64, retransmissions: u64) -> Record {
    Record::Transaction {
        iteration,
        started_ns: 0,
        ended_ns: 0,
        bytes: 0,
        retransmissions,
        timeouts: 0,
    }
}

#[test]
fn each_iteration_has_what_came_in_it() {
    let iteration = Transaction {
        started: Time::ZERO,
        completion: Duration::ZERO,
        counted: Totals {
            retransmissions: 100,
            ..Totals::default()
        },
    };
    let mut transactions = [iteration; 3];
    let records = Records::from([
        (0, vec![asked(0, 1), asked(1, 1), asked(2, 4)]),
        (
            1,
            vec![
                request(0, 2, 0),
                request(1, 7, 1),
                request(2, 7, 1),
                end(9, 2),
            ],
        ),
        (
            2,
            vec![
                request(0, 0, 0),
                request(1, 10, 0),
                request(2, 10, 0),
                end(10, 0),
            ],
        ),
    ]);
    add(&mut transactions, &records);
    let counted = transactions.map(|t| (t.counted.retransmissions, t.counted.timeouts));
    assert_eq!(counted, [(100 + 1 + 5 + 10, 1), (100, 0), (100 + 3 + 2, 1)]);
}
