//! Runs the first run of a scenario file and prints what it cost as a line of JSON:
//! `cargo run --release -p tailback-sim --example case -- FILE [--threads=N] [path=value]…`
//!
//! CPU time is of building and running the world; memory is the most that the process held.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use tailback_scenario::Plan;
use tailback_sim::{Control, simulate_on};

fn main() -> ExitCode {
    match measure() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<String, String> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a scenario file")?;
    let (threads, overrides): (Vec<String>, Vec<String>) =
        arguments.partition(|argument| argument.starts_with("--threads="));
    let threads = threads.last().map_or(Ok(1), |given| {
        let number = given.trim_start_matches("--threads=");
        number.parse().map_err(|e| format!("{given}: {e}"))
    })?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let base = Path::new(&file).parent();
    let plan = Plan::from_toml(&text, &file, &overrides, base).map_err(|p| format!("{p:#?}"))?;
    let run = plan.runs.first().ok_or("there are no runs")?;
    let (before, began) = (cpu_s(), Instant::now());
    let outcome = simulate_on(threads, run, &Control::default()).map_err(|e| e.to_string())?;
    let (cpu_s, wall_s) = (cpu_s() - before, began.elapsed().as_secs_f64());
    Ok(format!(
        r#"{{"case": "{}", "hops": {}, "events": {}, "cpu_s": {cpu_s:.4}, "wall_s": {wall_s:.4}, "hops_per_cpu_s": {:.0}, "memory_bytes": {}, "simulated_s": {:.6}, "trajectory": "{:016x}"}}"#,
        plan.name,
        outcome.hops,
        outcome.events,
        outcome.hops as f64 / cpu_s,
        memory_bytes()?,
        outcome.simulated.as_secs_f64(),
        outcome.trajectory,
    ))
}

/// CPU time of this process so far, seconds.
fn cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Most memory this process has held, bytes (/proc/self/status).
fn memory_bytes() -> Result<u64, String> {
    let text = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    Ok(1024 * kib.ok_or("/proc/self/status has no VmHWM")?)
}
