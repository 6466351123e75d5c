//! `callosum watch -- CMD`: the command between its caller and the reader of its output.
//!
//! The command runs even if the reader fails: a fault of ours is one line on standard error, after the
//! command has ended.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use callosum_client::intervention::{WatchError, Watcher};
use callosum_config::{Environment, Project, ProjectOverrides};
use callosum_diagnose::{Diagnosis, OutputReader, StreamSource};
use callosum_host::Disk;
use callosum_intervention::knowledge::Fix;
use callosum_redact::terminal_escape::on_one_line;
use callosum_terminal::{
    CallerStreams, InputFilter, Mode, Run, RunError, Stream, Tap, TapEnd, run,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::many;
use crate::watch::EventOutput;

/// The word by which this program is started between a pseudo-terminal and a command.
pub const LAUNCHER: &str = "__terminal-child";

/// The session of commands that a person runs by hand.
pub const SESSION: &str = "watch";

/// A command to run, and who runs it.
pub struct Watched<'a> {
    /// The program and its arguments.
    pub command: &'a [OsString],
    /// The name that errors are recorded under.
    pub agent: &'a str,
    /// The folder that it runs in.
    pub folder: &'a Path,
    /// Sees what is typed, if the command runs under a terminal.
    pub filter: Option<Box<dyn InputFilter>>,
}

/// One error of a command, as `callosum watch --json` prints it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WatchOutput {
    /// The exit code of the command; 128 and the number of the signal that ended it.
    pub exit_code: u8,
    /// The errors that it printed, the one to act on first.
    pub errors: Vec<WatchedError>,
    /// Errors beyond those.
    pub more: usize,
    /// Bytes of output that were passed on and not read, because they came too fast.
    pub skipped_bytes: u64,
}

/// One distinct error.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WatchedError {
    /// The error.
    #[serde(flatten)]
    pub event: EventOutput,
    /// The commands of its known fix.
    pub fix_commands: Vec<String>,
    /// The files that its known fix changed.
    pub fix_files: Vec<String>,
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

/// Returns an error with what caused it.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    on_one_line(&text)
}

/// Returns the watcher of the project that a folder is in.
pub fn watcher(
    disk: &Disk,
    environment: &Environment,
    folder: &Path,
) -> Result<Watcher, WatchError> {
    let project = Project::load(disk, environment, folder, &ProjectOverrides::default());
    let root = project.map_or_else(|_| folder.to_owned(), |project| project.roots.tree);
    Watcher::new(disk, environment, &root)
}

/// Runs a command with readers at its output. Returns its exit code, its errors, and the bytes that were not read.
pub fn run_tapped(
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

/// Returns a fix on one line.
pub fn fix_line(fix: &Fix) -> String {
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
