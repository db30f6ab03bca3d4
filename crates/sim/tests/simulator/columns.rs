//! The columns that labels of a sweep cannot have are those of the tables `summary` and `transactions`.

use tailback_scenario::is_column;

use crate::support::simulated;

const NETWORK: &str = r#"name = "columns"
host = "plain"
[network]
topology = "star"
hosts = 3
switch = "plain"
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[workload]
"#;

const PAIR: &str = r#"pairs = { kind = "listed", list = [["host1", "host0"]] }"#;

#[test]
fn labels_are_held_against_every_column_of_the_summary() {
    let workloads = [
        "kind = \"incast\"\nservers = 2\nsize = \"10kB\"\niterations = 2".to_owned(),
        format!("kind = \"bulk\"\nduration = \"1ms\"\n{PAIR}"),
        "kind = \"flows\"\nduration = \"1ms\"\nload = 0.3\nsizes = { kind = \"fixed\", bytes = \"20KB\" }".to_owned(),
        "kind = \"flow-list\"\nflows = \"start_s source destination bytes\\n0 0 1 9\"".to_owned(),
        "kind = \"exchange\"\nduration = \"1ms\"\naction = [{ end = \"client\", does = \"write\", size = \"1kB\" }]".to_owned(),
        "kind = \"iperf3\"\nsenders = 2\nmeasured = \"all\"\nduration = \"10ms\"\ninterval = \"5ms\"".to_owned(),
        "kind = \"flent\"\ntest = \"rrul\"\nclients = 2\nlength = \"10ms\"\ndelay = \"1ms\"\nstep_size = \"1ms\"".to_owned(),
        "kind = \"bernoulli\"\nduration = \"1ms\"\nload = 0.3".to_owned(),
        format!("kind = \"udp\"\nduration = \"1ms\"\nrate = \"100Mbit\"\nsocket_buffer = \"1MB\"\n{PAIR}"),
        format!("kind = \"request-response\"\nduration = \"1ms\"\n{PAIR}"),
        format!("kind = \"request-response\"\nduration = \"1ms\"\nresponse_sizes = {{ kind = \"web-search\" }}\n{PAIR}"),
        format!("kind = \"ping\"\ncount = 2\n{PAIR}"),
        "kind = \"collective\"\noperation = \"all-reduce\"\nsize = \"10kB\"\niterations = 2".to_owned(),
    ];
    for workload in workloads {
        let outcome = simulated(&format!("{NETWORK}{workload}\n"), &[]);
        let tables = outcome.tables.iter();
        let told = tables.filter(|table| ["summary", "transactions"].contains(&table.name));
        for column in told.flat_map(|table| &table.columns) {
            assert!(is_column(&column.name), "{workload}: {}", column.name);
        }
    }
}
