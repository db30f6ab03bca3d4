//! All kernels of a run: booted together, then run one at a time in the order of their events.
//!
//! Order: by time; at one time what network cards have to do comes before kernels that want to run;
//! then by the host's number. A kernel that runs may let time pass by itself as long as nothing can
//! reach it, its look-ahead: see [`Kernels::step`].

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration as WallTime, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tailback_units::Time;

use crate::error::{Context, KernelError};
use crate::host::{Common, Host, ceil_ns, time};
use crate::look_ahead;
use crate::network::Network;
use crate::nic::{Nic, NicConfig, NicCounters, Packet};
use crate::process::Process;
use crate::socket::{Stream, wait_readable};
use crate::time_travel::{Message, Op, SharedClock};

/// Longest path of a Unix socket, bytes (sockaddr_un less its end).
const SOCKET_PATH_BYTES_MAX: usize = 107;
/// The calendar's socket in the run's folder.
const CLOCK: &str = "clock";
/// f_type of a tmpfs (Linux include/uapi/linux/magic.h).
const TMPFS_MAGIC: u64 = 0x0102_1994;
/// How often the start of kernels is looked at for one that has died, wall-clock time.
const BOOT_POLL: WallTime = WallTime::from_millis(100);

/// What all kernels of a run share.
#[derive(Clone, Debug)]
pub struct KernelsConfig {
    /// The User-Mode Linux program.
    pub kernel: PathBuf,
    /// A private directory for sockets, with a short path; the kernels' working directory.
    pub directory: PathBuf,
    /// A directory on a tmpfs for the guests' memory; `/dev/shm` on most machines.
    pub memory: PathBuf,
    /// Time of day at the run's time zero, ns since 1970.
    pub epoch_ns: u64,
    /// How long a kernel may run without a word before it counts as stuck, wall-clock time.
    pub patience: WallTime,
    /// Set from another thread to give the run up, whatever is waited for.
    pub given_up: Arc<AtomicBool>,
    /// Share the clock in memory; otherwise, as with kernels before 6.11, times travel in messages.
    pub shared_clock: bool,
    /// Let kernels run ahead as far as nothing can reach them. Repeats are identical with it and
    /// without it, but not necessarily to one another.
    pub look_ahead: bool,
    /// The core that the simulator's thread and all kernels are bound to; a run is several times
    /// faster on one core than on several.
    pub core: Option<usize>,
}

/// One host with a kernel.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its name, for messages.
    pub name: String,
    /// Memory of the guest, MiB.
    pub memory_mib: u32,
    /// Its network card.
    pub nic: NicConfig,
    /// The rest of the kernel's command line: root file system, init, seed.
    pub arguments: Vec<String>,
    /// File for what the kernel prints.
    pub console: PathBuf,
}

/// Kernels that run, and their cards.
pub struct Kernels {
    hosts: Vec<Host>,
    common: Common,
    now_ns: u64,
    look_ahead: bool,
    runs: u64,
    /// How many kernels have powered off.
    ended: usize,
    /// The cores this thread could use before, if it was bound to one.
    affinity: Option<CpuSet>,
}

impl Kernels {
    /// Starts a kernel for each host and lets it boot until it first waits, at time zero.
    ///
    /// # Errors
    ///
    /// Says which kernel or directory is unfit and what to do, or which host failed and how.
    pub fn boot(
        config: &KernelsConfig,
        hosts: &[HostConfig],
        network: &mut impl Network,
    ) -> Result<Kernels, KernelError> {
        let common = Common {
            clock: None,
            epoch_ns: config.epoch_ns,
            patience: config.patience,
            given_up: Arc::clone(&config.given_up),
            spare: Vec::new(),
        };
        check(config, &common)?;
        let affinity = match config.core {
            Some(core) => Some(bind(core)?),
            None => None,
        };
        let clock = match config.shared_clock {
            true => Some(SharedClock::new(hosts.len())?),
            false => None,
        };
        let mut kernels = Kernels {
            hosts: Vec::with_capacity(hosts.len()),
            common: Common { clock, ..common },
            now_ns: 0,
            look_ahead: config.look_ahead,
            runs: 0,
            ended: 0,
            affinity,
        };
        let listener = listen(&config.directory, CLOCK)?;
        for (number, host) in hosts.iter().enumerate() {
            kernels.start(config, number, host)?;
        }
        let starts = kernels.connect(&listener, config.patience)?;
        for (host, start) in kernels.hosts.iter_mut().zip(starts) {
            host.boot(start, network, &mut kernels.common)?;
            kernels.ended += usize::from(host.has_ended());
        }
        Ok(kernels)
    }

    fn start(
        &mut self,
        config: &KernelsConfig,
        number: usize,
        host: &HostConfig,
    ) -> Result<(), KernelError> {
        let party = number as u16 + 1;
        let socket = format!("nic{number}");
        let listener = listen(&config.directory, &socket)?;
        // No path of this machine is in the command line: a kernel mixes it into its randomness.
        let mut arguments = vec![
            format!("mem={}M", host.memory_mib),
            format!("time-travel=ext:{party}:{CLOCK}"),
            format!("virtio_uml.device={socket}:1"),
            format!("umid=h{number}"),
            "uml_dir=uml/".to_owned(),
        ];
        arguments.extend(host.arguments.iter().cloned());
        let process = Process::start(
            &host.name,
            &config.kernel,
            &arguments,
            &config.directory,
            &host.console,
            &config.memory,
        )?;
        let nic = Nic::new(&host.nic);
        self.hosts
            .push(Host::new(&host.name, party, process, listener, nic));
        Ok(())
    }

    /// Waits until every kernel has connected and said its first word.
    fn connect(
        &mut self,
        listener: &UnixListener,
        patience: WallTime,
    ) -> Result<Vec<Message>, KernelError> {
        let what = || "accept a kernel's connection".to_owned();
        let since = Instant::now();
        let mut starts = BTreeMap::new();
        while starts.len() < self.hosts.len() {
            if wait_readable([listener.as_fd()], BOOT_POLL)
                .context(what)?
                .is_some()
            {
                let (socket, _) = listener.accept().context(what)?;
                let mut stream = Stream::new(OwnedFd::from(socket));
                let start = loop {
                    if let Some(bytes) = stream.take() {
                        break Message::from_bytes(&bytes);
                    }
                    let said = self.common.wait([stream.as_fd()])?.is_some();
                    if !said || stream.fill().context(what)? == 0 {
                        break Err(u32::MAX);
                    }
                };
                if let Ok(start) = start
                    && start.op == Op::Start
                    && let Some(number) = start.time.checked_sub(1).map(|n| n as usize)
                    && let Some(host) = self.hosts.get_mut(number)
                {
                    host.connected(stream);
                    starts.insert(number, start);
                }
                continue;
            }
            self.common.is_given_up()?;
            for (number, host) in self.hosts.iter_mut().enumerate() {
                if starts.contains_key(&number) {
                    continue;
                }
                let late = since.elapsed() > patience;
                let name = host.name.clone();
                if host.process().has_ended() {
                    host.process().end()?;
                    return Err(KernelError::Protocol {
                        host: name,
                        what: "it ended before it said a word".to_owned(),
                    });
                }
                if late {
                    return Err(KernelError::Stuck {
                        host: name,
                        at_ns: 0,
                        wall_s: patience.as_secs(),
                    });
                }
            }
        }
        Ok(starts.into_values().collect())
    }

    /// When the next thing happens here; [`Time::NEVER`] if nothing will without a frame arriving.
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.next().map_or(Time::NEVER, |(at_ns, ..)| time(at_ns))
    }

    /// The earliest event: its time, whether a kernel wants to run, which host.
    fn next(&self) -> Option<(u64, bool, usize)> {
        let mut first: Option<(u64, bool, usize)> = None;
        for (number, host) in self.hosts.iter().enumerate() {
            if host.has_ended() {
                continue;
            }
            let card = host.nic.next_event();
            let card = (card != Time::NEVER).then(|| (ceil_ns(card), false, number));
            let run = host.request_ns(&self.common).map(|at| (at, true, number));
            for event in [card, run].into_iter().flatten() {
                if first.is_none_or(|first| event < first) {
                    first = Some(event);
                }
            }
        }
        first
    }

    /// Handles the earliest event. The network must have handled all of its own events up to that
    /// time.
    ///
    /// A kernel that runs may let time pass while it is less than the least of: what its own card
    /// has to do; the network's next event; another host's next event and the time a frame takes
    /// from there to the network; a millisecond; the latter three no earlier than its card may
    /// interrupt again. Nothing can interrupt it before.
    ///
    /// # Errors
    ///
    /// A host that got stuck, panicked, ran out of memory, or was killed, by its name.
    pub fn step(&mut self, network: &mut impl Network) -> Result<(), KernelError> {
        let Some((at_ns, run, number)) = self.next() else {
            return Ok(());
        };
        // A kernel that ran ahead may have asked for a time that others have not come to yet.
        self.now_ns = self.now_ns.max(at_ns);
        if run {
            self.runs += 1;
            let leash = self.leash(at_ns, number, network);
            self.hosts[number].run(at_ns, leash, network, &mut self.common)?;
        } else {
            self.hosts[number].handle_nic(at_ns, network, &mut self.common)?;
        }
        self.ended += usize::from(self.hosts[number].has_ended());
        Ok(())
    }

    /// The earliest time at which anything could arrive at host `number`, which is about to run, by
    /// what others do; zero without look-ahead.
    fn leash(&self, now_ns: u64, number: usize, network: &impl Network) -> Time {
        if !self.look_ahead {
            return Time::ZERO;
        }
        let others = self.hosts.iter().enumerate();
        let others = others.filter(|(other, host)| *other != number && !host.has_ended());
        look_ahead::leash(
            time(now_ns),
            others.map(|(other, host)| {
                let wish = host.request_ns(&self.common).map_or(Time::NEVER, time);
                let event = host.nic.next_event().min(wish);
                (event, network.transit_min(other))
            }),
        )
    }

    /// A frame arrives at a host at `at`, which is no earlier than anything handled so far.
    pub fn receive(&mut self, host: usize, at: Time, packet: Packet) {
        if self.hosts[host].has_ended() {
            self.common.spare.push(packet.bytes);
        } else {
            self.hosts[host].nic.arrive(at, packet);
        }
    }

    /// An empty buffer for a packet.
    #[must_use]
    pub fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.common.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Whether a host's kernel has powered off.
    #[must_use]
    pub fn has_ended(&self, host: usize) -> bool {
        self.hosts[host].has_ended()
    }

    /// How many hosts' kernels have powered off.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.ended
    }

    /// What a host's card has counted.
    #[must_use]
    pub fn counters(&self, host: usize) -> NicCounters {
        self.hosts[host].nic.counters
    }

    /// Frames that have arrived at a host and not reached its kernel.
    #[must_use]
    pub fn waiting(&self, host: usize) -> usize {
        self.hosts[host].nic.waiting()
    }

    /// The identifier of a host's process.
    #[must_use]
    pub fn process_id(&self, host: usize) -> u32 {
        self.hosts[host].process_id()
    }

    /// How often a kernel was given the word.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.hosts.clear();
        if let Some(affinity) = &self.affinity {
            // The thread's own cores were valid before; if they are no more, one is as good.
            let _ = sched_setaffinity(None, affinity);
        }
    }
}

/// Looks whether kernel and directories are fit.
fn check(config: &KernelsConfig, common: &Common) -> Result<(), KernelError> {
    let help = help(&config.kernel, common)?;
    if !String::from_utf8_lossy(&help).contains("time-travel=ext:") {
        return Err(KernelError::NoTimeTravel {
            path: config.kernel.clone(),
        });
    }
    let memory = &config.memory;
    let system = match rustix::fs::statfs(memory) {
        Err(rustix::io::Errno::NOENT) => None,
        system => Some(system.context(|| format!("look at {}", memory.display()))?),
    };
    if system.is_none_or(|system| system.f_type as u64 != TMPFS_MAGIC) {
        return Err(KernelError::NoTmpfs {
            path: memory.clone(),
        });
    }
    Ok(())
}

/// What a kernel says of its command line.
fn help(kernel: &Path, common: &Common) -> Result<Vec<u8>, KernelError> {
    let mut child = Command::new(kernel)
        .arg("--help")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| KernelError::NoKernel {
            path: kernel.to_owned(),
            source,
        })?;
    let said = said(&mut child, common);
    if said.is_err() {
        // It may have ended by now.
        let _ = child.kill();
    }
    let what = || "wait for a kernel's help".to_owned();
    let status = child.wait().context(what)?;
    let broken = |what: String| KernelError::Broken {
        path: kernel.to_owned(),
        what,
    };
    match (said?, status.signal()) {
        (Some(said), None) => Ok(said),
        (Some(_), Some(signal)) => Err(broken(format!("is killed by signal {signal}"))),
        (None, _) => Err(broken(format!(
            "says nothing for {} s",
            common.patience.as_secs()
        ))),
    }
}

/// All that a program prints; none if it does not come to an end.
fn said(child: &mut Child, common: &Common) -> Result<Option<Vec<u8>>, KernelError> {
    let Some(output) = &mut child.stdout else {
        return Ok(None);
    };
    let mut said = Vec::new();
    loop {
        if common.wait([output.as_fd()])?.is_none() {
            let _ = child.kill();
            return Ok(None);
        }
        let mut part = [0; 4096];
        let read = output
            .read(&mut part)
            .context(|| "read a kernel's help".to_owned())?;
        if read == 0 {
            return Ok(Some(said));
        }
        said.extend_from_slice(&part[..read]);
    }
}

/// Opens a socket of this name in the directory.
fn listen(directory: &Path, name: &str) -> Result<UnixListener, KernelError> {
    let path = directory.join(name);
    let length = path.as_os_str().len();
    if length > SOCKET_PATH_BYTES_MAX {
        return Err(KernelError::SocketPathTooLong { path, length });
    }
    UnixListener::bind(&path).context(|| format!("open the socket {}", path.display()))
}

/// Binds this thread, and what it starts, to a core; gives the cores it could use before.
fn bind(core: usize) -> Result<CpuSet, KernelError> {
    let before = sched_getaffinity(None).context(|| "ask for this thread's cores".to_owned())?;
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).context(|| format!("bind this thread to core {core}"))?;
    Ok(before)
}
