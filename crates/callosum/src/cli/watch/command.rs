//! `callosum watch -- CMD`: the command between its caller and the reader of its output.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::watch::command`].

use std::ffi::OsString;

use callosum_app::watch::EventOutput;
use callosum_app::watch::command::{
    LAUNCHER, SESSION, WatchOutput, Watched, WatchedError, causes, fix_line, run_tapped, watcher,
};
use callosum_app::{many, thousands};
use callosum_client::intervention::{Outcome, Ran, Runner};
use callosum_config::Environment;
use callosum_host::Disk;
use callosum_redact::terminal_escape::on_one_line;

use crate::logging;
use crate::ui::Ui;

/// Becomes a command under a pseudo-terminal, if the program was started for that; the exit code if it cannot.
pub(crate) fn launch(arguments: &[OsString]) -> Option<u8> {
    let [_, word, command @ ..] = arguments else {
        return None;
    };
    if word != LAUNCHER {
        return None;
    }
    let error = callosum_terminal::child::become_session_leader_and_exec(command.iter().cloned());
    let name = command.first().map(|name| name.to_string_lossy());
    let name = on_one_line(&name.unwrap_or_default());
    Ui::plain(false).warn(&format!("cannot run `{name}`: {error}"), None);
    Some(callosum_terminal::child::exit_code(&error))
}

/// Runs a command, reports its errors on standard error, and returns its exit code.
pub(crate) fn run_watched(environment: &Environment, watched: Watched<'_>, ui: Ui) -> u8 {
    let disk = Disk::real();
    let watcher = watcher(&disk, environment, watched.folder);
    let (exit_code, diagnosis, skipped_bytes) = match run_tapped(
        environment,
        &watcher,
        watched.command,
        watched.folder,
        watched.filter,
    ) {
        Ok(ended) => ended,
        Err(error) => {
            let name = watched.command.first().map(|name| name.to_string_lossy());
            let name = on_one_line(&name.unwrap_or_default());
            ui.warn(&format!("cannot run `{name}`: {}", causes(&error)), None);
            return error.exit_code();
        }
    };
    let line: Vec<String> = watched
        .command
        .iter()
        .map(|word| callosum_app::shell_word(&word.to_string_lossy()))
        .collect();
    let line = line.join(" ");
    let ran = Ran {
        command: &line,
        output: &[],
        has_failed: Some(exit_code != 0),
    };
    let runner = Runner {
        client: watched.agent,
        session: SESSION,
        reads_messages: false,
    };
    let events = diagnosis.events.clone();
    let outcome = watcher.and_then(|watcher| {
        let now = environment.clock()?.now();
        watcher.after_diagnosis(runner, ran, diagnosis, now)
    });
    let log = logging::start(&disk, environment);
    if let Err(error) = &log {
        ui.warn(&format!("cannot log: {error}"), Some("callosum doctor"));
    }
    tracing::debug!(command = %ran.command, exit_code, errors = events.len(), skipped_bytes, "watched");
    let outcome = outcome.unwrap_or_else(|error| {
        tracing::error!(%error, "errors are not recorded");
        ui.warn(
            &format!("errors are not recorded: {}", causes(&error)),
            Some("callosum doctor"),
        );
        Outcome {
            seen: events
                .into_iter()
                .map(|event| callosum_client::intervention::Seen { event, fix: None })
                .collect(),
            ..Outcome::default()
        }
    });
    report(ui, exit_code, &outcome, skipped_bytes);
    exit_code
}

/// Prints one line for each distinct error with its known fix.
fn report(ui: Ui, exit_code: u8, outcome: &Outcome, skipped_bytes: u64) {
    if ui.json {
        let errors = outcome
            .seen
            .iter()
            .map(|seen| WatchedError {
                event: EventOutput::from(&seen.event),
                fix_commands: seen
                    .fix
                    .iter()
                    .flat_map(|fix| fix.commands.clone())
                    .collect(),
                fix_files: seen.fix.iter().flat_map(|fix| fix.files.clone()).collect(),
            })
            .collect();
        let output = WatchOutput {
            exit_code,
            errors,
            more: outcome.more,
            skipped_bytes,
        };
        // Standard output is the command's.
        ui.say(&serde_json::to_string(&output).unwrap_or_default());
        return;
    }
    for seen in &outcome.seen {
        ui.say(&format!(
            "callosum: {}",
            on_one_line(&callosum_app::watch::summary(&seen.event))
        ));
        if let Some(fix) = &seen.fix {
            ui.say(&format!("  known fix: {}", fix_line(fix)));
        }
    }
    if outcome.more > 0 {
        ui.say(&format!(
            "callosum: and {}",
            many(outcome.more as u64, "more error")
        ));
    }
    for learned in &outcome.learned {
        let parts: Vec<String> = learned
            .commands
            .iter()
            .chain(&learned.files)
            .map(|part| on_one_line(part))
            .collect();
        ui.say(&format!("callosum: learned a fix: {}", parts.join(", ")));
    }
    if skipped_bytes > 0 {
        ui.say(&format!(
            "callosum: output was too fast: {} bytes were not scanned for errors",
            thousands(skipped_bytes)
        ));
    }
}
