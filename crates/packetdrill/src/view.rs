//! A script's own view of the sysctls.
//!
//! A folder holds `net/ipv4/tcp_…` and `net/core/…` as /proc/sys does; scripts write there because
//! the folder is mounted in its place. A stack is a profile with what the folder says laid over it:
//! a file whose name is a value of [`Stack`] sets that value.

use std::fs;
use std::path::{Path, PathBuf};

use tailback_tcp::{PRESETS, Stack};
use tailback_units::{Bytes, Duration};
use toml::{Table, Value};

/// Where a stack's values come from.
#[derive(Clone, Debug)]
pub struct View {
    profile: Stack,
    /// The profile's values by name.
    values: Table,
    folder: Option<PathBuf>,
}

/// What a script has made of the host's interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Its MTU, if it was set, bytes.
    pub mtu: Option<u32>,
    /// Its queue takes no packet: all are dropped as they leave.
    pub drops: bool,
    /// Its queueing discipline paces (fq).
    pub paces: bool,
}

/// Why there is no stack.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No profile has this name.
    #[error("there is no stack profile {0:?}")]
    Profile(String),
    /// The profile is not valid.
    #[error("the stack profile is not valid: {0}")]
    Stack(String),
    /// A file of the view could not be written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Sysctls whose value has another name in a stack.
const RENAMED: [(&str, &str); 2] = [("tcp_rto_min_us", "rto_min"), ("tcp_rto_max_ms", "rto_max")];

/// Sysctls of Linux 7.2 that scripts set and no stack has: features that are not modelled. The view
/// has them so that they can be set.
const OTHERS: [(&str, &str); 11] = [
    ("tcp_base_mss", "1024"),
    ("tcp_early_retrans", "3"),
    ("tcp_fastopen", "1"),
    ("tcp_fastopen_key", "00000000-00000000-00000000-00000000"),
    ("tcp_frto", "2"),
    ("tcp_min_tso_segs", "2"),
    ("tcp_mtu_probing", "0"),
    ("tcp_notsent_lowat", "4294967295"),
    ("tcp_pacing_ca_ratio", "120"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_syncookies", "1"),
];

impl View {
    /// The profile of this name, with `folder` (like /proc/sys) laid over it if there is one.
    ///
    /// # Errors
    ///
    /// If there is no such profile.
    pub fn new(profile: &str, folder: Option<PathBuf>) -> Result<View, ViewError> {
        let text = PRESETS
            .iter()
            .find(|(name, _)| *name == profile)
            .ok_or_else(|| ViewError::Profile(profile.into()))?
            .1;
        let profile: Stack = toml::from_str(text).map_err(|e| ViewError::Stack(e.to_string()))?;
        let values = Table::try_from(&profile).map_err(|e| ViewError::Stack(e.to_string()))?;
        Ok(View {
            profile,
            values,
            folder,
        })
    }

    /// The stack as the view stands now. A value that the stack does not take changes nothing, as
    /// the kernel would have refused it.
    #[must_use]
    pub fn stack(&self) -> Stack {
        let (mut stack, mut table) = (self.profile.clone(), self.values.clone());
        let values = self
            .values
            .keys()
            .map(|name| (name.as_str(), name.as_str()));
        for (file, name) in values.chain(RENAMED) {
            let (Some(text), Some(old)) = (self.read(file), self.values.get(name)) else {
                continue;
            };
            let Some(value) = laid_over(name, old, text.trim()) else {
                continue;
            };
            let before = table.insert(name.into(), value);
            match table.clone().try_into() {
                Ok(valid) => stack = valid,
                Err(_) => {
                    before.and_then(|before| table.insert(name.into(), before));
                }
            }
        }
        stack
    }

    /// The interface as the commands `ip` and `tc` have left it. Stand-ins for these keep what they
    /// were asked for in files of the view, a line each.
    #[must_use]
    pub fn device(&self) -> Device {
        let mut device = Device::default();
        let Some(folder) = &self.folder else {
            return device;
        };
        let asked = |program: &str| fs::read_to_string(folder.join(program)).unwrap_or_default();
        for line in asked("tc").lines().filter(|line| line.starts_with("qdisc")) {
            device.drops = line.contains("pfifo limit 0");
            device.paces = line.ends_with(" fq") || line.contains(" fq ");
        }
        for line in asked("ip")
            .lines()
            .filter(|line| line.starts_with("link set"))
        {
            let mut words = line
                .split_whitespace()
                .skip_while(|word| *word != "mtu")
                .skip(1);
            device.mtu = words.next().and_then(|mtu| mtu.parse().ok()).or(device.mtu);
        }
        device
    }

    /// Tells the stand-in for `nstat` what has been counted: a name and a number a line.
    pub fn tell_counters(&self, counters: &[(&str, u64)]) {
        let Some(folder) = &self.folder else { return };
        let lines: Vec<String> = counters
            .iter()
            .map(|(name, n)| format!("{name} {n}\n"))
            .collect();
        if let Err(error) = fs::write(folder.join("nstat.now"), lines.concat()) {
            eprintln!("tailback: {}: {error}", folder.display());
        }
    }

    fn read(&self, file: &str) -> Option<String> {
        let path = self
            .folder
            .as_ref()?
            .join("net")
            .join(area(file)?)
            .join(file);
        fs::read_to_string(path).ok()
    }

    /// Writes the files of a view, with the profile's values as Linux prints them.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write_out(&self, folder: &Path) -> Result<(), ViewError> {
        let profile = self.values.iter().map(|(name, value)| {
            let renamed = RENAMED.iter().find(|(_, of)| of == name);
            (
                renamed.map_or(name.as_str(), |(file, _)| *file),
                printed(name, value),
            )
        });
        let others = OTHERS.map(|(name, value)| (name, value.to_string()));
        for (name, value) in others.into_iter().chain(profile) {
            let Some(area) = area(name) else { continue };
            let path = folder.join("net").join(area).join(name);
            let file = |source| ViewError::File {
                path: path.clone(),
                source,
            };
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(file)?;
            }
            fs::write(&path, value + "\n").map_err(file)?;
        }
        Ok(())
    }
}

/// The folder of net that has this file; none if it is no sysctl.
fn area(file: &str) -> Option<&'static str> {
    match file {
        "rmem_max" | "wmem_max" => Some("core"),
        file => file.starts_with("tcp_").then_some("ipv4"),
    }
}

/// What a sysctl's text means for the value `name` that is now `old`; none if it means that, or
/// nothing at all.
fn laid_over(name: &str, old: &Value, text: &str) -> Option<Value> {
    if text == printed(name, old) {
        return None;
    }
    let first = text.split_whitespace().next()?;
    Some(match old {
        Value::Boolean(_) => Value::Boolean(integer(first)? != 0),
        Value::Integer(_) => Value::Integer(integer(first)?),
        Value::Float(_) => Value::Float(first.parse().ok()?),
        Value::Array(_) => Value::Array(
            text.split_whitespace()
                .map(|word| Value::String(format!("{word}B")))
                .collect(),
        ),
        Value::String(_) => Value::String(match quantity(name, old) {
            Some((_, unit)) => format!("{first}{unit}"),
            None => first.into(),
        }),
        _ => return None,
    })
}

fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A value with a unit as Linux counts it: the number and the unit.
fn quantity(name: &str, value: &Value) -> Option<(u64, &'static str)> {
    if let Ok(bytes) = value.clone().try_into::<Bytes>() {
        return Some((bytes.get(), "B"));
    }
    let span: Duration = value.clone().try_into().ok()?;
    let (unit, ps) = match name {
        "tcp_rcvbuf_low_rtt" | "rto_min" => ("us", 1_000_000),
        "tcp_invalid_ratelimit" | "rto_max" => ("ms", 1_000_000_000),
        _ => ("s", 1_000_000_000_000),
    };
    Some((span.as_ps() / ps, unit))
}

/// A value as Linux prints the sysctl.
fn printed(name: &str, value: &Value) -> String {
    match value {
        Value::Boolean(value) => i32::from(*value).to_string(),
        Value::Array(values) => {
            let printed: Vec<String> = values.iter().map(|value| printed(name, value)).collect();
            printed.join("\t")
        }
        Value::String(text) => {
            quantity(name, value).map_or_else(|| text.clone(), |(number, _)| number.to_string())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
