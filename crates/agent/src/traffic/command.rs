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
    let output = fs::read(context.folder.join(&log)).unwrap_or_default();
    let output = String::from_utf8_lossy(&output).into_owned();
    let said = last_words(&output);
    context.recorder.add(&Record::Command {
        argv: task.argv.clone(),
        status: status.code(),
        output,
        log,
        started_ns,
        ended_ns: context.clock.now_ns(),
    });
    if status.success() {
        return Ok(());
    }
    let command = task.argv.join(" ");
    Err(io::Error::other(format!("{command}: {status}: {said}")))
}

/// The last line of what a program has printed.
fn last_words(output: &str) -> String {
    let mut lines = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.next_back().unwrap_or("it printed nothing").to_owned()
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
