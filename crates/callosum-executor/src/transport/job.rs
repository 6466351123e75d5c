//! [`Job`]: input of the process that speaks for us, as one JSON document on standard input.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{name::Transport, resources::ResourceQuery};
use crate::{client::Client, protocol::Request, registry::Executor, runner::Timeouts};

/// One thing to be asked of an executor.
///
/// It names the variable that holds a key, never the key: the process has it in its environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The transport to use.
    pub(crate) transport: Transport,
    /// The wanted result.
    pub(crate) want: Want,
    /// Address of its server.
    pub(crate) endpoint: Option<String>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// Context size of the model in tokens.
    pub(crate) context_tokens: Option<u64>,
    /// The program that speaks the protocol, and its arguments, if one has to be started.
    pub(crate) command: Option<(OsString, Vec<OsString>)>,
    /// The tool that is called.
    pub(crate) tool: Option<String>,
    /// Its argument that takes the prompt.
    pub(crate) argument: Option<String>,
    /// The tree that is asked about.
    pub(crate) root: PathBuf,
    /// Its time limits.
    pub(crate) limits: Limits,
    /// Path of the pipe through which it learns that it has to leave.
    pub(crate) farewell: Option<PathBuf>,
    /// Whether the agent writes down only as it ends why its answer ended.
    pub(crate) tells_as_it_ends: bool,
    /// Whether nothing confines the agent, so that it must ask before it changes anything.
    pub(crate) must_ask: bool,
}

/// Time limits of a job; the controller ends the process after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Longest silence, in milliseconds.
    pub(crate) quiet_ms: u64,
    /// Longest time in all, in milliseconds, if there is a bound.
    pub(crate) total_ms: Option<u64>,
    /// Most waits for a server that refuses for now.
    pub(crate) waits: u32,
}

impl Limits {
    /// Returns the limits of an executor.
    pub(super) fn of(patience: Timeouts, waits: u32) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            quiet_ms: millis(patience.quiet),
            total_ms: patience.total.map(millis),
            waits,
        }
    }

    /// Longest silence.
    pub(crate) fn quiet(self) -> Duration {
        Duration::from_millis(self.quiet_ms)
    }

    /// Longest time in all, if there is a bound.
    pub(crate) fn total(self) -> Option<Duration> {
        self.total_ms.map(Duration::from_millis)
    }
}

/// Wanted result of an executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Want {
    /// Its existence and its offer, without asking a model.
    Look,
    /// A sign that its model is loaded: waits until there is one.
    Ready,
    /// An answer.
    Answer(Request),
    /// A call of the tool, with these arguments.
    Call(Map<String, Value>),
    /// The resources that the server's index lists.
    Resources(ResourceQuery),
}

impl Job {
    /// The job of asking `executor` for something.
    pub(crate) fn of(transport: Transport, want: Want, executor: &Executor, root: PathBuf) -> Self {
        Self {
            transport,
            want,
            endpoint: executor.endpoint.clone(),
            model: executor.model.clone(),
            api_key_env: executor.api_key_env.clone(),
            context_tokens: executor.context_tokens,
            command: None,
            tool: executor.tool.clone(),
            argument: executor.argument.clone(),
            root,
            limits: Limits::default(),
            farewell: None,
            must_ask: false,
            tells_as_it_ends: Client::behind(executor).is_some_and(|it| !it.recording.is_empty()),
        }
    }

    /// The bytes that go to standard input.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and numbers are JSON")
    }
}
