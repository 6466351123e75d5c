//! [`Button`]: a button of an item of `callosum top --json`, and the command that it runs.
//!
//! `top` names each command by its effect and its arguments. Only commands of a known form become a button: the button
//! carries ids, and [`command`] builds the arguments again from them.

use serde::{Deserialize, Serialize};

use crate::{
    command::Command,
    form::{BadForm, Form},
};

/// A command of an item, as `top` prints it.
#[derive(Deserialize)]
pub(super) struct Offered {
    name: String,
    argv: Vec<String>,
}

/// A button.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Button {
    /// Name of the action in the path of the form.
    pub(super) action: &'static str,
    /// Words on the button.
    pub(super) label: &'static str,
    /// Class of the button: empty, `quiet` or `danger`.
    pub(super) tone: &'static str,
    /// Question before the form is sent; empty if there is none.
    pub(super) question: &'static str,
    /// Hidden fields.
    pub(super) fields: Vec<(&'static str, String)>,
    /// Line that does the same.
    pub(super) line: String,
}

impl Button {
    /// Returns the button of a command; `None` if the page has none for it.
    pub(super) fn of(offered: &Offered) -> Option<Self> {
        let words: Vec<&str> = offered.argv.iter().map(String::as_str).collect();
        let button = |action, label, tone, question, fields: &[(&'static str, &str)]| Self {
            action,
            label,
            tone,
            question,
            fields: fields
                .iter()
                .map(|(key, value)| (*key, (*value).to_owned()))
                .collect(),
            line: line(&offered.argv),
        };
        Some(match (offered.name.as_str(), words.as_slice()) {
            ("approve", ["plan", "approve", run, key]) => {
                button("approve", "Approve", "", "", &[("run", run), ("key", key)])
            }
            ("deny", ["plan", "approve", run, key, "--refuse"]) => {
                button("deny", "Deny", "danger", "", &[("run", run), ("key", key)])
            }
            ("cancel", ["plan", "cancel", run]) => button(
                "cancel-run",
                "Cancel the run",
                "danger",
                "Cancel this run? Calls that are done stay done.",
                &[("run", run)],
            ),
            ("allow-once", ["guard", "allow", "--once", "--", line]) => {
                button("allow-once", "Allow once", "", "", &[("command", line)])
            }
            ("retry", ["mesh", "message", "retry", "--", id]) => {
                button("retry", "Deliver again", "", "", &[("id", id)])
            }
            ("drop", ["mesh", "message", "drop", "--", id]) => {
                button("drop", "Drop", "danger", "", &[("id", id)])
            }
            ("resolve", ["mesh", "conflicts", "resolve", "--", id]) => button(
                "resolve",
                "Resolve as proposed",
                "",
                "Resolve this conflict as proposed?",
                &[("id", id)],
            ),
            ("keep", ["mesh", "conflicts", "resolve", "--keep", "--", id]) => button(
                "keep",
                "Keep as is",
                "quiet",
                "Close this conflict and change no file?",
                &[("id", id)],
            ),
            ("cancel", ["mesh", "task", "cancel", "--", id]) => button(
                "cancel",
                "Cancel the task",
                "danger",
                "Cancel this task?",
                &[("id", id)],
            ),
            _ => return None,
        })
    }

    /// Returns the recipient of a command that sends a message.
    pub(super) fn recipient(offered: &Offered) -> Option<&str> {
        let words: Vec<&str> = offered.argv.iter().map(String::as_str).collect();
        match (offered.name.as_str(), words.as_slice()) {
            ("message", ["mesh", "message", "send", "--", to, "-"]) => Some(to),
            _ => None,
        }
    }

    /// Returns the line of a command that only shows something.
    pub(super) fn shows(offered: &Offered) -> Option<String> {
        matches!(offered.name.as_str(), "show" | "explain" | "resume").then(|| line(&offered.argv))
    }
}

fn line(argv: &[String]) -> String {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    Command::new(&words).line()
}

/// Returns the command that a form means.
///
/// # Errors
/// If there is no such action, or a field is missing.
pub(super) fn command(action: &str, form: &Form) -> Result<Command, BadForm> {
    let of_one = |words: &[&str], field: &'static str| {
        Ok(Command::new(words).values([form.required(field)?]))
    };
    match action {
        "approve" => Ok(Command::new(&["plan", "approve"])
            .values([form.required("run")?, form.required("key")?])),
        "deny" => Ok(Command::new(&["plan", "approve", "--refuse"])
            .values([form.required("run")?, form.required("key")?])),
        "cancel-run" => of_one(&["plan", "cancel"], "run"),
        "allow-once" => of_one(&["guard", "allow", "--once"], "command"),
        "retry" => of_one(&["mesh", "message", "retry"], "id"),
        "drop" => of_one(&["mesh", "message", "drop"], "id"),
        "resolve" => of_one(&["mesh", "conflicts", "resolve"], "id"),
        "keep" => of_one(&["mesh", "conflicts", "resolve", "--keep"], "id"),
        "cancel" => of_one(&["mesh", "task", "cancel"], "id"),
        "message" => Ok(Command::new(&["mesh", "message", "send"])
            .values([form.required("to")?, form.required("text")?])),
        other => Err(BadForm::Action(other.to_owned())),
    }
}
