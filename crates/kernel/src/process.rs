//! A kernel's process: started in a group of its own, gone with us, and asked why it ended.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};

use crate::error::{Context, KernelError};

/// Bytes of a console's end that are searched for what the kernel said.
const CONSOLE_TAIL_BYTES: usize = 16 * 1024;

/// Held while this process forks. What a library has run before a fork (pthread_atfork) need not bear that two
/// threads fork at once: OpenBLAS, which comes with NumPy, joins its threads then, and the second who does that
/// waits for ever for threads that the first has joined.
static FORKS: Mutex<()> = Mutex::new(());

/// A kernel that runs, or ran.
#[derive(Debug)]
pub(crate) struct Process {
    host: String,
    child: Child,
    console: PathBuf,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts `kernel` with `arguments` in `folder`; what it prints goes to the file `console`. Guest
    /// memory lies in files under `memory`.
    pub(crate) fn start(
        host: &str,
        kernel: &Path,
        arguments: &[String],
        folder: &Path,
        console: &Path,
        memory: &Path,
    ) -> Result<Process, KernelError> {
        let create = || format!("create the console file {}", console.display());
        let log = File::create(console).context(create)?;
        let errors = log.try_clone().context(create)?;
        let mut command = Command::new(kernel);
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("TMPDIR", memory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .process_group(0);
        die_with_parent(&mut command);
        let child = {
            let _alone = FORKS.lock().unwrap_or_else(PoisonError::into_inner);
            command.spawn()
        };
        let child = child.map_err(|source| KernelError::NoKernel {
            path: kernel.to_owned(),
            source,
        })?;
        Ok(Process {
            host: host.to_owned(),
            child,
            console: console.to_owned(),
            ended: None,
        })
    }

    /// Its identifier, which is its group's as well.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by now.
    pub(crate) fn has_ended(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.is_some()
    }

    /// Waits for its end, which is near, and says whether it was in order.
    pub(crate) fn end(&mut self) -> Result<(), KernelError> {
        let what = || "wait for a kernel's end".to_owned();
        let status = match self.ended {
            Some(status) => status,
            None => self.child.wait().context(what)?,
        };
        self.ended = Some(status);
        self.kill_group();
        if status.success() {
            return Ok(());
        }
        Err(self.cause(status))
    }

    /// Ends it at once, with all it started.
    pub(crate) fn kill(&mut self) {
        if self.ended.is_none() {
            self.kill_group();
            self.ended = self.child.wait().ok();
        }
    }

    fn kill_group(&self) {
        // The group may be empty already, which is no error.
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Why it ended with `status`, from its console.
    fn cause(&self, status: ExitStatus) -> KernelError {
        let host = self.host.clone();
        let console = tail(&self.console);
        let line = |words: &str| {
            let found = console.lines().find(|line| line.contains(words));
            found.map(|line| line.trim().to_owned())
        };
        if let Some(text) = line("likely just ran out of space") {
            return KernelError::NoRoom { host, text };
        }
        if let Some(text) = [
            "Out of memory",
            "deadlocked on memory",
            "Too few physical memory",
        ]
        .into_iter()
        .find_map(line)
        {
            return KernelError::OutOfMemory { host, text };
        }
        if let Some(text) = line("Kernel panic") {
            return KernelError::Panicked { host, text };
        }
        match (status.signal(), status.code()) {
            (Some(signal), _) => KernelError::Killed { host, signal },
            (None, code) => KernelError::Exited {
                host,
                status: code.unwrap_or(-1),
                text: console.lines().last().unwrap_or("nothing").to_owned(),
            },
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The end of a console's file, as text.
fn tail(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let from = bytes.len().saturating_sub(CONSOLE_TAIL_BYTES);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}

/// Has the system kill the new process when this thread is gone, even if that is by SIGKILL.
#[allow(unsafe_code)]
fn die_with_parent(command: &mut Command) {
    let set = || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes one system call; it allocates nothing and
    // takes no lock.
    unsafe {
        command.pre_exec(set);
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
