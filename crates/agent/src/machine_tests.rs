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

fn folder(name: &str) -> PathBuf {
    let base = std::env::temp_dir().join(format!("machine-{}", std::process::id()));
    let path = base.join(format!("{PREFIX}{name}"));
    fs::create_dir_all(&path).unwrap();
    path
}

/// A sysctl that every kernel has, with what it is.
fn there() -> (&'static str, String) {
    const NAME: &str = "net.ipv4.tcp_sack";
    let value = fs::read_to_string(guest::sysctl_path(NAME)).unwrap();
    (NAME, value.trim().to_owned())
}

#[test]
fn what_is_so_already_is_left_alone() {
    let folder = folder("so");
    let (name, value) = there();
    let former = set(&config(&[(name, &value)], &[], false), &folder).unwrap();
    assert!(former.values.is_empty() && former.not_set.is_empty());
    assert!(!folder.join(FORMER).exists());
}

#[test]
fn a_machine_that_keeps_its_sysctls_says_which_differ() {
    let folder = folder("keep");
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

#[test]
fn what_a_killed_agent_left_is_put_back_by_the_next() {
    let (name, value) = there();
    let own = folder("own");
    let (killed, going_on) = (folder("killed"), folder("going-on"));
    let text = serde_json::to_string(&BTreeMap::from([(name, &value)])).unwrap();
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
