//! Writes the sysctls of a stack profile into a folder, as /proc/sys has them: what a run of
//! packetdrill is given in place of the machine's own.

use std::path::PathBuf;
use std::process::ExitCode;

use tailback_packetdrill::view::View;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(profile), Some(folder), None) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: packetdrill-view PROFILE FOLDER");
        return ExitCode::from(2);
    };
    let written = View::new(&profile, None).and_then(|view| view.write_out(&PathBuf::from(folder)));
    if let Err(error) = written {
        eprintln!("packetdrill-view: {error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}
