//! Whether the shells in which agents run commands find this program.
//!
//! Skills and protocols have agents call `callosum`. Some run each command in a login shell, which may begin with
//! another `PATH` than the one that a person's terminal has.

use std::path::Path;

use callosum_host::process::Ending;

use crate::doctor::{Checks, Outcome};

/// The shell, and what it is asked.
pub const SHELL: &str = "bash";

/// The arguments that ask a login shell for the program's path.
pub const ASKED: [&str; 2] = ["-lc", "command -v callosum"];

/// Adds what the login shell found.
pub fn add(checks: &mut Checks, ending: Ending, found: Option<&str>, own: Option<&Path>) {
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
