//! Arguments and output of `callosum guard rule`.
//!
//! The use case is [`callosum_app::guard::rule`].

use std::fmt::Write as _;
use std::time::Duration;

use callosum_app::guard::gather_facts::permissions;
use callosum_app::guard::rule::{RuleOutput, after, record, refuse_agent};
use callosum_app::guard::rules::{all, suggested};
use callosum_app::time_span::time_span;
use callosum_app::{CommandError, Exit, config_errors};
use callosum_config::{Reach, RuleLevel};
use callosum_guard::{Decision, current_id, is_fixed};
use clap::{Args, ValueEnum};

use super::gather_facts::StrictnessArgs;
use crate::cli::context::Context;

/// Show a rule, or set its decision
///
/// Without LEVEL, prints what the rule covers and its decision here. With LEVEL, sets the decision, regardless of
/// strictness: for all projects, or with `--project` for this one. `default` removes the setting. The guard blocks this
/// command in an agent's shell. Rules that protect the guard itself cannot be lowered.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard rule git.reset-hard
  $ callosum guard rule git.reset-hard ask
  $ callosum guard rule docker-compose.data allow --project --for 10m
  $ callosum guard rule git.reset-hard default")]
pub(crate) struct RuleArgs {
    /// Id of the rule, as in `callosum guard rules`
    id: String,
    /// New decision of the rule
    #[arg(value_enum)]
    level: Option<Level>,
    /// Set the decision for this project only
    #[arg(long, requires = "level")]
    project: bool,
    /// Duration of the setting, such as 10m or 2h [default: until it is changed]
    #[arg(long = "for", value_name = "TIME", value_parser = time_span, requires = "level")]
    term: Option<Duration>,
}

/// Decision of a rule, as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Let matching commands run
    Allow,
    /// Ask a person before matching commands run
    Ask,
    /// Block matching commands
    Block,
    /// Decide by severity and strictness
    Default,
}

pub(super) fn run(context: &Context, args: &RuleArgs) -> Result<(), CommandError> {
    let rule = find(context, &args.id)?;
    let Some(level) = args.level else {
        return show(context, &rule);
    };
    refuse_agent(context)?;
    let reach = if args.project {
        Reach::Project
    } else {
        Reach::User
    };
    let decision = match level {
        Level::Allow => Some(Decision::Allow),
        Level::Ask => Some(Decision::Ask),
        Level::Block => Some(Decision::Block),
        Level::Default => None,
    };
    if let Some(decision) = decision
        && is_fixed(&rule.id)
        && decision.name() != "block"
    {
        let what = format!(
            "rule {} cannot be lowered: otherwise an agent could lift every other rule",
            rule.id
        );
        return Err(CommandError::new(Exit::No, what).hint("callosum guard rules"));
    }
    let now = context.clock.now();
    let level = decision.map(|decision| RuleLevel {
        rule: rule.id.clone(),
        decision,
        since: now,
        until: args.term.and_then(|term| after(now, term)),
    });
    let was_set = permissions(context)
        .set_level(reach, &rule.id, level.clone(), now)
        .map_err(|error| config_errors::permit(&error))?;
    if was_set || level.is_some() {
        record(context, &rule.id, reach, level.as_ref());
    }
    let rule = find(context, &rule.id)?;
    if context.ui.json {
        return context.ui.json_data(&rule);
    }
    let whose = match reach {
        Reach::Project => "in this project",
        Reach::User => "in all projects",
    };
    match &level {
        Some(_) => {
            let term = rule.until.as_deref().map(|until| format!(" until {until}"));
            context.report.say(&format!(
                "{}: {} {whose}{}",
                rule.id,
                rule.decision,
                term.unwrap_or_default()
            ));
            let flag = if args.project { " --project" } else { "" };
            context.report.hint(&format!(
                "undo: callosum guard rule {} default{flag}",
                rule.id
            ));
        }
        None if was_set => context
            .report
            .say(&format!("{}: {} {whose} (default)", rule.id, rule.decision)),
        None => {
            context.report.say(&format!("{}: not set {whose}", rule.id));
            if rule.set_for.is_some() {
                let flag = if args.project { "" } else { " --project" };
                context
                    .report
                    .hint(&format!("callosum guard rule {} default{flag}", rule.id));
            }
        }
    }
    Ok(())
}

/// Returns the rule of this id.
fn find(context: &Context, id: &str) -> Result<RuleOutput, CommandError> {
    let policy = StrictnessArgs::default().policy(context)?;
    let rules = all(context, &policy)?;
    let wanted = current_id(id);
    let suggestion = suggested(wanted, &rules);
    let found = rules.into_iter().find(|rule| rule.id == wanted);
    found.ok_or_else(|| {
        let error = CommandError::new(Exit::Usage, format!("there is no rule `{id}`"));
        match suggestion {
            Some(near) => error.hint(format!("callosum guard rule {near}")),
            None => error.hint("callosum guard rules"),
        }
    })
}

fn show(context: &Context, rule: &RuleOutput) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(rule);
    }
    let mut text = format!("{}: {}\n", rule.id, rule.decision);
    let _ = writeln!(text, "  reason:  {}", rule.reason);
    if let Some(whose) = &rule.set_for {
        let term = rule
            .until
            .as_deref()
            .map(|until| format!(", until {until}"));
        let _ = writeln!(text, "  set for: {whose}{}", term.unwrap_or_default());
        let _ = writeln!(text, "  default: {}", rule.default);
    }
    if rule.fixed {
        text.push_str("  fixed:   protects the guard itself, cannot be lowered\n");
    }
    context.ui.data(&text)
}
