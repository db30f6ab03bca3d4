//! What the guests are told to do, and what they told in the end.
//!
//! Every kernel boots before the world's time zero, so that applications begin at the same time on
//! kernels and in the world: the kernels' clock is [`START`] ahead of the world's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tailback_agent::config::{OVER, Task};
use tailback_agent::{Record, record, root};
use tailback_kernel::{HostConfig, NicConfig, RunFolder};
use tailback_net::random::Stream;
use tailback_scenario::Run;
use tailback_units::{Bytes, Duration};
use tailback_wire::plan;

use super::{addresses::Addresses, configuration, tasks::tasks, tc};
use crate::SimError;

/// Time of day at the kernels' time zero, ns since 1970: a constant (2023-11-14), for repeats.
pub(super) const EPOCH_NS: u64 = 1_700_000_000_000_000_000;
/// From the last look at its connections until an application is over: on kernels in virtual time looks
/// are never late.
const AFTER_LOOK: Duration = Duration::from_us(100);

/// All hosts of a run that are kernels.
pub(super) struct Guests<'a> {
    run: &'a Run,
    folder: RunFolder,
    guests: Vec<Guest>,
}

struct Guest {
    host: usize,
    /// Each is over by itself, whoever is at the other end.
    tasks: Vec<Task>,
}

/// Of a guest's memory, the share that TCP may have. A guest has little, and a kernel gives TCP less than
/// a tenth and is short from a sixteenth on (tcp_init_mem, Linux net/ipv4/tcp.c): it then throws away
/// what came out of order, and windows stop growing. What the guest needs beside is some 20 MB.
/// Another share is `kernel.sysctl.net.ipv4.tcp_mem`.
const TCP_SHARE: [u64; 2] = [5, 8];
/// A guest's page (User-Mode Linux on x86-64).
const PAGE_BYTES: u64 = 4096;

/// The sysctl: from how many pages on TCP is short of memory, and how many it may have at most.
fn tcp_mem(memory: Bytes) -> String {
    let [part, whole] = TCP_SHARE;
    let pages = memory.get() * part / whole / PAGE_BYTES;
    format!("{pages} {pages} {pages}")
}

impl<'a> Guests<'a> {
    pub(super) fn new(run: &'a Run, outside: &[bool], folder: &Path) -> Guests<'a> {
        let mut guests: Vec<Guest> = (0..run.network.hosts.len())
            .filter(|host| outside.get(*host).copied().unwrap_or(false))
            .map(|host| Guest {
                host,
                tasks: Vec::new(),
            })
            .collect();
        for (host, task) in tasks(run, AFTER_LOOK, &Addresses::planned()) {
            if let Some(guest) = guests.iter_mut().find(|guest| guest.host == host) {
                guest.tasks.push(task);
            }
        }
        Guests {
            run,
            folder: RunFolder::new(folder),
            guests,
        }
    }

    /// The number of each kernel's host.
    pub(super) fn hosts(&self) -> Vec<usize> {
        self.guests.iter().map(|guest| guest.host).collect()
    }

    /// Writes the folder that the guests see.
    pub(super) fn prepare(&self, agent: &Path) -> Result<(), SimError> {
        let failed = |what: &str, error: std::io::Error| {
            let folder = self.folder.path().display();
            SimError::Kernel(format!("cannot write {what} in {folder}: {error}"))
        };
        if !self.folder.root().join("init").exists() {
            root::prepare(&self.folder.root(), agent).map_err(|e| failed("the guests' root", e))?;
        }
        for guest in &self.guests {
            let folder = self.folder.host(&name(guest.host));
            fs::create_dir_all(&folder).map_err(|e| failed("a guest's folder", e))?;
            let at = Addresses::planned();
            let tasks = guest.tasks.clone();
            let mut config = configuration::of(self.run, guest.host, EPOCH_NS, tasks, &at);
            config.until_over = self.waits_for_others(guest);
            let kernel = &self.run.network.hosts[guest.host].kernel;
            if let Some(segments) = kernel.gso_max_segs {
                let line = format!("link set dev eth0 gso_max_segs {segments}");
                config.commands.insert(0, configuration::words("ip", &line));
            }
            // What it cannot have was refused before.
            if let Some(Ok(line)) = tc::of_host(self.run, guest.host) {
                config.commands.insert(0, configuration::words("tc", &line));
            }
            // Where nothing but pfifo_fast waits before the card, it is the same where packets wait.
            config.interface.whole_ring = config.commands.iter().all(|line| line[0] != "tc");
            let memory = kernel.memory;
            config
                .profile_sysctls
                .insert("net.ipv4.tcp_mem".to_owned(), tcp_mem(memory));
            let text = serde_json::to_vec_pretty(&config)
                .map_err(|e| failed("a guest's configuration", e.into()))?;
            fs::write(folder.join("config.json"), text)
                .map_err(|e| failed("a guest's configuration", e))?;
        }
        Ok(())
    }

    /// Whether a guest has nothing but programs that never end, and is there as long as others have something to
    /// do.
    fn waits_for_others(&self, guest: &Guest) -> bool {
        let never_ends =
            |guest: &Guest| !guest.tasks.is_empty() && guest.tasks.iter().all(Task::is_background);
        never_ends(guest) && !self.guests.iter().all(never_ends)
    }

    /// Tells guests that only wait for others that the others have ended, once they have.
    pub(super) fn tell_of_the_end(&self, ended: &[bool]) -> Result<(), SimError> {
        let mut others = self.guests.iter().zip(ended);
        if !others.all(|(guest, ended)| *ended || self.waits_for_others(guest)) {
            return Ok(());
        }
        for guest in self
            .guests
            .iter()
            .filter(|guest| self.waits_for_others(guest))
        {
            let path = self.folder.host(&name(guest.host)).join(OVER);
            fs::write(&path, "")
                .map_err(|error| self.failed(guest, &format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// How the kernels are to be started.
    pub(super) fn configs(&self) -> Vec<HostConfig> {
        let config = |guest: &Guest| {
            let host = &self.run.network.hosts[guest.host];
            let seed = Stream::new(self.run.seed, "kernel", guest.host as u64).next_u64();
            let offloads = host.kernel.offloads;
            HostConfig {
                name: host.name.clone(),
                memory_mib: host.kernel.memory.get().div_ceil(1 << 20) as u32,
                nic: NicConfig {
                    mac: plan::mac(guest.host as u16),
                    mtu_bytes: configuration::mtu_bytes(self.run, guest.host),
                    segmentation_offload: offloads.tso != Some(false),
                    checksum_offload: offloads.tx_checksum != Some(false),
                    interrupt_gap: host.kernel.interrupt_moderation,
                },
                arguments: self.folder.arguments(&name(guest.host), seed),
                console: self.folder.console(&name(guest.host)),
            }
        };
        self.guests.iter().map(config).collect()
    }

    /// What a kernel said when it killed a program for want of memory.
    fn short_of_memory(&self, guest: &Guest) -> Option<String> {
        let console = fs::read(self.folder.console(&name(guest.host))).ok()?;
        let console = String::from_utf8_lossy(&console);
        let line = console.lines().find(|l| l.contains("Out of memory"))?;
        Some(line.trim().to_owned())
    }

    /// The error of a guest that says that it has failed, among those that `asked` says. Others may wait for it.
    pub(super) fn failure(&self, asked: &[bool]) -> Result<(), SimError> {
        for (guest, _) in self.guests.iter().zip(asked).filter(|(_, asked)| **asked) {
            // One that told nothing died: nobody says why yet.
            let text = fs::read_to_string(self.results(guest)).unwrap_or_default();
            let errors = text.lines().filter(|line| line.contains("\"error\""));
            for record in errors.flat_map(|line| record::parse(line).unwrap_or_default()) {
                if let Record::Error { message } = record {
                    return Err(self.failed(guest, &message));
                }
            }
        }
        Ok(())
    }

    /// Where a guest's records are.
    fn results(&self, guest: &Guest) -> PathBuf {
        self.folder.host(&name(guest.host)).join("results.jsonl")
    }

    fn failed(&self, guest: &Guest, why: &str) -> SimError {
        let host = &self.run.network.hosts[guest.host].name;
        SimError::Kernel(match self.short_of_memory(guest) {
            Some(said) => {
                format!("host {host} ran out of memory ({said}); give it more (kernel.memory)")
            }
            None => format!("the guest of host {host} failed: {why}"),
        })
    }

    /// What each guest told, by the number of its host.
    pub(super) fn records(&self) -> Result<BTreeMap<usize, Vec<Record>>, SimError> {
        self.failure(&vec![true; self.guests.len()])?;
        let mut all = BTreeMap::new();
        for guest in &self.guests {
            let failed = |why: String| self.failed(guest, &why);
            let text = fs::read_to_string(self.results(guest)).unwrap_or_default();
            if text.is_empty() {
                return Err(self.failed(guest, "it ended before it had set its host up"));
            }
            let records = record::parse(&text).map_err(failed)?;
            if !matches!(records.last(), Some(Record::Done { .. })) {
                return Err(self.failed(guest, "it died before its tasks were done"));
            }
            all.insert(guest.host, records);
        }
        Ok(all)
    }
}

/// What a host is called in the run's folder.
fn name(host: usize) -> String {
    format!("h{host}")
}
