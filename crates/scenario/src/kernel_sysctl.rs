//! Sysctls of a kernel host: the scenario's own, and those a stack profile stands for.
//!
//! A profile's value that bears a sysctl's name (`tcp_…`) is that sysctl; minimum and maximum
//! retransmission timeout are the sysctls that Linux has had since 6.11 and 6.15 (Documentation/
//! networking/ip-sysctl.rst: tcp_rto_min_us, tcp_rto_max_ms). Values that are constants in every
//! kernel (delayed acknowledgements' bounds, …) cannot be set.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tailback_tcp::Stack;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration};

use crate::problem::Finding;

/// Where TCP's sysctls are.
const TCP: &str = "net.ipv4.";

/// Bounds of tcp_rto_max_ms (net/ipv4/sysctl_net_ipv4.c of Linux 7.2).
const RTO_MAX_MS: (u64, u64) = (1000, 120_000);

/// A sysctl's value, or a table of those whose names begin alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SysctlValue {
    /// A number; a negative one is written as a text.
    Number(u64),
    /// A text, such as "4096 131072 6291456".
    Text(String),
    /// Names go on: net.ipv4.tcp_sack = 1 is three tables.
    Table(BTreeMap<String, SysctlValue>),
}

/// Full names and values.
pub(crate) fn flat(tables: &BTreeMap<String, SysctlValue>) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    flatten("", tables, &mut values);
    values
}

fn flatten(
    before: &str,
    table: &BTreeMap<String, SysctlValue>,
    values: &mut BTreeMap<String, String>,
) {
    for (name, value) in table {
        let name = format!("{before}{name}");
        match value {
            SysctlValue::Number(number) => {
                values.insert(name, number.to_string());
            }
            SysctlValue::Text(text) => {
                values.insert(name, text.clone());
            }
            SysctlValue::Table(table) => flatten(&format!("{name}."), table, values),
        }
    }
}

/// Sysctls for what `stack` says.
pub(crate) fn of(stack: &Stack) -> BTreeMap<String, String> {
    let Ok(Value::Object(profile)) = serde_json::to_value(stack) else {
        return BTreeMap::new();
    };
    let mut values: BTreeMap<String, String> = profile
        .iter()
        .filter(|(name, _)| name.starts_with("tcp_"))
        // No kernel of kernel.org has it: only who wants it is told so.
        .filter(|(name, _)| stack.tcp_sce || *name != "tcp_sce")
        .filter_map(|(name, value)| Some((format!("{TCP}{name}"), text(name, value)?)))
        .collect();
    for (name, value) in [("rmem_max", stack.rmem_max), ("wmem_max", stack.wmem_max)] {
        values.insert(format!("net.core.{name}"), value.get().to_string());
    }
    values.insert(
        format!("{TCP}tcp_rto_min_us"),
        stack.rto_min.as_us().to_string(),
    );
    values.insert(
        format!("{TCP}tcp_rto_max_ms"),
        rto_max_ms(stack).to_string(),
    );
    values
}

/// The nearest longest timeout that a kernel takes.
fn rto_max_ms(stack: &Stack) -> u64 {
    (stack.rto_max.as_us() / 1000).clamp(RTO_MAX_MS.0, RTO_MAX_MS.1)
}

/// Values of a profile that a kernel takes in another size, a sentence each.
pub(crate) fn inexact(stack: &Stack) -> Vec<String> {
    let mut said = Vec::new();
    let nearest = Duration::from_ms(rto_max_ms(stack));
    if nearest != stack.rto_max {
        said.push(format!(
            "stack.rto_max = {}: kernels take {nearest}",
            stack.rto_max
        ));
    }
    for (name, time) in [
        ("tcp_fin_timeout", stack.tcp_fin_timeout),
        ("tcp_keepalive_time", stack.tcp_keepalive_time),
        ("tcp_keepalive_intvl", stack.tcp_keepalive_intvl),
        ("tcp_invalid_ratelimit", stack.tcp_invalid_ratelimit),
    ] {
        let unit_us = UNITS_US
            .iter()
            .find(|unit| unit.0 == name)
            .map_or(1, |unit| unit.1);
        let taken = Duration::from_us(time.as_us() / unit_us * unit_us);
        if taken != time {
            said.push(format!("stack.{name} = {time}: kernels take {taken}"));
        }
    }
    said
}

/// Sysctls that the kernel reads in seconds or milliseconds (their handlers in
/// net/ipv4/sysctl_net_ipv4.c of Linux 7.2), in microseconds; other times it reads in these.
const UNITS_US: [(&str, u64); 4] = [
    ("tcp_fin_timeout", 1_000_000),
    ("tcp_keepalive_time", 1_000_000),
    ("tcp_keepalive_intvl", 1_000_000),
    ("tcp_invalid_ratelimit", 1000),
];

/// As the kernel reads it: sizes in bytes, times in its unit, several values with blanks.
fn text(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::Bool(yes) => Some(u8::from(*yes).to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => {
            if let Ok(bytes) = text.parse::<Bytes>() {
                return Some(bytes.get().to_string());
            }
            let Ok(time) = text.parse::<Duration>() else {
                // Congestion controls have names of their own in scenarios.
                let kind = serde_json::from_value::<CongestionKind>(value.clone());
                return Some(
                    kind.map_or_else(|_| text.clone(), |kind| kind.linux_name().to_owned()),
                );
            };
            let unit = UNITS_US.iter().find(|(known, _)| *known == name);
            Some((time.as_us() / unit.map_or(1, |unit| unit.1)).to_string())
        }
        Value::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(|v| text(name, v)).collect();
            Some(texts?.join(" "))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// Names that no kernel has.
pub(crate) fn findings(tables: &BTreeMap<String, SysctlValue>) -> Vec<Finding> {
    let known = ["net", "kernel", "vm", "fs", "dev", "debug", "user"];
    flat(tables)
        .keys()
        .filter(|name| {
            let mut parts = name.split('.');
            let first = parts.next().unwrap_or_default();
            !known.contains(&first) || parts.clone().count() == 0 || parts.any(str::is_empty)
        })
        .map(|name| {
            Finding::new(
                format!("sysctl.{name}"),
                format!("{name:?} is no sysctl's full name"),
                "a name such as net.ipv4.tcp_recovery",
            )
        })
        .collect()
}
