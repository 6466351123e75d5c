//! [`Hooks`]: format of a client's hooks, and of the answers that it obeys. Hooks run before its tools, and when a session begins and ends.
//!
//! Data only. What a client sends, the answer to it, and writing into its settings are the
//! program's business.

use super::Version;

/// The hooks of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// Path of the file for hooks that apply everywhere, in its own folder.
    pub user: &'static str,
    /// Path of the file for hooks of one project, in the project's root.
    pub project: &'static str,
    /// Path of keys in its user's settings to the list of folders that the client may use in
    /// addition to the project.
    pub given: Option<[&'static str; 2]>,
    /// Its name for the event before a tool runs.
    pub before_tool: &'static str,
    /// Its other events, apart from [`before_tool`](Self::before_tool), at which a command is about
    /// to run and the guard decides; each with our own name for it.
    pub deciding: &'static [(&'static str, &'static str)],
    /// The setting for a hook that is missing, fails or takes too long: the key, and the value that stops the tool.
    /// `None` if the client has no such key and runs the tool.
    pub on_failure: Option<(&'static str, &'static str)>,
    /// Its names for the events of a session, each with our own name for it. Only those that were
    /// seen to fire when they should.
    pub session: &'static [(&'static str, &'static str)],
    /// The first version that was seen to ask a plugin before it clears a context, and to obey it.
    pub gate: Option<Version>,
    /// Its event for a file's command that is about to be sent to the model, and our name for it,
    /// if a file may replace its own `/clear`.
    pub typed: Option<(&'static str, &'static str)>,
    /// Whether its hooks have names.
    pub names: bool,
    /// In what its time limits are counted.
    pub time_unit: TimeUnit,
    /// The events for which it waits no longer than so many seconds, and complains where more is
    /// registered.
    pub hurried: &'static [(&'static str, u64)],
    /// Whether a hook can make it ask the user.
    pub asking: Asking,
    /// The form of an answer that denies a tool, and that the client shows as a denial and as
    /// nothing else.
    pub denying: Denying,
    /// When an answer that allows a tool spares the person the client's own prompt.
    pub allowing: Allowing,
    /// The way in which it accepts another command in place of the one that its model asked for.
    pub rewriting: Rewriting,
    /// Readers of the message in an answer that allows a tool.
    pub telling: MessageTargets,
    /// Output of a hook that only watches.
    pub silence: &'static str,
    /// The version whose hooks were seen to fire, and to stop a tool.
    pub proven: Version,
    /// Limits of its hooks that a person must know and no setting shows.
    pub limits: &'static str,
}

/// In what a client counts the time that it waits for a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Whole seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// The way in which a hook makes a client ask the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// By an answer that asks for it, as long as someone is there to be asked.
    ByAnswer,
    /// Not at all: it ignores such an answer, or hangs.
    Never,
}

/// The way in which a hook denies a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denying {
    /// By the permission in an answer.
    ByPermission,
    /// By the decision of an answer. Exit code 2 stops the tool as well, and is shown as a hook that
    /// has failed.
    ByDecision,
    /// By exit code 2, with the reason on standard error.
    ByExitCode,
}

/// When an answer that allows a tool spares the person the client's own prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowing {
    /// Before the tool runs, by the permission in the answer.
    BeforeTool,
    /// Only as the client is about to prompt, at this event of its own.
    AtPrompt(&'static str),
    /// Never: the client prompts in any case.
    Never,
}

/// The way in which a client takes another command in place of the one that its model asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// By `updatedInput` next to the permission.
    ByUpdatedInput,
    /// By `tool_input` in the answer.
    ByToolInput,
    /// Not at all, or it was not seen to.
    Never,
}

/// Readers of the message in an answer that allows a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageTargets {
    /// Whether the user sees `systemMessage`.
    pub person: bool,
    /// Whether its model sees `additionalContext`.
    pub model: bool,
}

/// Our own word for the moment before a tool runs.
const BEFORE_TOOL: &str = "pre-tool-use";

impl Hooks {
    /// Lists every event that it has to report: its own name, and our name for it.
    pub fn events(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let deciding = std::iter::once((self.before_tool, BEFORE_TOOL));
        deciding
            .chain(self.deciding.iter().copied())
            .chain(self.session.iter().copied())
    }

    /// Returns whether the client waits at this event for whether it may go on.
    pub fn decides(&self, event: &str) -> bool {
        let mut deciding = self.deciding.iter();
        event == self.before_tool || deciding.any(|(name, _)| *name == event)
    }

    /// Lists the same events, and the one that fires only if its own `/clear` is shadowed.
    pub fn all_events(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.events().chain(self.typed)
    }

    /// Returns what an event must be about for its hook to run; `None` for each.
    ///
    /// Gemini CLI 0.61 fires `PreCompress` before each request, with the trigger `auto`.
    pub fn matcher(&self, event: &str) -> Option<&'static str> {
        match event {
            event if event == self.before_tool => Some("*"),
            "PreCompress" => Some("manual"),
            _ => None,
        }
    }

    /// Returns the client's timeout for the hook of an event, in its own unit: ten seconds, or the
    /// client's maximum.
    ///
    /// Most clients go on with the tool after the timeout, so an answer comes long before.
    pub fn timeout(&self, event: &str) -> u64 {
        let mut hurried = self.hurried.iter();
        let hurried = hurried.find(|(name, _)| *name == event);
        let seconds = hurried.map_or(10, |(_, seconds)| *seconds);
        match self.time_unit {
            TimeUnit::Seconds => seconds,
            TimeUnit::Milliseconds => seconds * 1000,
        }
    }
}
