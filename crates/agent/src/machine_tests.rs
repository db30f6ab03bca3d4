use super::*;

fn config(own: &[(&str, &str)], profile: &[(&str, &str)], keep: bool) -> GuestConfig {
    let all = |of: &[(&str, &str)]| -> BTreeMap<String, String> {
        of.iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    };
    GuestConfig {
        sysctls: all(own),
        profile_sysctls: all(profile),
        keep_sysctls: keep,
        ..serde_json::from_str(
            r#"{"host": "a", "interface": {"name": "lo", "address": "127.0.0.1", "prefix_length": 8,
                "mtu_bytes": 1500}}"#,
        )
        .unwrap()
    }
}

/// Where the folders of a test are.
fn base(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("machine-{}-{test}", std::process::id()))
}

/// Removes the folders of a test at its end.
struct Removed(&'static str);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(base(self.0));
    }
}

/// A run's folder, beside those of the same test alone.
fn folder(test: &str, name: &str) -> PathBuf {
    let path = base(test).join(format!("{PREFIX}{name}"));
    fs::create_dir_all(&path).unwrap();
    path
}

/// A sysctl that every kernel has, with what it is.
fn there() -> (&'static str, String) {
    const NAME: &str = "net.ipv4.tcp_sack";
    let value = fs::read_to_string(guest::sysctl_under(Path::new(SYSCTLS), NAME)).unwrap();
    (NAME, value.trim().to_owned())
}

#[test]
fn what_is_so_already_is_left_alone() {
    let _removed = Removed("so");
    let folder = folder("so", "own");
    let (name, value) = there();
    let former = set(&config(&[(name, &value)], &[], false), &folder).unwrap();
    assert!(former.values.is_empty() && former.not_set.is_empty());
    assert!(!folder.join(FORMER).exists());
}

#[test]
fn a_machine_that_keeps_its_sysctls_says_which_differ() {
    let _removed = Removed("keep");
    let folder = folder("keep", "own");
    let (name, value) = there();
    let other = if value == "1" { "0" } else { "1" };
    let former = set(
        &config(&[], &[(name, other), ("net.none", "1")], true),
        &folder,
    )
    .unwrap();
    assert_eq!(
        former.not_set,
        BTreeMap::from([
            (name.to_owned(), format!("it is {value} here, and stays so")),
            (
                "net.none".to_owned(),
                "this kernel does not have it".to_owned()
            ),
        ])
    );
    let refused = set(&config(&[(name, other)], &[], true), &folder).unwrap_err();
    assert_eq!(
        refused,
        format!("sysctl {name} = {other}: it is {value} here, and stays so")
    );
    let refused = set(&config(&[("net.none", "1")], &[], false), &folder).unwrap_err();
    assert_eq!(refused, "sysctl net.none = 1: this kernel does not have it");
    assert_eq!(there().1, value);
}

/// Sysctls in a folder: files with these values.
fn sysctls(name: &str, values: &[(&str, &str)]) -> PathBuf {
    let root = folder(name, "own").join("sysctls");
    for (name, value) in values {
        let path = guest::sysctl_under(&root, name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{value}\n")).unwrap();
    }
    root
}

#[test]
fn a_value_that_was_empty_is_empty_again() {
    let _removed = Removed("empty");
    const PORTS: &str = "net.ipv4.ip_local_reserved_ports";
    let root = sysctls("empty", &[(PORTS, "")]);
    let own = root.parent().unwrap();
    let former = set_under(&root, &config(&[(PORTS, "30000-30010")], &[], false), own).unwrap();
    let path = guest::sysctl_under(&root, PORTS);
    assert_eq!(fs::read_to_string(&path).unwrap(), "30000-30010\n");
    // The kernel takes a write for the whole value, a file does not.
    let refused = former.put_back().unwrap_err();
    assert!(refused.contains("is another still"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "\n0000-30010\n");
}

#[test]
fn a_control_that_became_the_default_is_allowed_to_nobody_more() {
    let _removed = Removed("allowed");
    let (default, allowed) = (guest::CONGESTION_CONTROL, ALLOWED_CONTROLS);
    let root = sysctls("allowed", &[(default, "reno"), (allowed, "reno")]);
    let own = root.parent().unwrap();
    let former = set_under(&root, &config(&[(default, "vega")], &[], false), own).unwrap();
    assert_eq!(former.values[allowed], "reno");
    // As the kernel does by itself, when the default is set and when it is put back.
    fs::write(guest::sysctl_under(&root, allowed), "vega\n").unwrap();
    former.put_back().unwrap();
    for name in [default, allowed] {
        let now = fs::read_to_string(guest::sysctl_under(&root, name)).unwrap();
        assert_eq!(now, "reno\n", "{name}");
    }
}

#[test]
fn one_run_at_a_time_has_a_machine() {
    let (at, sets) = (|address: [u8; 4]| address.into(), config(&[], &[], false));
    let mut other = config(&[], &[], true);
    other.interface.address = at([127, 7, 7, 8]);
    let mut one = sets.clone();
    one.interface.address = at([127, 7, 7, 7]);
    let first = claim(&one).unwrap();
    // Another that keeps the sysctls, at an address of its own.
    let second = claim(&other).unwrap();
    other.keep_sysctls = false;
    other.interface.address = at([127, 7, 7, 9]);
    let refused = claim(&other).unwrap_err();
    assert!(refused.contains("has its sysctls: wait"), "{refused}");
    drop(first);
    let refused = claim(&other).map(drop);
    assert_eq!(refused, Ok(()));
    other.interface.address = at([127, 7, 7, 8]);
    let refused = claim(&other).unwrap_err();
    assert!(
        refused.contains("another run is going on at 127.7.7.8"),
        "{refused}"
    );
    drop(second);
}

#[test]
fn what_belongs_to_another_network_or_start_of_the_machine_is_not_put_back() {
    let _removed = Removed("others");
    let (name, value) = there();
    let (boot, network) = this_machine();
    let own = folder("others", "own");
    let beside = ["another-network", "another-start"].map(|name| folder("others", name));
    let machines = [format!("{boot} net:[1]"), format!("1234 {network}")];
    for (path, machine) in beside.iter().zip(machines) {
        let values = BTreeMap::from([(name.to_owned(), value.clone())]);
        let written = serde_json::to_string(&Written { machine, values }).unwrap();
        fs::write(path.join(FORMER), written).unwrap();
    }
    let none: [&str; 0] = [];
    assert_eq!(repair(&own).unwrap(), none);
    assert!(beside.iter().all(|path| path.join(FORMER).exists()));
}

#[test]
fn a_folder_whose_run_never_began_is_removed() {
    let _removed = Removed("abandoned");
    let [own, dead, young, other] =
        ["own", "dead", "young", "other"].map(|name| folder("abandoned", name));
    for path in [&dead, &young] {
        fs::write(path.join(AGENT), "").unwrap();
    }
    let old = std::time::SystemTime::now() - 2 * BEGINNING;
    for path in [&dead, &other] {
        File::open(path).unwrap().set_modified(old).unwrap();
    }
    let none: [&str; 0] = [];
    assert_eq!(repair(&own).unwrap(), none);
    assert!(!dead.exists() && young.exists() && other.exists());
}

#[test]
fn what_a_killed_agent_left_is_put_back_by_the_next() {
    let _removed = Removed("killed");
    let (name, value) = there();
    let [own, killed, going_on] = ["own", "killed", "going-on"].map(|name| folder("killed", name));
    let values = BTreeMap::from([(name.to_owned(), value.clone())]);
    let text = serde_json::to_string(&Written::here(values)).unwrap();
    for path in [&killed, &going_on] {
        fs::write(path.join(FORMER), &text).unwrap();
    }
    let lock = take(&going_on).unwrap();
    assert_eq!(repair(&own).unwrap(), ["tailback-killed"]);
    assert!(!killed.exists() && going_on.join(FORMER).exists());
    drop(lock);
    assert_eq!(repair(&own).unwrap(), ["tailback-going-on"]);
    assert_eq!(there().1, value);
}

#[test]
fn values_are_the_same_whatever_is_between_their_parts() {
    assert!(same("4096\t131072\t6291456\n", "4096 131072 6291456"));
    assert!(!same("1\n", "0"));
}
