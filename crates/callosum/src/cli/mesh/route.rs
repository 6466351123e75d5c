//! `callosum mesh route`: which agent does which kind of task. Nothing is routed until a person configures it.

use std::fmt::Write as _;

use callosum_evidence::terminal::on_one_line;
use callosum_mesh::route::{Matrix, Route};
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::open;
use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Exit, Table},
};
use callosum_config::MeshSettings;

/// The key of the bridge file with the accounts (Seed CALC §4, layer 3).
const ACCOUNTS: &str = "account_state";

/// Show which agent does which kind of task, and its fallback
///
/// A task with --category goes to the primary agent. If that agent has not started it in time, it goes to the fallback.
/// No categories or roles exist until you configure them in config.toml; `callosum mesh route init` writes a starting point.
/// Accounts in the bridge file are shown as well.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Examples:
  $ callosum mesh route init
  $ callosum mesh route
  $ callosum mesh route large-review --json"
)]
pub(crate) struct RouteArgs {
    /// Category of tasks to show [default: all]
    #[arg(value_name = "CATEGORY")]
    category: Option<String>,
    #[command(subcommand)]
    command: Option<RouteCommand>,
}

/// A command on the matrix.
#[derive(Debug, Subcommand)]
enum RouteCommand {
    /// Write nine categories and three roles to config.toml, as a starting point
    ///
    /// Each session then starts with its agent's role. Edit or delete the entries as you like.
    #[command(after_long_help = "\
Examples:
  $ callosum mesh route init")]
    Init,
}

/// `callosum mesh route --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RoutesOutput {
    /// The kinds of tasks.
    pub(crate) routes: Vec<RouteOutput>,
    /// The accounts that agents work with, as somebody wrote them into the bridge file (`account_state`).
    pub(crate) accounts: Value,
}

/// A kind of task.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RouteOutput {
    /// Its name.
    pub(crate) category: String,
    /// What belongs to it.
    pub(crate) about: String,
    /// Who does it.
    pub(crate) primary: String,
    /// Who does it where the first has not begun in time.
    pub(crate) fallback: String,
    /// Seconds that the first has to begin.
    pub(crate) sla_seconds: i64,
}

pub(super) fn run(context: &Context, args: &RouteArgs) -> Result<(), CommandError> {
    if let Some(RouteCommand::Init) = args.command {
        return init(context);
    }
    let (mut mesh, _, fault) = open::readable_anyway(context)?;
    if let Some(fault) = fault {
        // What is configured cannot be told, and the seed's matrix is not it.
        return Err(open::unusable(&fault));
    }
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let accounts = board.fields.get(ACCOUNTS).cloned().unwrap_or(Value::Null);
    let matrix = mesh.matrix();
    let is_wanted = |route: &&Route| {
        let wanted = args.category.as_deref();
        wanted.is_none_or(|wanted| wanted == route.category)
    };
    let routes: Vec<&Route> = matrix.routes.iter().filter(is_wanted).collect();
    if let (true, Some(category)) = (routes.is_empty(), &args.category) {
        return Err(unknown(category, &matrix.routes));
    }
    if context.ui.json {
        let routes = routes.into_iter().map(|route| RouteOutput {
            category: route.category.clone(),
            about: route.about.clone(),
            primary: route.primary.to_string(),
            fallback: route.fallback.to_string(),
            sla_seconds: route.within.as_secs(),
        });
        return context.ui.json_data(&RoutesOutput {
            routes: routes.collect(),
            accounts,
        });
    }
    if routes.is_empty() {
        context.report.say("no categories are configured");
        context.report.hint("callosum mesh route init");
    }
    let mut table = Table::new(&["category", "primary", "fallback", "minutes", "about"]);
    for route in routes {
        table.row([
            route.category.clone(),
            route.primary.to_string(),
            route.fallback.to_string(),
            route.within.as_mins().to_string(),
            route.about.clone(),
        ]);
    }
    context.ui.data(&table.render())?;
    let Value::Object(accounts) = accounts else {
        return Ok(());
    };
    let mut text = String::new();
    for (name, account) in &accounts {
        let known = |key: &str| account.get(key).and_then(Value::as_str).unwrap_or("-");
        let (email, status) = (known("email"), known("status"));
        let line = format!("{name} {status} {email}");
        let _ = writeln!(text, "account {}", on_one_line(&line));
    }
    context.ui.read_by_all(&text)
}

/// Appends the seed's matrix to the user's configuration, unless that configures one already.
fn init(context: &Context) -> Result<(), CommandError> {
    let path = &context.project.homes.user_config;
    let bytes = context.disk.read_if_there(path);
    let bytes = bytes.map_err(|error| store::disk_failed(&error))?;
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
    let before = MeshSettings::of_file(path, bytes.as_deref());
    let before = before.map_err(|error| open::unusable(&error))?;
    if before.matrix != Matrix::default() {
        let what = format!("{} already configures categories or roles", path.display());
        return Err(CommandError::new(Exit::No, what).hint("callosum mesh route"));
    }
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let written = format!("{text}{gap}{}", toml_of(&Matrix::seed()));
    // An inline table `mesh = {…}` cannot be extended: the file stays as it was then.
    MeshSettings::of_file(path, Some(written.as_bytes()))
        .map_err(|error| open::unusable(&error))?;
    let mode = 0o644;
    let folder = path.parent().unwrap_or(path);
    let done = context.disk.create_dir_all(folder);
    done.and_then(|_| context.disk.replace(path, written.as_bytes(), mode))
        .map_err(|error| store::disk_failed(&error))?;
    context.report.say(&format!(
        "wrote nine categories and three roles to {}",
        path.display()
    ));
    Ok(())
}

/// Returns a matrix as tables of config.toml.
fn toml_of(matrix: &Matrix) -> String {
    let mut text =
        "\n# Who does which kind of task. Change or delete entries as you like.\n".to_owned();
    for route in &matrix.routes {
        let Route {
            category,
            about,
            primary,
            fallback,
            within,
        } = route;
        let minutes = within.as_mins();
        let _ = writeln!(
            text,
            "[mesh.routes.{category}]\nabout = {about:?}\nprimary = \"{primary}\"\nfallback = \"{fallback}\"\nminutes = {minutes}\n"
        );
    }
    for role in &matrix.roles {
        let _ = writeln!(
            text,
            "[mesh.roles.{}]\nname = {:?}\nduties = {:?}\n",
            role.agent, role.name, role.duties
        );
    }
    text
}

/// Says that there is no such category, and which there are.
pub(super) fn unknown(category: &str, routes: &[Route]) -> CommandError {
    if routes.is_empty() {
        let what = format!("there is no category `{category}`: none are configured");
        return CommandError::new(Exit::Usage, what).hint("callosum mesh route init");
    }
    let known: Vec<&str> = routes.iter().map(|route| route.category.as_str()).collect();
    let what = format!(
        "there is no category `{category}` (allowed: {})",
        known.join(", ")
    );
    CommandError::new(Exit::Usage, what).hint("callosum mesh route")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// CALC-ROUTE-1: what `init` writes is read back as the seed's matrix.
    #[test]
    fn the_written_matrix_is_read_back_as_it_was() {
        let text = toml_of(&Matrix::seed());
        let read = MeshSettings::of_file(Path::new("config.toml"), Some(text.as_bytes())).unwrap();
        assert_eq!(read.matrix.roles, Matrix::seed().roles);
        let mut routes = read.matrix.routes;
        let mut expected = Matrix::seed().routes;
        routes.sort_by(|one, other| one.category.cmp(&other.category));
        expected.sort_by(|one, other| one.category.cmp(&other.category));
        assert_eq!(routes, expected);
    }
}
