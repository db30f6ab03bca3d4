//! The first process of a guest kernel: mounts, sets up, runs the tasks, powers off.
//!
//! The root is a read-only folder of the machine (hostfs); the guest's own folder is mounted at
//! /host: its configuration is there, and its results go there. Neighbours are permanent entries,
//! so there is no ARP on the wire; IPv6 is off, for its random delays.

mod interface;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{self, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::config::{GuestConfig, OptionValue, Task};
use crate::record::{Record, Recorder};
use crate::{sys, traffic};

pub(crate) const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";

/// The environment variable (from the kernel's command line) that names the guest's folder.
pub const HOST_VARIABLE: &str = "TAILBACK_HOST";

/// Where the guest's own folder is mounted.
pub const FOLDER: &str = "/host";

/// Runs as process 1 and never returns: its end would be a panic of the kernel.
pub fn run() -> ! {
    panic::set_hook(Box::new(|info| {
        eprintln!("tailback-agent: defect: {info}");
        off();
    }));
    if let Err(message) = start() {
        eprintln!("tailback-agent: {message}");
    }
    off()
}

fn off() -> ! {
    let error = sys::power_off();
    eprintln!("tailback-agent: power off: {error}");
    std::process::exit(1)
}

/// Files that a guest may have open, and threads that it may have, whatever memory: a flow has one of each. As many
/// as ports, and as kernel.pid_max allows.
const OPEN_FILES: u64 = 1 << 16;
const THREADS: &str = "32768";

fn start() -> Result<(), String> {
    sys::least_timer_slack();
    sys::most_open_files(Some(OPEN_FILES));
    let name = env::var(HOST_VARIABLE)
        .map_err(|_| format!("the kernel's command line lacks {HOST_VARIABLE}="))?;
    mount_all(&name)?;
    set_sysctl("kernel.threads-max", THREADS)?;
    let folder = Path::new(FOLDER);
    let recorder = Recorder::create(&folder.join("results.jsonl"))
        .map_err(|error| format!("results.jsonl: {error}"))?;
    match set_up(folder) {
        Ok((config, not_set)) => {
            if !not_set.is_empty() {
                recorder.add(&Record::NotSet { sysctls: not_set });
            }
            traffic::run(&config, folder, &recorder);
            wait_for_closing(&config);
        }
        Err(message) => recorder.fail(message),
    }
    recorder.flush();
    Ok(())
}

/// The port on which a task's connections meet, if it is over at a time, whatever state they are in: of flows
/// that have a size, if that time has come.
fn over_at_its_time(task: &Task, now_ns: u64) -> Option<u16> {
    let come = |end_ns: Option<u64>| end_ns.is_some_and(|end_ns| end_ns <= now_ns);
    match task {
        Task::Exchange(exchange) => Some(exchange.port),
        Task::Bulk(bulk) if bulk.bytes.is_none() && bulk.end_ns.is_some() => Some(bulk.port),
        Task::Bulk(bulk) if come(bulk.end_ns) => Some(bulk.port),
        Task::Sink(sink) if sink.endless && sink.end_ns.is_some() => Some(sink.port),
        Task::Sink(sink) if come(sink.end_ns) => Some(sink.port),
        Task::Ask(ask) if come(Some(ask.end_ns)) => Some(ask.server.port),
        Task::IncastServer(server) if come(server.end_ns) => Some(server.port),
        _ => None,
    }
}

/// The longest that connections are given to close.
const CLOSING: Duration = Duration::from_secs(10);

/// Waits until the kernel has no connection left whose FIN is not acknowledged or whose peer has not
/// closed: nobody repeats a FIN that is lost when this kernel is off. Those of tasks that are over at a time
/// are not waited for.
fn wait_for_closing(config: &GuestConfig) {
    let is_closing = |table: &str| {
        let now_ns = traffic::wall_ns().saturating_sub(config.epoch_ns);
        let over = config.tasks.iter();
        let over = over.filter_map(|task| over_at_its_time(task, now_ns));
        is_closing(table, &over.collect())
    };
    let mut step = Duration::from_millis(1);
    let mut waited = Duration::ZERO;
    while waited < CLOSING && fs::read_to_string("/proc/net/tcp").is_ok_and(|t| is_closing(&t)) {
        thread::sleep(step);
        waited += step;
        step *= 2;
    }
}

/// Whether /proc/net/tcp has a connection that is being closed, of which neither port is among those of `over`.
fn is_closing(connections: &str, over: &BTreeSet<u16>) -> bool {
    // Linux include/net/tcp_states.h: FIN-WAIT-1, FIN-WAIT-2, LAST-ACK, CLOSING.
    const CLOSING_STATES: [&str; 4] = ["04", "05", "09", "0B"];
    connections.lines().skip(1).any(|line| {
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        let [_, local, remote, state] = words.as_slice() else {
            return false;
        };
        let port = |end: &str| u16::from_str_radix(end.rsplit(':').next()?, 16).ok();
        let is_over = [local, remote]
            .iter()
            .any(|end| port(end).is_some_and(|p| over.contains(&p)));
        CLOSING_STATES.contains(state) && !is_over
    })
}

fn mount_all(name: &str) -> Result<(), String> {
    let own = format!("host/{name}");
    for (source, target, kind, data) in [
        ("proc", "/proc", "proc", ""),
        ("sysfs", "/sys", "sysfs", ""),
        ("devtmpfs", "/dev", "devtmpfs", ""),
        ("tmpfs", "/tmp", "tmpfs", ""),
        ("tmpfs", "/run", "tmpfs", ""),
        ("none", FOLDER, "hostfs", own.as_str()),
    ] {
        sys::mount(source, target, kind, data)
            .map_err(|error| format!("mount {target} ({kind} {data}): {error}"))?;
    }
    Ok(())
}

/// The congestion controls that the kernel has, as it lists them.
fn congestion_controls() -> String {
    let list = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    list.unwrap_or_default().trim().replace(' ', ", ")
}

/// Why a congestion control is not to be had that the kernel does not find.
pub(crate) fn no_congestion_control() -> String {
    let there_are = congestion_controls();
    format!("this kernel does not have it; there are {there_are}")
}

/// The configuration, in force, and what of the profile's sysctls is not.
fn set_up(folder: &Path) -> Result<(GuestConfig, BTreeMap<String, String>), String> {
    let path = folder.join("config.json");
    let text = fs::read_to_string(&path).map_err(|error| format!("config.json: {error}"))?;
    let config: GuestConfig =
        serde_json::from_str(&text).map_err(|error| format!("config.json: {error}"))?;
    let not_set = put_in_force(&config)?;
    Ok((config, not_set))
}

/// Sees to it that what a set-up changes is this network namespace's alone, which is not `outside`.
///
/// # Errors
/// It is that namespace, or a sysctl is of the whole machine.
pub fn in_own_namespace(config: &GuestConfig, outside: &Path) -> Result<(), String> {
    const OWN: &str = "/proc/self/ns/net";
    if fs::read_link(OWN).map_err(|error| format!("{OWN}: {error}"))? == outside {
        return Err("this is the machine's own network namespace, which stays as it is".to_owned());
    }
    match config.sysctls.keys().find(|name| !name.starts_with("net.")) {
        Some(name) => Err(format!("sysctl {name} is the whole machine's")),
        None => Ok(()),
    }
}

/// Where a kernel with IPv6 has its switch.
const NO_IPV6: &str = "net.ipv6.conf.all.disable_ipv6";

/// Makes this kernel, or this network namespace of it, the host of a configuration: sysctls, interface,
/// commands. Gives the profile's sysctls that are not set, and why.
///
/// # Errors
/// What could not be done, and why.
pub fn put_in_force(config: &GuestConfig) -> Result<BTreeMap<String, String>, String> {
    if sysctl_path(NO_IPV6).exists() {
        set_sysctl(NO_IPV6, "1")?;
    }
    // Echo sockets for all, as on a desktop.
    set_sysctl("net.ipv4.ping_group_range", "0 2147483647")?;
    let mut not_set = BTreeMap::new();
    for (name, value) in &config.profile_sysctls {
        if let Err(why) = set_sysctl(name, value) {
            if sockets_have(config, name, value) {
                continue;
            }
            // Another congestion control under this one's name would be taken for it.
            if name == CONGESTION_CONTROL && !config.sysctls.contains_key(name) {
                let there_are = congestion_controls();
                let allowed = match there_are.split(", ").any(|has| has == value) {
                    true => {
                        ", and of these a namespace may have those of the machine's \
                         net.ipv4.tcp_allowed_congestion_control"
                    }
                    false => "",
                };
                return Err(format!("{why}; there are {there_are}{allowed}"));
            }
            not_set.insert(name.clone(), why);
        }
    }
    for (name, value) in &config.sysctls {
        set_sysctl(name, value).or_else(|why| match sockets_have(config, name, value) {
            true => Ok(()),
            false => Err(why),
        })?;
    }
    interface::set_up(config)?;
    for argv in &config.commands {
        run_command(argv)?;
    }
    Ok(not_set)
}

/// Whether this sysctl is the congestion control, which the kernel has and every socket asks for by
/// itself: a namespace's default is one of the machine's net.ipv4.tcp_allowed_congestion_control, but
/// sockets of a privileged program may have any (net/ipv4/tcp_cong.c of Linux 7.2).
pub(crate) fn sockets_have(config: &GuestConfig, name: &str, value: &str) -> bool {
    let asked = config.socket_options.get("TCP_CONGESTION");
    let others = |task: &Task| matches!(task, Task::Command(_));
    name == CONGESTION_CONTROL
        && asked == Some(&OptionValue::Text(value.to_owned()))
        && congestion_controls().split(", ").any(|has| has == value)
        && !config.tasks.iter().any(others)
}

fn sysctl_path(name: &str) -> PathBuf {
    sysctl_under(Path::new("/proc/sys"), name)
}

pub(crate) fn sysctl_under(root: &Path, name: &str) -> PathBuf {
    root.join(name.replace('.', "/"))
}

/// Writes a sysctl's value in one call, as the kernel wants it: an empty one is written too, as a line.
pub(crate) fn write_sysctl(path: &Path, value: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(format!("{value}\n").as_bytes())
}

fn set_sysctl(name: &str, value: &str) -> Result<(), String> {
    write_sysctl(&sysctl_path(name), value).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "this kernel does not have it".to_owned(),
            _ => error.to_string(),
        };
        format!("sysctl {name} = {value}: {why}")
    })
}

fn run_command(argv: &[String]) -> Result<(), String> {
    let said = || argv.join(" ");
    let (program, arguments) = argv.split_first().ok_or("an empty command")?;
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", traffic::PATH)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", said()))?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}: {}", said(), output.status, message.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_close_are_told_from_others() {
        let table = |state| {
            format!(
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n   \
                 0: 0100000A:2711 0200000A:8000 {state} 00000000:00000000 00:00000000\n"
            )
        };
        let nobody = BTreeSet::new();
        for (state, closes) in [("01", false), ("04", true), ("05", true), ("06", false)] {
            assert_eq!(is_closing(&table(state), &nobody), closes, "{state}");
        }
        assert!(!is_closing("", &nobody));
        // 2711 is 10001, and 8000 is 32768: those of a task that is over at its time.
        for (port, closes) in [(10_001, false), (32_768, false), (10_002, true)] {
            assert_eq!(is_closing(&table("04"), &BTreeSet::from([port])), closes);
        }
    }
}
