//! `callosum watch -- CMD`: the command between its caller and the reader of its output.
//!
//! The command runs even if the reader fails: a fault of ours is one line on standard error, after the
//! command has ended.

use std::{ffi::OsString, fmt::Write as _, path::Path};

use callosum_diagnose::{Diagnosis, OutputReader, StreamSource};
use callosum_evidence::terminal::on_one_line;
use callosum_host::Disk;
use callosum_intervention::knowledge::Fix;
use callosum_terminal::{
    CallerStreams, InputFilter, Mode, Run, RunError, Stream, Tap, TapEnd, run,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::EventOutput;
use crate::{
    logging,
    ui::{Ui, many, thousands},
};
use callosum_client::intervention::{Outcome, Ran, Runner, WatchError, Watcher};
use callosum_config::{Environment, Project, Told};

/// The word by which this program is started between a pseudo-terminal and a command.
const LAUNCHER: &str = "__terminal-child";

/// The session of commands that a person runs by hand.
const SESSION: &str = "watch";

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

/// A command to run, and who runs it.
pub(crate) struct Watched<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [OsString],
    /// The name that errors are recorded under.
    pub(crate) agent: &'a str,
    /// The folder that it runs in.
    pub(crate) folder: &'a Path,
    /// Sees what is typed, if the command runs under a terminal.
    pub(crate) filter: Option<Box<dyn InputFilter>>,
}

/// One error of a command, as `callosum watch --json` prints it.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct WatchOutput {
    /// The exit code of the command; 128 and the number of the signal that ended it.
    pub(crate) exit_code: u8,
    /// The errors that it printed, the one to act on first.
    pub(crate) errors: Vec<WatchedError>,
    /// Errors beyond those.
    pub(crate) more: usize,
    /// Bytes of output that were passed on and not read, because they came too fast.
    pub(crate) skipped_bytes: u64,
}

/// One distinct error.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct WatchedError {
    /// The error.
    #[serde(flatten)]
    pub(crate) event: EventOutput,
    /// The commands of its known fix.
    pub(crate) fix_commands: Vec<String>,
    /// The files that its known fix changed.
    pub(crate) fix_files: Vec<String>,
}

/// Readers of the streams of one command.
struct Readers {
    output: StreamReader,
    error: StreamReader,
    both: StreamReader,
}

/// The reader of one stream.
struct StreamReader {
    reader: OutputReader,
    /// Whether bytes were skipped, so that the next ones begin within a line.
    is_broken: bool,
}

impl StreamReader {
    fn new(reader: OutputReader) -> Self {
        Self {
            reader,
            is_broken: false,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if self.is_broken {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                return;
            };
            bytes = &bytes[end + 1..];
            self.is_broken = false;
        }
        self.reader.push(bytes);
    }

    fn skip(&mut self) {
        if !self.is_broken {
            self.reader.push(b"\n");
        }
        self.is_broken = true;
    }
}

impl Readers {
    fn of_stream(&mut self, stream: Stream) -> &mut StreamReader {
        match stream {
            Stream::Stdout => &mut self.output,
            Stream::Stderr => &mut self.error,
            Stream::Merged => &mut self.both,
        }
    }
}

impl Tap for Readers {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        self.of_stream(stream).push(bytes);
    }

    fn skip(&mut self, stream: Stream, _bytes: u64) {
        self.of_stream(stream).skip();
    }
}

impl Readers {
    fn finish(self) -> Diagnosis {
        let mut all = Diagnosis::default();
        for reader in [self.error, self.both, self.output] {
            let diagnosis = reader.reader.finish();
            all.events.extend(diagnosis.events);
            all.more += diagnosis.more;
        }
        // Warnings of one stream come after errors of another.
        all.events
            .sort_by_key(|event| event.severity == callosum_diagnose::Severity::Low);
        all
    }
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
        .map(|word| crate::ui::shell_word(&word.to_string_lossy()))
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

/// Returns an error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    on_one_line(&text)
}

/// Returns the watcher of the project that a folder is in.
fn watcher(disk: &Disk, environment: &Environment, folder: &Path) -> Result<Watcher, WatchError> {
    let project = Project::load(disk, environment, folder, &Told::default());
    let root = project.map_or_else(|_| folder.to_owned(), |project| project.roots.tree);
    Watcher::new(disk, environment, &root)
}

/// Runs a command with readers at its output. Returns its exit code, its errors, and the bytes that were not read.
fn run_tapped(
    environment: &Environment,
    watcher: &Result<Watcher, WatchError>,
    command: &[OsString],
    folder: &Path,
    filter: Option<Box<dyn InputFilter>>,
) -> Result<(u8, Diagnosis, u64), RunError> {
    let now = environment
        .clock()
        .map(|clock| clock.now())
        .unwrap_or_default();
    let reader = |stream| {
        StreamReader::new(match watcher {
            Ok(watcher) => watcher.reader(stream, now),
            Err(_) => OutputReader::new(stream, now.to_string()),
        })
    };
    let readers = Readers {
        output: reader(StreamSource::Stdout),
        error: reader(StreamSource::Stderr),
        both: reader(StreamSource::Merged),
    };
    let own = std::env::current_exe().unwrap_or_else(|_| "callosum".into());
    let program = command.first().cloned().unwrap_or_default();
    let arguments = command.get(1..).unwrap_or_default();
    let variables = environment.iter();
    let run_of = Run {
        program,
        arguments: arguments.to_vec(),
        folder: folder.to_owned(),
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        launcher: vec![own.into(), LAUNCHER.into()],
    };
    let caller = CallerStreams::of_this_process().map_err(|source| RunError::System {
        action: "duplicate the standard streams",
        source,
    })?;
    let mode = Mode::suited_to(&caller);
    let exit = run(&run_of, mode, caller, readers, filter)?;
    let code = exit.code();
    let diagnosis = match exit.tap {
        TapEnd::Finished(readers) => readers.finish(),
        TapEnd::Panicked(_) | TapEnd::Unfinished => Diagnosis::default(),
    };
    Ok((code, diagnosis, exit.skipped_bytes))
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
            on_one_line(&super::summary(&seen.event))
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

/// Returns a fix on one line.
pub(crate) fn fix_line(fix: &Fix) -> String {
    let commands = fix
        .commands
        .iter()
        .map(|command| format!("`{}`", on_one_line(command)));
    let files = fix
        .files
        .iter()
        .map(|file| format!("change {}", on_one_line(file)));
    let parts: Vec<String> = commands.chain(files).collect();
    let by = if fix.confirmed {
        "confirmed by a person".to_owned()
    } else {
        format!(
            "by {}, worked {}",
            on_one_line(&fix.client),
            many(u64::from(fix.worked), "time")
        )
    };
    format!("{} ({by})", parts.join(", "))
}
