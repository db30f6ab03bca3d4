//! Names the sources that the module is built from: two builds of one version may differ in every
//! table, and results of one are not continued, nor reproduced, by another.
//!
//! The name is the start of a SHA-256 over what tables depend on: the sources and presets of the
//! crates in the module, without their tests, and the lock file. Not the compiler, nor the machine.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// The crates that the module is made of.
const CRATES: [&str; 9] = [
    "agent", "kernel", "net", "py", "scenario", "sim", "tcp", "units", "wire",
];

/// Bytes of the hash in a version: builds of one project are few.
const BYTES: usize = 5;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for name in CRATES {
        for part in ["src", "presets"] {
            let folder = root.join("crates").join(name).join(part);
            if folder.is_dir() {
                println!("cargo::rerun-if-changed={}", folder.display());
                collect(&folder, &mut files)?;
            }
        }
    }
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rerun-if-changed=build.rs");
    files.push(lock);
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file);
        let text = fs::read(file)?;
        hash.update(name.to_string_lossy().as_bytes());
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(&text);
    }
    let digits: String = hash.finalize()[..BYTES]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let version = env::var("CARGO_PKG_VERSION").map_err(io::Error::other)?;
    println!("cargo::rustc-env=TAILBACK_VERSION={version}+{digits}");
    Ok(())
}

/// Files below `folder` but tests and what editors leave.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kept = [".rs", ".toml"].iter().any(|end| name.ends_with(end));
        if path.is_dir() {
            collect(&path, files)?;
        } else if kept && !name.ends_with("_tests.rs") && !name.starts_with('.') {
            files.push(path);
        }
    }
    Ok(())
}
