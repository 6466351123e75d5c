//! [`State`]: activity of an agent, and [`Assessment`]: a state with the evidence for it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Activity of an agent in a pane: the six states of Seed CALC §4 (layer 4) and three that they lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// The client has ended, and a shell or nothing is left in the pane.
    SessionEnded,
    /// The context window is full, and the client cannot go on.
    ContextExhausted,
    /// The last thing on the screen is an error, and nothing runs.
    StuckOnError,
    /// A turn has just ended.
    TaskComplete,
    /// The client waits for a prompt, and nothing runs in the background.
    TrulyIdle,
    /// A model or a tool is running, also in the background.
    Working,
    /// A dialog waits for a person.
    BlockedOnApproval,
    /// The account's limit is used up.
    UsageLimited,
    /// The signals do not say; the assessment's detail says why.
    Unknown,
}

impl State {
    /// All states, in the order of this page.
    pub const ALL: [Self; 9] = [
        Self::SessionEnded,
        Self::ContextExhausted,
        Self::StuckOnError,
        Self::TaskComplete,
        Self::TrulyIdle,
        Self::Working,
        Self::BlockedOnApproval,
        Self::UsageLimited,
        Self::Unknown,
    ];

    /// Returns the name in files and output, such as `TRULY_IDLE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionEnded => "SESSION_ENDED",
            Self::ContextExhausted => "CONTEXT_EXHAUSTED",
            Self::StuckOnError => "STUCK_ON_ERROR",
            Self::TaskComplete => "TASK_COMPLETE",
            Self::TrulyIdle => "TRULY_IDLE",
            Self::Working => "WORKING",
            Self::BlockedOnApproval => "BLOCKED_ON_APPROVAL",
            Self::UsageLimited => "USAGE_LIMITED",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Returns the nearest of the seed's six states, for a reader that knows no others.
    ///
    /// A blocked or unknown agent becomes `WORKING`: an old reader must not take it for one that can get a prompt.
    #[must_use]
    pub const fn of_six(self) -> Self {
        match self {
            Self::BlockedOnApproval | Self::Unknown => Self::Working,
            Self::UsageLimited => Self::StuckOnError,
            other => other,
        }
    }

    /// Whether a prompt typed now would start a turn.
    pub const fn takes_prompt(self) -> bool {
        matches!(self, Self::TaskComplete | Self::TrulyIdle)
    }
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A source of knowledge about a pane, from the one that is believed most to the one that is believed least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// The table of processes.
    Process,
    /// A hook of ours that the client ran.
    Hook,
    /// The client's own file about its session.
    Registry,
    /// The title of the terminal.
    Title,
    /// The rendered screen.
    Screen,
    /// Time without a change.
    Clock,
}

impl Signal {
    /// Returns the name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Hook => "hook",
            Self::Registry => "registry",
            Self::Title => "title",
            Self::Screen => "screen",
            Self::Clock => "clock",
        }
    }
}

/// One reason for a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Signal that showed it.
    pub signal: Signal,
    /// The rule or event that applied, such as `claude.permission`.
    pub rule: String,
    /// The text that matched, on one line, masked and cut.
    pub text: String,
}

/// A signal or rule that was looked at, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Considered {
    /// Signal that it used.
    pub signal: Signal,
    /// The rule or event.
    pub rule: String,
    /// The state that it means, if it applied.
    pub state: Option<State>,
    /// Reason that it did not apply, or was not believed.
    pub because: String,
}

/// Activity of an agent, with the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The state.
    pub state: State,
    /// More about it: which dialog, why nothing is known.
    pub detail: Option<String>,
    /// When the limit ends, if the client says so.
    pub resets_at: Option<Timestamp>,
    /// The reset time as the client words it.
    pub resets: Option<String>,
    /// Evidence. Empty only for a state that follows from the absence of everything.
    pub evidence: Vec<Evidence>,
    /// Every signal and rule that was looked at, in order.
    pub considered: Vec<Considered>,
}

impl Assessment {
    /// Returns an assessment without evidence.
    pub fn new(state: State) -> Self {
        Self {
            state,
            detail: None,
            resets_at: None,
            resets: None,
            evidence: Vec::new(),
            considered: Vec::new(),
        }
    }

    /// Returns that nothing is known, and why.
    pub fn unknown(detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            ..Self::new(State::Unknown)
        }
    }
}
