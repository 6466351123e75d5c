//! Whether the shells in which agents run commands find this program.
//!
//! Skills and protocols have agents call `callosum`. Some run each command in a login shell, which may begin with
//! another `PATH` than the one that a person's terminal has.

use std::path::{Path, PathBuf};

use callosum_host::process::{self, Ending, Launch};

use super::{Checks, Outcome};
use crate::cli::{clients, context::Context, trial};

/// The shell, and what it is asked.
const SHELL: &str = "bash";
const ASKED: [&str; 2] = ["-lc", "command -v callosum"];

/// Looks, where a coding agent is installed and there is such a shell.
pub(super) fn check(context: &Context, checks: &mut Checks) {
    if clients::installed(context).is_empty() {
        return;
    }
    let all = context.environment.iter();
    let launch = Launch {
        program: PathBuf::from(SHELL),
        arguments: ASKED.map(Into::into).into(),
        folder: context.state().to_owned(),
        environment: all
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: trial::limits(),
    };
    let Ok(run) = process::run(&launch, &context.cancel, &mut |_, _| {}) else {
        return;
    };
    let said = String::from_utf8_lossy(&run.output);
    // What a profile prints stands before it.
    let found = said
        .lines()
        .last()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let own = clients::own_program().ok();
    add(checks, run.ending, found, own.as_deref());
}

fn add(checks: &mut Checks, ending: Ending, found: Option<&str>, own: Option<&Path>) {
    const NAME: &str = "login shell";
    match (ending, found) {
        (Ending::Exited(0), Some(found)) => {
            let found = format!("finds callosum at {found}");
            checks.add(NAME, Outcome::Ok, found, None);
        }
        (Ending::Exited(_), _) => {
            let found = "does not find `callosum`: agents that run commands in a login shell (`bash -lc`, \
                         as Codex does) cannot call it";
            let hint = own.and_then(Path::parent).map(|folder| {
                let folder = folder.display();
                format!("echo 'export PATH=\"{folder}:$PATH\"' >> ~/.profile")
            });
            checks.add(NAME, Outcome::Warning, found, hint.as_deref());
        }
        _ => {
            let found = "timed out while looking for `callosum`: check what ~/.profile and ~/.bash_profile \
                         wait for";
            let hint = "time bash -lc true";
            checks.add(NAME, Outcome::Warning, found, Some(hint));
        }
    }
}
