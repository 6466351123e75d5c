//! Arguments and output of `callosum session repos`.
//!
//! The use case is [`callosum_app::session::repos`].

use std::fmt::Write as _;

use callosum_app::session::repos::{RepoOutput, ReposOutput, forget, list, state};
use callosum_app::{CommandError, disk_errors};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// List the projects that this machine knows, for --repo
///
/// You can hand off to these projects and recover from them. A project is known from `callosum init` on, or from its
/// first decision or handoff. --repo neither reads nor writes any other directory.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum session repos
  $ callosum session repos --json")]
pub(crate) struct ReposArgs {
    /// Forget this project; its files stay as they are
    #[arg(long, value_name = "PATH")]
    forget: Option<String>,
}

pub(super) fn run(context: &Context, args: &ReposArgs) -> Result<(), CommandError> {
    if let Some(path) = &args.forget {
        return forget(context, path);
    }
    let listed = list(context)
        .all()
        .map_err(|error| disk_errors::disk_failed(&error))?;
    let repositories = listed.known.into_iter().map(|known| RepoOutput {
        state: state(context, &known.root).to_owned(),
        root: known.root.display().to_string(),
        since: known.since,
    });
    let output = ReposOutput {
        repositories: repositories.collect(),
        unread: listed
            .unread
            .iter()
            .map(|file| file.display().to_string())
            .collect(),
    };
    for file in &output.unread {
        let what = format!("`{}` is not an entry of the list", on_one_line(file));
        context.report.warn(&what, None);
    }
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut lines = String::new();
    for one in &output.repositories {
        let root = on_one_line(&one.root);
        let _ = writeln!(lines, "{root}  {}  {}", one.state, on_one_line(&one.since));
    }
    context.ui.read_by_all(&lines)
}
