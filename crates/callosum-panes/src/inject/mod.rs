//! Brings a prompt to a client, and proves that the client took it.
//!
//! Start with [`prepare`], [`mailbox::post`] and [`tmux::inject`]. [`machine`] decides, without any input or output of its
//! own, [`tmux`] looks and types, and [`mailbox`] uses the client's own way to take a message. [`rate`] limits how often.
//!
//! No route reports success: keys that tmux sends may reach a dialog, a shell or nothing, and a mailbox takes a text that
//! its client never reads. So every step waits for evidence, and an injection without evidence is
//! [`Outcome::Unconfirmed`].

pub mod guard;
mod lock;
pub mod machine;
pub mod mailbox;
pub mod rate;
pub mod sent;
pub mod text;
pub mod tmux;

use std::{fmt, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::text::{Prepared, TextError, prepare};
use crate::state::State;

/// A text for a pane, and the terms on which it may be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The text.
    pub text: Prepared,
    /// The terms.
    pub options: Options,
}

/// Terms of an injection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Types also into a client that works and has an empty draft. Claude Code, Codex and Gemini CLI queue the text.
    pub while_working: bool,
    /// Also goes to a client whose limit is used up, which a caller sets after the limit has ended.
    pub after_limit: bool,
    /// Allows a text that begins with `/` or `!`, which a client runs as a command of its own or in a shell.
    pub commands: bool,
    /// Removes the text from the composer with Ctrl-U if it was not submitted, is there alone and fits on one line.
    pub cleanup: bool,
    /// Checks everything and types nothing.
    pub dry_run: bool,
    /// Time limits.
    pub timing: Timing,
}

/// Time limits of an injection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// For everything.
    pub total: Duration,
    /// Time that a screen must look wrong before it counts. A client that redraws looks wrong for a moment.
    pub settle: Duration,
    /// For the text to appear in the composer.
    pub echo: Duration,
    /// After each Enter, for the composer to be empty. Enter is pressed as often as there are values.
    pub confirm: Vec<Duration>,
}

impl Default for Timing {
    /// Clients echo within 100 ms on a free machine and within 1 s on a busy one. The waits grow, so that a client that
    /// is merely slow is not sent three Enters at once.
    fn default() -> Self {
        Self {
            total: Duration::from_secs(15),
            settle: Duration::from_millis(400),
            echo: Duration::from_secs(3),
            confirm: [800, 1_600, 3_200].map(Duration::from_millis).into(),
        }
    }
}

/// A way to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryRoute {
    /// The socket that a session of Claude Code listens on.
    ClaudeSocket,
    /// The command `codex queue`.
    CodexQueue,
    /// A message that a hook of the client delivers.
    Hook,
    /// Keys that tmux sends.
    Tmux,
}

impl DeliveryRoute {
    /// Returns the name in output and in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeSocket => "claude-socket",
            Self::CodexQueue => "codex-queue",
            Self::Hook => "hook",
            Self::Tmux => "tmux",
        }
    }
}

/// Progress of an injection. Each phase has evidence in the receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The text and its terms are in order.
    Accepted,
    /// The pane is this injection's alone and the client is ready, or the message waits for a hook.
    Queued,
    /// The text is in the composer or in the client's mailbox.
    Written,
    /// The client took the text.
    Submitted,
    /// A hook of the client has it, or has delivered it.
    Seen,
    /// The agent has confirmed that it read the message.
    Acknowledged,
}

/// The end of an injection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// The client took the text; the receipt has the evidence.
    Submitted,
    /// Enter was pressed or the text was pasted, and nothing shows that the client took it. Not a success.
    Unconfirmed {
        /// The last thing that was seen.
        seen: String,
        /// Whether the text is still in the composer.
        text_left: bool,
    },
    /// No Enter was pressed.
    Refused {
        /// The obstacle.
        reason: Reason,
        /// Whether the text was pasted before and may wait in the composer.
        text_left: bool,
    },
    /// A message waits until a hook of the client delivers it. Not a success.
    Queued {
        /// The message's id.
        message: String,
    },
    /// A hook of the client delivered the message.
    Seen {
        /// The message's id.
        message: String,
    },
    /// The agent confirmed that it read the message.
    Acknowledged {
        /// The message's id.
        message: String,
    },
    /// A dry run met no obstacle.
    Possible,
}

impl Outcome {
    /// Whether there is evidence that the client took the text.
    pub const fn is_submitted(&self) -> bool {
        matches!(
            self,
            Self::Submitted | Self::Seen { .. } | Self::Acknowledged { .. }
        )
    }
}

/// An obstacle to an injection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// A dialog waits for a person; keys would answer it.
    Dialog {
        /// The dialog, if it is known.
        detail: Option<String>,
    },
    /// A page hides the composer, or the screen has no known form.
    Overlay {
        /// The page, if it is known.
        detail: Option<String>,
    },
    /// The client is in a state that takes no prompt.
    NotReady {
        /// The state.
        state: State,
    },
    /// The composer holds something else.
    Draft,
    /// A person scrolls in the pane.
    CopyMode,
    /// A person has switched the pane's input off.
    InputOff,
    /// The window sends all input to all of its panes.
    Synchronized,
    /// The client has ended, or another program has the terminal.
    ProgramChanged,
    /// The screen cannot be read.
    Unreadable,
    /// Another injection into this pane is under way.
    InFlight,
    /// Too many injections went into this pane.
    Rate {
        /// Milliseconds until the next one is allowed.
        wait_ms: u64,
    },
    /// The text would be a command of the client.
    Command {
        /// Its first character.
        sign: char,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |formatter: &mut fmt::Formatter<'_>, what: &str, detail: &Option<String>| {
            match detail {
                Some(detail) => write!(formatter, "{what}: {detail}"),
                None => formatter.write_str(what),
            }
        };
        match self {
            Self::Dialog { detail } => with(formatter, "a dialog is open", detail),
            Self::Overlay { detail } => with(formatter, "the composer is hidden", detail),
            Self::NotReady { state } => write!(formatter, "the client takes no prompt ({state})"),
            Self::Draft => formatter.write_str("the composer holds another draft"),
            Self::CopyMode => formatter.write_str("a person scrolls in the pane (copy mode)"),
            Self::InputOff => formatter.write_str("the pane's input is off"),
            Self::Synchronized => formatter.write_str("the window has `synchronize-panes` on"),
            Self::ProgramChanged => formatter.write_str("the client is no longer in this pane"),
            Self::Unreadable => formatter.write_str("the screen cannot be read"),
            Self::InFlight => formatter.write_str("another injection into this pane is under way"),
            Self::Rate { wait_ms } => {
                write!(
                    formatter,
                    "too many injections (wait {} s)",
                    wait_ms.div_ceil(1_000)
                )
            }
            Self::Command { sign } => {
                write!(
                    formatter,
                    "a text that begins with `{sign}` is a command of the client"
                )
            }
        }
    }
}

/// A phase that an injection reached, and the proof of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The phase.
    pub phase: Phase,
    /// Milliseconds since the injection began.
    pub after_ms: u64,
    /// The thing that was seen.
    pub evidence: String,
}

/// The record of an injection. Without the text, which may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The pane, such as `%3`.
    pub pane: String,
    /// Process id of the client. 0 if no client was found.
    pub pid: u32,
    /// The way that the text went.
    pub route: DeliveryRoute,
    /// Bytes of the text.
    pub bytes: usize,
    /// When the injection began.
    pub at: Timestamp,
    /// The phases it reached, in order.
    pub steps: Vec<Step>,
    /// Number of times Enter was pressed.
    pub enters: usize,
    /// Milliseconds it took.
    pub took_ms: u64,
    /// Its end.
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_read_back_as_it_was_written() {
        let outcomes = [
            Outcome::Submitted,
            Outcome::Possible,
            Outcome::Queued {
                message: "m1".to_owned(),
            },
            Outcome::Unconfirmed {
                seen: "nothing".to_owned(),
                text_left: true,
            },
            Outcome::Refused {
                reason: Reason::NotReady {
                    state: State::Working,
                },
                text_left: false,
            },
        ];
        for outcome in outcomes {
            let receipt = Receipt {
                pane: "%3".to_owned(),
                pid: 42,
                route: DeliveryRoute::Tmux,
                bytes: 7,
                at: Timestamp::UNIX_EPOCH,
                steps: vec![Step {
                    phase: Phase::Written,
                    after_ms: 80,
                    evidence: "the text is in the composer".to_owned(),
                }],
                enters: 1,
                took_ms: 200,
                outcome,
            };
            let text = serde_json::to_string(&receipt).unwrap();
            assert_eq!(
                serde_json::from_str::<Receipt>(&text).unwrap(),
                receipt,
                "{text}"
            );
        }
    }

    #[test]
    fn a_reason_is_a_sentence_for_people() {
        let reason = Reason::Dialog {
            detail: Some("a plan to approve".to_owned()),
        };
        assert_eq!(reason.to_string(), "a dialog is open: a plan to approve");
        assert_eq!(
            Reason::Rate { wait_ms: 9_001 }.to_string(),
            "too many injections (wait 10 s)"
        );
    }
}
