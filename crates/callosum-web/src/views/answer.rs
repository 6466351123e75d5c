//! [`Answer`]: a view as it is sent, as HTML and as JSON.

use askama::Template;
use serde::Serialize;
use serde_json::Value;

use crate::command::CommandFailure;

/// A view as it is sent.
#[derive(Default)]
pub(crate) struct Answer {
    /// The part of the page below the menu.
    pub(crate) html: String,
    /// The same data for scripts.
    pub(crate) json: Value,
}

impl Answer {
    /// Renders a template, and keeps its data.
    pub(crate) fn of<T: Template + Serialize>(view: &T) -> Result<Self, CommandFailure> {
        let failed = |error: &dyn std::fmt::Display| {
            CommandFailure::new(format!("cannot show the view: {error}"))
        };
        Ok(Self {
            html: view.render().map_err(|error| failed(&error))?,
            json: serde_json::to_value(view).map_err(|error| failed(&error))?,
        })
    }
}
