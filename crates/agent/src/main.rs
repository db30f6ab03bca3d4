//! `tailback-agent`: as process 1 a guest kernel's init; else `tailback-agent CONFIG FOLDER`, which
//! runs the tasks of a configuration on this host and writes `results.jsonl` into the folder. It ends
//! at the first failure, and with `--attached` when its standard input does: whoever started it is gone
//! then, and nothing goes on listening. `--set-up CONFIG FOLDER OUTSIDE` makes the network namespace in which
//! it runs the host of the configuration, and writes `set-up.jsonl`; it refuses to do so in the namespace
//! OUTSIDE, its caller's `/proc/self/ns/net`.
//! `--on-host FOLDER` is for a machine that is somebody's own: it reads a configuration from one line of
//! standard input, sets the sysctls that differ, runs `--attached` with them, puts them back, prints what
//! it told, and removes FOLDER; `--put-back FOLDER` does what such an agent that was killed did not. `--clock`
//! answers each line of standard input with the time, ns since 1970.
//! A guest's root has no other programs: `--show` and `--sleep` serve to check a kernel; `--bursts ADDRESS
//! FLOW…` sends what queue disciplines are held against.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tailback_agent::machine::{self, Unfinished};
use tailback_agent::{GuestConfig, Record, bursts, guest, record::Recorder, traffic};

/// Exit code of an agent whose standard input has ended.
const ABANDONED: i32 = 3;

fn main() -> ExitCode {
    if std::process::id() == 1 {
        guest::run();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["--show", files @ ..] => files.iter().try_for_each(|file| show(Path::new(file))),
        ["--sleep", seconds] => sleep(seconds),
        ["--bursts", address, flows @ ..] => bursts::send(address, flows),
        ["--set-up", config, folder, outside] => {
            set_up(Path::new(config), Path::new(folder), Path::new(outside))
        }
        ["--on-host", folder] => on_host(Path::new(folder)),
        ["--put-back", folder] => machine::put_back(Path::new(folder)),
        ["--clock"] => tell_the_time(),
        ["--attached", config, folder] => {
            std::thread::spawn(end_with_input);
            run(Path::new(config), Path::new(folder))
        }
        [config, folder] => run(Path::new(config), Path::new(folder)),
        _ => Err("usage: tailback-agent [--attached] CONFIG.json FOLDER | \
                  --set-up CONFIG.json FOLDER OUTSIDE | --on-host FOLDER | --put-back FOLDER | --clock | \
                  --show FILE… | --sleep SECONDS | --bursts ADDRESS FLOW…"
            .into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tailback-agent: {message}");
            ExitCode::from(2)
        }
    }
}

fn read(config: &Path) -> Result<GuestConfig, String> {
    let text = std::fs::read_to_string(config).map_err(|e| format!("{}: {e}", config.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", config.display()))
}

fn recorder(folder: &Path, name: &str) -> Result<Recorder, String> {
    Recorder::create(&folder.join(name)).map_err(|e| format!("{}: {e}", folder.display()))
}

fn run(config: &Path, folder: &Path) -> Result<(), String> {
    let config = read(config)?;
    let recorder = recorder(folder, "results.jsonl")?.exiting_on_failure();
    traffic::precise_timers();
    traffic::most_open_files();
    traffic::run(&config, folder, &recorder);
    Ok(())
}

fn set_up(config: &Path, folder: &Path, outside: &Path) -> Result<(), String> {
    let config = read(config)?;
    guest::in_own_namespace(&config, outside)?;
    let recorder = recorder(folder, "set-up.jsonl")?;
    let not_set = guest::put_in_force(&config)?;
    if !not_set.is_empty() {
        recorder.add(&Record::NotSet { sysctls: not_set });
    }
    recorder.flush();
    Ok(())
}

/// Runs a configuration on a machine that is as before afterwards.
fn on_host(folder: &Path) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(named)?;
    let config: GuestConfig =
        serde_json::from_str(&line).map_err(|error| format!("configuration: {error}"))?;
    machine::outlive_signals();
    let _lock = machine::take(folder)?;
    let _claim = machine::claim(&config)?;
    for name in machine::repair(folder)? {
        eprintln!("note: put back what {name} had left");
    }
    let path = folder.join("config.json");
    std::fs::write(&path, &line).map_err(named)?;
    let former = machine::set(&config, folder)?;
    let patience = config.patience_ns.map(Duration::from_nanos);
    let ran = machine::run(&path, folder, patience);
    former.put_back()?;
    let told = match ran {
        Ok(()) => tell(folder, former.not_set),
        Err(Unfinished::Failed(why)) => Err(why),
        Err(Unfinished::Abandoned) => Err("nobody waits for the results any more".to_owned()),
    };
    // Whoever would remove it may be gone, and this need not have heard of it yet.
    std::fs::remove_dir_all(folder).map_err(named)?;
    told
}

/// Prints what the tasks recorded, and which sysctls of profiles the machine has not.
fn tell(folder: &Path, not_set: BTreeMap<String, String>) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut out = std::io::stdout().lock();
    if !not_set.is_empty() {
        let record = Record::NotSet { sysctls: not_set };
        let line = serde_json::to_string(&record).unwrap_or_default();
        writeln!(out, "{line}").map_err(named)?;
    }
    let mut told = std::fs::File::open(folder.join("results.jsonl")).map_err(named)?;
    std::io::copy(&mut told, &mut out).map_err(named)?;
    Ok(())
}

fn tell_the_time() -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let written = line.and_then(|_| {
            writeln!(out, "{}", traffic::wall_ns())?;
            out.flush()
        });
        written.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Ends the process, and the programs that it has started, when nobody holds the other end of its standard
/// input any more.
fn end_with_input() {
    let mut input = std::io::stdin().lock();
    let mut buffer = [0; 64];
    while matches!(input.read(&mut buffer), Ok(bytes) if bytes > 0) {}
    machine::end_with_own_programs();
    std::process::exit(ABANDONED);
}

fn show(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    print!("{text}");
    Ok(())
}

fn sleep(seconds: &str) -> Result<(), String> {
    let seconds = seconds
        .parse()
        .map_err(|e| format!("{seconds} seconds: {e}"))?;
    std::thread::sleep(std::time::Duration::from_secs(seconds));
    Ok(())
}
