//! A run's folder as its guests see it, and the command line that goes with it.
//!
//! `root` is every guest's root file system, read-only; `host/NAME` is the one folder that guest may
//! write to; its console is there too. Sockets lie in the folder itself, which is also the kernels'
//! working directory: a command line has no path of this machine in it, because a kernel mixes its
//! command line into its randomness.

use std::path::{Path, PathBuf};

/// A run's private folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder at `path`, which is to be short: sockets lie in it.
    #[must_use]
    pub fn new(path: &Path) -> RunFolder {
        RunFolder {
            path: path.to_owned(),
        }
    }

    /// The folder itself, where the sockets are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The guests' root file system.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.path.join("root")
    }

    /// What belongs to the host that is called `name` here.
    #[must_use]
    pub fn host(&self, name: &str) -> PathBuf {
        self.path.join("host").join(name)
    }

    /// Where the kernel of a host prints.
    #[must_use]
    pub fn console(&self, name: &str) -> PathBuf {
        self.host(name).join("console.log")
    }

    /// The part of a kernel's command line that has to do with the guest; `seed` (not zero) is that
    /// of all its randomness.
    #[must_use]
    pub fn arguments(&self, name: &str, seed: u64) -> Vec<String> {
        let mut arguments = vec![
            // The working directory by a name that is the same everywhere; `.` does not do.
            "hostfs=/proc/self/cwd".to_owned(),
            format!("entropy_seed={}", seed.max(1)),
            format!("TAILBACK_HOST={name}"),
        ];
        // Not `quiet`, with which it would not say whether it found seccomp; `loglevel` is as quiet
        // otherwise.
        let fixed = "root=/dev/root rootfstype=hostfs rootflags=root ro init=/init \
                     con=null con0=null,fd:1 ssl=null loglevel=4 seccomp=auto panic=-1";
        arguments.extend(fixed.split_whitespace().map(str::to_owned));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_never_zero() {
        let folder = RunFolder::new(Path::new("/r"));
        assert!(
            folder
                .arguments("a", 0)
                .contains(&"entropy_seed=1".to_owned())
        );
        assert!(
            folder
                .arguments("a", 9)
                .contains(&"entropy_seed=9".to_owned())
        );
        assert_eq!(folder.console("a"), Path::new("/r/host/a/console.log"));
    }
}
