//! [`Visit`]: one look at one view of one project, and the commands that it runs.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use callosum_redact::terminal_escape::harmless;

use crate::{
    command::{Command, CommandFailure},
    listing::escaped,
    project::Project,
    site::Shared,
};

/// A request for a view.
pub(crate) struct Visit {
    pub(crate) shared: Arc<Shared>,
    pub(crate) project: Project,
    /// Name of the view in the path, such as `tasks`.
    pub(crate) view: &'static str,
    /// Pairs of the query, in their order.
    pub(crate) query: Vec<(String, String)>,
    /// Failures of commands whose part of the view is empty.
    faults: Mutex<Vec<CommandFailure>>,
}

impl Visit {
    pub(crate) fn new(
        shared: Arc<Shared>,
        project: Project,
        view: &'static str,
        query: Vec<(String, String)>,
    ) -> Self {
        Self {
            shared,
            project,
            view,
            query,
            faults: Mutex::default(),
        }
    }

    /// Returns the value of a query key; `None` if it is missing or empty.
    pub(crate) fn param(&self, key: &str) -> Option<&str> {
        let mut pairs = self
            .query
            .iter()
            .filter(|(name, value)| name == key && !value.is_empty());
        pairs.next().map(|(_, value)| value.as_str())
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        self.shared.setting.clock.now()
    }

    /// Returns the address of a view of this project, such as `/p/ID/tasks`.
    pub(crate) fn href(&self, view: &str) -> String {
        format!("/p/{}/{view}", self.project.id)
    }

    /// Returns the address of this visit, without an earlier notice.
    pub(crate) fn here(&self) -> String {
        let pairs = self.query.iter().filter(|(key, _)| key != "notice");
        let pairs: Vec<_> = pairs
            .map(|(key, value)| format!("{}={}", escaped(key), escaped(value)))
            .collect();
        let mark = if pairs.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", self.href(self.view), pairs.join("&"))
    }

    /// Runs a command in the project, and reads what it prints.
    ///
    /// # Errors
    /// If it fails, or prints something else.
    pub(crate) fn ask<T: DeserializeOwned>(&self, command: &Command) -> Result<T, CommandFailure> {
        let printed = self.run(command)?;
        serde_json::from_value(printed).map_err(|error| {
            CommandFailure::new(format!(
                "cannot read what `{}` prints: {error}",
                command.line()
            ))
        })
    }

    /// Runs a command in the project.
    pub(crate) fn run(&self, command: &Command) -> Result<Value, CommandFailure> {
        let mut printed = self
            .shared
            .setting
            .program
            .run(&self.project.root, command)?;
        make_harmless(&mut printed);
        Ok(printed)
    }

    /// Runs a command, and reports its failure on the page. A part that fails leaves the others as they are.
    pub(crate) fn ask_or_report<T: DeserializeOwned>(&self, command: &Command) -> Option<T> {
        match self.ask(command) {
            Ok(found) => Some(found),
            Err(failure) => {
                self.report(failure);
                None
            }
        }
    }

    /// Shows a failure above the view.
    pub(crate) fn report(&self, failure: CommandFailure) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if !faults.contains(&failure) {
            faults.push(failure);
        }
    }

    /// The failures so far.
    pub(crate) fn faults(&self) -> Vec<CommandFailure> {
        self.faults
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Most characters of a text that the page shows.
const LONGEST: usize = 64 * 1024;

/// Makes control characters and marks of writing direction visible, and cuts what is too long to show.
fn make_harmless(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LONGEST) {
                let left = text.len() - end;
                text.truncate(end);
                let _ = write!(text, "… ({left} more bytes)");
            }
            *text = harmless(text);
        }
        Value::Array(values) => values.iter_mut().for_each(make_harmless),
        Value::Object(fields) => fields.values_mut().for_each(make_harmless),
        _ => {}
    }
}
