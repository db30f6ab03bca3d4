//! A queue discipline in the words of `tc` (tc(8), tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-cake(8), tc-fifo(8)): so kernels get the
//! ones that their end of a link has.

use tailback_net::marking::Mark;
use tailback_net::queue::QueueConfig;
use tailback_net::queue::cake::CakeConfig;
use tailback_net::queue::pie::PieConfig;
use tailback_scenario::Run;
use tailback_units::Duration;

/// The line for `tc`, without its name, that gives a host's interface the discipline that its end of its link has.
///
/// # Errors
/// Why there is none: what kernels do not have.
pub(super) fn of_host(run: &Run, host: usize) -> Option<Result<String, String>> {
    let queue = run.network.host_qdisc(host)?;
    let txqueuelen = run.network.hosts[host].config.tx_queue_packets;
    Some(line(queue, INTERFACE, txqueuelen))
}

/// A guest's interface.
const INTERFACE: &str = "eth0";

fn line(queue: &QueueConfig, interface: &str, txqueuelen: u32) -> Result<String, String> {
    let words = words(queue, txqueuelen)?;
    Ok(format!("qdisc replace dev {interface} root {words}"))
}

fn words(queue: &QueueConfig, txqueuelen: u32) -> Result<String, String> {
    let us = |time: Duration| format!("{}us", time.as_us());
    let ecn = |ecn: bool| if ecn { "ecn" } else { "noecn" };
    let threshold = |at: Option<Duration>| {
        at.map_or_else(String::new, |at| format!(" ce_threshold {}", us(at)))
    };
    let sce = |mark: Mark| match mark {
        Mark::Sce => Err("kernels mark CE, and no SCE".to_owned()),
        Mark::Ce => Ok(()),
    };
    match queue {
        QueueConfig::Fifo {} => Ok(format!("pfifo limit {txqueuelen}")),
        QueueConfig::Codel(codel) => {
            sce(codel.mark)?;
            Ok(format!(
                "codel limit {} target {} interval {} {}{}",
                codel.limit,
                us(codel.target),
                us(codel.interval),
                ecn(codel.ecn),
                threshold(codel.ce_threshold),
            ))
        }
        QueueConfig::FqCodel(codel) => {
            sce(codel.mark)?;
            let quantum = codel
                .quantum
                .map(|bytes| format!(" quantum {}", bytes.get()));
            let selected = (codel.ce_threshold_mask > 0).then(|| {
                let (value, mask) = (codel.ce_threshold_selector, codel.ce_threshold_mask);
                format!(" ce_threshold_selector {value:#04x}/{mask:#04x}")
            });
            Ok(format!(
                "fq_codel limit {} flows {} target {} interval {}{} drop_batch {} {}{}{}",
                codel.limit,
                codel.flows,
                us(codel.target),
                us(codel.interval),
                quantum.unwrap_or_default(),
                codel.drop_batch,
                ecn(codel.ecn),
                threshold(codel.ce_threshold),
                selected.unwrap_or_default(),
            ))
        }
        QueueConfig::Pie(pie) => {
            sce(pie.mark)?;
            if pie.max_burst != PieConfig::default().max_burst {
                return Err("tc has no word for max_burst".to_owned());
            }
            Ok(format!(
                "pie limit {} target {} tupdate {} alpha {} beta {} {}",
                pie.limit,
                us(pie.target),
                us(pie.tupdate),
                pie.alpha,
                pie.beta,
                ecn(pie.ecn),
            ))
        }
        QueueConfig::Cake(cake) => Ok(cake_words(cake)),
        QueueConfig::Dualpi2(_) => {
            Err("tc of today's distributions does not know dualpi2".to_owned())
        }
        QueueConfig::Cobalt(_) => Err("kernels have COBALT in CAKE alone".to_owned()),
        QueueConfig::Python(_) => Err("it is a program for modelled hosts".to_owned()),
    }
}

/// CAKE's settings that are words have those of `tc cake`.
fn cake_words(cake: &CakeConfig) -> String {
    let word = |setting: Result<serde_json::Value, serde_json::Error>| -> String {
        let word = setting
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned));
        word.unwrap_or_default()
    };
    let bandwidth = cake
        .bandwidth
        .map(|rate| format!("bandwidth {}bit", rate.as_bps()));
    let overhead = cake.overhead.map(|bytes| format!(" overhead {bytes}"));
    let mpu = (cake.mpu > 0).then(|| format!(" mpu {}", cake.mpu));
    let memory = cake
        .memlimit
        .map(|bytes| format!(" memlimit {}", bytes.get()));
    format!(
        "cake {} {} {} rtt {}us {} {}{}{}{}{}",
        bandwidth.unwrap_or_else(|| "unlimited".to_owned()),
        word(serde_json::to_value(cake.diffserv_mode)),
        word(serde_json::to_value(cake.flow_mode)),
        cake.rtt.as_us(),
        word(serde_json::to_value(cake.ack_filter)),
        word(serde_json::to_value(cake.atm_mode)),
        overhead.unwrap_or_default(),
        mpu.unwrap_or_default(),
        memory.unwrap_or_default(),
        if cake.ingress { " ingress" } else { "" },
    )
}

#[cfg(test)]
#[path = "tc_tests.rs"]
mod tests;
