//! `callosum mesh route`: which agent is best at what.

use std::fmt::Write as _;

use callosum_evidence::terminal::on_one_line;
use callosum_mesh::route::Route;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::open;
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit, Table},
};

/// The key of the bridge file with the accounts (Seed CALC §4, layer 3).
const ACCOUNTS: &str = "account_state";

/// Show which agent does which kind of task, and who takes its place
///
/// A task that was left with --category goes to the first; where that has not begun it in time, to
/// the other. The seed's matrix is changed in config.toml. The accounts that stand in the bridge file are shown as well.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh route
  $ callosum mesh route large-review --json")]
pub(crate) struct RouteArgs {
    /// The kind of task
    #[arg(value_name = "CATEGORY")]
    category: Option<String>,
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

/// Says that there is no such category, and which there are.
pub(super) fn unknown(category: &str, routes: &[Route]) -> CommandError {
    let known: Vec<&str> = routes.iter().map(|route| route.category.as_str()).collect();
    let what = format!(
        "there is no category `{category}` (allowed: {})",
        known.join(", ")
    );
    CommandError::new(Exit::Usage, what).hint("callosum mesh route")
}
