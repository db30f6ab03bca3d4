//! A small network between kernels, and a run of guests over it. Each test takes what it needs.
#![allow(dead_code, unused_imports)]

pub mod folder;
mod network;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration as WallTime;

use tailback_agent::config::{GuestConfig, Interface, Neighbour, Offloads, Task};
use tailback_agent::{Record, record};
use tailback_kernel::{HostConfig, KernelError, Kernels, KernelsConfig, NicConfig, RunFolder};
use tailback_units::{Duration, Time};
use tailback_wire::plan;

pub use folder::Folder;
pub use network::{Event, Star, StarConfig};

/// Time of day at time zero: any constant.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// A kernel, or the words that say how to get one.
pub fn kernel() -> PathBuf {
    program(
        "TAILBACK_KERNEL",
        "tailback/kernels/default/linux",
        "tailback kernel build",
    )
}

/// The guests' first program.
pub fn agent() -> PathBuf {
    program("TAILBACK_AGENT", "tailback/tailback-agent", "make agent")
}

fn program(variable: &str, cached: &str, remedy: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    let path = std::env::var_os(variable).map_or(cache.join(cached), PathBuf::from);
    assert!(
        path.exists(),
        "{} is missing: run `{remedy}`",
        path.display()
    );
    path
}

/// What a test asks for beyond its tasks.
#[derive(Clone)]
pub struct Options {
    pub kernels: KernelsConfig,
    pub interrupt_gap: Duration,
    pub offloads: bool,
    pub memory_mib: u32,
    pub sysctls: Vec<(String, String)>,
    pub commands: Vec<Vec<String>>,
    pub seed: u64,
    /// Hosts whose end is waited for; the others serve.
    pub clients: usize,
    pub keep_trace: bool,
    /// The run is given up at this time.
    pub end: Time,
}

impl Options {
    pub fn new(folder: &Folder) -> Options {
        Options {
            kernels: KernelsConfig {
                kernel: kernel(),
                directory: folder.0.clone(),
                memory: PathBuf::from(folder::MEMORY),
                epoch_ns: EPOCH_NS,
                patience: WallTime::from_secs(20),
                given_up: Arc::default(),
                shared_clock: true,
                look_ahead: true,
                core: Some(core()),
            },
            interrupt_gap: Duration::ZERO,
            offloads: true,
            memory_mib: 64,
            sysctls: Vec::new(),
            commands: Vec::new(),
            seed: 1,
            clients: usize::MAX,
            keep_trace: false,
            end: Time::from_ps(60_000_000_000_000),
        }
    }
}

/// One of the cores this process may use, another for each process.
fn core() -> usize {
    let set = rustix::thread::sched_getaffinity(None).expect("cores can be asked for");
    let cores: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|core| set.is_set(*core))
        .collect();
    cores[std::process::id() as usize % cores.len()]
}

/// What a run gave.
pub struct Outcome {
    pub records: Vec<Vec<Record>>,
    pub kernels: Kernels,
    pub star: Star,
    pub end: Time,
}

/// Runs guests with these tasks, host by host, until all have ended.
pub fn run(
    folder: &Folder,
    options: &Options,
    star: StarConfig,
    tasks: &[Vec<Task>],
) -> Result<Outcome, KernelError> {
    let mtu = star.mtu_bytes;
    let mut star = Star::new(star, tasks.len());
    star.keep_trace = options.keep_trace;
    let clients = options.clients.min(tasks.len());
    let hosts = prepare(folder, options, mtu, tasks);
    let mut kernels = Kernels::boot(&options.kernels, &hosts, &mut star)?;
    let mut end = Time::ZERO;
    while !(0..clients).all(|host| kernels.has_ended(host)) {
        let at = kernels.next_event();
        if star.next() <= at {
            end = star.next();
            if let Some((at, host, packet)) = star.handle() {
                kernels.receive(host, at, packet);
            }
        } else {
            end = at;
            kernels.step(&mut star)?;
        }
        assert!(end < options.end, "the run is not over at {end:?}");
    }
    let records = (0..clients).map(|host| records(folder, host)).collect();
    Ok(Outcome {
        records,
        kernels,
        star,
        end,
    })
}

/// Writes what the guests read and gives the hosts' configurations.
pub fn prepare(
    folder: &Folder,
    options: &Options,
    mtu_bytes: u16,
    tasks: &[Vec<Task>],
) -> Vec<HostConfig> {
    let run = RunFolder::new(&folder.0);
    tailback_agent::root::prepare(&run.root(), &agent()).expect("the root can be made");
    let count = tasks.len() as u16;
    let host = |(number, tasks): (usize, &Vec<Task>)| {
        let name = format!("h{number}");
        fs::create_dir_all(run.host(&name)).expect("a host's folder can be made");
        let number = number as u16;
        let offload = Some(options.offloads);
        let config = GuestConfig {
            host: name.clone(),
            seed: options.seed,
            epoch_ns: EPOCH_NS,
            interface: Interface {
                name: "eth0".to_owned(),
                address: plan::ipv4(number),
                prefix_length: 8,
                mtu_bytes: u32::from(mtu_bytes),
                offloads: Offloads {
                    tso: offload,
                    ..Offloads::default()
                },
                whole_ring: true,
            },
            peers: Vec::new(),
            keep_sysctls: false,
            patience_ns: None,
            until_over: false,
            neighbours: (0..count)
                .filter(|other| *other != number)
                .map(|other| Neighbour {
                    address: plan::ipv4(other),
                    mac: plan::mac(other).map(|byte| format!("{byte:02x}")).join(":"),
                })
                .collect(),
            sysctls: options.sysctls.iter().cloned().collect(),
            profile_sysctls: Default::default(),
            socket_options: Default::default(),
            commands: options.commands.clone(),
            sample_interval_ns: None,
            looks_ns: Vec::new(),
            counters_ns: Vec::new(),
            tasks: tasks.clone(),
        };
        let text = serde_json::to_string(&config).expect("a configuration is JSON");
        fs::write(run.host(&name).join("config.json"), text).expect("a file can be written");
        HostConfig {
            memory_mib: options.memory_mib,
            nic: NicConfig {
                mac: plan::mac(number),
                mtu_bytes,
                segmentation_offload: options.offloads,
                checksum_offload: options.offloads,
                interrupt_gap: options.interrupt_gap,
            },
            arguments: run.arguments(&name, options.seed * 1000 + u64::from(number) + 1),
            console: run.console(&name),
            name,
        }
    };
    tasks.iter().enumerate().map(host).collect()
}

/// What a guest wrote.
pub fn records(folder: &Folder, host: usize) -> Vec<Record> {
    let path = RunFolder::new(&folder.0)
        .host(&format!("h{host}"))
        .join("results.jsonl");
    let text = fs::read_to_string(&path).expect("the guest wrote its results");
    record::parse(&text).expect("the guest writes records")
}
