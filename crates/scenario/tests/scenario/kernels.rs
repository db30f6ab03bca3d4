//! Hosts that are real kernels, as a scenario file says it.

use tailback_scenario::{HostKind, Plan, Workload};

const STAR: &str = r#"
name = "mixed"
host = "rhel-5.4-x5540-ne020"
stack = "linux-2.6.18"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 3
names = ["client", "a", "b"]
kernels = ["client"]
link = { rate = "10Gbit", delay = "1us", mtu = "9000B" }
[kernel]
sysctl.net.ipv4.tcp_recovery = 1
[workload]
kind = "command"
command = [
  { host = "a", run = "iperf3 --server --one-off", background = true },
  { host = "client", run = "iperf3 --client {a} --time 1", start = "100ms" },
]
"#;

fn plan(text: &str, overrides: &[&str]) -> Result<Plan, Vec<String>> {
    let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
    Plan::from_toml(text, "mixed.toml", &overrides, None)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn some_hosts_are_kernels() {
    let plan = plan(
        STAR,
        &["kernel.sysctl.net.ipv4.tcp_sack=0", "kernel.hz=100"],
    )
    .unwrap();
    let run = &plan.runs[0];
    let kinds: Vec<HostKind> = run.network.hosts.iter().map(|h| h.kind).collect();
    assert_eq!(kinds, [HostKind::Kernel, HostKind::Model, HostKind::Model]);
    let kernel = &run.network.hosts[0].kernel;
    assert_eq!(kernel.hz, Some(100));
    assert_eq!(kernel.sysctls["net.ipv4.tcp_recovery"], "1");
    assert_eq!(kernel.sysctls["net.ipv4.tcp_sack"], "0");
    assert_eq!(
        kernel.profile_sysctls["net.ipv4.tcp_congestion_control"],
        "bic"
    );
    let Workload::Command(commands) = &run.workload else {
        panic!("no commands")
    };
    assert!(commands.command[0].background);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let wrong = STAR
        .replace("kernels = [\"client\"]", "kernels = [\"klient\"]")
        .replace("tcp_recovery = 1", "tcp_recovery = 1\nhz = 50");
    let problems = plan(&wrong, &[]).unwrap_err();
    assert!(
        problems.iter().any(|p| p.contains("kernel.hz")),
        "{problems:?}"
    );
    let wrong = STAR
        .replace("kernels = [\"client\"]", "kernels = [\"klient\"]")
        .replace("tcp_recovery = 1", "tcp_recovery = 1\ntc = [\"disc add\"]");
    let problems = plan(&wrong, &[]).unwrap_err().join("\n");
    assert!(
        problems.contains("there is no host \"klient\""),
        "{problems}"
    );
    assert!(
        problems.contains("\"client\""),
        "the nearest name: {problems}"
    );
    assert!(problems.contains("kernel.tc[0]"), "{problems}");
    let wrong = STAR
        .replace("{a}", "{c}")
        .replace("host = \"a\"", "host = \"d\"");
    let problems = plan(&wrong, &[]).unwrap_err().join("\n");
    for path in ["workload.command[0].host", "workload.command[1].run"] {
        assert!(problems.contains(path), "{problems}");
    }
}

#[test]
fn the_guide_s_examples_are_sound() {
    let guide = include_str!("../../../../docs/guide/kernels.md");
    let blocks: Vec<&str> = guide
        .split("```toml\n")
        .skip(1)
        .filter_map(|part| part.split("```").next())
        .collect();
    let [star, host, kernel, commands] = blocks.as_slice() else {
        panic!("{} examples", blocks.len())
    };
    assert!(STAR.contains(star.lines().last().unwrap()), "{star}");
    assert!(host.contains("kind = \"kernel\""), "{host}");
    let before = STAR.find("[kernel]").unwrap();
    let text = format!("{}{kernel}{commands}", &STAR[..before])
        .replace(r#"["client", "a", "b"]"#, r#"["client", "server", "b"]"#);
    let plan = plan(&text, &[]).unwrap();
    let host = &plan.runs[0].network.hosts[0].kernel;
    assert_eq!(host.version.as_deref(), Some("7.2"));
    assert_eq!(host.tc.len(), 2);
    assert_eq!(
        host.sample_interval,
        Some(tailback_units::Duration::from_ms(1))
    );
}
