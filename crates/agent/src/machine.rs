//! Sysctls of a machine that is somebody's own: set for as long as a run takes, then as they were.
//!
//! What they were is written down before the first is changed, in the run's folder, which is locked
//! while its agent lives. An agent that was killed could not put anything back: the next does it, from
//! folders beside its own that nobody has locked.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::config::{GuestConfig, Task};
use crate::guest;
use crate::sys;

/// Beginning of the names of runs' folders, which are beside each other.
pub const PREFIX: &str = "tailback-";

const FORMER: &str = "former.json";

/// Who may send echo requests without privilege, and that it is all.
const ECHO_SOCKETS: (&str, &str) = ("net.ipv4.ping_group_range", "0 2147483647");

/// What a machine's sysctls were before a run.
#[derive(Debug)]
#[must_use = "they are put back when asked for"]
pub struct Former {
    folder: PathBuf,
    values: BTreeMap<String, String>,
    /// Sysctls of the profile that are not set, and why.
    pub not_set: BTreeMap<String, String>,
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
    let mut former = Former {
        folder: folder.to_owned(),
        values: BTreeMap::new(),
        not_set: BTreeMap::new(),
    };
    let mut wanted = BTreeMap::new();
    let mut refused = Vec::new();
    for (name, value) in asked(config) {
        let own = config.sysctls.contains_key(name);
        let why = match fs::read_to_string(guest::sysctl_path(name)) {
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
        former.write()?;
        for (name, value) in wanted {
            let Err(error) = fs::write(guest::sysctl_path(name), value) else {
                continue;
            };
            if guest::sockets_have(config, name, value) {
                continue;
            }
            let denied = error.kind() == io::ErrorKind::PermissionDenied;
            is_denied |= denied;
            if denied || config.sysctls.contains_key(name) || name == guest::CONGESTION_CONTROL {
                let was = &former.values[name];
                refused.push(format!("sysctl {name} = {value} (it is {was}): {error}"));
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
        for (name, value) in &self.values {
            let path = guest::sysctl_path(name);
            let is_so = fs::read_to_string(&path).is_ok_and(|now| same(&now, value));
            if is_so {
                continue;
            }
            if let Err(error) = fs::write(path, value) {
                failed.push(format!("{name} = {value}: {error}"));
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
        let file = File::create(self.folder.join(FORMER)).map_err(failed)?;
        serde_json::to_writer(&file, &self.values).map_err(|error| failed(error.into()))?;
        file.sync_all().map_err(failed)
    }
}

/// Puts back what agents left that were killed: their folders are beside this one, of the same user's,
/// and nobody has them locked. Gives the names of those folders, which are removed.
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
        if !put_back_of(&path)? {
            continue;
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
    put_back_of(folder).map(drop)
}

/// Whether there was anything to be put back.
fn put_back_of(folder: &Path) -> Result<bool, String> {
    let Ok(text) = fs::read_to_string(folder.join(FORMER)) else {
        return Ok(false); // nothing was changed, or it has been put back
    };
    let values = serde_json::from_str(&text)
        .map_err(|error| format!("{}/{FORMER}: {error}", folder.display()))?;
    let former = Former {
        folder: folder.to_owned(),
        values,
        not_set: BTreeMap::new(),
    };
    former.put_back()?;
    Ok(true)
}

/// How often the child is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Why the tasks of a configuration came to no end.
#[derive(Debug)]
pub enum Unfinished {
    /// They failed, and have said why.
    Failed(String),
    /// Nobody holds the other end of standard input any more.
    Abandoned,
}

/// Runs the tasks of a configuration in a process of their own, which has ended, with whatever it
/// started, when this returns.
///
/// # Errors
/// They failed, or were given up.
pub fn run(config: &Path, folder: &Path) -> Result<(), Unfinished> {
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
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break Ok(()),
            Ok(Some(status)) => {
                break Err(Unfinished::Failed(format!(
                    "the agent's tasks failed: {status}"
                )));
            }
            Ok(None) if abandoned.load(Ordering::Relaxed) => {
                break Err(Unfinished::Abandoned);
            }
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
