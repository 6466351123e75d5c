//! What helps where a handshake failed.
//!
//! Pure but for one look at whether a path is there that the executor could not see.

use std::path::Path;

use callosum_agents::{
    confinement::Policy, handshake::Fault, registry::Executor, runner::RunError,
};
use callosum_arbiter::nearest::nearest;
use callosum_host::process::SpawnError;

use super::registration_line::registration_line;
use crate::cli::context::Context;

/// What names the argument of a tool that takes the prompt.
const ARGUMENT: &str = "--argument";

/// What of the system everybody sees.
const SEEN: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/tmp",
];

/// What a person can do about a fault, where that is known better than to ask again.
pub(super) fn advice(context: &Context, executor: &Executor, fault: &Fault) -> Option<String> {
    match fault {
        Fault::NotOffered { named, offered } => offering(executor, named, offered),
        Fault::Run(RunError::Spawn {
            source: SpawnError::NotFound { program },
            ..
        }) => Some(format!(
            "install `{}` or put its folder into PATH, then: callosum executor check {}",
            program.display(),
            executor.id
        )),
        Fault::Run(RunError::Crashed { complaint, .. } | RunError::Quiet { complaint, .. }) => {
            let home = context.environment.get("HOME")?;
            let is_there = |path: &Path| context.disk.exists(path).unwrap_or(false);
            let folder = unseen(complaint, Path::new(home), is_there)?;
            (executor.confinement != Some(Policy::Off)).then(|| readable(executor, folder))
        }
        Fault::Run(RunError::Client { fault, .. })
            if executor.tool.is_some() && fault.to_string().contains(ARGUMENT) =>
        {
            let unnamed = Executor {
                argument: None,
                ..executor.clone()
            };
            Some(format!("{} {ARGUMENT} NAME", registration_line(&unnamed)))
        }
        _ => None,
    }
}

/// The same entry with a model or tool that its server has: what was probably meant, or the first.
fn offering(executor: &Executor, named: &str, offered: &[String]) -> Option<String> {
    let meant = nearest(named, offered.iter().map(String::as_str));
    let other = meant.or(offered.first().map(String::as_str))?.to_owned();
    let mut mended = executor.clone();
    if mended.tool.is_some() {
        mended.tool = Some(other);
    } else {
        mended.model = Some(other);
    }
    Some(registration_line(&mended))
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
fn readable(executor: &Executor, folder: String) -> String {
    let mut mended = executor.clone();
    mended.readable.push(folder);
    registration_line(&mended)
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
        let line = readable(&executor, "~/.pyenv/".to_owned());
        let expected =
            r#"callosum executor register py --command "python3 -c 'x'" --readable ~/.pyenv/"#;
        assert_eq!(line, expected);
    }

    /// CAL-EXE-1: a model that its server does not have is replaced by one that it has.
    #[test]
    fn what_a_server_does_not_have_is_replaced_by_what_it_has() {
        let executor = Executor::http("local", "http://127.0.0.1:1", "qwen33");
        let offered = ["llama".to_owned(), "qwen3".to_owned()];
        let line = offering(&executor, "qwen33", &offered).unwrap();
        assert!(line.contains("--model qwen3"), "{line}");
        let line = offering(&executor, "gemma", &offered).unwrap();
        assert!(line.contains("--model llama"), "{line}");
        assert_eq!(offering(&executor, "gemma", &[]), None);
    }
}
