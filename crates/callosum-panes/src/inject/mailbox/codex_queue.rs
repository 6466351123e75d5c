//! [`CodexQueue`]: the command `codex queue`, which leaves a message for a thread of Codex CLI.
//!
//! The command exits with 0 once it has stored the message. That is no proof that the client took it.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use callosum_host::process::{self, Cancel, Ending, Launch, Limits};
use callosum_redact::terminal_escape::on_one_line;

use super::{super::DeliveryRoute, Mailbox, MailboxError};

/// Longest time of the command. It took 0.2 s with Codex 0.169.
const TOTAL: Duration = Duration::from_secs(10);

/// Exit code for arguments that the program does not know, as in versions without `queue`.
const UNKNOWN_ARGUMENTS: i32 = 2;

/// Characters of an error that are shown.
const SHOWN: usize = 200;

/// The queue of one thread.
#[derive(Clone, Debug)]
pub struct CodexQueue {
    /// File of the program.
    pub program: PathBuf,
    /// The thread: the id of the session, a UUID.
    pub thread: String,
    /// The whole environment of the command.
    pub environment: Vec<(OsString, OsString)>,
}

impl Mailbox for CodexQueue {
    fn route(&self) -> DeliveryRoute {
        DeliveryRoute::CodexQueue
    }

    fn check(&self) -> Result<(), String> {
        if !is_uuid(&self.thread) {
            return Err("the session's id is not the id of a thread".to_owned());
        }
        Ok(())
    }

    fn leave(&mut self, text: &str) -> Result<(), MailboxError> {
        let unavailable = |error: String| MailboxError::Unavailable(error);
        let launch = Launch {
            program: self.program.clone(),
            arguments: vec![
                "queue".into(),
                "--thread".into(),
                self.thread.clone().into(),
                // One word, so that a text that begins with `-` is no option.
                format!("--message={text}").into(),
            ],
            folder: "/".into(),
            environment: self.environment.clone(),
            input: Vec::new(),
            limits: Limits {
                quiet: None,
                total: Some(TOTAL),
                output_bytes: 64 * 1024,
                error_bytes: 4 * 1024,
            },
        };
        let cancel = Cancel::new().map_err(|error| unavailable(error.to_string()))?;
        let run = process::run(&launch, &cancel, &mut |_, _| {})
            .map_err(|error| unavailable(error.to_string()))?;
        let words = on_one_line(String::from_utf8_lossy(&run.error).trim());
        let words: String = words.chars().take(SHOWN).collect();
        match run.ending {
            Ending::Exited(0) => Ok(()),
            Ending::Exited(UNKNOWN_ARGUMENTS) => Err(unavailable(format!(
                "this version of Codex has no `codex queue`: {words}"
            ))),
            ending => Err(MailboxError::Interrupted(format!(
                "`codex queue` failed ({ending:?}): {words}"
            ))),
        }
    }
}

/// Whether a text is a UUID. Anything else could be an option or a path.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(at, letter)| match at {
            8 | 13 | 18 | 23 => letter == '-',
            _ => letter.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use callosum_host::Disk;

    use super::*;

    const THREAD: &str = "0199a0b0-7c1e-7d10-8f00-0123456789ab";

    fn queue(folder: &Path, script: &str) -> CodexQueue {
        let program = folder.join("codex");
        let text = format!("#!/bin/sh\n{script}\n");
        Disk::real()
            .replace(&program, text.as_bytes(), 0o700)
            .unwrap();
        CodexQueue {
            program,
            thread: THREAD.to_owned(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        }
    }

    #[test]
    fn the_command_gets_thread_and_text_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = format!("printf '%s\\n' \"$@\" > '{}'", log.display());
        let mut queue = queue(folder.path(), &script);
        queue.check().unwrap();
        queue.leave("-x $HOME `id`\nsecond").unwrap();
        let words = String::from_utf8(Disk::real().read(&log).unwrap()).unwrap();
        let expected = format!("queue\n--thread\n{THREAD}\n--message=-x $HOME `id`\nsecond\n");
        assert_eq!(words, expected);
    }

    #[test]
    fn only_a_command_that_did_not_run_leaves_the_way_for_another_route() {
        let folder = tempfile::tempdir().unwrap();
        let error = |script: &str| queue(folder.path(), script).leave("x").unwrap_err();
        assert!(matches!(
            error("echo 'unexpected argument' >&2; exit 2"),
            MailboxError::Unavailable(why) if why.ends_with("unexpected argument")
        ));
        assert!(matches!(error("exit 1"), MailboxError::Interrupted(_)));
        assert!(matches!(error("kill -9 $$"), MailboxError::Interrupted(_)));
        let mut missing = queue(folder.path(), "");
        missing.program = folder.path().join("missing");
        let error = missing.leave("x").unwrap_err();
        assert!(matches!(error, MailboxError::Unavailable(_)), "{error}");
    }

    #[test]
    fn an_id_that_is_no_uuid_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = queue(folder.path(), "");
        for thread in ["", "--help", "s1", &THREAD.replace('a', "z")] {
            thread.clone_into(&mut queue.thread);
            assert!(queue.check().is_err(), "{thread}");
        }
    }
}
