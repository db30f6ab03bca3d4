//! `tailback-agent`: as process 1 a guest kernel's init; else `tailback-agent CONFIG FOLDER`, which
//! runs the tasks of a configuration on this host and writes `results.jsonl` into the folder.
//! A guest's root has no other programs: `--show` and `--sleep` serve to check a kernel.

use std::path::Path;
use std::process::ExitCode;

use tailback_agent::{GuestConfig, guest, record::Recorder, traffic};

fn main() -> ExitCode {
    if std::process::id() == 1 {
        guest::run();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["--show", files @ ..] => files.iter().try_for_each(|file| show(Path::new(file))),
        ["--sleep", seconds] => sleep(seconds),
        [config, folder] => run(Path::new(config), Path::new(folder)),
        _ => {
            Err("usage: tailback-agent CONFIG.json FOLDER | --show FILE… | --sleep SECONDS".into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tailback-agent: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(config: &Path, folder: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(config).map_err(|e| format!("{}: {e}", config.display()))?;
    let config: GuestConfig =
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", config.display()))?;
    let recorder = Recorder::create(&folder.join("results.jsonl"))
        .map_err(|e| format!("{}: {e}", folder.display()))?;
    traffic::run(&config, folder, &recorder);
    Ok(())
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
