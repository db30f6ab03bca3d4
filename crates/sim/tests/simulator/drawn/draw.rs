//! Scenarios by lot: what the schema allows for switches, hosts, TCP and workload.

use serde_json::{Map, Value, json};
use tailback_net::random::Stream;

/// Times of which none is long: a run is over in a moment.
const TIMES: &[&str] = &[
    "0ns", "1ns", "500ns", "1us", "5us", "20us", "100us", "1ms", "3ms", "10ms",
];
const SPANS: &[&str] = &["1ms", "5ms", "20ms"];
const INTERVALS: &[&str] = &["100us", "1ms", "5ms"];
const RATES: &[&str] = &[
    "1Mbit", "10Mbit", "100Mbit", "1Gbit", "10Gbit", "25Gbit", "40Gbit", "100Gbit",
];
const SIZES: &[&str] = &[
    "0B", "1B", "100B", "1500B", "9000B", "20kB", "64KiB", "100kB", "150kB", "512KiB", "1MB",
    "4MB", "16MB",
];
const MTUS: &[&str] = &["576B", "1280B", "1500B", "1500B", "4000B", "9000B"];

/// Draws from a schema.
pub(super) struct Draw<'a> {
    pub(super) schema: &'a Value,
    stream: Stream,
    /// What can be worked off in parts, as far as that is easily seen.
    pub(super) divisible: bool,
}

impl<'a> Draw<'a> {
    /// The scenario of that number, drawn once more. A `divisible` one has several switches and a workload that can be
    /// cut.
    pub(super) fn scenario(schema: &'a Value, seed: u64, again: u64, divisible: bool) -> Value {
        let stream = Stream::new(seed, "drawn-scenario", again);
        let mut draw = Draw {
            schema,
            stream,
            divisible,
        };
        let mut scenario = json!({ "name": "drawn", "network": draw.network() });
        let keys = &schema["properties"];
        scenario["host"] = draw.laid_over(&keys["host"], "HostConfigOverrides", 50);
        scenario["stack"] = draw.laid_over(&keys["stack"], "StackOverrides", 50);
        if draw.in_hundred(50) {
            scenario["stack"]["tcp_congestion_control"] = draw.of("CongestionKind");
        }
        if draw.in_hundred(20) {
            scenario["socket"] = draw.of("SocketConfig");
        }
        scenario["workload"] = draw.workload();
        scenario["run"] = json!({ "seed": seed });
        if scenario["network"].to_string().contains(r#""trace""#) {
            scenario["trace"] = draw.traces();
        }
        if divisible {
            return scenario;
        }
        for (key, definition) in [
            ("background", "Background"),
            ("background_flows", "BackgroundFlows"),
        ] {
            if draw.in_hundred(15) {
                scenario[key] = json!([draw.of(definition)]);
            }
        }
        // What lasts as long as the run, or lets nothing else through until TCP gives up, takes long.
        if scenario["background"].is_array() {
            scenario["background"][0]["rate"] = draw.text(&["1Mbit", "100Mbit"]);
        }
        if scenario["background_flows"].is_array() {
            scenario["background_flows"][0]["size"] = draw.text(&["1B", "20kB", "300kB"]);
        }
        if draw.in_hundred(25) {
            scenario["record"] = draw.of("Record");
        }
        scenario
    }

    pub(super) fn in_hundred(&mut self, percent: u64) -> bool {
        self.stream.below(100) < percent
    }

    pub(super) fn one<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.stream.below(of.len() as u64) as usize]
    }

    pub(super) fn text(&mut self, of: &[&str]) -> Value {
        Value::from(*self.one(of))
    }

    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.stream.below(most + 1 - least)
    }

    /// A value of a definition of the schema.
    pub(super) fn of(&mut self, definition: &str) -> Value {
        let schema = &self.schema["$defs"][definition];
        self.value(schema, "", 1)
    }

    /// A preset of those that a key of the schema names, with a part of what may be laid over it.
    pub(super) fn laid_over(&mut self, key: &'a Value, definition: &str, percent: u64) -> Value {
        let presets = key["anyOf"][0]["enum"]
            .as_array()
            .expect("presets come first");
        let mut all = json!({ "preset": self.one(presets) });
        if self.in_hundred(percent)
            && let Value::Object(drawn) = self.of(definition)
        {
            for (key, value) in drawn {
                if key != "preset" && self.in_hundred(40) {
                    all[key] = value;
                }
            }
        }
        all
    }

    fn workload(&mut self) -> Value {
        let all = self.schema["$defs"]["Workload"]["oneOf"].as_array();
        // A program needs a kernel.
        let all = all.into_iter().flatten();
        let kinds: Vec<&Value> = all
            .filter(|kind| match kind["properties"]["kind"]["const"].as_str() {
                Some("flows" | "flow-list" | "bulk") => true,
                Some("command") => false,
                _ => !self.divisible,
            })
            .collect();
        let kind = *self.one(&kinds);
        let mut workload = self.value(kind, "workload", 0);
        // Their defaults are seconds to minutes.
        match workload["kind"].as_str() {
            Some("bulk") if self.divisible => {
                let pairs = self.text(&["to-first", "permutation", "mesh"]);
                workload["pairs"] = json!({ "kind": pairs });
            }
            Some("flent") => {
                workload["length"] = self.text(SPANS);
                workload["delay"] = self.text(SPANS);
                workload["step_size"] = self.text(INTERVALS);
            }
            Some("iperf3") => workload["lead"] = self.text(SPANS),
            Some("flows") => {
                workload["drain"] = self.text(SPANS);
                if self.divisible {
                    workload["sizes"] = json!({ "kind": "web-search" });
                }
            }
            Some("flow-list") => {
                let flows = self.flow_list();
                let drain = self.text(SPANS);
                workload = json!({ "kind": "flow-list", "flows": flows, "drain": drain });
            }
            Some("ping") => {
                workload["interval"] = self.text(INTERVALS);
                workload["wait"] = self.text(SPANS);
            }
            _ => {}
        }
        workload
    }

    /// A few flows between the first hosts.
    fn flow_list(&mut self) -> String {
        let mut list = "start_us source destination bytes priority congestion\n".to_owned();
        for _ in 0..self.between(1, 12) {
            let (source, other) = (self.between(0, 3), self.between(1, 3));
            let (start, bytes) = (self.between(0, 900), self.between(1, 90_000));
            let congestion = *self.one(&["-", "-", "cubic", "reno", "bbr", "dctcp"]);
            let priority = self.between(0, 7);
            list += &format!(
                "{start} {source} {} {bytes} {priority} {congestion}\n",
                (source + other) % 4
            );
        }
        list
    }

    /// A value that a schema allows, as far as it says so, for the key `name`.
    fn value(&mut self, schema: &'a Value, name: &str, depth: u32) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let definition = reference.rsplit('/').next().unwrap_or_default();
            return self.value(&self.schema["$defs"][definition], name, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.one(values).clone();
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(all) = schema[choice].as_array() {
                let all: Vec<&Value> = all
                    .iter()
                    .filter(|one| {
                        one["type"] != "null"
                            && one["description"] != "A preset of this scenario's own."
                            // Congestion controls that are not Tailback's.
                            && one["format"] != "tailback-KernelControl"
                            && one["format"] != "tailback-OwnName"
                    })
                    .collect();
                let one = *self.one(&all);
                return self.value(one, name, depth);
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| **kind != "null"),
            kind => Some(kind),
        };
        match kind.and_then(Value::as_str) {
            Some("array") => {
                let least = schema["minItems"].as_u64().unwrap_or(1).max(1);
                let most = schema["maxItems"]
                    .as_u64()
                    .unwrap_or(3)
                    .clamp(least, 3.max(least));
                let count = self.between(least, most);
                let items = (0..count).map(|_| self.value(&schema["items"], name, depth + 1));
                Value::Array(items.collect())
            }
            Some("boolean") => json!(self.in_hundred(50)),
            Some("integer") => self.integer(schema, name),
            Some("number") => self.number(schema),
            Some("string") => self.string(schema, name),
            _ => self.table(schema, depth),
        }
    }

    fn table(&mut self, schema: &'a Value, depth: u32) -> Value {
        let percent = if depth == 0 {
            25
        } else {
            *self.one(&[5, 15, 40])
        };
        let mut table = Map::new();
        let properties = schema["properties"].as_object();
        for (key, value) in properties.into_iter().flatten() {
            let required = schema["required"].as_array();
            let required = required.is_some_and(|keys| keys.iter().any(|known| known == key));
            if required || self.in_hundred(percent) {
                table.insert(key.clone(), self.value(value, key, depth + 1));
            }
        }
        Value::Object(table)
    }

    fn integer(&mut self, schema: &Value, name: &str) -> Value {
        let few = match name {
            "iterations" | "rounds" | "clients" => 2,
            "servers" | "connections" | "senders" | "parallel" => 4,
            "count" | "pairs" | "hosts" => 6,
            _ => 0,
        };
        let least = schema["minimum"].as_i64().unwrap_or(0);
        let most = schema["maximum"].as_i64().unwrap_or(i64::MAX);
        if few > 0 {
            let some = self.between(1, few) as i64;
            return json!(some.clamp(least, most));
        }
        let mut some = vec![least, least + 1, least + 2, least + 7, 100.max(least)];
        some.extend(schema["default"].as_i64());
        if self.in_hundred(10) {
            some.push(most);
        }
        some.retain(|value| *value <= most);
        json!(self.one(&some))
    }

    fn number(&mut self, schema: &Value) -> Value {
        let bound = |key: &str| schema[key].as_f64();
        let least = bound("minimum")
            .or(bound("exclusiveMinimum"))
            .unwrap_or(0.0);
        let most = bound("maximum").unwrap_or(least + 10.0).min(least + 10.0);
        let mut some = vec![least, most, bound("default").unwrap_or(most)];
        some.push(least + (most - least) * self.stream.below(1000) as f64 / 1000.0);
        json!(self.one(&some))
    }

    fn string(&mut self, schema: &Value, name: &str) -> Value {
        match schema["format"].as_str() {
            Some("tailback-Duration") => match name {
                "duration" => self.text(SPANS),
                "interval" | "interfaces" | "sample_interval" | "ping_interval" | "every" => {
                    self.text(INTERVALS)
                }
                _ => self.text(TIMES),
            },
            Some("tailback-Rate") => self.text(RATES),
            Some("tailback-Bytes") => match name {
                "mtu" => self.text(MTUS),
                _ => self.text(SIZES),
            },
            _ => match &schema["default"] {
                Value::Null => self.text(&["host0", "host1", "host2", "switch"]),
                value => value.clone(),
            },
        }
    }
}
