//! A test's folder in memory, of which nothing stays: it goes with the test, also with one that fails, and what
//! tests left that were killed goes with the next test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// Guests' memory and folders are there.
pub const MEMORY: &str = "/dev/shm";
const PREFIX: &str = "tb";

/// A test's own folder, removed in the end, unless TAILBACK_KEEP is set.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        static SWEPT: Once = Once::new();
        SWEPT.call_once(sweep);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Folder::of(std::process::id(), number)
    }

    /// That of a process.
    pub fn of(process: u32, number: u32) -> Folder {
        let path = Path::new(MEMORY).join(format!("{PREFIX}{process}.{number}"));
        fs::create_dir_all(&path).expect("a folder can be made");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !keeps() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

fn keeps() -> bool {
    std::env::var_os("TAILBACK_KEEP").is_some()
}

/// Removes the folders of processes that are no more.
pub fn sweep() {
    if keeps() {
        return;
    }
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| {
            let (process, number) = name.strip_prefix(PREFIX)?.split_once('.')?;
            number.parse::<u32>().ok()?;
            process.parse::<u32>().ok()
        });
        if process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
