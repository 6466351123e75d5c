//! [`Hooks`]: how a client is told of a program that it is to ask before its tools run, and to tell
//! when a session begins and ends, and what it obeys then.
//!
//! Data only. What a client sends and how it is answered is the program's business, as is writing
//! into its settings.

use super::Version;

/// The hooks of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// Where hooks that hold everywhere stand, in its own folder.
    pub user: &'static str,
    /// Where those of one project stand, in the project's root.
    pub project: &'static str,
    /// Where in its user's settings folders stand that it was given besides the project: the names on
    /// the way to the list.
    pub given: Option<[&'static str; 2]>,
    /// What it calls the moment before a tool runs.
    pub before_tool: &'static str,
    /// Its events beside [`before_tool`](Self::before_tool) at which a command is about to run that the guard decides on, each
    /// with our own word for it.
    pub deciding: &'static [(&'static str, &'static str)],
    /// The setting for a hook that is missing, fails or takes too long: the key, and the value that stops the tool.
    /// `None` if the client has no such key and runs the tool.
    pub on_failure: Option<(&'static str, &'static str)>,
    /// What it calls the moments of a session, each with our own word for it. Only those that were
    /// seen to fire when they should.
    pub session: &'static [(&'static str, &'static str)],
    /// The first version that was seen to ask a plugin before it clears a context, and to obey it.
    pub gate: Option<Version>,
    /// Its word for a command of a file's that is about to be sent to the model, and ours: where a file
    /// may take the place of its own `/clear`.
    pub typed: Option<(&'static str, &'static str)>,
    /// Whether its hooks have names.
    pub names: bool,
    /// In what its time limits are counted.
    pub time_unit: TimeUnit,
    /// The events for which it waits no longer than so many seconds, and complains where more is
    /// registered.
    pub hurried: &'static [(&'static str, u64)],
    /// How it can be made to ask the person before it.
    pub asking: Asking,
    /// How it is told that a tool must not run, in the form that it shows as that and as nothing else.
    pub denying: Denying,
    /// When an answer that allows a tool spares the person the client's own prompt.
    pub allowing: Allowing,
    /// How it takes another command in place of the one that its model asked for.
    pub rewriting: Rewriting,
    /// Who is told what an answer says that lets a tool run.
    pub telling: MessageTargets,
    /// What a hook prints that only watches.
    pub silence: &'static str,
    /// The version whose hooks were seen to fire, and to stop a tool.
    pub proven: Version,
    /// What a person must know of its hooks that no setting says.
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

/// How a client can be made to ask the person before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// By an answer that says so, as far as somebody is there to be asked.
    ByAnswer,
    /// Not at all: it ignores such an answer, or hangs.
    Never,
}

/// How a client is told that a tool must not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denying {
    /// By what an answer says of the permission.
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
    /// Before the tool runs, by what the answer says of the permission.
    BeforeTool,
    /// Only as the client is about to prompt, at this event of its own.
    AtPrompt(&'static str),
    /// Never: the client prompts in any case.
    Never,
}

/// The way in which a client takes another command in place of the one that its model asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// By `updatedInput` beside the permission.
    ByUpdatedInput,
    /// By `tool_input` in the answer.
    ByToolInput,
    /// Not at all, or it was not seen to.
    Never,
}

/// Who is told what an answer says that lets a tool run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageTargets {
    /// The person before it, of what stands in `systemMessage`.
    pub person: bool,
    /// Its model, of what stands in `additionalContext`.
    pub model: bool,
}

/// Our own word for the moment before a tool runs.
const BEFORE_TOOL: &str = "pre-tool-use";

impl Hooks {
    /// Every event that it is to tell of: its own name, and our word for it.
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

    /// The same, and what is told of only where its own `/clear` is shadowed.
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

    /// How long it is to wait for the hook of an event, as it counts: ten seconds, or as long as it
    /// waits at most.
    ///
    /// Most of them go on with the tool once that is over, so an answer comes long before.
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
