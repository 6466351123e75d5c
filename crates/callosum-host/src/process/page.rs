//! [`page`]: a pager, which owns the terminal until the person leaves it.

use std::{
    io::{ErrorKind, Write as _},
    process::Stdio,
};

use super::{launch::Launch, run::SpawnError};

/// Starts a program on this process's own terminal, writes `launch.input` to it and waits for its end. `launch.limits` do
/// not count: a person reads as long as they like.
///
/// The program stays in this process's group, because only the foreground group may read keys from a terminal. A
/// program that ends before it has read everything is no error.
#[expect(
    clippy::disallowed_methods,
    reason = "apart from `run`, this is a place that starts a program"
)]
pub fn page(launch: &Launch) -> Result<(), SpawnError> {
    let program = || launch.program.clone();
    let system = |source| SpawnError::System {
        program: program(),
        source,
    };
    let file = launch
        .file()
        .ok_or_else(|| SpawnError::NotFound { program: program() })?;
    let mut child = std::process::Command::new(file)
        .args(&launch.arguments)
        .current_dir(&launch.folder)
        .env_clear()
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .spawn()
        .map_err(system)?;
    let written = match child.stdin.take() {
        Some(mut input) => input.write_all(&launch.input),
        None => Ok(()),
    };
    child.wait().map_err(system)?;
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(system(error)),
        _ => Ok(()),
    }
}
