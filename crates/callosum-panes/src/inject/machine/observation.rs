//! [`Observation`]: result of a look at the pane, and [`Action`]: reaction to it.

use std::time::Duration;

use super::super::Outcome;
use crate::state::State;

/// The result of one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Time since the injection began.
    pub elapsed: Duration,
    /// Whether the client has the terminal, by its process id and start time.
    pub is_client_there: bool,
    /// Whether a person scrolls in the pane.
    pub is_in_mode: bool,
    /// Whether the pane's input is off.
    pub is_input_off: bool,
    /// The screen, if it could be read.
    pub view: Option<View>,
}

/// Content of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The state.
    pub state: State,
    /// More about the state.
    pub detail: Option<String>,
    /// Text in the composer. `None` if the composer is not on the screen.
    pub draft: Option<String>,
    /// Number of prompts above the composer that begin like the text.
    pub mentions: usize,
    /// Number of prompts above the composer that are markers of pasted texts.
    pub markers: usize,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look again.
    Wait,
    /// Paste the text.
    Paste,
    /// Send a carriage return.
    PressEnter,
    /// Send Ctrl-U.
    ClearLine,
    /// The end.
    Done(Outcome),
}
