//! What helps where a handshake failed.
//!
//! Pure but for one look at whether a path is there that the executor could not see.

use std::path::Path;

use callosum_agents::{
    confinement::Policy,
    handshake::Fault,
    registry::{Executor, Kind},
    runner::RunError,
};
use callosum_host::process::SpawnError;

use crate::cli::context::Context;

/// What of the system everybody sees.
const SEEN: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/tmp",
];

/// What a person can do about a fault, where that is known better than to ask again.
pub(super) fn advice(context: &Context, executor: &Executor, fault: &Fault) -> Option<String> {
    let Fault::Run(error) = fault else {
        return None;
    };
    match error {
        RunError::Spawn {
            source: SpawnError::NotFound { program },
            ..
        } => Some(format!(
            "install `{}` or put its folder into PATH, then: callosum executor check {}",
            program.display(),
            executor.id
        )),
        RunError::Crashed { complaint, .. } | RunError::Quiet { complaint, .. } => {
            let home = context.environment.get("HOME")?;
            let is_there = |path: &Path| context.disk.exists(path).unwrap_or(false);
            let folder = unseen(complaint, Path::new(home), is_there)?;
            (executor.confinement != Some(Policy::Off)).then(|| readable(executor, &folder))
        }
        _ => None,
    }
}

/// The folder of the home folder, or of another one that is not the system's, that a complaint names a
/// path in which is there: whoever is confined does not see it.
fn unseen(complaint: &str, home: &Path, is_there: impl Fn(&Path) -> bool) -> Option<String> {
    let around = |c: char| c.is_whitespace() || "'\"`:;,()[]".contains(c);
    complaint.split(around).find_map(|word| {
        let path = Path::new(word);
        if !path.is_absolute() || !is_there(path) {
            return None;
        }
        if let Ok(within) = path.strip_prefix(home) {
            return Some(format!("~/{}/", within.iter().next()?.to_str()?));
        }
        if SEEN.iter().any(|seen| path.starts_with(seen)) {
            return None;
        }
        let mut parts = path.iter().skip(1).filter_map(|part| part.to_str());
        Some(format!("/{}/{}/", parts.next()?, parts.next()?))
    })
}

/// How it is registered so that it may read that.
fn readable(executor: &Executor, folder: &str) -> String {
    let id = &executor.id;
    if executor.kind == Kind::Cli && executor.protocol.is_none() {
        let template = executor.command_template.replace('\'', r"'\''");
        return format!(
            "callosum executor register {id} --command '{template}' --readable {folder}"
        );
    }
    format!("it does not see {folder}: register {id} again with --readable {folder}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_the_home_that_is_there_is_one_that_was_not_seen() {
        let home = Path::new("/home/u");
        let there = |path: &Path| path == Path::new("/home/u/.pyenv/libexec/pyenv");
        let said = "/home/u/.pyenv/shims/x: line 2: /home/u/.pyenv/libexec/pyenv: No such file";
        assert_eq!(unseen(said, home, there).as_deref(), Some("~/.pyenv/"));
        assert_eq!(unseen("/home/u/.gone/x: No such file", home, there), None);
        assert_eq!(unseen("/usr/lib/x: No such file", home, |_| true), None);
        let elsewhere = unseen("/opt/py/libexec/x: No such file", home, |_| true);
        assert_eq!(elsewhere.as_deref(), Some("/opt/py/"));
        let executor = Executor::cli("py", "python3 -c 'x'");
        let expected =
            r"callosum executor register py --command 'python3 -c '\''x'\''' --readable ~/.pyenv/";
        assert_eq!(readable(&executor, "~/.pyenv/"), expected);
    }
}
