//! Programs of the user's.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use super::{Context, PATH};
use crate::config;
use crate::record::Record;

/// Runs it to its end; a program that fails is told of, and makes the host's run fail.
pub(super) fn run(context: &Context<'_>, number: usize, task: &config::Command) -> io::Result<()> {
    let log = log_name(number);
    let started_ns = context.clock.now_ns();
    let status = to_end(&task.argv, &context.folder.join(&log))?;
    context.recorder.add(&Record::Command {
        argv: task.argv.clone(),
        status: status.code(),
        output: fs::read(context.folder.join(&log))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default(),
        log: log.clone(),
        started_ns,
        ended_ns: context.clock.now_ns(),
    });
    if status.success() {
        return Ok(());
    }
    let command = task.argv.join(" ");
    Err(io::Error::other(format!("{command}: {status}; see {log}")))
}

/// Runs it for as long as the host runs.
pub(super) fn run_in_background(context: &Context<'_>, number: usize, task: &config::Command) {
    let log = context.folder.join(log_name(number));
    let (task, clock) = (task.clone(), context.clock);
    thread::spawn(move || {
        clock.sleep_until(task.start_ns);
        if let Err(error) = to_end(&task.argv, &log) {
            eprintln!("tailback-agent: {}: {error}", task.argv.join(" "));
        }
    });
}

fn log_name(number: usize) -> String {
    format!("command-{number}.log")
}

fn to_end(argv: &[String], log: &Path) -> io::Result<ExitStatus> {
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| io::Error::other("an empty command"))?;
    let log = File::create(log)?;
    Command::new(program)
        .args(arguments)
        .env("PATH", PATH)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .status()
        .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))
}
