//! Arguments and output of `callosum guard allow`.
//!
//! The use case is [`callosum_app::guard::allow`].

use std::time::Duration;

use callosum_app::guard::allow::{PermitOutput, PermitsOutput, after, tell_journal};
use callosum_app::guard::check::line;
use callosum_app::guard::gather_facts;
use callosum_app::guard::gather_facts::permissions;
use callosum_app::guard::rule::refuse_agent;
use callosum_app::time_span::time_span;
use callosum_app::{CommandError, Exit, config_errors};
use callosum_config::{Permit, Reach};
use callosum_guard::{Decision, Permission, Policy, decide, is_fixed};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, ValueEnum};

use super::gather_facts::StrictnessArgs;
use crate::cli::context::Context;
use crate::ui::Table;

/// Permit a command that the guard would ask about
///
/// PATTERN is the words of one command. `*` matches any text within a word; as the last word, it matches any words that
/// follow. The guard compares PATTERN with the words of each command that would run, not with the text. A permission
/// does not lift a block, and does not cover writes by file tools. The guard blocks this command in an agent's shell:
/// only a person can permit a command.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard allow 'git branch -D *' --for 10m
  $ callosum guard allow 'npm publish' --once
  $ callosum guard allow --list")]
pub(crate) struct AllowArgs {
    /// Words of the command, as a pattern
    #[arg(
        required_unless_present = "list",
        conflicts_with = "list",
        value_name = "PATTERN"
    )]
    pattern: Vec<String>,
    /// Permit only the next such command
    #[arg(long, conflicts_with = "list")]
    once: bool,
    /// Permit the command for this long instead of indefinitely (30s, 10m, 2h)
    #[arg(
        long = "for",
        value_name = "DURATION",
        conflicts_with = "list",
        value_parser = time_span
    )]
    term: Option<Duration>,
    /// Scope of the permission
    #[arg(long, value_enum, default_value_t, conflicts_with = "list")]
    scope: ScopeName,
    /// List the permissions that apply here, and change nothing
    #[arg(long)]
    list: bool,
}

/// Scope of a permission, as an argument.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ScopeName {
    /// This project
    #[default]
    Project,
    /// Every project of this user
    User,
}

pub(super) fn run(context: &Context, args: &AllowArgs) -> Result<(), CommandError> {
    if args.list {
        return list(context);
    }
    let now = context.clock.now();
    let pattern = Permission::parse(&line(&args.pattern)).map_err(|error| {
        CommandError::from_error(Exit::Usage, &error)
            .hint("callosum guard allow 'git branch -D *' --once")
    })?;
    refuse_agent(context)?;
    refuse_blocked(context, &pattern)?;
    let reach = match args.scope {
        ScopeName::Project => Reach::Project,
        ScopeName::User => Reach::User,
    };
    let permit = Permit {
        id: context.ids.uuid_v4(),
        pattern,
        since: now,
        until: args.term.and_then(|term| after(now, term)),
        once: args.once,
    };
    let kept = permissions(context).grant(reach, permit.clone(), now);
    kept.map_err(|error| config_errors::permit(&error))?;
    let output = PermitOutput::of(reach, permit);
    tell_journal(context, "permitted", &output);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.foreign(&format!("{}\n", output.id))?;
    let (pattern, term) = (on_one_line(&output.pattern), output.term());
    context.report.say(&format!("permitted {term}: {pattern}"));
    context.report.hint(&format!(
        "revoke it with: callosum guard revoke {}",
        output.id
    ));
    Ok(())
}

/// Fails if the guard blocks these very words, and names the rule to lower.
fn refuse_blocked(context: &Context, pattern: &Permission) -> Result<(), CommandError> {
    let policy: Policy = StrictnessArgs::default().policy(context)?;
    let words = String::from(pattern.clone());
    let words = words.strip_suffix(" *").unwrap_or(&words);
    let verdict = decide(words, &gather_facts::facts_for(context, words), &policy);
    if verdict.decision != Decision::Block {
        return Ok(());
    }
    let rule = verdict.rule.unwrap_or_default();
    let what = format!(
        "rule {rule} blocks `{}`, and a permission does not override a block",
        on_one_line(words)
    );
    let refused = CommandError::new(Exit::No, what);
    Err(if is_fixed(&rule) {
        refused
    } else {
        refused.hint(format!("callosum guard rule {rule} ask --for 10m"))
    })
}

fn list(context: &Context) -> Result<(), CommandError> {
    let holding = permissions(context)
        .holding(context.clock.now())
        .map_err(|error| config_errors::permit(&error))?;
    let all = holding.into_iter();
    let all: Vec<_> = all
        .map(|(reach, permit)| PermitOutput::of(reach, permit))
        .collect();
    if context.ui.json {
        return context.ui.json_data(&PermitsOutput { permissions: all });
    }
    if all.is_empty() {
        context.report.say("no permissions");
        return Ok(());
    }
    let mut table = Table::new(&["id", "where", "how long", "what"]);
    for permit in &all {
        table.row([
            permit.id.chars().take(8).collect(),
            permit.scope.clone(),
            permit.term(),
            on_one_line(&permit.pattern),
        ]);
    }
    context.ui.data(&table.render())
}
