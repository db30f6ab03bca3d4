use tailback_net::queue::fq_codel::FqCodelConfig;
use tailback_units::{Bytes, Rate};

use super::*;

fn said(queue: &QueueConfig) -> String {
    line(queue, "eth0", 1000).expect("tc knows it")
}

#[test]
fn disciplines_are_said_in_the_words_of_tc() {
    let before = "qdisc replace dev eth0 root ";
    assert_eq!(
        said(&QueueConfig::Fifo {}),
        format!("{before}pfifo limit 1000")
    );
    let codel = FqCodelConfig {
        quantum: Some(Bytes::new(300)),
        ce_threshold: Some(Duration::from_ms(1)),
        ce_threshold_selector: 1,
        ce_threshold_mask: 3,
        ..FqCodelConfig::default()
    };
    assert_eq!(
        said(&QueueConfig::FqCodel(codel)),
        format!(
            "{before}fq_codel limit 10240 flows 1024 target 5000us interval 100000us quantum 300 drop_batch 64 ecn \
             ce_threshold 1000us ce_threshold_selector 0x01/0x03"
        )
    );
    let cake = CakeConfig {
        bandwidth: Some(Rate::from_bps(20_000_000)),
        overhead: Some(-4),
        ..CakeConfig::default()
    };
    assert_eq!(
        said(&QueueConfig::Cake(cake)),
        format!(
            "{before}cake bandwidth 20000000bit diffserv3 triple-isolate rtt 100000us no-ack-filter noatm overhead -4"
        )
    );
}

#[test]
fn what_kernels_have_not_is_refused() {
    let pie = PieConfig {
        max_burst: Duration::from_ms(10),
        ..PieConfig::default()
    };
    let refused = line(&QueueConfig::Pie(pie), "eth0", 1000).expect_err("tc cannot say it");
    assert!(refused.contains("max_burst"), "{refused}");
}
