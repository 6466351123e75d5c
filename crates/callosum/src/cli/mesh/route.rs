//! Arguments and output of `callosum mesh route`.
//!
//! The use case is [`callosum_app::mesh::route`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use callosum_app::mesh::open;
use callosum_app::mesh::route::{
    ACCOUNTS, ClassifyOutput, RouteOutput, RoutesOutput, classified, init, unknown,
};
use callosum_app::{CommandError, Exit};
use callosum_mesh::route::Route;
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::text_arg::words;
use crate::cli::context::Context;
use crate::ui::Table;

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
  $ callosum mesh route large-review --json
  $ callosum mesh route classify \"Compare these five design proposals\""
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
    Classify(ClassifyArgs),
}

/// Pick the category and the agent of a prompt from its text
///
/// Looks at file names, sizes, verbs and words of the field, at the words of your own categories, and at your examples in
/// config.toml. No model is asked. Exits with 1 if no category is likely enough.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh route classify \"Compare these five design proposals\"
  $ callosum mesh route classify - --json < prompt.txt")]
struct ClassifyArgs {
    /// Prompt, or `-` to read it from standard input
    #[arg(value_name = "PROMPT")]
    prompt: String,
}

/// Shows the category of a prompt, and why.
fn classify(context: &Context, args: &ClassifyArgs) -> Result<(), CommandError> {
    let found = classified(context, &words(&args.prompt)?)?;
    let is_found = found.category.is_some();
    if context.ui.json {
        context.ui.json_data(&ClassifyOutput::from(found))?;
        return if is_found {
            Ok(())
        } else {
            Err(CommandError::told(Exit::No))
        };
    }
    let output = ClassifyOutput::from(found);
    let mut text = match (&output.category, &output.agent) {
        (Some(category), Some(agent)) => {
            format!(
                "{category} for {agent}, confidence {:.2}\n",
                output.confidence
            )
        }
        _ => format!(
            "no category: the best has confidence {:.2}, below {:.2}\n",
            output.confidence, output.threshold
        ),
    };
    for reason in &output.reasons {
        let category = reason.category.as_deref().unwrap_or("none");
        let line = format!(
            "{} `{}` for {category}: {:.1}",
            reason.feature, reason.text, reason.weight
        );
        let _ = writeln!(text, "  {}", on_one_line(&line));
    }
    for other in &output.others {
        let _ = writeln!(text, "  else {}: {:.2}", other.category, other.confidence);
    }
    context.ui.data(&text)?;
    if is_found {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

pub(super) fn run(context: &Context, args: &RouteArgs) -> Result<(), CommandError> {
    match &args.command {
        Some(RouteCommand::Init) => return init(context),
        Some(RouteCommand::Classify(args)) => return classify(context, args),
        None => {}
    }
    let (mut mesh, _, fault) = open::readable_anyway(context)?;
    if let Some(fault) = fault {
        // The configured routes are unknown, and the seed's matrix is not a substitute.
        return Err(open::unusable(&fault));
    }
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let accounts = board.fields.get(ACCOUNTS).cloned().unwrap_or(Value::Null);
    let sessions = board.sessions.clone();
    let presence = mesh.presence();
    let matrix = mesh.matrix();
    let now = context.clock.now();
    let absence = |route: &Route| presence.absence(&route.primary, &sessions, now);
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
            primary_absent: absence(route),
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
    let absent: BTreeSet<String> = routes.iter().filter_map(|route| absence(route)).collect();
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
    for why in absent {
        let what = format!("{why}: its tasks go to a fallback that is at work");
        context.report.say(&on_one_line(&what));
    }
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
