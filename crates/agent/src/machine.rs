//! Sysctls of a machine that is somebody's own: set for as long as a run takes, then as they were.
//!
//! What they were is written down before the first is changed, in the run's folder, which is locked
//! while its agent lives. An agent that was killed could not put anything back: the next does it, from
//! folders beside its own that nobody has locked.
//!
//! Two runs at once would take each other's settings for what was before: one of them is refused ([`claim`]).

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::config::{GuestConfig, Task};
use crate::guest;
use crate::sys;

/// Beginning of the names of runs' folders, which are beside each other.
pub const PREFIX: &str = "tailback-";

const FORMER: &str = "former.json";

/// The agent's own program, in its folder.
const AGENT: &str = "agent";

/// Where sysctls are.
const SYSCTLS: &str = "/proc/sys";

/// Congestion controls that everybody may use. One that becomes the default is added by the kernel, and stays
/// (`tcp_set_default_congestion_control` in net/ipv4/tcp_cong.c of Linux 7.2).
const ALLOWED_CONTROLS: &str = "net.ipv4.tcp_allowed_congestion_control";

/// Who may send echo requests without privilege, and that it is all.
const ECHO_SOCKETS: (&str, &str) = ("net.ipv4.ping_group_range", "0 2147483647");

/// What a machine's sysctls were before a run.
#[derive(Debug)]
#[must_use = "they are put back when asked for"]
pub struct Former {
    folder: PathBuf,
    sysctls: PathBuf,
    values: BTreeMap<String, String>,
    /// Sysctls of the profile that are not set, and why.
    pub not_set: BTreeMap<String, String>,
}

/// What is written down of them.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    machine: String,
    values: BTreeMap<String, String>,
}

/// Which start of which machine this is, and which of its networks: what sysctls belong to.
fn this_machine() -> (String, String) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
    (boot.trim().to_owned(), network.display().to_string())
}

impl Written {
    fn here(values: BTreeMap<String, String>) -> Written {
        let (boot, network) = this_machine();
        Written {
            machine: format!("{boot} {network}"),
            values,
        }
    }

    /// Whether these sysctls are those of this process.
    fn whose(&self) -> Whose {
        let (boot, network) = this_machine();
        match self.machine.split_once(' ') {
            Some((b, n)) if (b, n) == (&boot, &network) => Whose::Own,
            Some((b, _)) if b == boot => Whose::AnotherNetworks,
            _ => Whose::Nobodys,
        }
    }
}

/// To whom sysctls belong that an agent has changed.
#[derive(Debug, PartialEq, Eq)]
enum Whose {
    Own,
    /// Of another network namespace of this machine.
    AnotherNetworks,
    /// The machine was started again, and they are gone.
    Nobodys,
}

/// What a run has for itself as long as this is there: the host's address, and, where it may set them, the
/// machine's sysctls. The kernel keeps such names for each network apart, and forgets them with the process.
#[derive(Debug)]
#[must_use = "it is given up when dropped"]
pub struct Claim {
    _names: Vec<UnixDatagram>,
}

/// Claims what the configuration's run must not share with another.
///
/// # Errors
/// Another run has it.
pub fn claim(config: &GuestConfig) -> Result<Claim, String> {
    let mut names = vec![(
        config.interface.address.to_string(),
        format!(
            "another run is going on at {}: wait until it is over",
            config.interface.address
        ),
    )];
    if !config.keep_sysctls {
        names.push((SYSCTLS_CLAIM.to_owned(), BUSY.to_owned()));
    }
    let claimed = names.into_iter().map(|(name, busy)| own(&name, &busy));
    Ok(Claim {
        _names: claimed.collect::<Result<_, _>>()?,
    })
}

const SYSCTLS_CLAIM: &str = "sysctls";
const BUSY: &str =
    "another run is going on on this machine, and has its sysctls: wait until it is over";

/// A name that one process has at a time (unix(7), abstract sockets).
fn own(name: &str, busy: &str) -> Result<UnixDatagram, String> {
    let address = SocketAddr::from_abstract_name(format!("{PREFIX}{name}"))
        .map_err(|error| error.to_string())?;
    UnixDatagram::bind_addr(&address).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => busy.to_owned(),
        _ => format!("{name}: {error}"),
    })
}

/// Takes a run's folder for this process: while it lives nobody takes it for abandoned.
///
/// # Errors
/// It cannot be opened, or another has it.
pub fn take(folder: &Path) -> Result<File, String> {
    let lock = File::open(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    sys::lock(&lock).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(lock)
}

/// Sets what the configuration asks for and is not so already.
///
/// # Errors
/// All that cannot be set; nothing is changed then.
pub fn set(config: &GuestConfig, folder: &Path) -> Result<Former, String> {
    set_under(Path::new(SYSCTLS), config, folder)
}

fn set_under(sysctls: &Path, config: &GuestConfig, folder: &Path) -> Result<Former, String> {
    let mut former = Former {
        folder: folder.to_owned(),
        sysctls: sysctls.to_owned(),
        values: BTreeMap::new(),
        not_set: BTreeMap::new(),
    };
    let mut wanted = BTreeMap::new();
    let mut refused = Vec::new();
    for (name, value) in asked(config) {
        let own = config.sysctls.contains_key(name);
        let why = match fs::read_to_string(guest::sysctl_under(sysctls, name)) {
            Ok(now) if same(&now, value) => continue,
            Ok(now) if !config.keep_sysctls => {
                former
                    .values
                    .insert(name.to_owned(), now.trim_end().to_owned());
                wanted.insert(name, value);
                continue;
            }
            Ok(now) => format!("it is {} here, and stays so", now.trim()),
            Err(_) => "this kernel does not have it".to_owned(),
        };
        if guest::sockets_have(config, name, value) {
            continue;
        }
        if own || name == guest::CONGESTION_CONTROL {
            refused.push(format!("sysctl {name} = {value}: {why}"));
        } else {
            former.not_set.insert(name.to_owned(), why);
        }
    }
    let mut is_denied = false;
    if refused.is_empty() {
        if wanted.contains_key(guest::CONGESTION_CONTROL)
            && let Ok(now) = fs::read_to_string(guest::sysctl_under(sysctls, ALLOWED_CONTROLS))
        {
            let allowed = former.values.entry(ALLOWED_CONTROLS.to_owned());
            allowed.or_insert_with(|| now.trim_end().to_owned());
        }
        former.write()?;
        for (name, value) in wanted {
            let path = guest::sysctl_under(sysctls, name);
            let Err(error) = guest::write_sysctl(&path, value) else {
                continue;
            };
            if guest::sockets_have(config, name, value) {
                continue;
            }
            let denied = error.kind() == io::ErrorKind::PermissionDenied;
            is_denied |= denied;
            if denied || config.sysctls.contains_key(name) || name == guest::CONGESTION_CONTROL {
                let was = &former.values[name];
                let why = match error.kind() {
                    io::ErrorKind::NotFound if name == guest::CONGESTION_CONTROL => {
                        let why = guest::no_congestion_control();
                        format!("{why} (modprobe tcp_{value}, if there is one)")
                    }
                    _ => error.to_string(),
                };
                refused.push(format!("sysctl {name} = {value} (it is {was}): {why}"));
            } else {
                former.not_set.insert(name.to_owned(), error.to_string());
            }
        }
    }
    if refused.is_empty() {
        return Ok(former);
    }
    let mut refused = refused.join("; ");
    if is_denied {
        refused += "; this takes root there (sudo = true in the inventory), or sysctls = \"leave\"";
    }
    former
        .put_back()
        .map_err(|why| format!("{refused}; {why}"))?;
    Err(refused)
}

/// The sysctls of a configuration: its own before those of its profile.
fn asked(config: &GuestConfig) -> BTreeMap<&str, &str> {
    let all = config.profile_sysctls.iter().chain(&config.sysctls);
    let mut asked: BTreeMap<&str, &str> = all.map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let pings = |task: &Task| matches!(task, Task::Ping(_));
    if config.tasks.iter().any(pings) && !config.keep_sysctls {
        asked.entry(ECHO_SOCKETS.0).or_insert(ECHO_SOCKETS.1);
    }
    asked
}

/// Whether two values are the same but for the space between their parts.
fn same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

impl Former {
    /// Sets everything to what it was.
    ///
    /// # Errors
    /// What could not be; what it was stays written down then.
    pub fn put_back(&self) -> Result<(), String> {
        let mut failed = Vec::new();
        let last = |(name, _): &(&String, &String)| name.as_str() == ALLOWED_CONTROLS;
        let (last, first): (Vec<_>, Vec<_>) = self.values.iter().partition(last);
        for (name, value) in first.into_iter().chain(last) {
            let path = guest::sysctl_under(&self.sysctls, name);
            let is_so = || fs::read_to_string(&path).is_ok_and(|now| same(&now, value));
            if is_so() {
                continue;
            }
            match guest::write_sysctl(&path, value) {
                Err(error) => failed.push(format!("{name} = {value}: {error}")),
                Ok(()) if !is_so() => failed.push(format!("{name} = {value}: it is another still")),
                Ok(()) => {}
            }
        }
        if !failed.is_empty() {
            return Err(format!(
                "these could not be put back to what they were: {}",
                failed.join("; ")
            ));
        }
        match fs::remove_file(self.folder.join(FORMER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("{FORMER}: {error}"))
            }
            _ => Ok(()),
        }
    }

    fn write(&self) -> Result<(), String> {
        if self.values.is_empty() {
            return Ok(());
        }
        let failed = |error: io::Error| format!("{FORMER}: {error}");
        let (path, whole) = (self.folder.join("former.part"), self.folder.join(FORMER));
        let file = File::create(&path).map_err(failed)?;
        let written = Written::here(self.values.clone());
        serde_json::to_writer(&file, &written).map_err(|error| failed(error.into()))?;
        file.sync_all().map_err(failed)?;
        fs::rename(path, whole).map_err(failed)
    }
}

/// How long a folder that nobody has locked may be that of a run which is about to begin.
const BEGINNING: Duration = Duration::from_secs(3600);

/// Puts back what agents left that were killed: their folders are beside this one, of the same user's,
/// and nobody has them locked. Gives the names of those folders, which are removed. So are folders of runs
/// that were killed before they changed anything.
///
/// # Errors
/// What could not be put back.
pub fn repair(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let own = fs::metadata(folder).map_err(failed)?.uid();
    let beside = folder.parent().unwrap_or(Path::new("/"));
    let mut repaired = Vec::new();
    for entry in fs::read_dir(beside).map_err(failed)?.flatten() {
        let (path, name) = (
            entry.path(),
            entry.file_name().to_string_lossy().into_owned(),
        );
        // What another user wrote is not to be trusted by root.
        let is_own =
            fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
        if !name.starts_with(PREFIX) || !is_own || path == folder {
            continue;
        }
        let Ok(_lock) = take(&path) else {
            continue; // its run is going on
        };
        match left_in(&path)? {
            Left::Sysctls(former) => former.put_back()?,
            Left::AnotherNetworks => continue,
            Left::Nothing if !is_abandoned(&path) => continue,
            Left::Nothing => {
                fs::remove_dir_all(&path)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                continue;
            }
        }
        fs::remove_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        repaired.push(name);
    }
    Ok(repaired)
}

/// How long an agent that is being killed may hold its folder.
const DYING: Duration = Duration::from_secs(5);

/// Puts back what the agent of this folder has not.
///
/// # Errors
/// It is still there, or what could not be put back.
pub fn put_back(folder: &Path) -> Result<(), String> {
    let end = Instant::now() + DYING;
    let _lock = loop {
        match take(folder) {
            Err(_) if Instant::now() < end => thread::sleep(POLL),
            taken => break taken?,
        }
    };
    let Left::Sysctls(former) = left_in(folder)? else {
        return Ok(());
    };
    let _claim = loop {
        match own(SYSCTLS_CLAIM, BUSY) {
            Err(_) if Instant::now() < end => thread::sleep(POLL),
            claimed => break claimed?,
        }
    };
    former.put_back()
}

/// What an agent has left in its folder.
enum Left {
    /// What it has changed here.
    Sysctls(Former),
    /// What it has changed in another network of this machine.
    AnotherNetworks,
    /// It has changed nothing, or put it back, or the machine was started again.
    Nothing,
}

fn left_in(folder: &Path) -> Result<Left, String> {
    let Ok(text) = fs::read_to_string(folder.join(FORMER)) else {
        return Ok(Left::Nothing);
    };
    let written: Written = serde_json::from_str(&text)
        .map_err(|error| format!("{}/{FORMER}: {error}", folder.display()))?;
    Ok(match written.whose() {
        Whose::Own => Left::Sysctls(Former {
            folder: folder.to_owned(),
            sysctls: PathBuf::from(SYSCTLS),
            values: written.values,
            not_set: BTreeMap::new(),
        }),
        Whose::AnotherNetworks => Left::AnotherNetworks,
        Whose::Nobodys => Left::Nothing,
    })
}

/// Whether a folder with nothing to put back is an agent's that will not begin any more.
fn is_abandoned(folder: &Path) -> bool {
    let changed = fs::metadata(folder).and_then(|meta| meta.modified());
    let age = changed.ok().and_then(|at| at.elapsed().ok());
    folder.join(AGENT).exists() && age.is_some_and(|age| age > BEGINNING)
}

/// From now on this process puts back what it has set before it ends, if it is told to end.
pub fn outlive_signals() {
    sys::note_if_told_to_end();
}

/// Ends this process and the programs of its process group, if it leads one; else returns.
pub fn end_with_own_programs() {
    sys::kill_own_group();
}

/// How often the child is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Why the tasks of a configuration came to no end.
#[derive(Debug)]
pub enum Unfinished {
    /// They failed, and have said why.
    Failed(String),
    /// Nobody waits for them any more.
    Abandoned,
}

/// Runs the tasks of a configuration in a process of their own, which has ended, with whatever it
/// started, when this returns. They are given up when nobody waits for them any more: standard input has
/// ended, `patience` is over (a connection that was lost may look open for hours), or this process is told
/// to end.
///
/// # Errors
/// They failed, or were given up.
pub fn run(config: &Path, folder: &Path, patience: Option<Duration>) -> Result<(), Unfinished> {
    let failed = |error: io::Error| Unfinished::Failed(format!("the agent: {error}"));
    let mut child = Command::new(env::current_exe().map_err(failed)?)
        .arg("--attached")
        .args([config, folder])
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let abandoned = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&abandoned);
    // It may wait for ever: the process ends without it.
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        told.store(true, Ordering::Relaxed);
    });
    let began = Instant::now();
    let is_given_up = || {
        abandoned.load(Ordering::Relaxed)
            || sys::is_told_to_end()
            || patience.is_some_and(|patience| began.elapsed() > patience)
    };
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break Ok(()),
            Ok(Some(status)) => {
                break Err(Unfinished::Failed(format!(
                    "the agent's tasks failed: {status}"
                )));
            }
            Ok(None) if is_given_up() => break Err(Unfinished::Abandoned),
            Ok(None) => thread::sleep(POLL),
            Err(error) => break Err(failed(error)),
        }
    };
    sys::kill_group(child.id());
    let _ = child.wait();
    ended
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
