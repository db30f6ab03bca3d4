use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

/// Runs a shell script as if it were a kernel, to its end.
fn ended(name: &str, script: &str) -> Result<(), KernelError> {
    let console = std::env::temp_dir().join(format!("tailback-{}-{name}", std::process::id()));
    let arguments = ["-c".to_owned(), script.to_owned()];
    let mut process = Process::start(
        "h1",
        Path::new("/bin/sh"),
        &arguments,
        Path::new("/"),
        &console,
        Path::new("/dev/shm"),
    )?;
    let end = process.end();
    let _ = fs::remove_file(console);
    end
}

#[test]
fn an_end_in_order_is_none_to_complain_of() {
    assert!(ended("ok", "exit 0").is_ok());
}

#[test]
fn a_panic_is_quoted() {
    let end = ended("panic", "echo 'Kernel panic - not syncing: boom'; exit 1");
    let text = end.map_err(|e| e.to_string());
    assert!(text.is_err_and(|t| t.contains("h1 panicked") && t.contains("boom")));
}

#[test]
fn memory_that_ran_out_comes_before_the_panic_it_led_to() {
    let script = "echo 'Out of memory: Killed process 1'; echo 'Kernel panic - init'; exit 1";
    let end = ended("oom", script);
    assert!(matches!(end, Err(KernelError::OutOfMemory { .. })));
}

#[test]
fn a_file_system_that_is_full_comes_before_the_panic_it_led_to() {
    let script = "echo 'Bus error - the host /dev/shm or /tmp mount likely just ran out of space'; \
                  echo 'Kernel panic - not syncing: Kernel mode signal 7'; exit 1";
    let end = ended("full", script);
    assert!(matches!(end, Err(KernelError::NoRoom { .. })));
}

#[test]
fn a_signal_is_named() {
    let end = ended("signal", "kill -9 $$");
    assert!(matches!(end, Err(KernelError::Killed { signal: 9, .. })));
}

#[test]
fn a_status_comes_with_the_last_line() {
    let end = ended("status", "echo one; echo two; exit 3");
    let expected =
        matches!(&end, Err(KernelError::Exited { status: 3, text, .. }) if text == "two");
    assert!(expected, "{end:?}");
}

#[test]
fn a_missing_kernel_says_how_to_get_one() {
    let console = std::env::temp_dir().join(format!("tailback-{}-none", std::process::id()));
    let start = Process::start(
        "h1",
        Path::new("/nonexistent/linux"),
        &[],
        Path::new("/"),
        &console,
        Path::new("/dev/shm"),
    );
    let _ = fs::remove_file(console);
    let text = start.map(|_| ()).map_err(|e| e.to_string());
    assert!(text.is_err_and(|t| t.contains("tailback kernel build")));
}

/// How many threads are about to fork, and whether two ever were at once.
static FORKING: AtomicUsize = AtomicUsize::new(0);
static AT_ONCE: AtomicBool = AtomicBool::new(false);

extern "C" fn before_a_fork() {
    if FORKING.fetch_add(1, Ordering::SeqCst) > 0 {
        AT_ONCE.store(true, Ordering::SeqCst);
    }
    thread::sleep(Duration::from_millis(20));
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

#[test]
#[allow(unsafe_code)]
fn kernels_of_two_runs_do_not_fork_at_once() {
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> i32;
    }
    // SAFETY: the function stays where it is, and takes no lock.
    assert_eq!(
        unsafe { pthread_atfork(Some(before_a_fork), None, None) },
        0
    );
    thread::scope(|scope| {
        for name in ["fork-1", "fork-2", "fork-3"] {
            scope.spawn(move || assert!(ended(name, "exit 0").is_ok()));
        }
    });
    assert!(!AT_ONCE.load(Ordering::SeqCst));
}
