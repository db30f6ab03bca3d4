//! Walks over the retransmission queue that pass over packets end as those that look at every packet.

use proptest::prelude::*;
use tailback_units::Duration;

use super::property::{any_segment, near, old_variants, spoiled};
use crate::testing::{CLIENT, Net, SERVER};
use crate::{Event, Stack};

/// What an end has sent, counted and reckoned.
fn account(net: &mut Net) -> String {
    let sent: Vec<String> = net.trace.iter().map(|sent| format!("{sent:?}")).collect();
    let mut ends = Vec::new();
    for end in [CLIENT, SERVER] {
        let (outstanding, stats) = (net.end(end).outstanding(), *net.end(end).stats());
        ends.push(format!(
            "{:?} {outstanding:?} {stats:?}",
            net.end(end).probe()
        ));
    }
    format!("{sent:#?} {ends:#?}")
}

/// Opens a connection whose walks look at every packet, if `plain`, and drives it.
fn driven(mut net: Net, plain: bool, drive: impl Fn(&mut Net)) -> (String, u64) {
    net.connect();
    let both = |n: &Net| {
        [CLIENT, SERVER]
            .iter()
            .all(|end| n.happened(*end, Event::Connected))
    };
    if !net.run_until(Duration::from_secs(300), both) {
        return (String::new(), 0);
    }
    for end in [CLIENT, SERVER] {
        net.end(end).walk_plainly(plain);
    }
    drive(&mut net);
    let again = net.end(CLIENT).stats().retransmissions;
    (account(&mut net), again)
}

/// One segment a packet, or several; windows of some hundred.
fn stacks() -> impl Strategy<Value = Stack> {
    (old_variants(), 0..4).prop_map(|(stack, offload)| Stack {
        tso: offload == 0,
        tcp_sack: true,
        initial_cwnd: 200,
        ..stack
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_lost_doubled_or_overtaken(
        stack in stacks(),
        seed in any::<u64>(),
        forth in proptest::collection::vec(0_u8..90, 0..400),
        back in proptest::collection::vec(0_u8..120, 0..100),
        writes in proptest::collection::vec((1_u64..900_000, 0_u64..400), 1..6),
    ) {
        let run = |plain| {
            let net = spoiled(stack.clone(), seed, [forth.clone(), back.clone()]);
            driven(net, plain, |net| for (bytes, pause_ms) in &writes {
                net.write(CLIENT, *bytes);
                net.run_for(Duration::from_ms(*pause_ms));
            })
        };
        prop_assert_eq!(run(false), run(true));
    }

    #[test]
    fn whatever_is_acknowledged(
        stack in stacks(),
        segments in proptest::collection::vec((any_segment(), 0_u64..300), 1..60),
    ) {
        let run = |plain| {
            driven(Net::of(stack.clone()), plain, |net| {
                net.write(CLIENT, 150_000);
                for (made_up, pause_us) in &segments {
                    let expected = net.end(CLIENT).plain_segment();
                    let mut segment = near(&expected, made_up);
                    // Nothing acceptable about it but what it acknowledges.
                    segment.seq = expected.seq;
                    segment.flags = expected.flags;
                    segment.payload_bytes = 0;
                    segment.window = expected.window;
                    segment.ts_val = expected.ts_val;
                    segment.has_timestamps = expected.has_timestamps;
                    net.inject(CLIENT, &segment);
                    net.run_for(Duration::from_us(*pause_us));
                }
                net.run_for(Duration::from_secs(1));
            })
        };
        prop_assert_eq!(run(false), run(true));
    }
}
