use super::{QUEUES_MAX, Scaling};
use crate::frame::EndpointId;

/// Flows of a thousand in each queue.
fn spread(key: u64, queues: u32) -> Vec<u32> {
    let scaling = Scaling::new(key, queues);
    let mut flows = vec![0; queues as usize];
    for to in 0..1000 {
        flows[scaling.queue_of(EndpointId(to))] += 1;
    }
    flows
}

#[test]
fn flows_are_spread_over_all_queues() {
    for queues in [1, 2, 16, QUEUES_MAX] {
        let flows = spread(7, queues);
        let fair = 1000 / queues;
        let (least, most) = (flows.iter().min().unwrap(), flows.iter().max().unwrap());
        assert!(*least > fair / 3 && *most < fair * 2 + 1, "{flows:?}");
    }
}

#[test]
fn a_flow_stays_in_its_queue_and_another_key_spreads_otherwise() {
    let queues = |key| {
        let scaling = Scaling::new(key, 16);
        (0..20)
            .map(|to| scaling.queue_of(EndpointId(to)))
            .collect::<Vec<_>>()
    };
    assert_eq!(queues(1), queues(1));
    assert_ne!(queues(1), queues(2));
}
