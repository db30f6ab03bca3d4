//! The clock that all kernels and the simulator share in memory.
//!
//! A 4096-byte header and 128 bytes for each party (um_timetravel.h, version 2). Party 0 is the
//! simulator. It declares itself able to share time, so that a kernel that is interrupted puts its
//! wish to run into memory instead of sending it.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use vm_memory::mmap::MmapRegion;
use vm_memory::{FileOffset, VolatileMemory};

use crate::error::{Context, KernelError};

const VERSION: u32 = 2;
const HEADER_BYTES: usize = 4096;
const PARTY_BYTES: usize = 128;
/// Offsets in the header.
const LENGTH: usize = 4;
const FREE_UNTIL: usize = 8;
const CURRENT_TIME: usize = 16;
const RUNNING: usize = 24;
const PARTIES: usize = 26;
/// Offsets in a party's slot.
const FLAGS: usize = 4;
const REQUEST: usize = 8;
/// Capability: the party shares time through memory.
const TIME_SHARE: u32 = 1;
/// Flag: the party's wish to run is valid.
const WANTS_TO_RUN: u32 = 1;

/// The party that stands for the simulator.
pub(crate) const SIMULATOR: u16 = 0;

/// The shared memory, mapped.
pub(crate) struct SharedClock {
    file: FileOffset,
    memory: MmapRegion<()>,
}

impl SharedClock {
    /// A clock at zero for so many kernels.
    pub(crate) fn new(kernels: usize) -> Result<SharedClock, KernelError> {
        let parties = kernels + 1;
        let length = HEADER_BYTES + PARTY_BYTES * parties;
        let what = || "share a clock with the kernels (memfd)".to_owned();
        let fd = memfd_create("tailback-clock", MemfdFlags::CLOEXEC).context(what)?;
        ftruncate(&fd, length as u64).context(what)?;
        let file = FileOffset::new(File::from(fd), 0);
        let memory = MmapRegion::from_file(file.clone(), length)
            .map_err(std::io::Error::other)
            .context(what)?;
        let clock = SharedClock { file, memory };
        clock.word(0).store(VERSION, Ordering::SeqCst);
        clock.word(LENGTH).store(length as u32, Ordering::SeqCst);
        clock.half(PARTIES).store(parties as u16, Ordering::SeqCst);
        let own = slot(SIMULATOR);
        clock.word(own).store(TIME_SHARE, Ordering::SeqCst);
        Ok(clock)
    }

    /// The file to hand to the kernels.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.file.file().as_fd()
    }

    /// Gives the word to a party: it is `now`, and it may let time run while it is less than
    /// `free_until`.
    pub(crate) fn run(&self, party: u16, now_ns: u64, free_until_ns: u64) {
        self.half(RUNNING).store(party, Ordering::SeqCst);
        self.long(FREE_UNTIL).store(free_until_ns, Ordering::SeqCst);
        self.long(CURRENT_TIME).store(now_ns, Ordering::SeqCst);
    }

    /// The running party has come to rest: the word is with the simulator.
    pub(crate) fn rest(&self) {
        self.half(RUNNING).store(SIMULATOR, Ordering::SeqCst);
    }

    /// How far the running party may go, changed while it waits for an answer.
    pub(crate) fn set_free_until(&self, free_until_ns: u64) {
        self.long(FREE_UNTIL).store(free_until_ns, Ordering::SeqCst);
    }

    /// What the running party last said the time is.
    pub(crate) fn current_ns(&self) -> u64 {
        self.long(CURRENT_TIME).load(Ordering::SeqCst)
    }

    /// When a party wants to run.
    pub(crate) fn request(&self, party: u16) -> Option<u64> {
        let slot = slot(party);
        let wants = self.word(slot + FLAGS).load(Ordering::SeqCst) & WANTS_TO_RUN != 0;
        wants.then(|| self.long(slot + REQUEST).load(Ordering::SeqCst))
    }

    /// Notes a wish to run that came as a message.
    pub(crate) fn set_request(&self, party: u16, at_ns: u64) {
        let slot = slot(party);
        self.long(slot + REQUEST).store(at_ns, Ordering::SeqCst);
        self.word(slot + FLAGS)
            .fetch_or(WANTS_TO_RUN, Ordering::SeqCst);
    }

    /// Whether a party has taken the shared memory into use.
    pub(crate) fn shares(&self, party: u16) -> bool {
        self.word(slot(party)).load(Ordering::SeqCst) & TIME_SHARE != 0
    }

    fn half(&self, at: usize) -> &AtomicU16 {
        self.memory
            .get_atomic_ref(at)
            .expect("offsets lie in the mapping")
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        self.memory
            .get_atomic_ref(at)
            .expect("offsets lie in the mapping")
    }

    fn long(&self, at: usize) -> &AtomicU64 {
        self.memory
            .get_atomic_ref(at)
            .expect("offsets lie in the mapping")
    }
}

fn slot(party: u16) -> usize {
    HEADER_BYTES + PARTY_BYTES * usize::from(party)
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
