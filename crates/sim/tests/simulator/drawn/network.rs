//! Small networks by lot: of every topology, and of any shape.

use serde_json::{Value, json};

use super::draw::Draw;

impl Draw<'_> {
    fn link(&mut self) -> Value {
        let mut link = json!({
            "rate": self.text(&["1Gbit", "10Gbit", "25Gbit"]),
            "delay": self.text(&["500ns", "1us", "50us", "1ms"]),
            "mtu": self.text(&["1500B", "1500B", "9000B"]),
        });
        if let Value::Object(drawn) = self.of("LinkConfig") {
            for (key, value) in drawn {
                if self.in_hundred(if self.divisible { 5 } else { 20 }) {
                    link[key] = value;
                }
            }
        }
        if !self.divisible && self.in_hundred(12) {
            link["trace"] = self.text_pair(["forward", "backward"], &["single", "steps", "shaped"]);
        }
        link
    }

    /// Traces under the names that links have.
    pub(super) fn traces(&mut self) -> Value {
        let single = json!({
            "kind": "opportunities",
            "times_ms": self.text(&["1", "0 1*20 3", "2*100 5*7 9", "0*9 40"]),
            "bytes": self.text(&["1500B", "1500B", "400B", "9KB"]),
        });
        let (first, second) = (["1Gbit", "90Mbit", "3Gbit"], ["0bit", "7Mbit", "12Gbit"]);
        let steps = json!({
            "kind": "rates",
            "steps": [
                { "from": "0s", "rate": self.text(&first) },
                { "from": self.text(&["100us", "3ms", "40ms"]), "rate": self.text(&second) },
            ],
            "period": self.text(&["41ms", "150ms"]),
        });
        let shaped = json!({
            "kind": "shaper",
            "rate": self.text(&["3Mbit", "90Mbit", "1Gbit"]),
            "burst": self.text(&["9300B", "30KB", "2MB"]),
            "overhead_bytes": self.between(0, 40),
        });
        json!({ "single": single, "steps": steps, "shaped": shaped })
    }

    fn text_pair(&mut self, keys: [&str; 2], of: &[&str]) -> Value {
        let [a, b] = keys;
        json!({ a: self.text(of), b: self.text(of) })
    }

    fn switch(&mut self) -> Value {
        let key = &self.schema["$defs"]["Network"]["oneOf"][0]["properties"]["switch"];
        self.laid_over(key, "SwitchConfigOverrides", 40)
    }

    /// A network of any topology.
    pub(super) fn network(&mut self) -> Value {
        let mut switch = self.switch();
        if self.in_hundred(70) {
            switch["ports"] = json!(48);
        }
        let (link, trunk) = (self.link(), self.link());
        if [&link, &trunk].iter().any(|one| one["trace"].is_object()) {
            // What follows a trace waits for its port.
            switch = json!({ "preset": "plain-queued", "ports": 48 });
            if self.in_hundred(40) {
                let kind = self.text(&["codel", "fq-codel", "pie", "cobalt", "dualpi2"]);
                switch["buffer"] = json!({ "queue": { "kind": kind } });
            }
        }
        let kind = if self.divisible { 2 } else { 0 };
        let mut network = match self.between(kind, 7) {
            0 | 1 => {
                json!({ "topology": "star", "hosts": self.between(2, 6), "switch": switch, "link": link })
            }
            2 if self.between(0, 1) == 0 => {
                json!({ "topology": "parking-lot", "pairs": self.between(1, 2),
                "hop_pairs": self.between(1, 2), "switch": switch, "link": link,
                "trunk": vec![trunk; self.between(1, 3) as usize] })
            }
            2 => json!({ "topology": "dumbbell", "pairs": self.between(1, 4), "switch": switch,
                "link": link, "trunk": [trunk] }),
            3 => {
                json!({ "topology": "leaf-spine", "leaves": self.between(2, 3), "spines": self.between(1, 2),
                "hosts": self.between(1, 3), "switch": switch, "link": link })
            }
            4 => json!({ "topology": "fat-tree", "k": 4, "switch": switch, "link": link }),
            5 => {
                json!({ "topology": "stars", "stars": self.between(2, 3), "hosts": self.between(2, 4),
                "switch": switch, "link": link, "core": switch, "uplink": trunk })
            }
            _ => self.explicit(&switch),
        };
        if network["topology"] != "explicit" && self.in_hundred(20) {
            let switch = match network["topology"].as_str() {
                Some("star") => "switch",
                Some("stars") => "star0",
                Some("fat-tree") => "edge0",
                Some("leaf-spine") => "leaf0",
                _ => "switch0",
            };
            let other = match network["topology"].as_str() {
                Some("stars") => self.text(&["core", "star0-host1"]),
                Some("fat-tree") => self.text(&["aggregation0", "host1"]),
                Some("leaf-spine") => self.text(&["spine0", "host0"]),
                Some("star") => Value::from("host1"),
                _ => self.text(&["switch1", "left0"]),
            };
            let mut differs = json!({ "ends": [switch, other] });
            let usual = self.link();
            for key in ["rate", "delay", "loss", "impairment"] {
                if !usual[key].is_null() && self.in_hundred(50) {
                    differs[key] = usual[key].clone();
                }
            }
            network["except"] = json!([differs]);
        }
        let has_ways = ["leaf-spine", "fat-tree", "explicit"];
        if has_ways.iter().any(|kind| network["topology"] == *kind) && self.in_hundred(30) {
            let mut reroute = json!({ "everywhere": self.text(&["1ms", "10ms", "200ms"]) });
            if self.in_hundred(60) {
                reroute["local"] = self.text(&["0s", "100us", "1ms"]);
            }
            network["reroute"] = reroute;
            let ends = match network["topology"].as_str() {
                Some("leaf-spine") => Some(*self.one(&[["leaf0", "spine0"], ["spine0", "*"]])),
                Some("fat-tree") => Some(*self.one(&[["aggregation0", "core0"], ["*", "core1"]])),
                _ => None,
            };
            if let Some(ends) = ends.filter(|_| network["except"].is_null()) {
                let mut outage = json!({
                    "from": self.text(&["0s", "30us", "1ms"]),
                    "until": self.text(&["1500us", "7ms", "2s"]),
                });
                if outage["until"] != "2s" && self.in_hundred(30) {
                    outage["every"] = Value::from("9ms");
                }
                let impairment = json!({ "outages": [outage] });
                network["except"] = json!([{ "ends": ends, "impairment": impairment }]);
            }
        }
        if self.in_hundred(15) {
            network["clock_ppm"] = Value::from(*self.one(&[1, 100, 1000]));
        }
        network
    }

    /// Hosts at the switches of a tree that a few more links close to loops, or two hosts and a cable.
    fn explicit(&mut self, plain: &Value) -> Value {
        let switches = self.between(if self.divisible { 2 } else { 0 }, 4);
        let hosts = if switches == 0 { 2 } else { self.between(2, 6) };
        let switch = |number: u64| format!("switch{number}");
        let mut links = Vec::new();
        if switches == 0 {
            links.push(self.joint("host0".to_owned(), "host1".to_owned()));
        } else {
            for host in 0..hosts {
                let at = self.between(0, switches - 1);
                links.push(self.joint(format!("host{host}"), switch(at)));
            }
        }
        for number in 1..switches {
            let at = self.between(0, number - 1);
            links.push(self.joint(switch(number), switch(at)));
        }
        for _ in 0..self.between(0, switches.saturating_sub(1)) {
            let number = self.between(1, switches - 1);
            let at = self.between(0, number - 1);
            links.push(self.joint(switch(at), switch(number)));
        }
        // Links in any order: so are the ports.
        for i in (1..links.len()).rev() {
            let other = self.between(0, i as u64) as usize;
            links.swap(i, other);
        }
        let models: Vec<Value> = (0..switches)
            .map(|number| json!({ "name": switch(number), "model": self.model(plain) }))
            .collect();
        let hosts: Vec<Value> = (0..hosts).map(|number| self.host(number)).collect();
        json!({ "topology": "explicit", "host": hosts, "switch": models, "link": links })
    }

    /// A link between two, some of which carry a VLAN or two alone.
    fn joint(&mut self, a: String, b: String) -> Value {
        let mut link = self.link();
        link["ends"] = json!([a, b]);
        if self.in_hundred(5) {
            link["vlans"] = json!([10]);
        } else if self.in_hundred(5) {
            link["vlans"] = json!([10, 20]);
            link["framing"] = json!("vlan");
        }
        link
    }

    /// A switch as the others, or another.
    fn model(&mut self, plain: &Value) -> Value {
        if self.in_hundred(60) {
            return plain.clone();
        }
        self.switch()
    }

    /// A host by name: as all, or with a machine, a TCP or sockets of its own.
    fn host(&mut self, number: u64) -> Value {
        let mut host = json!({ "name": format!("host{number}") });
        let keys = &self.schema["properties"];
        if self.in_hundred(20) {
            host["host"] = self.laid_over(&keys["host"], "HostConfigOverrides", 30);
        }
        if self.in_hundred(20) {
            host["stack"] = self.laid_over(&keys["stack"], "StackOverrides", 30);
        }
        if self.in_hundred(15) {
            host["socket"] = self.of("SocketConfig");
        }
        host
    }
}
