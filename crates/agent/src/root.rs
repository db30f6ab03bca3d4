//! The guests' shared root: a folder with the agent as its first program and nothing else.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Where the guest mounts its file systems.
const MOUNT_POINTS: [&str; 6] = ["proc", "sys", "dev", "tmp", "run", "host"];

/// Makes `root` a guest's root, with the program `agent` as its `/init`. What is there stays.
///
/// # Errors
/// A folder or the copy cannot be written.
pub fn prepare(root: &Path, agent: &Path) -> io::Result<()> {
    for folder in MOUNT_POINTS {
        fs::create_dir_all(root.join(folder))?;
    }
    let init = root.join("init");
    fs::copy(agent, &init)?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755))
}
