//! [`DelegateOptions`]: everything that a delegation can be asked for.

use std::path::PathBuf;
use std::time::Duration;

use callosum_arbiter::delegation::StartMark;
use callosum_arbiter::{Fraction, Kind, Mode, Priority};
use schemars::JsonSchema;
use serde::Deserialize;

/// The fewest tokens that a summary can be cut to and still say something.
pub const LEAST_BUDGET: u64 = 64;

/// The options of a delegation. The default asks for nothing.
#[derive(Debug, Default)]
pub struct DelegateOptions {
    /// The task or question; `-` means [`stdin`](Self::stdin).
    pub prompt: Option<String>,
    /// A task file instead of a prompt; `-` means [`stdin`](Self::stdin).
    pub tasks: Option<PathBuf>,
    /// The bytes of standard input, if the prompt or the task file is `-`.
    pub stdin: Option<Vec<u8>>,
    /// The kind of analysis; none leaves it to the executor.
    pub kind: Option<Kind>,
    /// The files and folders that the task is about; none is the whole repository.
    pub paths: Vec<PathBuf>,
    /// The executor to ask; none takes the preferred one.
    pub executor: Option<String>,
    /// The ledger tasks to build on.
    pub links: Vec<String>,
    /// The mode to run in; none chooses one for each task.
    pub mode: Option<Mode>,
    /// The order of waiting tasks.
    pub priority: Option<Priority>,
    /// The share of citations that must be valid, from 0 to 1.
    pub require_citations: Option<Fraction>,
    /// The most tokens of the summary, estimated.
    pub budget: Option<u64>,
    /// Whether scout's complete answer is wanted.
    pub all: bool,
    /// The only section of scout's answer that is wanted.
    pub section: Option<String>,
    /// Whether answers in the ledger are ignored.
    pub no_cache: bool,
    /// The longest wait for the reset of a rate limit.
    pub wait_limit: Option<Duration>,
    /// Whether a short answer without valid citations is asked for once more.
    pub ask_for_citations: bool,
    /// The most executor starts of the tree of tasks; 0 sets no limit, also below.
    pub max_spawns: Option<u64>,
    /// The tokens after which no executor is started.
    pub max_tokens: Option<u64>,
    /// The US dollars after which no executor is started.
    pub max_cost: Option<f64>,
    /// The time after which no executor is started; whole seconds count.
    pub timeout: Option<Duration>,
    /// The key of the plan's call that it is for.
    pub plan_call: Option<String>,
    /// The mark that is set just before the executor of that call starts.
    pub start_mark: Option<StartMark>,
}

/// The kinds of analysis of Seed CAL §9.4, as tools and plans name them.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// Layout, entry points and central files
    Scan,
    /// Dependencies, cycles, layers and external packages
    Deps,
    /// Tests, the code they cover, and untested code
    Tests,
    /// Public interface: names, routes and commands
    Api,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Scan => Self::Scan,
            KindName::Deps => Self::Deps,
            KindName::Tests => Self::Tests,
            KindName::Api => Self::Api,
        }
    }
}
