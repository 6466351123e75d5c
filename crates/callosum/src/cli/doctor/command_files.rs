//! Command files of Gemini CLI and Qwen Code with shell lines that the guard would stop.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::doctor::command_files`].

use callosum_app::doctor::command_files::{FOLDER, MOST_NAMED, files, first_stopped};
use callosum_app::doctor::{Checks, Outcome};
use callosum_app::{client_settings, shell_word};

use crate::cli::client_settings::ClientName;
use crate::cli::context::Context;

/// Names the files; says nothing if there are none.
pub(super) fn check(context: &Context, checks: &mut Checks) {
    for name in [ClientName::Gemini, ClientName::Qwen] {
        let client = name.client();
        let of_project = context.tree().join(client.home.folder);
        let own = client_settings::own_folder(context, client);
        let (mut stopped, mut first) = (Vec::new(), None);
        for folder in [Some(of_project), own].into_iter().flatten() {
            for file in files(&context.disk, &folder.join(FOLDER)) {
                if let Some((command, rule)) = first_stopped(context, &file) {
                    first.get_or_insert_with(|| file.clone());
                    stopped.push(format!("{} ({command}: {rule})", file.display()));
                }
            }
        }
        if stopped.is_empty() {
            continue;
        }
        let more = stopped.len().saturating_sub(MOST_NAMED);
        stopped.truncate(MOST_NAMED);
        if more > 0 {
            stopped.push(format!("{more} more"));
        }
        let found = format!(
            "{} runs the shell lines (`!{{…}}`) of these command files without the guard, which would deny \
             them: {}",
            client.program,
            stopped.join(", ")
        );
        let hint = first.map(|file| {
            let file = shell_word(&file.display().to_string());
            format!("${{EDITOR:-vi}} {file}")
        });
        let name = format!("commands of {}", client.program);
        checks.add(&name, Outcome::Warning, found, hint.as_deref());
    }
}
