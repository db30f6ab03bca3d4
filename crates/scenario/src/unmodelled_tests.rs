use crate::plan::Plan;

/// A bottleneck of `workload` whose hosts have `stack`'s congestion control.
fn plan(stack: &str, workload: &str) -> Result<Plan, String> {
    let text = format!(
        "name = \"own\"\n[network]\ntopology = \"star\"\nhosts = 3\nnames = [\"to\", \"a\", \"b\"]\n\
         link = {{ rate = \"10Gbit\", delay = \"1us\", mtu = \"1500B\" }}\nswitch = \"plain\"\n\
         [host]\npreset = \"uml-virtio\"\n[stack]\npreset = \"linux-7.2\"\n\
         tcp_congestion_control = {stack:?}\n{workload}"
    );
    Plan::from_toml(&text, "own.toml", &[], None)
        .map_err(|problems| problems.iter().map(|one| format!("{one}\n")).collect())
}

const BULK: &str =
    "[workload]\nkind = \"bulk\"\npairs = { kind = \"to-first\" }\nduration = \"1ms\"\n";

/// Which modelled host has which, if those that `is_modelled` are.
fn found(plan: &Plan, is_modelled: impl Fn(usize) -> bool) -> Option<(String, String)> {
    let found = plan.runs[0].unmodelled_control(is_modelled);
    found.map(|(host, kind)| (host.to_owned(), kind.name().to_owned()))
}

fn said(host: &str, kind: &str) -> Option<(String, String)> {
    Some((host.to_owned(), kind.to_owned()))
}

#[test]
fn a_stack_s_is_for_real_hosts_alone() {
    let own = plan("kernel:mine", BULK).expect("a plan");
    assert_eq!(found(&own, |_| true), said("to", "kernel:mine"));
    assert_eq!(found(&own, |host| host == 2), said("b", "kernel:mine"));
    assert_eq!(found(&own, |_| false), None);
    let modelled = plan("cubic", BULK).expect("a plan");
    assert_eq!(found(&modelled, |_| true), None);
}

#[test]
fn what_flows_ask_for_is_for_those_who_send_them() {
    let bulk = format!("{BULK}congestion = [\"cubic\", \"kernel:mine\"]\n");
    let own = plan("cubic", &bulk).expect("a plan");
    assert_eq!(found(&own, |_| true), said("a", "kernel:mine"));
    assert_eq!(found(&own, |host| host == 0), None, "it only receives");
    let beside = format!(
        "{BULK}[[background_flows]]\npairs = {{ kind = \"listed\", list = [[\"b\", \"to\"]] }}\n\
         congestion = [\"kernel:mine\"]\n"
    );
    let own = plan("cubic", &beside).expect("a plan");
    assert_eq!(found(&own, |_| true), said("b", "kernel:mine"));
    assert_eq!(found(&own, |host| host == 1), None);
}

#[test]
fn one_s_own_is_for_modelled_hosts_alone() {
    let bulk = format!("{BULK}congestion = [\"python:mine\"]\n[python.mine]\nsource = \"pass\"\n");
    let own = plan("cubic", &bulk).expect("a plan");
    assert_eq!(found(&own, |_| true), None);
    let outside = |is_outside: fn(usize) -> bool| {
        let found = own.runs[0].own_control_outside(is_outside);
        found.map(|(host, kind)| (host.to_owned(), kind.name().to_owned()))
    };
    assert_eq!(outside(|_| true), said("a", "python:mine"));
    assert_eq!(outside(|host| host == 0), None, "it only receives");
    let wrong = plan("python:mine", BULK).unwrap_err();
    assert!(wrong.contains("there is no [python.mine]"), "{wrong}");
    let wrong = plan("cubic", &bulk.replace("python:mine", "python:mien")).unwrap_err();
    assert!(
        wrong.contains("workload.congestion[0]") && wrong.contains("did you mean \"mine\""),
        "{wrong}"
    );
}

#[test]
fn slips_of_the_pen_are_told() {
    let wrong = plan("cubicc", BULK).unwrap_err();
    assert!(
        wrong.contains("\"cubicc\" is not a choice here; did you mean \"cubic\""),
        "{wrong}"
    );
    let wrong = plan("mine", BULK).unwrap_err();
    assert!(wrong.contains("kernel:NAME"), "{wrong}");
    for name in ["kernel:", "kernel:a b", "kernel:0123456789abcdef"] {
        let wrong = plan(name, BULK).unwrap_err();
        assert!(
            wrong.contains("names no congestion control of a kernel"),
            "{wrong}"
        );
    }
}
