use tailback_scenario::{BUILT_IN, Plan};

use super::World;
use crate::{Control, SimError, build};

/// A world that has run a short congested scenario on the switch of that name.
fn finished(switch: &str) -> World {
    let (_, file, text) = BUILT_IN[0];
    let overrides = [
        format!("sweep.switch=[\"{switch}\"]"),
        "sweep.servers=[8]".to_owned(),
        "workload.iterations=2".to_owned(),
    ];
    let plan = Plan::from_toml(text, file, &overrides, None).expect("a good scenario");
    let mut world = build::world(&plan.runs[0], &[]);
    world.start();
    world.run(&Control::default()).expect("it ends");
    world
}

fn violated(world: &World) -> bool {
    matches!(world.check_conservation(), Err(SimError::Conservation(_)))
}

#[test]
fn the_books_of_both_kinds_of_switch_balance() {
    for switch in ["arista-7124s", "cisco-nexus-5010"] {
        assert_eq!(finished(switch).check_conservation(), Ok(()), "{switch}");
    }
}

#[test]
fn a_frame_that_vanishes_or_appears_is_noticed() {
    let mut world = finished("arista-7124s");
    world.ledger.sent.frames += 1;
    assert!(violated(&world));
    world.ledger.sent.frames -= 2;
    assert!(violated(&world));
}

#[test]
fn payload_that_vanishes_with_its_frame_counted_is_noticed() {
    let mut world = finished("cisco-nexus-5010");
    world.ledger.delivered.payload_bytes -= 1;
    assert!(violated(&world));
}

#[test]
fn an_uncounted_drop_is_noticed() {
    let mut world = finished("arista-7124s");
    let port = world.switches[0]
        .ports
        .iter_mut()
        .find(|port| port.dropped() > 0)
        .expect("eight servers overrun the switch");
    let cause = port
        .drops
        .iter()
        .position(|lost| lost.frames > 0)
        .expect("a cause");
    port.drops[cause].frames -= 1;
    assert!(violated(&world));
}

#[test]
fn bytes_read_that_nobody_wrote_are_noticed() {
    let mut world = finished("arista-7124s");
    world.endpoints[0].read_bytes = world.endpoints[1].written_bytes + 1;
    assert!(violated(&world));
}

#[test]
fn bytes_acknowledged_that_were_not_received_are_noticed() {
    let mut world = finished("arista-7124s");
    world.endpoints[0].read_bytes -= 1;
    assert!(violated(&world));
}
