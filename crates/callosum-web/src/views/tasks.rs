//! The view *Tasks*.

use askama::Template;
use serde::Serialize;

use super::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    visit::Visit,
};

#[derive(Serialize, Template)]
#[template(path = "tasks.html")]
struct TasksView {}

/// Shows the view.
pub(crate) fn show(_visit: &Visit) -> Result<Answer, CommandFailure> {
    Answer::of(&TasksView {})
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, _form: &Form) -> Result<Command, BadForm> {
    Err(BadForm::Action(action.to_owned()))
}
