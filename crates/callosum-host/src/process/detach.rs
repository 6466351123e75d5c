//! [`leave`]: starts a child that continues by itself.

use std::process::Stdio;

use super::{launch::Launch, run::SpawnError};

/// Starts a program and detaches from it: this process never waits for it, reads it, or ends it.
///
/// It leads a process group of its own, so that it survives when this process and its group are
/// ended. Its input is empty and its outputs are discarded; `input` and `limits` of `launch` do not
/// count. It must end by itself.
#[expect(
    clippy::disallowed_methods,
    reason = "apart from `run`, this is a place that starts a program"
)]
pub fn leave(launch: &Launch) -> Result<(), SpawnError> {
    use std::os::unix::process::CommandExt as _;
    let program = || launch.program.clone();
    let file = launch
        .file()
        .ok_or_else(|| SpawnError::NotFound { program: program() })?;
    let child = std::process::Command::new(file)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    child.map(drop).map_err(|source| SpawnError::System {
        program: program(),
        source,
    })
}
