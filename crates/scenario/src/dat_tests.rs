use serde_json::json;

use super::dat_to_toml;
use crate::plan::Plan;
use crate::workload::Workload;

fn plan(dat: &str) -> Plan {
    let toml = dat_to_toml(dat, "runs/Client 3.dat").expect("sound");
    Plan::from_toml(&toml, "client.toml", &[], None).unwrap_or_else(|p| panic!("{p:?}\n{toml}"))
}

fn problems(dat: &str) -> Vec<String> {
    let problems = dat_to_toml(dat, "c.dat").expect_err("something is wrong");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn servers_addresses_size_and_iterations_are_taken_over() {
    let plan = plan("3\n10.0.0.1\n10.0.0.2\nserver-3.lab\n8000000\n1000\n");
    assert_eq!(plan.name, "client-3");
    assert_eq!(plan.runs.len(), 1);
    let run = &plan.runs[0];
    let names: Vec<&str> = run.network.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["client", "10.0.0.1", "10.0.0.2", "server-3.lab"]);
    let Workload::Incast(incast) = &run.workload else {
        panic!("no incast")
    };
    assert_eq!(incast.servers, 3);
    assert_eq!(incast.size.get(), 8_000_000);
    assert_eq!(incast.iterations, 1000);
    assert!(!incast.striped);
}

#[test]
fn commas_blanks_and_comments_divide_as_well() {
    let lines = plan("2\n10.0.0.1\n10.0.0.2\n8000000\n10\n");
    let commas = plan("# servers\n2; 10.0.0.1,10.0.0.2 # both\n 8000000,10");
    assert_eq!(lines.runs, commas.runs);
}

#[test]
fn more_servers_than_the_studys_switch_has_ports_get_a_larger_one() {
    let addresses: Vec<String> = (1..=40).map(|i| format!("10.0.0.{i}")).collect();
    let plan = plan(&format!("40 {} 1000 5", addresses.join(" ")));
    assert_eq!(plan.runs[0].network.switches[0].config.ports, 41);
    assert_eq!(plan.scenario["network"]["hosts"], json!(41));
}

#[test]
fn a_server_may_be_named_as_the_client_would_be() {
    let plan = plan("1 client 1000 5");
    assert_eq!(plan.runs[0].network.hosts[0].name, "client0");
}

#[test]
fn a_file_cut_short_is_said_to_be_wherever_it_ends() {
    let whole = "2\n10.0.0.1\n10.0.0.2\n8000000\n1000";
    let words: Vec<&str> = whole.split('\n').collect();
    let missing = [
        "number of servers",
        "address 1 of 2",
        "address 2 of 2",
        "requested size in bytes",
        "number of iterations",
    ];
    for (kept, missing) in missing.iter().enumerate() {
        let found = problems(&words[..kept].join("\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("cut short"), "{found:?}");
        assert!(found[0].contains(missing), "{found:?}");
    }
}

#[test]
fn too_few_and_too_many_addresses_are_told_by_the_number_announced() {
    let few = problems("3\n10.0.0.1\n10.0.0.2\n8000000\n1000\n");
    assert_eq!(
        few,
        [
            "c.dat:4:1: addresses: \"8000000\" stands where address 3 of 3 should; the file \
             announces 3 servers: give as many addresses"
        ]
    );
    let many = problems("1\n10.0.0.1\n10.0.0.2\n8000000\n1000\n");
    assert!(many[0].starts_with("c.dat:3:1: addresses: \"10.0.0.2\" is one address more"));
}

#[test]
fn bad_and_double_addresses_are_all_named() {
    let found = problems("4 10.0.0.256 10.0.0.1 10.0.0.1 -x- 1000 5");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("c.dat:1:3: "));
    assert!(found[1].contains("twice"));
    assert!(found[2].contains("\"-x-\" is not an address"));
}

#[test]
fn numbers_out_of_range_and_left_over_words_are_errors() {
    assert!(problems("0")[0].contains("\"0\" cannot be the number of servers"));
    assert!(problems("1 a 0 5")[0].contains("size"));
    assert!(problems("1 a -8 5")[0].contains("\"-8\" cannot be the requested size"));
    assert!(problems("1 a 8MB 5")[0].contains("\"8MB\" cannot be the requested size in bytes"));
    assert!(problems("1 a 8 0")[0].contains("iterations"));
    assert!(problems("1 a 8 5 9")[0].contains("\"9\" stands after"));
}
