//! [`TestSite`]: a page without a daemon, whose commands print what a table has.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use askama::Template as _;
use callosum_host::{Clock, Disk};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    command::{Command, CommandFailure, Program},
    form::{BadForm, Form},
    form_token::FormToken,
    project::{Machine, Project, Subject},
    site::{Shared, SiteSetting},
    views::{self, layout::Layout},
    visit::Visit,
};

/// A page of one project.
pub(crate) struct TestSite {
    shared: Arc<Shared>,
    program: Arc<TableProgram>,
    folder: tempfile::TempDir,
}

impl TestSite {
    /// Returns a site whose commands print the value of the first row whose words they begin with. Another command fails.
    pub(crate) fn new(rows: &[(&str, Value)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let rows = rows.iter();
        let program = Arc::new(TableProgram {
            rows: rows
                .map(|(words, value)| ((*words).to_owned(), value.clone()))
                .collect(),
            lines: Mutex::default(),
        });
        let setting = SiteSetting {
            program: Arc::clone(&program) as Arc<dyn Program>,
            machine: Arc::new(NoProjects),
            token: FormToken::open(&disk, &folder.path().join("token")).unwrap(),
            proxy: None,
            disk,
            clock: Clock::fixed("2026-01-02T10:00:00Z".parse().unwrap(), Duration::ZERO),
            version: "0.0.0",
        };
        let (_, stop) = watch::channel(false);
        Self {
            shared: Arc::new(Shared::new(setting, stop)),
            program,
            folder,
        }
    }

    fn visit(&self, view: &str, query: &[(&str, &str)]) -> Visit {
        let pairs = query
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Visit::new(
            Arc::clone(&self.shared),
            Project::new(self.folder.path().to_owned()),
            views::named(view).unwrap().name,
            pairs.collect(),
        )
    }

    /// Returns a view as a page.
    pub(crate) fn html(&self, view: &str, query: &[(&str, &str)]) -> String {
        let visit = self.visit(view, query);
        let view = views::named(view).unwrap();
        let html = (view.show)(&visit).unwrap().html;
        Layout::new(&visit, view, html, None).render().unwrap()
    }

    /// Returns a view as JSON, and the failures above it.
    pub(crate) fn json(&self, view: &str, query: &[(&str, &str)]) -> (Value, Vec<String>) {
        let visit = self.visit(view, query);
        let json = (views::named(view).unwrap().show)(&visit).unwrap().json;
        let faults = visit.faults().into_iter().map(|fault| fault.message);
        (json, faults.collect())
    }

    /// Returns the commands that ran so far, without quotes.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.program.lines.lock().unwrap().clone()
    }
}

/// Returns the arguments of the command that a form means.
pub(crate) fn arguments(
    view: &str,
    action: &str,
    fields: &[(&str, &str)],
) -> Result<Vec<String>, BadForm> {
    let pairs = fields
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let command = (views::named(view).unwrap().act)(action, &Form::new(pairs.collect()))?;
    Ok(command.arguments().to_vec())
}

/// Prints values of a table.
struct TableProgram {
    rows: Vec<(String, Value)>,
    lines: Mutex<Vec<String>>,
}

impl Program for TableProgram {
    fn run(&self, _root: &Path, command: &Command) -> Result<Value, CommandFailure> {
        let line = command.arguments().join(" ");
        self.lines.lock().unwrap().push(line.clone());
        let found = self.rows.iter().find(|(words, _)| line.starts_with(words));
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| CommandFailure::new(format!("no result for `{line}`")))
    }
}

/// A machine that offers no project.
struct NoProjects;

impl Machine for NoProjects {
    fn projects(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn watched(&self, _root: &Path) -> Vec<(Subject, PathBuf)> {
        Vec::new()
    }
}
