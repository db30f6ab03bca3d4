//! What can go wrong with kernels as hosts, each with the host's name and the remedy.

use std::path::PathBuf;

/// Why kernels could not be started, or a run with them came to an end.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// There is no such program.
    #[error("no kernel at {path}: {source}; `tailback kernel build --again` makes one")]
    NoKernel {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program does not answer.
    #[error("no kernel at {path}: it {what}; `tailback kernel build --again` makes one")]
    Broken {
        /// The kernel.
        path: PathBuf,
        /// What it does instead.
        what: String,
    },
    /// The program is no User-Mode Linux kernel with the time-travel protocol.
    #[error(
        "{path} has no time travel (CONFIG_UML_TIME_TRAVEL_SUPPORT), as Debian's own \
         user-mode-linux package; use a kernel that `tailback kernel build` made"
    )]
    NoTimeTravel {
        /// The kernel.
        path: PathBuf,
    },
    /// A socket's path does not fit into an address of the Unix domain.
    #[error(
        "socket path {path} has {length} bytes, more than the 107 a Unix socket may have; \
         choose a shorter directory for the run"
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// The guests' memory would be a file on a disk, or nowhere.
    #[error(
        "there is no tmpfs at {path}, and the guests' memory must not be written to a disk; \
         mount one there (as root: mkdir -p {path} && mount -t tmpfs tmpfs {path})"
    )]
    NoTmpfs {
        /// The directory that was looked at.
        path: PathBuf,
    },
    /// The run was given up from another thread.
    #[error("the run was given up")]
    GivenUp,
    /// The system refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A guest program runs without ever calling its kernel, so virtual time stands still.
    #[error(
        "host {host} has not come to rest for {wall_s} s of wall time at {at_ns} ns: \
         does a program spin there without system calls? it was killed"
    )]
    Stuck {
        /// The host.
        host: String,
        /// The simulated time, ns.
        at_ns: u64,
        /// The watchdog's patience, wall-clock seconds.
        wall_s: u64,
    },
    /// The kernel panicked.
    #[error("the kernel of host {host} panicked: {text}")]
    Panicked {
        /// The host.
        host: String,
        /// What the kernel said, from its console.
        text: String,
    },
    /// The guest ran out of memory.
    #[error("host {host} ran out of memory ({text}); give it more")]
    OutOfMemory {
        /// The host.
        host: String,
        /// What the kernel said, from its console.
        text: String,
    },
    /// The file system that holds the guests' memory is full.
    #[error(
        "there is no room for the memory of host {host} ({text}): make that tmpfs larger, make fewer runs at a \
         time (--jobs), or give the guests less (kernel.memory)"
    )]
    NoRoom {
        /// The host.
        host: String,
        /// What the kernel said, from its console.
        text: String,
    },
    /// The kernel's process was killed from outside.
    #[error("the kernel process of host {host} was killed by signal {signal}")]
    Killed {
        /// The host.
        host: String,
        /// The signal's number.
        signal: i32,
    },
    /// The kernel's process ended before its time.
    #[error(
        "the kernel process of host {host} ended with status {status}; its console said: {text}"
    )]
    Exited {
        /// The host.
        host: String,
        /// Its exit status.
        status: i32,
        /// The last line of its console.
        text: String,
    },
    /// A kernel said something it should not.
    #[error("host {host} broke the protocol: {what}")]
    Protocol {
        /// The host.
        host: String,
        /// What it did.
        what: String,
    },
}

/// Turns a system's error into ours.
pub(crate) trait Context<T> {
    /// Says what was tried.
    fn context(self, what: impl FnOnce() -> String) -> Result<T, KernelError>;
}

impl<T, E: Into<std::io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, KernelError> {
        self.map_err(|error| KernelError::System {
            what: what(),
            source: error.into(),
        })
    }
}
