//! [`TestSite`]: a page over a program that prints fixed results, for tests of views.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use askama::Template as _;
use callosum_host::{Clock, Disk};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    FormToken, Machine, Program, SiteSetting, Subject,
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    project::Project,
    site::Shared,
    views::{self, layout::Layout},
    visit::Visit,
};

/// A text that every view must escape.
pub(crate) const HOSTILE: &str = "<script>alert(\"1\")</script>'&\u{202e}\u{1b}[31m";

/// A page whose program prints fixed results.
pub(crate) struct TestSite {
    shared: Arc<Shared>,
    program: Arc<FixedProgram>,
    root: PathBuf,
    _folder: tempfile::TempDir,
}

/// Prints the result of the first line that a command begins with.
struct FixedProgram {
    results: Vec<(String, Result<Value, CommandFailure>)>,
    lines: Mutex<Vec<String>>,
}

impl Program for FixedProgram {
    fn run(&self, _root: &Path, command: &Command) -> Result<Value, CommandFailure> {
        let line = command.arguments().join(" ");
        let found = self
            .results
            .iter()
            .find(|(start, _)| line.starts_with(start));
        let result = found.map(|(_, result)| result.clone());
        self.lines.lock().unwrap().push(line.clone());
        result.unwrap_or_else(|| Err(CommandFailure::new(format!("no result for `{line}`"))))
    }
}

struct OneProject(PathBuf);

impl Machine for OneProject {
    fn projects(&self) -> Vec<PathBuf> {
        vec![self.0.clone()]
    }

    fn watched(&self, _root: &Path) -> Vec<(Subject, PathBuf)> {
        Vec::new()
    }

    fn agent_at(&self, _ends: (SocketAddr, SocketAddr)) -> Option<String> {
        None
    }
}

impl TestSite {
    /// Returns a page whose program prints each value for commands that begin with the words before it.
    pub(crate) fn new(results: &[(&str, Value)]) -> Self {
        let results = results
            .iter()
            .map(|(words, value)| ((*words).to_owned(), Ok(value.clone())));
        Self::with(results.collect())
    }

    /// Returns a page whose program prints or fails so.
    pub(crate) fn with(results: Vec<(String, Result<Value, CommandFailure>)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let disk = Disk::real();
        let program = Arc::new(FixedProgram {
            results,
            lines: Mutex::default(),
        });
        let setting = SiteSetting {
            program: Arc::<FixedProgram>::clone(&program),
            machine: Arc::new(OneProject(root.clone())),
            token: FormToken::open(&disk, &root.join("token")).unwrap(),
            proxy: None,
            disk,
            clock: Clock::fixed("2026-01-02T10:00:00Z".parse().unwrap(), Duration::ZERO),
            version: "0.0.0",
        };
        let (_, stop) = watch::channel(false);
        Self {
            shared: Arc::new(Shared::new(setting, stop)),
            program,
            root,
            _folder: folder,
        }
    }

    fn visit(&self, view: &str, query: &[(&str, &str)]) -> Visit {
        let view = views::named(view).unwrap();
        let query = query
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()));
        Visit::new(
            Arc::clone(&self.shared),
            Project::new(self.root.clone()),
            view.name,
            query.collect(),
        )
    }

    /// Returns a view as a page.
    pub(crate) fn html(&self, view: &str, query: &[(&str, &str)]) -> String {
        let visit = self.visit(view, query);
        let view = views::named(view).unwrap();
        let answer = (view.show)(&visit).unwrap();
        Layout::new(&visit, view, answer.html, None)
            .render()
            .unwrap()
    }

    /// Returns a view as JSON, and the messages above it.
    pub(crate) fn json(&self, view: &str, query: &[(&str, &str)]) -> (Value, Vec<String>) {
        let visit = self.visit(view, query);
        let answer = (views::named(view).unwrap().show)(&visit).unwrap();
        let faults = visit.faults().into_iter().map(|fault| fault.message);
        (answer.json, faults.collect())
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
    let fields = fields
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()));
    let form = Form::new(fields.collect());
    let command = (views::named(view).unwrap().act)(action, &form)?;
    Ok(command.arguments().to_vec())
}

/// Fails if a page has a part of a hostile text that is not escaped.
pub(crate) fn assert_harmless(html: &str) {
    for wrong in ["<script>alert", "\u{202e}", "\u{1b}"] {
        assert!(!html.contains(wrong), "{wrong:?} in {html}");
    }
    assert!(
        html.contains("&#60;script&#62;alert") || html.contains("&lt;script&gt;alert"),
        "{html}"
    );
}
