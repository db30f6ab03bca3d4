//! What goes wrong with a kernel is an error that names the host; nothing stays behind.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration as WallTime, Instant};

use support::{Folder, Options, Star, StarConfig, folder, prepare, run};
use tailback_agent::config::{self, Task, UdpSink};
use tailback_kernel::{KernelError, Kernels};
use tailback_units::{Duration, Rate};

fn link() -> StarConfig {
    StarConfig {
        rates: vec![Rate::from_gbps(10); 2],
        delay: Duration::from_us(1),
        mtu_bytes: 1500,
        buffer_bytes: None,
        mark_above_bytes: None,
    }
}

fn serve() -> Vec<Task> {
    vec![Task::UdpSink(UdpSink {
        numbers: None,
        port: 9,
        idle_ns: 1,
        end_ns: None,
        gap_ns: 0,
        window_bytes: None,
    })]
}

/// A guest program that runs for ever and never calls its kernel: a shell's empty loop.
fn spin(folder: &Folder) -> Vec<Task> {
    for file in [
        "/bin/sh",
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/x86_64-linux-gnu/libc.so.6",
    ] {
        let to = folder.0.join("root").join(&file[1..]);
        fs::create_dir_all(to.parent().expect("it lies in a folder")).expect("folders can be made");
        fs::copy(file, to).expect("the shell can be copied");
    }
    let argv = ["/bin/sh", "-c", "while :; do :; done"].map(str::to_owned);
    vec![Task::Command(config::Command {
        argv: argv.to_vec(),
        background: false,
        start_ns: 1_000_000,
    })]
}

fn failure(folder: &Folder, options: &Options, tasks: &[Vec<Task>]) -> KernelError {
    match run(folder, options, link(), tasks) {
        Ok(_) => panic!("it should fail"),
        Err(error) => error,
    }
}

/// Processes that work in this folder.
fn left_behind(folder: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("there is a /proc");
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let names_it =
        |id: &u32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == folder);
    numbers.filter(names_it).collect()
}

/// Waits until no process works in this folder; those just killed take a moment to be gone.
fn gone(folder: &Path) {
    let deadline = Instant::now() + WallTime::from_secs(20);
    while !left_behind(folder).is_empty() {
        let ids = left_behind(folder);
        assert!(Instant::now() < deadline, "{ids:?} stay behind");
        std::thread::sleep(WallTime::from_millis(10));
    }
}

#[test]
fn a_guest_that_spins_is_named_and_killed() {
    let folder = Folder::new();
    let mut options = Options::new(&folder);
    options.kernels.patience = WallTime::from_secs(3);
    let tasks = [serve(), spin(&folder)];
    let error = failure(&folder, &options, &tasks);
    assert!(
        matches!(&error, KernelError::Stuck { host, .. } if host == "h1"),
        "{error}"
    );
    gone(&folder.0);
}

#[test]
fn a_run_with_a_guest_that_spins_can_be_given_up() {
    let folder = Folder::new();
    let mut options = Options::new(&folder);
    options.kernels.patience = WallTime::from_secs(60);
    let given_up = Arc::clone(&options.kernels.given_up);
    let other = std::thread::spawn(move || {
        std::thread::sleep(WallTime::from_secs(2));
        given_up.store(true, Ordering::Relaxed);
    });
    let tasks = [serve(), spin(&folder)];
    let since = Instant::now();
    let error = failure(&folder, &options, &tasks);
    assert!(matches!(error, KernelError::GivenUp), "{error}");
    assert!(since.elapsed() < WallTime::from_secs(30));
    other.join().expect("it only sleeps");
    gone(&folder.0);
}

#[test]
fn a_kernel_that_panics_is_quoted() {
    let folder = Folder::new();
    let options = Options::new(&folder);
    let mut hosts = prepare(&folder, &options, 1500, &[serve(), serve()]);
    hosts[1]
        .arguments
        .retain(|argument| argument != "init=/init");
    hosts[1].arguments.push("init=/none".to_owned());
    let mut star = Star::new(link(), 2);
    let mut kernels = Kernels::boot(&options.kernels, &hosts, &mut star).expect("it boots so far");
    let error = loop {
        if let Err(error) = kernels.step(&mut star) {
            break error;
        }
    };
    assert!(
        matches!(&error, KernelError::Panicked { host, text } if host == "h1" && text.contains("/none")),
        "{error}"
    );
}

#[test]
fn a_guest_without_memory_says_so() {
    let folder = Folder::new();
    let options = Options {
        memory_mib: 8,
        ..Options::new(&folder)
    };
    let error = failure(&folder, &options, &[serve(), serve()]);
    assert!(matches!(error, KernelError::OutOfMemory { .. }), "{error}");
}

#[test]
fn a_kernel_that_is_killed_is_named() {
    let folder = Folder::new();
    let options = Options::new(&folder);
    let hosts = prepare(&folder, &options, 1500, &[serve(), serve()]);
    let mut star = Star::new(link(), 2);
    let mut kernels = Kernels::boot(&options.kernels, &hosts, &mut star).expect("it boots");
    let id = rustix::process::Pid::from_raw(kernels.process_id(1) as i32).expect("an identifier");
    rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it can be killed");
    let error = loop {
        if let Err(error) = kernels.step(&mut star) {
            break error;
        }
    };
    assert!(
        matches!(&error, KernelError::Killed { host, signal: 9 } if host == "h1"),
        "{error}"
    );
    drop(kernels);
    gone(&folder.0);
}

#[test]
fn a_program_that_is_no_kernel_is_refused() {
    let folder = Folder::new();
    let mut options = Options::new(&folder);
    options.kernels.kernel = PathBuf::from("/bin/true");
    let error = failure(&folder, &options, &[serve(), serve()]);
    assert!(matches!(error, KernelError::NoTimeTravel { .. }), "{error}");
    options.kernels.kernel = PathBuf::from("/nonexistent");
    let error = failure(&folder, &options, &[serve(), serve()]);
    assert!(matches!(error, KernelError::NoKernel { .. }), "{error}");
}

#[test]
fn a_program_that_does_not_answer_is_refused() {
    let folder = Folder::new();
    let mut options = Options::new(&folder);
    options.kernels.patience = WallTime::from_secs(1);
    options.kernels.kernel = folder.0.join("broken");
    for (script, what) in [
        ("kill -11 $$", "signal 11"),
        ("exec sleep 600", "says nothing for 1 s"),
    ] {
        let text = format!("#!/bin/sh\n{script}\n");
        fs::write(&options.kernels.kernel, text).expect("a file can be written");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&options.kernels.kernel, executable).expect("it is ours");
        let error = failure(&folder, &options, &[serve(), serve()]).to_string();
        assert!(error.contains(what) && error.contains("--again"), "{error}");
    }
}

#[test]
fn folders_that_do_not_do_are_refused() {
    let folder = Folder::new();
    let mut options = Options::new(&folder);
    for path in ["/proc", "/nonexistent"] {
        options.kernels.memory = PathBuf::from(path);
        let error = failure(&folder, &options, &[serve(), serve()]);
        assert!(matches!(error, KernelError::NoTmpfs { .. }), "{error}");
    }
    options.kernels.memory = PathBuf::from(folder::MEMORY);
    options.kernels.directory = folder.0.join("x".repeat(100));
    fs::create_dir_all(&options.kernels.directory).expect("a folder can be made");
    let error = failure(&folder, &options, &[serve(), serve()]);
    assert!(
        matches!(error, KernelError::SocketPathTooLong { .. }),
        "{error}"
    );
}

/// Says where the child of the next test keeps its files.
const CHILD: &str = "TAILBACK_TEST_CHILD";

#[test]
fn nothing_outlives_a_simulator_that_is_killed() {
    if std::env::var_os(CHILD).is_some() {
        let folder = Folder::new();
        fs::write(
            std::env::var_os(CHILD).expect("it was there"),
            folder.0.to_str().expect("test folders have plain names"),
        )
        .expect("a file can be written");
        let mut options = Options::new(&folder);
        options.kernels.patience = WallTime::from_secs(60);
        let tasks = [serve(), spin(&folder)];
        let error = failure(&folder, &options, &tasks);
        panic!("it should have been killed: {error}");
    }
    let folder = Folder::new();
    let note = folder.0.join("note");
    let mut child = Command::new(std::env::current_exe().expect("this test is a program"))
        .args(["--exact", "nothing_outlives_a_simulator_that_is_killed"])
        .env(CHILD, &note)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started");
    let deadline = Instant::now() + WallTime::from_secs(30);
    let theirs = loop {
        let text = fs::read_to_string(&note).unwrap_or_default();
        if !text.is_empty() && left_behind(Path::new(&text)).len() >= 2 {
            break PathBuf::from(text);
        }
        assert!(Instant::now() < deadline, "its kernels do not start");
        std::thread::sleep(WallTime::from_millis(20));
    };
    std::thread::sleep(WallTime::from_millis(500));
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    gone(&theirs);
    fs::remove_dir_all(theirs).expect("its folder can be removed");
}

#[test]
fn no_folder_stays_of_tests_that_fail_or_are_killed() {
    let kept = Folder::new();
    let failing = std::panic::catch_unwind(|| {
        let folder = Folder::new();
        std::panic::panic_any(folder.0.clone());
    });
    let failed = failing.expect_err("it panics");
    let failed: &PathBuf = failed.downcast_ref().expect("its folder");
    assert!(!failed.exists(), "{}", failed.display());

    let mut other = Command::new("true").spawn().expect("it runs");
    let killed = std::mem::ManuallyDrop::new(Folder::of(other.id(), 7));
    fs::write(killed.0.join("console"), "").expect("it can be written");
    folder::sweep();
    assert!(
        killed.0.exists(),
        "that of a process that is waited for is its own"
    );
    other.wait().expect("it ends");
    folder::sweep();
    assert!(!killed.0.exists(), "{}", killed.0.display());
    assert!(kept.0.exists());
}
