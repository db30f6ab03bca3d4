use tailback_units::{Bytes, Duration, Rate, Time};

use super::{
    FlowControlConfig, Order, PauseConfig, PauseFrame, Paused, PfcClass, PfcConfig, Watch, Watched,
    quanta_time,
};

fn pause(watch: Watched) -> FlowControlConfig {
    FlowControlConfig::Pause(PauseConfig {
        high_watermark: Bytes::new(130_000),
        low_watermark: Bytes::new(110_000),
        watch,
        quanta: 65_535,
        reaction: Duration::ZERO,
    })
}

fn order(port: u16, classes: u8, quanta: u16) -> Order {
    Order {
        port,
        frame: PauseFrame { classes, quanta },
    }
}

/// Queues frames of 1000 B, or takes them out; what was ordered meanwhile.
fn queue(watch: &mut Watch, ports: (u16, u16), class: u8, frames: i32) -> Vec<Order> {
    let mut orders = Vec::new();
    for _ in 0..frames.abs() {
        if frames > 0 {
            watch.queued(Time::ZERO, ports, class, 1000, &mut orders);
        } else {
            watch.left(Time::ZERO, ports, class, 1000, &mut orders);
        }
    }
    orders
}

#[test]
fn a_full_egress_queue_stops_every_other_port_once() {
    let mut watch = Watch::new(&pause(Watched::Egress), &[Rate::from_gbps(10); 4]);
    assert_eq!(queue(&mut watch, (1, 0), 0, 130), []);
    let stop = [1, 2, 3].map(|port| order(port, 0xff, 65_535));
    assert_eq!(queue(&mut watch, (2, 0), 0, 5), stop);
    assert_eq!(queue(&mut watch, (2, 0), 0, -24), []);
    let go = [1, 2, 3].map(|port| order(port, 0xff, 0));
    assert_eq!(queue(&mut watch, (1, 0), 0, -1), go);
    assert_eq!(watch.due(), Time::NEVER);
    assert_eq!((watch.sent(0), watch.sent(1)), (0, 2));
}

#[test]
fn a_port_goes_on_when_no_queue_wants_it_stopped() {
    let mut watch = Watch::new(&pause(Watched::Egress), &[Rate::from_gbps(10); 3]);
    queue(&mut watch, (2, 0), 0, 131);
    // Port 2 is stopped already; port 0 is not.
    assert_eq!(queue(&mut watch, (2, 1), 0, 131), [order(0, 0xff, 65_535)]);
    assert_eq!(queue(&mut watch, (2, 0), 0, -131), [order(1, 0xff, 0)]);
    let mut orders = Vec::new();
    watch.refresh(watch.due(), &mut orders);
    assert_eq!(orders, [order(0, 0xff, 65_535), order(2, 0xff, 65_535)]);
    let go = [order(0, 0xff, 0), order(2, 0xff, 0)];
    assert_eq!(queue(&mut watch, (2, 1), 0, -131), go);
}

#[test]
fn each_port_is_told_again_when_half_its_own_quanta_are_over() {
    // 65 535 quanta are 3355.4 us at 10 Gb/s and 33 554 us at 1 Gb/s.
    let rates = [10, 10, 1].map(Rate::from_gbps);
    let mut watch = Watch::new(&pause(Watched::Egress), &rates);
    queue(&mut watch, (1, 0), 0, 131);
    let mut told = [0; 3];
    while watch.due() < Time::ZERO + Duration::from_ms(100) {
        let mut orders = Vec::new();
        watch.refresh(watch.due(), &mut orders);
        assert!(!orders.is_empty());
        for order in orders {
            told[usize::from(order.port)] += 1;
        }
    }
    assert_eq!(told, [0, 59, 5]);
}

#[test]
fn a_full_ingress_stops_itself() {
    let mut watch = Watch::new(&pause(Watched::Ingress), &[Rate::from_gbps(10); 4]);
    queue(&mut watch, (2, 0), 0, 100);
    assert_eq!(queue(&mut watch, (2, 1), 0, 31), [order(2, 0xff, 65_535)]);
    assert_eq!(queue(&mut watch, (2, 0), 0, -21), [order(2, 0xff, 0)]);
}

#[test]
fn classes_are_stopped_one_by_one_and_lossy_ones_never() {
    let class = |class| PfcClass {
        class,
        high_watermark: Bytes::new(50_000),
        low_watermark: Bytes::new(40_000),
    };
    let config = FlowControlConfig::Pfc(PfcConfig {
        classes: vec![class(3), class(5)],
        watch: Watched::Ingress,
        quanta: 100,
        reaction: Duration::ZERO,
    });
    let mut watch = Watch::new(&config, &[Rate::from_gbps(10); 2]);
    assert_eq!(queue(&mut watch, (1, 0), 0, 500), []);
    assert_eq!(queue(&mut watch, (1, 0), 3, 51), [order(1, 1 << 3, 100)]);
    assert_eq!(queue(&mut watch, (1, 0), 5, 51), [order(1, 1 << 5, 100)]);
    assert_eq!(queue(&mut watch, (1, 0), 3, -11), [order(1, 1 << 3, 0)]);
}

#[test]
fn the_longest_pause_is_3355_microseconds_at_10_gigabits() {
    assert_eq!(quanta_time(65_535, Rate::from_gbps(10)).as_us(), 3355);
    assert_eq!(
        quanta_time(1, Rate::from_gbps(10)),
        Duration::from_ps(51_200)
    );
}

#[test]
fn a_stopped_transmitter_goes_on_by_order_or_when_its_time_is_over() {
    let at = |us| Time::ZERO + Duration::from_us(us);
    let mut paused = Paused::default();
    paused.pause(at(10), 0xff, Duration::from_us(100));
    assert!(paused.is_stopped(at(50)));
    assert_eq!(paused.next_end(at(50)), at(110));
    assert!(!paused.is_paused(at(110), 0));
    paused.pause(at(200), 1 << 3, Duration::from_us(100));
    assert!(paused.is_paused(at(210), 3) && !paused.is_paused(at(210), 2));
    paused.pause(at(230), 1 << 3, Duration::ZERO);
    assert!(!paused.is_paused(at(230), 3));
    // 100 us until it ran out, 30 us until it was ended.
    assert_eq!(paused.counted(at(500)), (3, Duration::from_us(130)));
}
