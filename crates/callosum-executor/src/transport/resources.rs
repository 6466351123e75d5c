//! [`read_resources`]: the files that a server of ours lists, read from it.
//!
//! The process that speaks for us starts the server's command and ends with it. A person names the
//! command; it runs with their rights and environment, in no sandbox, like any command that they
//! type: it may be `ssh`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use callosum_host::process::{self, Cancel, Ending, Launch, Limits, SpawnError};
use serde::{Deserialize, Serialize};

use super::{
    event::Event,
    job::{Job, Limits as JobLimits, Want},
    name::Transport,
    output_reader::LONGEST_MESSAGE,
};
use crate::{
    output_format::LARGEST_STREAM,
    runner::Timeouts,
    sanitize::{fit, fit_line},
};

/// Key of a resource's `_meta` that holds its text as the file has it, if the shown text differs.
pub const EXACT: &str = "callosum/exact";

/// Bytes that are kept of the end of its standard error.
const LAST_WORDS: usize = 4096;

/// Bytes that an error has of a line that is no message.
const LONGEST_ODD_LINE: usize = 120;

/// The resources to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceQuery {
    /// Name of the resource that lists the others.
    pub index: String,
    /// Names and checksums of resources that are not to be read.
    pub known: Vec<(String, String)>,
    /// Most resources; of a longer list, none is read.
    pub most: usize,
}

/// A server, and the conditions under which it is asked.
#[derive(Clone, Debug)]
pub struct ResourceServer {
    /// This program.
    pub self_program: PathBuf,
    /// The server's program, and its arguments.
    pub command: (OsString, Vec<OsString>),
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Longest silence.
    pub quiet: Duration,
    /// Longest time in all.
    pub total: Duration,
}

/// A resource's name and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name.
    pub uri: String,
    /// Its text.
    pub text: String,
}

/// Reason why nothing was read. What came until then is discarded.
#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    /// This program did not start.
    #[error("cannot start the process that asks it")]
    Spawn(#[from] SpawnError),
    /// It sent nothing for too long.
    #[error("it sent nothing for {} s{}", .quiet.as_secs(), remark(.odd.as_deref(), .stderr))]
    Quiet {
        /// The longest silence.
        quiet: Duration,
        /// The first line that was no message.
        odd: Option<String>,
        /// The end of its standard error.
        stderr: String,
    },
    /// It took too long.
    #[error("it took longer than {} s", .total.as_secs())]
    Deadline {
        /// The longest time.
        total: Duration,
    },
    /// The person stopped it.
    #[error("interrupted")]
    Cancelled,
    /// It sent too much.
    #[error(
        "it sent too much: more than {} MiB, or {} MiB in one message",
        LARGEST_STREAM >> 20, LONGEST_MESSAGE >> 20
    )]
    TooMuch,
    /// It refused, failed or ended.
    #[error("{words}{}", remark(.odd.as_deref(), .stderr))]
    Failed {
        /// The reason.
        words: String,
        /// The first line that was no message.
        odd: Option<String>,
        /// The end of its standard error.
        stderr: String,
    },
}

fn remark(odd: Option<&str>, stderr: &str) -> String {
    let odd = odd.map(|line| {
        let line = fit_line(line, LONGEST_ODD_LINE);
        format!("; it wrote a line that is not a message: `{line}`")
    });
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    let stderr = last.map(|line| format!("; its last words: {}", fit_line(line, LAST_WORDS)));
    odd.unwrap_or_default() + &stderr.unwrap_or_default()
}

/// Starts a server, and reads its index and the resources that this lists.
pub fn read_resources(
    server: &ResourceServer,
    query: ResourceQuery,
    cancel: &Cancel,
) -> Result<Vec<Resource>, ResourceError> {
    let patience = Timeouts {
        quiet: server.quiet,
        total: Some(server.total),
    };
    let job = Job {
        transport: Transport::Mcp,
        want: Want::Resources(query),
        endpoint: None,
        model: None,
        api_key_env: None,
        context_tokens: None,
        command: Some(server.command.clone()),
        tool: None,
        argument: None,
        root: server.folder.clone(),
        limits: JobLimits::of(patience, 0),
        farewell: None,
        tells_as_it_ends: false,
        must_ask: false,
    };
    let launch = Launch {
        program: server.self_program.clone(),
        arguments: ["executor", "run", "mcp"].map(Into::into).into(),
        folder: server.folder.clone(),
        environment: server.environment.clone(),
        input: job.to_bytes(),
        limits: Limits {
            quiet: Some(server.quiet),
            total: Some(server.total),
            // Events escape the text again.
            output_bytes: 2 * LARGEST_STREAM,
            error_bytes: LAST_WORDS,
        },
    };
    let run = process::run(&launch, cancel, &mut |_, _| {})?;
    let mut heard = Heard::default();
    for line in run.output.split(|byte| *byte == b'\n') {
        // A torn last line is no event; the ending says why.
        if let Ok(event) = serde_json::from_slice(line) {
            heard.take(event);
        }
    }
    let stderr = fit(&String::from_utf8_lossy(&run.error));
    heard.conclude(run.ending, server, stderr)
}

/// The events of the process.
#[derive(Default)]
struct Heard {
    resources: Vec<Resource>,
    odd: Option<String>,
    failed: Option<String>,
    is_too_much: bool,
    is_done: bool,
}

impl Heard {
    fn take(&mut self, event: Event) {
        match event {
            Event::Resource { uri, text } => self.resources.push(Resource { uri, text }),
            Event::Odd { line } => self.odd = Some(line),
            Event::Failed { words, .. } => self.failed = Some(fit(&words)),
            Event::TooMuch => self.is_too_much = true,
            Event::Done => self.is_done = true,
            _ => {}
        }
    }

    fn conclude(
        self,
        ending: Ending,
        server: &ResourceServer,
        stderr: String,
    ) -> Result<Vec<Resource>, ResourceError> {
        let (quiet, total) = (server.quiet, server.total);
        let odd = self.odd;
        match ending {
            _ if self.is_too_much => Err(ResourceError::TooMuch),
            Ending::TooMuchOutput => Err(ResourceError::TooMuch),
            Ending::Quiet => Err(ResourceError::Quiet { quiet, odd, stderr }),
            Ending::Deadline => Err(ResourceError::Deadline { total }),
            Ending::Cancelled => Err(ResourceError::Cancelled),
            Ending::Exited(0) if self.is_done => Ok(self.resources),
            _ => {
                let words = self.failed;
                let words = words.unwrap_or_else(|| "it ended before it answered".to_owned());
                Err(ResourceError::Failed { words, odd, stderr })
            }
        }
    }
}
