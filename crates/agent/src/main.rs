//! `tailback-agent`: as process 1 a guest kernel's init; else `tailback-agent CONFIG FOLDER`, which
//! runs the tasks of a configuration on this host and writes `results.jsonl` into the folder.

use std::path::Path;
use std::process::ExitCode;

use tailback_agent::{GuestConfig, guest, record::Recorder, traffic};

fn main() -> ExitCode {
    if std::process::id() == 1 {
        guest::run();
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, folder] = arguments.as_slice() else {
        eprintln!("usage: tailback-agent CONFIG.json FOLDER");
        return ExitCode::from(2);
    };
    match run(Path::new(config), Path::new(folder)) {
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
