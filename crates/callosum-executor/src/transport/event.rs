//! [`Event`]: reports of the process that speaks for us, a line of JSON each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{output_format::ErrorText, server_tool::ServerTool};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A sign that the other side is alive, without content.
    Life,
    /// A current activity.
    Doing {
        /// In words.
        what: String,
    },
    /// A wait before the other side is asked again; sent once a wait.
    Waiting {
        /// For how long, and why, in words.
        what: String,
    },
    /// Output of the other side that is no message of its protocol; sent once.
    Odd {
        /// The beginning of it.
        line: String,
    },
    /// Facts about the prompt, for the answer's metadata.
    Given {
        /// Tokens of the whole prompt, by estimate.
        prompt_tokens: u64,
        /// Parts of the tree that the model was shown.
        shown: Map<String, Value>,
    },
    /// The next piece of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// The answer begins again: its text so far is discarded.
    Anew,
    /// Tokens as the other side counts them.
    Usage {
        /// All that was read.
        input: u64,
        /// Tokens of that which came from a cache.
        cached: u64,
        /// All that was written.
        output: u64,
    },
    /// The model that answers.
    Model {
        /// Its name.
        name: String,
    },
    /// The cost.
    Cost {
        /// In US dollars.
        usd: f64,
    },
    /// Results of a look at the server, without asking a model.
    Found {
        /// The server's version, if it reports one.
        version: Option<String>,
        /// The names of its models or tools.
        offers: Vec<String>,
        /// The tools of a tool server.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ServerTool>,
    },
    /// A tool is being called, from now on.
    Calling,
    /// A tool's answer.
    Called {
        /// Its texts.
        text: String,
        /// Its structured content.
        structured: Option<Value>,
        /// Whether it failed.
        is_error: bool,
    },
    /// A resource of the server.
    Resource {
        /// Its name.
        uri: String,
        /// Its text.
        text: String,
    },
    /// The result of a tool that the other side used itself, if the tool does more than read.
    Used {
        /// Its text.
        text: String,
    },
    /// The answer is whole.
    Done,
    /// The agent went on after its input had ended, so that it may not have written down why its answer ended.
    Unended,
    /// The answer is longer than any may be.
    TooMuch,
    /// There is no answer.
    Failed {
        /// The reason, in words.
        words: String,
        /// The status of the HTTP answer.
        status: Option<u64>,
        /// The other side's name for the kind of error.
        kind: Option<String>,
        /// The time of the next try, in words.
        resets: Option<String>,
    },
}

/// Receiver of events; it returns whether anyone still listens.
pub(crate) type Tell<'t> = dyn FnMut(Event) -> bool + Send + 't;

impl From<ErrorText> for Event {
    fn from(complaint: ErrorText) -> Self {
        Self::Failed {
            words: complaint.words,
            status: complaint.status,
            kind: complaint.kind,
            resets: complaint.resets.map(|reset| reset.words),
        }
    }
}
