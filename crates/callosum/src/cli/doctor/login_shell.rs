//! Whether the shells in which agents run commands find this program.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::doctor::login_shell`].

use std::path::PathBuf;

use callosum_app::doctor::Checks;
use callosum_app::doctor::login_shell::{ASKED, SHELL, add};
use callosum_app::hook_probe;
use callosum_host::process;
use callosum_host::process::Launch;

use crate::cli::client_settings;
use crate::cli::context::Context;

/// Runs the check if a coding agent is installed and there is such a shell.
pub(super) fn check(context: &Context, checks: &mut Checks) {
    if client_settings::installed(context).is_empty() {
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
        limits: hook_probe::limits(),
    };
    let Ok(run) = process::run(&launch, &context.cancel, &mut |_, _| {}) else {
        return;
    };
    let output = String::from_utf8_lossy(&run.output);
    // A profile may print text before it.
    let found = output
        .lines()
        .last()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let own = callosum_app::client_settings::own_program().ok();
    add(checks, run.ending, found, own.as_deref());
}
