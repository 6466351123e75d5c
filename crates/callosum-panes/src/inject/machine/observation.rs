//! [`Observation`]: what a look saw, and [`Action`]: what to do about it.

use std::time::Duration;

use super::super::Outcome;
use crate::state::State;

/// What one look saw.
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

/// What the screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The state.
    pub state: State,
    /// More about the state.
    pub detail: Option<String>,
    /// What is typed in the composer. `None` if the composer is not on the screen.
    pub draft: Option<String>,
    /// How many prompts above the composer begin like the text.
    pub mentions: usize,
    /// How many prompts above the composer are markers of pasted texts.
    pub markers: usize,
}

/// What to do next.
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
